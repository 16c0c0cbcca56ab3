package gitops

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/report"
)

// mostShown bounds the lines that are said of one side.
const mostShown = 12

// tell says what the three sides come to.
func (r *desiredRun) tell() {
	by := map[string][]string{}
	state, missing, surplus, unread, varies := map[string]string{}, []string{}, []string{}, []string{}, []string{}
	var fields []string
	d := newDigests()
	if where := r.a.Elsewhere(r.c.Server); where != "" && len(r.sides) == 0 {
		unread = append(unread, r.a.String()+": what it has "+strings.TrimPrefix(inOther(where), "it "))
	}
	for _, name := range slices.Sorted(maps.Keys(r.sides)) {
		s := r.sides[name]
		if s.unread != "" {
			unread = append(unread, name+": "+steps.Clip(report.Ended(s.unread), 300))
			state[name] = "not known: " + steps.Clip(s.unread, 300)
			continue
		}
		lines := s.lines()
		d.add(s, lines)
		state[name] = standingIn(lines)
		for _, at := range slices.Sorted(maps.Keys(s.varies)) {
			varies = append(varies, name+" "+at)
		}
		if open := s.open(); len(open) > 0 {
			unread = append(unread, steps.Clip(name+": its chart makes something else of "+strings.Join(open, ", ")+" at each rendering, and nothing keeps what was applied last", 300))
			state[name] = "not known: " + steps.Clip(strings.Join(open, ", ")+" comes out otherwise at each rendering", 300)
		}
		for _, l := range lines {
			switch {
			case l.at == whole && l.actual == "none":
				missing = append(missing, name)
			case l.at == whole:
				surplus = append(surplus, name)
			}
			by[l.moved] = append(by[l.moved], l.String())
			if l.moved == movedLive {
				fields = append(fields, l.object+" "+l.at)
			}
		}
	}
	r.list("encrypted", r.encrypted, nil)
	r.list("varies", varies, nil)
	r.list("live_moved", by[movedLive], unread)
	r.list("live_fields", fields, unread)
	r.list("unclear", append(by[movedBoth], by[movedOpen]...), unread)
	r.list("missing", missing, unread)
	if r.why != "" {
		r.f.Unknown("Git was not rendered: "+r.why, "git_moved", "surplus")
	} else {
		r.list("git_moved", by[movedGit], unread)
		r.list("surplus", surplus, unread)
	}
	if len(state) > mostListed {
		r.f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(state), mostListed), "state")
	} else {
		r.f.Set("state", steps.TableOf(state))
	}
	side := which(by)
	switch {
	case len(unread) > 0:
		r.f.Unknown("not known of "+unread[0], "moved", "wanted", "recorded", "actual")
	case r.why != "":
		r.f.Unknown("Git was not rendered: "+r.why, "moved", "wanted")
		d.set(r.f, "recorded", "actual")
	default:
		r.f.Set("moved", steps.EnumOf(side))
		d.set(r.f, "wanted", "recorded", "actual")
	}
	if n := len(unread) - mostShown; n > 0 {
		r.obs.Gaps = append(append(r.obs.Gaps, unread[:mostShown]...), fmt.Sprintf("%d more objects are not known", n))
	} else {
		r.obs.Gaps = append(r.obs.Gaps, unread...)
	}
	r.findings(by)
	r.summary(by, unread, side)
}

// list sets a list as a whole, or not at all.
func (r *desiredRun) list(name string, of, unread []string) {
	switch {
	case len(unread) > 0:
		r.f.Unknown("not known of "+unread[0], name)
	case len(of) > mostListed:
		r.f.Unknown(fmt.Sprintf("there are %d, and a fact holds %d", len(of), mostListed), name)
	default:
		r.f.Set(name, steps.StringsOf(of))
	}
}

// which side moved.
func which(by map[string][]string) string {
	switch {
	case len(by[movedOpen]) > 0:
		return movedOpen
	case len(by[movedBoth]) > 0 || len(by[movedLive]) > 0 && len(by[movedGit]) > 0:
		return movedBoth
	case len(by[movedLive]) > 0:
		return movedLive
	case len(by[movedGit]) > 0:
		return movedGit
	}
	return "none"
}

