package evidence

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"handrail/evidence/redact"
)

// stated gathers what a bundle says of its own making, which its bytes cannot prove.
type stated struct {
	actors            map[string]bool
	more              bool // more actors than are kept
	reveals           int64
	replaced          int64 // blobs in which something was replaced
	withheld          int64
	badRule, badClock error
}

const maxActors = 100

func (s *stated) add(e *Entry) {
	if s.actors == nil {
		s.actors = map[string]bool{}
	}
	if e.Actor != "system" && !s.actors[e.Actor] {
		if s.more = s.more || len(s.actors) >= maxActors; !s.more {
			s.actors[e.Actor] = true
		}
	}
	if e.Type == "reveal" {
		s.reveals++
	}
	if n, err := strconv.ParseInt(e.Mono, 10, 64); (err != nil || strconv.FormatInt(n, 10) != e.Mono) && s.badClock == nil {
		s.badClock = fmt.Errorf("entry %d: mono %q is not a number of nanoseconds", e.Seq, e.Mono)
	}
	for _, b := range e.Blobs {
		if len(b.Rules) > 0 {
			s.replaced++
		}
		for _, r := range b.Rules {
			if r == redact.Unparsed {
				s.withheld++
				continue
			}
			kind, hits, ok := strings.Cut(r, "=")
			if n, err := strconv.ParseInt(hits, 10, 64); !ok || kind == "" || err != nil || n < 1 {
				s.badRule = fmt.Errorf("entry %d: blob rule %q is not KIND=count", e.Seq, r)
			}
		}
	}
}

func (v *verifier) redaction() {
	s, sets := &v.stated, v.ledger.rulesets
	err := s.badRule
	if len(sets) == 0 && err == nil {
		err = errors.New("no rule set is named")
	}
	for _, d := range sets {
		if !isHex64(d) && err == nil {
			err = fmt.Errorf("rule set %q is not named by its SHA-256", d)
		}
	}
	if err != nil {
		v.say(PropertyRedaction, Failed, "%v", err)
		return
	}
	key := ""
	if v.ledger.keyGone != "" {
		key = ", the key of its tokens was " + v.ledger.keyGone
	}
	v.say(PropertyRedaction, Unproven, "by its word: %d rule sets, the newest %s; replaced something in %d blobs, withheld %d%s; that every secret was found cannot be proven",
		len(sets), sets[len(sets)-1][:16], s.replaced, s.withheld, key)
}

func (v *verifier) custody() {
	if err := v.stated.badClock; err != nil {
		v.say(PropertyCustody, Failed, "%v", err)
		return
	}
	who := strings.Join(slices.Sorted(maps.Keys(v.stated.actors)), ", ")
	switch {
	case v.stated.more:
		who += " and more"
	case who == "":
		who = "an unnamed user"
	}
	c := v.ledger.clock
	v.say(PropertyCustody, Unproven, "by its word: written by %s on host %q (%s/%s) with handrail %s, from %s to %s by the host's clock, which stepped back %d times; %d boots; %d times something was revealed",
		who, v.first.Host, v.first.OS, v.first.Arch, v.first.Handrail, c.First, c.Last, c.Back, c.Boots, v.stated.reveals)
}
