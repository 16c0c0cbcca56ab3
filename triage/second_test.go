package triage

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// pair is what a policy adds to a gate of the tests.
func pair() *Second {
	return &Second{Why: "two persons unlock", Asks: []string{"robot", "op@api"}, Own: []string{"SHA256:own"}, May: []string{"grace@example.com"}}
}

// shownToTwo is a preview that a second person must approve.
func shownToTwo(step string, class Class, until time.Time) GateShown {
	b := shown(step, class)
	b.Second, b.Until = pair(), until
	return b
}

func approval(step string, at time.Time) Approve {
	return Approve{Digest: "d-" + step, Person: "grace@example.com", Sig: "sig", Key: "SHA256:grace", Signed: at}
}

func TestSecondPerson(t *testing.T) {
	t.Parallel()
	armed := tell(t, State{}, append(ready(), shownToTwo(unlock, Release, t0.Add(time.Hour)))...)
	now := next(armed, nil).At
	refused(t, armed, answered(unlock))
	for name, tc := range map[string]struct {
		change func(a *Approve)
		why    string
	}{
		"no key":          {func(a *Approve) { a.Key = "" }, "which key signed it"},
		"no time":         {func(a *Approve) { a.Signed = time.Time{} }, "which key signed it"},
		"key of operator": {func(a *Approve) { a.Key = "SHA256:own" }, "belongs to the operator"},
		"the operator":    {func(a *Approve) { a.Person = "robot" }, "is the operator"},
		"by another name": {func(a *Approve) { a.Person = "ROBOT@example.com" }, "is the operator"},
		"one of several":  {func(a *Approve) { a.Person = "grace, robot@example.com" }, "is the operator"},
		"at the server":   {func(a *Approve) { a.Person = "op@api" }, "is the operator"},
		"another preview": {func(a *Approve) { a.Digest = "d-other" }, "no armed gate"},
		"long ago":        {func(a *Approve) { a.Signed = now.Add(-11 * time.Minute) }, "expires"},
		"in the future":   {func(a *Approve) { a.Signed = now.Add(2 * time.Minute) }, "in the future"},
		"unsigned":        {func(a *Approve) { a.Sig = "" }, "no signature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := approval(unlock, now)
			tc.change(&a)
			if bad := refused(t, armed, a); !strings.Contains(bad.Why, tc.why) {
				t.Errorf("refused because %q, want %q", bad.Why, tc.why)
			}
		})
	}
	approved := tell(t, armed, approval(unlock, now))
	if a, ok := approved.Holding(unlock, now); !ok || a.Person != "grace@example.com" {
		t.Fatalf("Holding = %+v, %v", a, ok)
	}
	refused(t, approved, approval(unlock, now)) // twice the same
	acting := tell(t, approved, answered(unlock), start(unlock))
	if acting.Acting != unlock {
		t.Fatal("an approved gate does not act")
	}
	t.Run("shown again", func(t *testing.T) {
		t.Parallel()
		again := tell(t, approved, GateClosed{Step: unlock, Why: "esc"}, shownToTwo(unlock, Release, t0.Add(2*time.Hour)))
		refused(t, again, answered(unlock))
	})
	t.Run("lapses before the act", func(t *testing.T) {
		t.Parallel()
		confirmed := tell(t, approved, answered(unlock))
		late := Event{Seq: confirmed.Seq + 1, At: now.Add(10*time.Minute + time.Second), Body: start(unlock)}
		if _, err := Fold(confirmed, late); err == nil {
			t.Error("it acts on an approval that has lapsed")
		}
	})
	t.Run("the approver takes over", func(t *testing.T) {
		t.Parallel()
		over := tell(t, approved, Handover{From: "robot", To: "grace", Why: "shift"})
		refused(t, over, answered(unlock))
	})
}

// TestSecondIsOmitted: nothing of it is in the record of a gate that needs one person.
func TestSecondIsOmitted(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal([]any{shown(unlock, Release), Approve{Digest: "d", Person: "p", Sig: "s"}})
	if err != nil || strings.Contains(string(raw), "second") || strings.Contains(string(raw), "signed") || strings.Contains(string(raw), "key") {
		t.Errorf("%s, %v", raw, err)
	}
}

