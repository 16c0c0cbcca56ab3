package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"handrail/evidence"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/steps/fault"
	"handrail/triage"
)

// The names by which an env entry tells what a context leads to. One that has
// pinName is a pin: from it on the incident holds the context to it.
const (
	pinName   = "context.name"
	pinOwn    = "context.own"
	pinUser   = "context.user"
	pinServer = "cluster.server"
	pinUID    = "cluster.uid"
	pinCA     = "cluster.ca"
	pinWay    = "cluster.way" // absent for the plain way

	// otherName stands in surroundings of a cluster that is not the incident's own.
	otherName = "context.other"
)

// pins are the clusters that the contexts of an incident led to when it first
// used them. Maps are never changed in place: an executor reads them beside.
type pins struct {
	own    *steps.Cluster
	byName map[string]steps.Cluster
}

// pin implements steps.Pin: it refuses a context that leads elsewhere than the
// journal says, and writes down what is new.
func (s *Session) pin(ctx context.Context, seen steps.Cluster) error {
	seen = s.asStored(seen)
	if s.carrying {
		if seen.Own && s.pins.own == nil {
			return &steps.PinError{Context: seen.Context, Why: "the journal does not say which cluster this incident is about", Cure: "nothing was sent; preview the gate again"}
		}
		return s.pins.judge(seen)
	}
	return s.call(ctx, func() error {
		if err := s.pins.judge(seen); err != nil {
			return err
		}
		if err := s.keepPin(seen); err != nil {
			return err
		}
		if !seen.Own && !s.told[seen.Context] {
			s.told[seen.Context] = true
			s.custodyOf(seen.Context)
		}
		return nil
	})
}

// asStored is a cluster as the journal holds it, so that both can be compared.
func (s *Session) asStored(c steps.Cluster) steps.Cluster {
	for _, text := range []*string{&c.Context, &c.Server, &c.UID, &c.User, &c.CA, &c.Way} {
		*text = s.bundle.RedactKnown(*text)
	}
	c.Unread = s.bundle.Redact(c.Unread)
	return c
}

// judge says why the incident must not ask a cluster.
func (p pins) judge(seen steps.Cluster) error {
	if was, ok := p.byName[seen.Context]; ok {
		if why := moved(was, seen); why != "" {
			return &steps.PinError{Context: seen.Context,
				Why:  fmt.Sprintf("context %q led to %s when this incident first used it, and now to %s (%s)", seen.Context, told(was), told(seen), why),
				Cure: cure(was, seen)}
		}
	}
	if was := p.own; seen.Own && was != nil && was.Context != seen.Context {
		if why := another(*was, seen); why != "" {
			return &steps.PinError{Context: seen.Context,
				Why:  fmt.Sprintf("this incident is about context %q, %s, and %q leads to %s (%s)", was.Context, told(*was), seen.Context, told(seen), why),
				Cure: fmt.Sprintf("nothing else was asked there; go on with --context %q, or open an incident of its own for the other cluster", was.Context)}
		}
	}
	return nil
}

// cure is the next safe move where a name leads elsewhere. Nothing was asked
// there but the UID.
func cure(was, now steps.Cluster) string {
	if was.UID == "" || was.UID != now.UID {
		return "nothing else was asked there; put the kubeconfig back, or look at the other cluster in an incident of its own"
	}
	where := "name that one in the step"
	if now.Own {
		where = "go on with --context and that name"
	}
	return "by its UID it is the same cluster at another address; nothing else was asked there; put the address back, or, if the new one is meant, enter it as a context of another name and " + where
}

// moved says what keeps one name from being the same cluster as before.
func moved(was, now steps.Cluster) string {
	switch {
	case was.Server != now.Server:
		return "another server"
	case was.UID != "" && now.UID != "" && was.UID != now.UID:
		return "another cluster behind the same server"
	case (was.UID == "" || now.UID == "") && was.Way != now.Way:
		return fmt.Sprintf("by another way, %s instead of %s, and its UID was not read both times", wayOf(now), wayOf(was))
	case was.UID != "" && now.UID == "" && (now.CA == "" || was.CA != now.CA):
		return "whether it is the same cluster cannot be told"
	case was.UID == "" && was.CA != now.CA:
		return "another certificate authority, and its UID was never read"
	}
	return ""
}

// another says what keeps two names from being one cluster. A cluster has many
// addresses and one UID.
func another(was, now steps.Cluster) string {
	switch {
	case was.UID != "" && now.UID != "" && was.UID == now.UID:
		return ""
	case was.UID != "" && now.UID != "":
		return "another cluster"
	}
	return moved(was, now)
}

func wayOf(c steps.Cluster) string {
	if c.Way == "" {
		return "no proxy"
	}
	return c.Way
}

