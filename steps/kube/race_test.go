package kube

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"handrail/steps"
)

// race is one write by another client between preview and act.
type race struct {
	name      string
	delete    bool // the gate; strip otherwise
	condemned bool // the object is being deleted already
	early     bool // between arm and confirm; otherwise between re-read and act
	resource  string
	racer     func(s *stage, resource, name string)
	said      string // part of what the outcome says
}

func recreate(s *stage, resource, name string) {
	s.gone(resource, name)
	s.make(thingMade{resource: resource, name: name, finalizers: []string{cleaner}})
}

func races() []race {
	label := func(s *stage, resource, name string) {
		s.merge(resource, name, `{"metadata":{"labels":{"raced":"1"}}}`)
	}
	add := func(s *stage, resource, name string) { s.finalizers(resource, name, cleaner, another) }
	before := func(s *stage, resource, name string) { s.finalizers(resource, name, another, cleaner) }
	swap := func(s *stage, resource, name string) { s.finalizers(resource, name, another) }
	remove := func(s *stage, resource, name string) { s.merge(resource, name, `{"metadata":{"finalizers":null}}`) }
	condemn := func(s *stage, resource, name string) { s.condemn(resource, name) }
	data := func(s *stage, resource, name string) { s.merge(resource, name, `{"data":{"a":"c"}}`) }
	there := func(s *stage, resource, name string) { s.gone(resource, name) }
	return []race{
		{"recreated before the re-read", false, false, true, "configmaps", recreate, ""},
		{"recreated before the re-read, terminating", false, true, true, "configmaps", recreate, ""},
		{"recreated before the re-read of a delete", true, false, true, "configmaps", recreate, ""},
		{"finalizer added before the re-read", false, false, true, "configmaps", add, ""},
		{"finalizer put in front before the re-read", false, false, true, "jobs", before, ""},
		{"finalizer removed before the re-read", false, false, true, "configmaps", remove, ""},
		{"deletion asked for before the re-read", false, false, true, "configmaps", condemn, ""},
		{"gone before the re-read", false, true, true, "configmaps", there, ""},

		{"label", false, false, false, "configmaps", label, "somebody-else"},
		{"label of a Job", false, false, false, "jobs", label, "its version is"},
		{"label, terminating", false, true, false, "configmaps", label, "its version is"},
		{"content", false, false, false, "configmaps", data, "its version is"},
		{"finalizer added", false, false, false, "configmaps", add, "its finalizers are"},
		{"finalizer put in front", false, false, false, "configmaps", before, "its finalizers are"},
		{"finalizer swapped", false, false, false, "configmaps", swap, "its finalizers are"},
		{"finalizer removed", false, false, false, "configmaps", remove, "its finalizers are none"},
		{"finalizer removed, terminating", false, true, false, "configmaps", remove, "It is gone"},
		{"deletion asked for", false, false, false, "configmaps", condemn, "its deletionTimestamp is"},
		{"recreated", false, false, false, "configmaps", recreate, "another object of the same name"},
		{"recreated, terminating", false, true, false, "jobs", recreate, "another object of the same name"},

		{"label before a delete", true, false, false, "configmaps", label, "its version is"},
		{"finalizer added before a delete", true, false, false, "configmaps", add, "its finalizers are"},
		{"recreated before a delete", true, false, false, "configmaps", recreate, "another object of the same name"},
		{"content before a delete", true, false, false, "configmaps", data, "its version is"},
		{"gone before a delete", true, false, false, "configmaps", there, "It is gone"},
	}
}

// TestRaceBetweenPreviewAndAct lets another client write the object between what
// was shown and what is done, in each way once: nothing is random in it. Each
// time the act is refused, and the object stays as the other client left it.
func TestRaceBetweenPreviewAndAct(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	all := races()
	var aborted atomic.Int32
	t.Run("races", func(t *testing.T) {
		for i, r := range all {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				s := *s
				s.t = t
				if r.run(&s, fmt.Sprintf("raced-%d", i)) {
					aborted.Add(1)
				}
			})
		}
	})
	if got := int(aborted.Load()); got != len(all) {
		t.Errorf("%d races of %d were aborted", got, len(all))
	}
	if w := s.writes(); len(w) != 0 {
		t.Errorf("the operator wrote %d times: %+v", len(w), w)
	}
}

// run reports whether the act was aborted and the object left alone.
func (r race) run(s *stage, name string) bool {
	s.t.Helper()
	failed := func(format string, args ...any) bool {
		s.t.Helper()
		s.t.Errorf(format, args...)
		return false
	}
	var finalizers []string
	if !r.delete {
		finalizers = []string{cleaner}
	}
	uid := s.make(thingMade{resource: r.resource, name: name, finalizers: finalizers})
	if r.condemned {
		s.condemn(r.resource, name)
	}
	var g steps.Gater = gateOf("kube/strip-finalizer", s.env)
	in := s.stripParams(r.resource, name, uid)
	if r.delete {
		g, in = gateOf("kube/delete", s.env), deleteParams(r.resource, name, uid)
	}
	read := func() (steps.Preview, bool) {
		p, err := g.Preview(s.t.Context(), in, &scrap{})
		return p, err == nil || failed("Preview() = %v", err)
	}
	armed, ok := read()
	if !ok || len(armed.Unmet) > 0 {
		return failed("unmet = %s", unmetText(armed))
	}
	if r.early {
		r.racer(s, r.resource, name)
	}
	left := s.content(r.resource, name)
	fresh, ok := read()
	if !ok {
		return false
	}
	a, err := steps.Confirm(fresh, "i", "s", armed.Digest("i", "s"), armed.Phrase)
	if r.early {
		if a != nil || !(errors.Is(err, steps.ErrMoved) || errors.Is(err, steps.ErrUnmet)) {
			return failed("Confirm() = %v, %v, want a refusal", a, err)
		}
		return s.content(r.resource, name) == left || failed("the object is not as it was left")
	}
	if err != nil {
		return failed("Confirm() = %v", err)
	}
	r.racer(s, r.resource, name)
	left = s.content(r.resource, name)
	o, err := g.Act(s.t.Context(), a, &scrap{})
	if err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, r.said) {
		return failed("Act() = %+v, %v, want it refused with %q", o, err, r.said)
	}
	return s.content(r.resource, name) == left || failed("the object is not as it was left")
}
