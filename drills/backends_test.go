package drills_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/drills"
	"handrail/steps/catalog"
)

// -backends says on which backends TestBackends walks: "some" for those that stand for the others, "all", or names.
var onBackends = flag.String("backends", "some", "what TestBackends walks: some, all, backends, or walks as \"killed-runner on pg\" and \"torn-state (crossed on gcs)\", with commas")

// some are what the suite has seconds for: a release by id and one by the owner of the server, a state that is replaced by
// handrail's own request, and a variant that is refused. What differs beside that is held by TestGateContract, on every
// backend.
var some = []string{"killed-runner (on pg)", "killed-runner (live-holder on s3-dynamodb)", "torn-state (on s3-dynamodb)", "torn-state (on pg)", "missing-moved (frozen on s3)", "missing-moved (unlooked on s3)"}

// backendWalks are the acts of a walk on a backend that ended done, where that is not as on the first, and what a
// refusal must say: of a whole name, or of a form on any backend.
var backendWalks = map[string]struct {
	acts int
	says []string
}{
	"killed-runner":                {acts: 1},
	"killed-runner (on consul)":    {acts: 0},
	"killed-runner (on pg)":        {acts: 0},
	"killed-runner (on http)":      {acts: 0},
	"killed-runner (on local)":     {says: []string{"process "}},
	"killed-runner (live-holder)":  {says: []string{"process "}},
	"torn-state":                   {acts: 3},
	"torn-state (on http)":         {acts: 1, says: []string{"a run elsewhere on"}},
	"torn-state (unwell)":          {acts: 1, says: []string{"not confirmed that what exists is healthy"}},
	"torn-state (crossed)":         {acts: 3},
	"torn-state (crossed on http)": {acts: 1, says: []string{"a run elsewhere on"}},
	"torn-state (uncompared)":      {acts: 1, says: []string{"it is not said what is wrong with it"}},
	"missing-moved":                {acts: 3},
	"missing-moved (wanted)":       {acts: 3},
	"missing-moved (frozen)":       {acts: 4},
	"missing-moved (unmended)":     {acts: 1, says: []string{"one object with two names", "terraform_data.database"}},
	"missing-moved (unlooked)":     {acts: 1, says: []string{"a move would give that one the name"}},
	"partial-apply":                {acts: 4},
	"partial-apply (on http)":      {acts: 1, says: []string{"a run elsewhere on"}},
	"partial-apply (retry)":        {acts: 2, says: []string{"automatically"}},
}

// TestBackends walks the drills that name backends on them, headless: each is won by gates alone, or ends where that
// backend lets no gate go on, and the log of its server has no write of the trainee but those of the acts.
// `go test ./drills -run TestBackends -backends all -v` walks all of them and prints a table.
func TestBackends(t *testing.T) {
	t.Parallel()
	all, err := drills.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	var under []*walked
	var work sync.WaitGroup
	defer work.Wait()
	turns := make(chan struct{}, 3)
	for _, d := range all {
		for _, s := range elsewhere(t, d) {
			if !wantsBackend(s) {
				continue
			}
			ground := apart
			if s.Cluster() {
				ground = world
			}
			o, c := ground(t)
			w := &walked{scene: s, o: o, ended: make(chan struct{})}
			w.o.Progress = func(text string) { fmt.Fprintln(&w.said, text) }
			under = append(under, w)
			work.Go(func() {
				defer close(w.ended)
				turns <- struct{}{}
				defer func() { <-turns }()
				begun := time.Now()
				w.rep, w.err = drills.RunAuto(t.Context(), w.o, c, s, &w.said)
				w.took = time.Since(begun)
			})
		}
	}
	if len(under) == 0 {
		t.Fatal("no drill runs on another backend")
	}
	for _, w := range under {
		t.Run(w.scene.Name(), func(t *testing.T) { w.checkOn(t) })
	}
}

// elsewhere are the forms of a drill on the backends that they name, but for the one that it is written for.
func elsewhere(t *testing.T, d *drills.Drill) (out []drills.Scene) {
	t.Helper()
	for _, variant := range append([]string{""}, d.Variants()...) {
		for _, backend := range d.Backends(variant) {
			s, err := d.On(variant, backend)
			if err != nil {
				t.Fatal(err)
			}
			if s.Backend != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// wantsBackend reports whether a walk was asked for, by its backend or by its whole name, with or without its marks.
func wantsBackend(s drills.Scene) bool {
	switch *onBackends {
	case "all":
		return true
	case "some":
		return slices.Contains(some, s.Name())
	}
	asked := strings.Split(*onBackends, ",")
	return slices.ContainsFunc([]string{s.Backend, s.Name(), strings.NewReplacer("(", "", ")", "").Replace(s.Name())}, func(name string) bool { return slices.Contains(asked, name) })
}

// checkOn is check for a walk on a backend.
func (w *walked) checkOn(t *testing.T) {
	<-w.ended
	s, rep := w.scene, w.rep
	t.Log(w.said.String())
	if w.err != nil {
		t.Fatal(w.err)
	}
	want, ok := backendWalks[s.Name()]
	if !ok {
		form := s
		form.Backend = ""
		if want, ok = backendWalks[form.Name()]; !ok {
			t.Fatalf("nothing says what %s must come to", s.Name())
		}
	}
	for _, f := range rep.Failed {
		t.Error(f)
	}
	if rep.Code != s.Expect.Exit || !rep.Judgement.Won || !rep.Proof.OK || rep.Proof.Acts != want.acts || rep.Proof.Before != 0 {
		t.Errorf("code %d, won %v, proof %+v, want %d, won and proven by %d acts", rep.Code, rep.Judgement.Won, rep.Proof, s.Expect.Exit, want.acts)
	}
	if s.Backend != "local" && want.acts > 0 && !slices.ContainsFunc(rep.Proof.Writes, func(x drills.Write) bool { return x.Act != "" }) && want.says == nil {
		t.Errorf("no log has a write of the acts: %+v", rep.Proof.Writes)
	}
	if len(rep.Proof.Strange) > 0 {
		t.Errorf("the audit log has requests of handrail that the bundle does not name: %q", rep.Proof.Strange)
	}
	refusalSays(t, rep, want.says)
	sound(t, w.o, rep.Bundle)
	t.Logf("%-14s %-12s %-12s %-10s exit %d, refused %-12s %d acts, %d writes, %s", s.Drill.ID, s.Variant, s.Backend, rep.Session.Outcome, rep.Code, cmp.Or(rep.Session.Refused, "nothing"), rep.Proof.Acts, len(rep.Proof.Writes), w.took.Round(time.Second))
}
