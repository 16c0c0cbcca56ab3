package terraform

import (
	"bytes"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// httpWorld is a directory whose state and lock are on a server that tells no lock.
func httpWorld(t *testing.T, s *stateServer, main string) *world {
	t.Helper()
	return newBackend(t, "http", s.block(), main, "TF_HTTP_USERNAME=bot", "TF_HTTP_PASSWORD=http-password")
}

// block is how a directory names the server.
func (s *stateServer) block() string {
	return `address = "` + s.URL + `/tf/state"
lock_address = "` + s.URL + `/tf/state/lock"
unlock_address = "` + s.URL + `/tf/state/lock"`
}

// hold is another run that holds the lock, and lets go by the result.
func (s *stateServer) hold(info string) (letGo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = []byte(info)
	return func() { s.mu.Lock(); s.held = nil; s.mu.Unlock() }
}

func (s *stateServer) stored() (state, held []byte, taken int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.state), bytes.Clone(s.held), len(s.taken)
}

const anotherRun = `{"ID":"11111111-2222-3333-4444-555555555555","Operation":"OperationTypeApply","Who":"ci@runner","Version":"1.12.6"}`

// TestStateGatesAnswerForAnUnseenLock: a gate that writes a state whose lock cannot be
// read opens only for a person who answers for the runs elsewhere; beside one that holds
// the lock nothing is written, since the program takes it first.
func TestStateGatesAnswerForAnUnseenLock(t *testing.T) {
	t.Parallel()
	s := newStateServer(t)
	w := httpWorld(t, s, quick)
	w.run("apply", "-auto-approve", "-input=false")
	kinds := map[string]steps.Params{"state-rm": addressParams("terraform_data.a"), "state-mv": {"from": text("terraform_data.a"), "to": text("terraform_data.z")},
		"import": importParams("terraform_data.b", "object"), "restore-state": {"file": steps.PathOf("/nonexistent")}}
	for kind, in := range kinds {
		p := w.shows(kind, in)
		if strings.Contains(unmet(p), "Whether the state is locked") {
			t.Errorf("%s is shut for good: %s", kind, unmet(p))
		}
		if len(p.Owners) != 1 || p.Owners[0].Paused != "unknown" || !strings.Contains(p.Owners[0].Name, "at serial") || steps.Find(p.Target, "runs on") == "" {
			t.Errorf("%s asks no one to answer for the runs elsewhere: %+v %v", kind, p.Owners, p.Target)
		}
	}
	p := w.opens("state-rm", kinds["state-rm"])
	if !strings.Contains(steps.Find(p.Shown, "lock"), "takes it first") {
		t.Errorf("it does not say what it stands on: %v", p.Shown)
	}
	before, _, taken := s.stored()
	letGo := s.hold(anotherRun)
	refused := w.carry("state-rm", p)
	if after, held, _ := s.stored(); refused.Result == steps.Done || !bytes.Equal(before, after) || string(held) != anotherRun {
		t.Fatalf("beside a run that holds the lock: %+v, the lock %s", refused, held)
	}
	letGo()
	if o := w.carry("state-rm", w.opens("state-rm", kinds["state-rm"])); o.Result != steps.Done {
		t.Fatalf("outcome = %+v", o)
	}
	if _, held, now := s.stored(); held != nil || now != taken+1 {
		t.Errorf("the lock was taken %d times and is %s", now-taken, held)
	}
	fresh := w.shows("import", kinds["import"])
	if fresh.Owners[0].Name == p.Owners[0].Name {
		t.Error("what a person answered for one state counts for the next")
	}
}

// TestApplyTakesTheUnseenLock: an apply stands on the lock that its program takes first,
// and changes nothing where it cannot.
func TestApplyTakesTheUnseenLock(t *testing.T) {
	t.Parallel()
	s := newStateServer(t)
	w := httpWorld(t, s, quick)
	w.run("apply", "-auto-approve", "-input=false")
	w.env.Private = t.TempDir()
	w.write("http", s.block(), quick+"\nresource \"terraform_data\" \"more\" {}\n")
	_, in := w.saved(nil)
	p := w.previewOf("terraform/apply-plan", in)
	if len(p.Unmet)+len(p.Owners) > 0 || steps.Find(p.Target, "lock") != "not read" || !strings.Contains(steps.Find(p.Shown, "lock"), "takes it first") {
		t.Fatalf("unmet %s, owners %v, lock %q", unmet(p), p.Owners, steps.Find(p.Shown, "lock"))
	}
	before, _, _ := s.stored()
	letGo := s.hold(anotherRun)
	o := w.acts("terraform/apply-plan", in, stepstest.NewSink())
	if after, held, _ := s.stored(); o.Result != steps.Refused || !strings.Contains(o.Response, "nothing was changed") || !bytes.Equal(before, after) || string(held) != anotherRun {
		t.Fatalf("beside a run that holds the lock: %+v, the lock %s", o, held)
	}
	letGo()
	o = w.acts("terraform/apply-plan", in, stepstest.NewSink())
	if _, held, _ := s.stored(); o.Result != steps.Done || held != nil || steps.Find(o.After, "lock") != "not read" {
		t.Fatalf("outcome = %+v, the lock %s", o, held)
	}
	find := func(p steps.Preview) (steps.Outcome, error) {
		return kindOf("terraform/apply-plan").Changes(w.env).(steps.Finder).Find(t.Context(), p.Target, in, stepstest.NewSink())
	}
	if got, err := find(p); err != nil || got.Result != steps.Done {
		t.Errorf("what it came to, found on the machine where it ran: %+v, %v", got, err)
	}
	for i := range p.Target {
		if p.Target[i].Key == "runs on" {
			p.Target[i].Value = "ci-3 since boot 1234"
		}
	}
	if got, err := find(p); err == nil || !strings.Contains(err.Error(), "resume there") {
		t.Errorf("found on another machine: %+v, %v", got, err)
	}
}