// standingIn is where one object stands, by what it differs in.
func standingIn(lines []line) string {
	if len(lines) == 0 {
		return "as wanted"
	}
	var fields []string
	for _, l := range lines {
		fields = append(fields, l.at)
	}
	return steps.Clip(map[string]string{movedLive: "the live side moved: ", movedGit: "Git moved: ", movedBoth: "both moved: ", movedOpen: "differs: "}[whose(lines)]+strings.Join(fields, ", "), 500)
}

func whose(lines []line) string {
	by := map[string][]string{}
	for _, l := range lines {
		by[l.moved] = append(by[l.moved], l.at)
	}
	return which(by)
}

// findings are the lines, those of the live side first: a sync takes them back.
func (r *desiredRun) findings(by map[string][]string) {
	for _, of := range []struct {
		moved string
		level steps.Level
		say   string
	}{
		{movedLive, steps.Warning, "Live side changed, a sync takes it back: %s"},
		{movedBoth, steps.Warning, "Git and the live side changed: %s"},
		{movedOpen, steps.Warning, "Differs, and what was applied last is not known: %s"},
		{movedGit, steps.Info, "Git changed, not applied yet: %s"},
	} {
		for i, l := range by[of.moved] {
			if i == mostShown {
				r.obs.Say(of.level, of.say, fmt.Sprintf("%d more, which the facts list", len(by[of.moved])-mostShown))
				break
			}
			r.obs.Say(of.level, of.say, steps.OneLine(l, 400))
		}
	}
	if c := r.a.Rendering.Chart; r.a.Kind == "HelmRelease" && len(by[movedGit]) > 0 && !c.ByRevision && r.wanted.Version == r.a.Applied {
		r.obs.Say(steps.Warning, "Git changed the chart and left its version at %s: Flux packs it anew for another version alone (reconcileStrategy), so no reconciliation brings that.", r.a.Applied)
	}
	for _, name := range r.encrypted {
		r.obs.Say(steps.Info, "%s is encrypted in Git: what its controller applied last stands for it.", name)
	}
}

func (r *desiredRun) summary(by map[string][]string, unread []string, side string) {
	fields := len(by[movedLive]) + len(by[movedGit]) + len(by[movedBoth]) + len(by[movedOpen])
	what := fmt.Sprintf("%s at %s", r.a, shortRevision(r.wanted.Revision))
	if r.why != "" {
		what = fmt.Sprintf("%s, as its controller applied it (Git was not rendered)", r.a)
	}
	switch {
	case len(unread) > 0:
		r.obs.Summary = fmt.Sprintf("%s: %d fields differ, and %d of %d objects are not known.", what, fields, len(unread), len(r.sides))
	case fields == 0:
		r.obs.Summary = fmt.Sprintf("%s: all %d objects are as wanted.", what, len(r.sides))
	default:
		words := map[string]string{movedLive: "the live side moved", movedGit: "Git moved", movedBoth: "both sides moved", movedOpen: "what was applied last is not known"}
		r.obs.Summary = fmt.Sprintf("%s: %d fields of %d objects differ; %s.", what, fields, len(r.sides), words[side])
	}
}

// digests tell the three sides apart by one word each.
type digests map[string]hash.Hash

func newDigests() digests {
	return digests{"wanted": sha256.New(), "recorded": sha256.New(), "actual": sha256.New()}
}

// add takes one object: what is equal counts as Git has it, however the server writes it.
func (d digests) add(s *side3, lines []line) {
	differ := map[string]line{}
	for _, l := range lines {
		differ[l.at] = l
	}
	fields, _, _ := s.leaves()
	for at := range differ {
		if _, has := fields[at]; !has {
			fields[at] = nil
		}
	}
	for _, at := range slices.Sorted(maps.Keys(fields)) {
		if left(at) {
			continue
		}
		l, differs := differ[at]
		if !differs {
			l.desired = shownWhole(fields[at])
			l.recorded, l.actual = l.desired, l.desired
		}
		for side, v := range map[string]string{"wanted": l.desired, "recorded": l.recorded, "actual": l.actual} {
			fmt.Fprintf(d[side], "%q %q %q\n", s.name, at, v)
		}
	}
}

func (d digests) set(f steps.Facts, names ...string) {
	for _, name := range names {
		f.Set(name, steps.IdentOf(hex.EncodeToString(d[name].Sum(nil))[:12]))
	}
}
