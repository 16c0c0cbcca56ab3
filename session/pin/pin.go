// Package pin holds an incident to the clusters that its contexts led to.
//
// The first time that an incident uses a context, the journal gets an env entry
// that names the server, the UID of the cluster, its certificate authority and the
// way there: a pin. [Pins.Note] takes the pins out of the journal, [Pins.Judge]
// refuses a context that leads elsewhere since, and [Pins.Draft] says what the
// journal does not have yet. One pin is the incident's own: other contexts may be
// used beside it, but none may stand in for it. [OwnContext] finds the one to go on
// with. Nothing here asks a cluster or writes.
package pin

import (
	"fmt"

	"handrail/steps"
)

// Pins are the clusters that the contexts of an incident led to when it first
// used them. Maps are never changed in place: an executor reads them beside.
type Pins struct {
	own    *steps.Cluster
	byName map[string]steps.Cluster
}

// HasOwn reports whether the journal says which cluster the incident is about.
func (p Pins) HasOwn() bool { return p.own != nil }

// Judge says why the incident must not ask a cluster.
func (p Pins) Judge(seen steps.Cluster) error {
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
				Cure: fmt.Sprintf("no other request was sent there; go on with --context %q, or open an incident of its own for the other cluster", was.Context)}
		}
	}
	return nil
}

// cure is the next safe move where a name leads elsewhere. Nothing was asked
// there but the UID.
func cure(was, now steps.Cluster) string {
	if was.UID == "" || was.UID != now.UID {
		return "no other request was sent there; put the kubeconfig back, or look at the other cluster in an incident of its own"
	}
	where := "name that one in the step"
	if now.Own {
		where = "go on with --context and that name"
	}
	return "its UID says it is the same cluster at another address; no other request was sent there; put the address back, or, if the new one is meant, enter it as a context of another name and " + where
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
		return "it is unknown whether it is the same cluster"
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

// same reports whether two pins say the same; why a UID is unknown is no part
// of that.
func same(a, b steps.Cluster) bool {
	a.Unread, b.Unread = "", ""
	return a == b
}

// Draft is what the journal is to be told of a cluster that was agreed to; nil
// where it knows. A UID that was read once stays, also where it may not be read
// any more.
func (p Pins) Draft(seen steps.Cluster) map[string]steps.Value {
	was, ok := p.byName[seen.Context]
	if ok && seen.UID == "" {
		seen.UID, seen.Unread = was.UID, was.Unread
	}
	if own := p.own; ok && was.Own && !seen.Own && own != nil && own.Context == seen.Context {
		seen.Own = true // asked for by its name
	}
	if ok && same(was, seen) {
		return nil
	}
	about := map[string]steps.Value{
		Name: steps.IdentOf(seen.Context), own: steps.BoolOf(seen.Own), user: steps.IdentOf(seen.User),
		server: steps.IdentOf(seen.Server), uid: steps.IdentOf(seen.UID), ca: steps.IdentOf(seen.CA),
	}
	if seen.UID == "" {
		about[uid] = steps.Unknown(steps.Ident, "could not check, because "+seen.Unread)
	}
	if seen.CA == "" {
		about[ca] = steps.Unknown(steps.Ident, "the kubeconfig names no certificate authority, or disables the check")
	}
	if seen.Way != "" {
		about[way] = steps.IdentOf(seen.Way)
	}
	return about
}
