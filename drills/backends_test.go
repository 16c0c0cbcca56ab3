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
var onBackends = flag.String("backends", "some", "what TestBackends walks: some, all, backends, or walks as \"killed-runner on pg\", with commas")

// some are what the suite has seconds for: on one a lock has an id and its owner a release, on the other neither.
// What differs beside that is held by TestGateContract, on every backend.
var some = []string{"killed-runner on pg", "killed-runner on s3-dynamodb", "torn-state on s3-dynamodb"}

// backendWalks are the acts of a walk on a backend that ended done, where that is not as on the first, and what a
// refusal must say.
var backendWalks = map[string]struct {
	acts int
	says []string
}{
	"killed-runner":           {acts: 1},
	"killed-runner on consul": {acts: 0},
	"killed-runner on pg":     {acts: 0},
	"killed-runner on http":   {acts: 0},
	"killed-runner on local":  {says: []string{"process "}},
	"torn-state":              {acts: 3},
	"torn-state on http":      {acts: 1, says: []string{"a run elsewhere on"}},
	"partial-apply":           {acts: 4},
	"partial-apply on http":   {acts: 1, says: []string{"a run elsewhere on"}},
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
		for i, backend := range d.Backends() {
			name := d.ID + " on " + backend
			if i == 0 || !wantsBackend(name, backend) {
				continue
			}
			s, err := d.On(backend)
			if err != nil {
				t.Fatal(err)
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

// wantsBackend reports whether a walk was asked for, by its backend or by its whole name.
func wantsBackend(name, backend string) bool {
	switch *onBackends {
	case "all":
		return true
	case "some":
		return slices.Contains(some, name)
	}
	asked := strings.Split(*onBackends, ",")
	return slices.Contains(asked, backend) || slices.Contains(asked, name)
}

// checkOn is check for a walk on a backend.
func (w *walked) checkOn(t *testing.T) {
	<-w.ended
	s, rep := w.scene, w.rep
	t.Log(w.said.String())
	if w.err != nil {
		t.Fatal(w.err)
	}
	want, ok := backendWalks[s.Drill.ID+" on "+s.Backend]
	if !ok {
		want = backendWalks[s.Drill.ID]
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
	t.Logf("%-14s %-12s %-10s exit %d, refused %-12s %d acts, %d writes, %s", s.Drill.ID, s.Backend, rep.Session.Outcome, rep.Code, cmp.Or(rep.Session.Refused, "nothing"), rep.Proof.Acts, len(rep.Proof.Writes), w.took.Round(time.Second))
}