// told is a cluster in words.
func told(c steps.Cluster) string {
	if c.UID == "" {
		return fmt.Sprintf("%s (cluster UID unknown: %s)", c.Server, c.Unread)
	}
	return fmt.Sprintf("%s (cluster UID %s)", c.Server, c.UID)
}

// keepPin writes a pin down where the journal does not have it. A UID that was
// read once stays in it, also where it may not be read any more.
func (s *Session) keepPin(seen steps.Cluster) error {
	was, ok := s.pins.byName[seen.Context]
	if ok && seen.UID == "" {
		seen.UID, seen.Unread = was.UID, was.Unread
	}
	if own := s.pins.own; ok && was.Own && !seen.Own && own != nil && own.Context == seen.Context {
		seen.Own = true // asked for by its name
	}
	if ok && same(was, seen) {
		return nil
	}
	about := map[string]steps.Value{
		pinName: steps.IdentOf(seen.Context), pinOwn: steps.BoolOf(seen.Own), pinUser: steps.IdentOf(seen.User),
		pinServer: steps.IdentOf(seen.Server), pinUID: steps.IdentOf(seen.UID), pinCA: steps.IdentOf(seen.CA),
	}
	if seen.UID == "" {
		about[pinUID] = steps.Unknown(steps.Ident, "could not check, because "+seen.Unread)
	}
	if seen.CA == "" {
		about[pinCA] = steps.Unknown(steps.Ident, "the kubeconfig names no certificate authority, or says not to check")
	}
	if seen.Way != "" {
		about[pinWay] = steps.IdentOf(seen.Way)
	}
	if s.dead != nil {
		return s.dead
	}
	return s.surround(about, nil)
}

// same reports whether two pins say the same; why a UID is unknown is no part
// of that.
func same(a, b steps.Cluster) bool {
	a.Unread, b.Unread = "", ""
	return a == b
}

// note takes a pin out of an entry of the journal.
func (p *pins) note(e evidence.Entry) {
	var in surroundings
	if e.Type != "env" || json.Unmarshal(e.Data, &in) != nil {
		return
	}
	name, ok := in.Context[pinName]
	if !ok || !name.Known() {
		return
	}
	text := func(key string) string {
		v := journal.Loaded(in.Context[key])
		if !v.Known() {
			return ""
		}
		return v.Text()
	}
	c := steps.Cluster{Context: text(pinName), Own: journal.Loaded(in.Context[pinOwn]).Bool(), Server: text(pinServer), UID: text(pinUID), User: text(pinUser), CA: text(pinCA), Way: text(pinWay)}
	if c.UID == "" {
		c.Unread = journal.Loaded(in.Context[pinUID]).Why()
	}
	p.byName = maps.Clone(p.byName)
	if p.byName == nil {
		p.byName = map[string]steps.Cluster{}
	}
	p.byName[c.Context] = c
	if c.Own {
		p.own = &c
	}
}

// custodyOf records what another context leads to and as whom, as custody does
// for the incident's own.
func (s *Session) custodyOf(name string) {
	if s.cfg.Server == nil || !s.hold() {
		return
	}
	st, a := s.state, s.asking("")
	look := Gather(func(ctx context.Context, env steps.Env, st triage.State) map[string]steps.Value {
		about := s.cfg.Server(ctx, env.At(name), st)
		if about != nil {
			about[otherName] = steps.IdentOf(name)
		}
		return about
	})
	go func() { // ends with the look, which gatherTime bounds
		defer s.work.Done()
		defer fault.To(unheard)
		s.gather(steps.WithSecret(steps.WithAudit(s.ctx, a.next), s.secret), look, st, a)
	}()
}

// meantBy is the context that surroundings of the incident's own cluster name,
// although it may not have answered.
func meantBy(e evidence.Entry) (name string, ok bool) {
	var in surroundings
	if e.Type != "env" || json.Unmarshal(e.Data, &in) != nil {
		return "", false
	}
	_, other := in.Context[otherName]
	v := journal.Loaded(in.Context["cluster.context"])
	if other || !v.Known() {
		return "", false
	}
	return v.Text(), true
}

// OwnContext is the name of the context that an incident is about, as its
// journal tells: the one to go on with, whichever is current now. ok is false
// where it names none.
func OwnContext(path string) (name string, ok bool, err error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	var p pins
	for e, err := range r.Entries() {
		if err != nil {
			break // what is wrong with the journal is said by who goes on with it
		}
		p.note(e)
		if !ok {
			name, ok = meantBy(e)
		}
	}
	if p.own != nil {
		return p.own.Context, true, nil
	}
	return name, ok, nil
}
