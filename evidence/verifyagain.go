package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"handrail/evidence/jsontree"
)

// again states where a bundle that was redacted again comes from. It is ok only beside the old one.
func (v *verifier) again() {
	a := v.first.Again
	switch {
	case a == nil && v.policy.From != "":
		v.say(PropertyAgain, Failed, "entry 0 says nothing of another bundle that this one was made from")
		return
	case a == nil:
		return
	}
	what := fmt.Sprintf("redacted again from %s, root %s, %d entries, by %s at %s, because: %s", a.ID, a.Root, a.Entries, a.Actor, a.At, a.Reason)
	c, err := newCheckpoint(a.ID, fmt.Sprint(a.Entries), a.Root)
	switch {
	case err != nil:
		v.say(PropertyAgain, Failed, "entry 0 names no bundle that it was made from: %v", err)
	case c.ID == v.id || c.Entries > v.report.Entries:
		v.say(PropertyAgain, Failed, "%s; it has %d entries and cannot be that", what, v.report.Entries)
	case v.policy.From == "":
		v.say(PropertyAgain, Unproven, "%s; that it differs in nothing but hidden values shows only beside the old one", what)
	case v.chainErr != nil:
		v.say(PropertyAgain, Unproven, "%s; not compared, since the chain does not hold", what)
	default:
		left, err := v.beside(c)
		if err != nil {
			v.say(PropertyAgain, Failed, "%s; beside it: %v", what, err)
			return
		}
		if left > 0 {
			v.say(PropertyAgain, Unproven, "%s; each entry differs in nothing but hidden values, but %d blobs over %d MiB were not compared", what, left, againMost>>20)
			return
		}
		v.say(PropertyAgain, Proven, "%s; compared with it, the first %d entries and their blobs differ in nothing but hidden values", what, c.Entries)
	}
}

var errEnough = errors.New("enough")

// beside compares the bundle with the one that it was made from, and returns how many blobs were too large for that.
func (v *verifier) beside(c Checkpoint) (left int, err error) {
	old, err := OpenReadOnly(v.policy.From)
	if err != nil {
		return 0, err
	}
	defer old.Close()
	if err := old.Extends(c); err != nil {
		return 0, err
	}
	now := &Reader{root: v.root, path: v.report.Path, meta: Meta{ID: v.id}}
	p := pair{old: old, now: now, sums: map[string]string{}}
	all := whole{r: now}
	next, stop := iter.Pull2(old.Entries())
	defer stop()
	_, err = walkJournal(v.root, func(e Entry, _ []byte) error {
		if e.Seq >= c.Entries {
			return errEnough
		}
		was, err, more := next()
		if !more || err != nil {
			return errEnough
		}
		if err := all.fill(&e); err != nil {
			return err
		}
		if err := p.entry(was, e); err != nil {
			return fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return p.left, err
}

type pair struct {
	old, now *Reader
	sums     map[string]string
	left     int
}

func (p *pair) entry(old, now Entry) error {
	if old.Type != now.Type || old.T != now.T || old.Mono != now.Mono || old.Boot != now.Boot || len(old.Blobs) != len(now.Blobs) {
		return errors.New("its type, time or number of blobs is another")
	}
	_, wasAside := setAsideOf(&old)
	if _, aside := setAsideOf(&now); aside != wasAside {
		return errors.New("its data is kept elsewhere")
	}
	if wasAside { // that blob is the data, which is compared below
		old.Blobs, now.Blobs = old.Blobs[:len(old.Blobs)-1], now.Blobs[:len(now.Blobs)-1]
	}
	for i, b := range old.Blobs {
		if err := p.blob(b, now.Blobs[i]); err != nil {
			return err
		}
	}
	if !onlyHidden([]byte(old.Actor), []byte(now.Actor)) || !onlyHidden([]byte(old.Step), []byte(now.Step)) {
		return errors.New("its actor or step is another")
	}
	switch {
	case old.Seq == 0:
		return p.first(old.Data, now.Data)
	case old.Type == "seal": // all else in it was recomputed
		a, err := SkippedIn(old)
		b, err2 := SkippedIn(now)
		if err != nil || err2 != nil || !onlyHidden([]byte(strings.Join(a, "\x00")), []byte(strings.Join(b, "\x00"))) {
			return errors.New("it names other steps as left out")
		}
		return nil
	case old.Type == "recover":
		return p.recovered(old.Data, now.Data)
	}
	n, err := jsontree.Parse(old.Data, jsontree.StrictKeys)
	if err != nil {
		return err
	}
	renameBlobs(n, p.sums)
	if !onlyHidden(n.AppendTo(nil, -1, 0), now.Data) {
		return errors.New("its data differs in more than hidden values")
	}
	return nil
}

func (p *pair) first(old, now json.RawMessage) error {
	var a, b firstEntry
	if err := errors.Join(json.Unmarshal(old, &a), json.Unmarshal(now, &b)); err != nil {
		return err
	}
	if a.Handrail != b.Handrail || a.Go != b.Go || a.OS != b.OS || a.Arch != b.Arch || !onlyHidden([]byte(a.Host), []byte(b.Host)) {
		return errors.New("it was written by something else")
	}
	return nil
}

func (p *pair) recovered(old, now json.RawMessage) error {
	var a, b recovered
	if err := errors.Join(json.Unmarshal(old, &a), json.Unmarshal(now, &b)); err != nil {
		return err
	}
	was, err := readSmall(p.old.root, a.File, againMost)
	if err != nil {
		return err
	}
	is, err := readSmall(p.now.root, b.File, againMost)
	if err != nil {
		return err
	}
	if a.Segment != b.Segment || a.Offset != b.Offset || a.Alarm != b.Alarm || !onlyHidden([]byte(a.Why), []byte(b.Why)) || !onlyHidden(was, is) {
		return errors.New("what went to quarantine is another")
	}
	return nil
}

func (p *pair) blob(old, now Blob) error {
	if to, ok := p.sums[old.SHA256]; ok {
		if to != now.SHA256 {
			return fmt.Errorf("blob %s became two", old.SHA256)
		}
		return nil
	}
	p.sums[old.SHA256] = now.SHA256
	if old.Truncated != now.Truncated || !onlyHidden([]byte(old.Role), []byte(now.Role)) || !onlyHidden([]byte(old.Media), []byte(now.Media)) {
		return fmt.Errorf("blob %s is called something else", old.SHA256)
	}
	if old.SHA256 == now.SHA256 {
		return nil
	}
	if old.Size > againMost || now.Size > againMost {
		p.left++
		return nil
	}
	was, err := readSmall(p.old.root, blobName(old.SHA256), againMost)
	if err != nil {
		return err
	}
	is, err := readSmall(p.now.root, blobName(now.SHA256), againMost)
	if err != nil {
		return err
	}
	if sumHex(was) != old.SHA256 {
		return fmt.Errorf("blob %s of the old bundle has other bytes than its name says", old.SHA256)
	}
	if !onlyHidden(was, is) {
		return fmt.Errorf("blob %s differs from %s in more than hidden values", now.SHA256, old.SHA256)
	}
	return nil
}

func blobName(sum string) string { return "blobs/sha256/" + sum[:2] + "/" + sum }