// twoOracle says from the events alone whether a gate may act at a moment.
func twoOracle(told []Event, step string, now time.Time) bool {
	operator := "robot"
	var second *Second
	var digest string
	var good []Approve
	for _, e := range told {
		switch b := e.Body.(type) {
		case Handover:
			operator = b.To
		case GateShown:
			if b.Step == step {
				second, digest, good = b.Second, b.Digest, nil
			}
		case Approve:
			if b.Digest == digest {
				good = append(good, b)
			}
		}
	}
	if second == nil {
		return true
	}
	return slices.ContainsFunc(good, func(a Approve) bool {
		person, _, _ := strings.Cut(a.Person, "@")
		age := now.Sub(a.Signed)
		return a.Key != "" && a.Key != "SHA256:own" && person != "robot" && person != "op" && person != operator && age <= 10*time.Minute && age >= -time.Minute
	})
}

// TestNoGateOfTwoActsAlone draws stories around two gates that need a second
// person, with clocks that jump, and looks at every confirmation and act.
func TestNoGateOfTwoActsAlone(t *testing.T) {
	t.Parallel()
	acts, alone := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var s State
		var told []Event
		at := t0
		fold := func(b Body) {
			e := Event{Seq: s.Seq + 1, At: at, Actor: "robot", Body: b}
			to, err := Fold(s, e)
			if err != nil {
				return
			}
			for _, id := range []string{unlock, fix} {
				from, g := s.Gates[id].Phase, to.Gates[id].Phase
				if g == from || g != GateConfirmed && g != GateActing {
					continue
				}
				if !twoOracle(told, id, at) {
					t.Fatalf("%s > %s: %s is %s with nobody else's word", story(s), typeOf(b), id, g)
				}
				if g == GateActing {
					acts++
					if to.Gates[id].Shown.Second == nil {
						alone++
					}
				}
			}
			s, told = to, append(told, e)
		}
		for _, b := range ready() {
			fold(b)
		}
		for range rapid.IntRange(1, 30).Draw(t, "moves") {
			at = at.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Second, 6 * time.Minute, 11 * time.Minute, -20 * time.Second}).Draw(t, "later"))
			id := rapid.SampledFrom([]string{unlock, unlock, fix}).Draw(t, "gate")
			class := map[string]Class{unlock: Release, fix: Repair}[id]
			a := approval(id, at.Add(rapid.SampledFrom([]time.Duration{0, 0, -9 * time.Minute, -12 * time.Minute, 30 * time.Second, 5 * time.Minute}).Draw(t, "signed")))
			a.Person = rapid.SampledFrom([]string{"grace@example.com", "grace@example.com", "robot", "op@elsewhere", "bob"}).Draw(t, "person")
			a.Key = rapid.SampledFrom([]string{"SHA256:grace", "SHA256:grace", "SHA256:own", ""}).Draw(t, "key")
			one := shown(id, class)
			one.Until = at.Add(5 * time.Minute)
			moves := []Body{
				shownToTwo(id, class, at.Add(30*time.Minute)), one, a, answered(id), start(id), end(id, "failed"),
				GateClosed{Step: id, Why: "esc"}, Handover{From: s.Operator, To: "grace", Why: "x"}, Handover{From: s.Operator, To: "robot", Why: "x"},
			}
			if rapid.Bool().Draw(t, "on") { // what leads on, or else few stories come to an act
				moves = map[GatePhase][]Body{
					GateIdle: {moves[0], moves[0], one}, GateFailed: {moves[0], one}, GateArmed: {a, a, answered(id)},
					GateConfirmed: {start(id)}, GateActing: {end(id, "failed")},
				}[s.Gates[id].Phase]
			}
			fold(rapid.SampledFrom(moves).Draw(t, "body"))
			judge := func(string) []Verdict { return good("x") }
			for _, o := range Options(s, at, judge) {
				if o.Kind == DoConfirm && o.Available() && !twoOracle(told, o.Step, at) {
					t.Fatalf("%s: confirming %s is offered with nobody else's word", story(s), o.Step)
				}
			}
		}
		// However the story went, it ends with the straight way to an act: few come
		// to one by chance.
		last := rapid.SampledFrom([]string{unlock, fix}).Draw(t, "last")
		class := map[string]Class{unlock: Release, fix: Repair}[last]
		gate := shown(last, class)
		gate.Until = at.Add(5 * time.Minute)
		if rapid.Bool().Draw(t, "two") {
			gate = shownToTwo(last, class, at.Add(30*time.Minute))
		}
		for _, id := range []string{unlock, fix} {
			fold(end(id, "failed"))
			fold(GateClosed{Step: id, Why: "esc"})
		}
		for _, b := range []Body{gate, approval(last, at), answered(last), start(last)} {
			fold(b)
		}
	})
	if acts-alone == 0 || alone == 0 {
		t.Errorf("%d acts, %d of them of one person: too few to prove anything", acts, alone)
	}
}
