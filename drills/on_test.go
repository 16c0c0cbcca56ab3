package drills_test

import (
	"slices"
	"strings"
	"testing"

	"handrail/drills"
	"handrail/drills/stage"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestOnABackend: a drill is played where it says that it runs, on the servers of that backend alone, and its
// judgement is read again by that name, with its variant.
func TestOnABackend(t *testing.T) {
	t.Parallel()
	d, err := drills.Lookup("killed-runner", catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Backends(""); got[0] != stage.BackendKubernetes || len(got) != len(stage.Backends()) {
		t.Errorf("it runs on %q, want %q, kubernetes first", got, stage.Backends())
	}
	for backend, want := range map[string]struct {
		programs string
		exit     int
	}{
		"kubernetes": {"cluster tofu", 0}, "pg": {"postgres tofu", 0}, "s3-dynamodb": {"dynamodb s3 tofu", 0}, "s3": {"tofu", 0}, "local": {"tofu", 4},
	} {
		s, err := d.On("", backend)
		if err != nil || strings.Join(s.Programs(), " ") != want.programs || s.Expect.Exit != want.exit || s.Cluster() != (backend == "kubernetes") {
			t.Errorf("on %s it needs %q, a cluster %v, and ends with %d: %v", backend, s.Programs(), s.Cluster(), s.Expect.Exit, err)
		}
	}
	corrupt, err := drills.Lookup("torn-state", catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	s, err := corrupt.On("crossed", "gcs")
	if err != nil || !s.Cluster() || !slices.Contains(s.Programs(), "gcs") || s.Variant != "crossed" {
		t.Errorf("the objects of torn-state are in a cluster, wherever its state is: %q, %q, %v", s.Programs(), s.Variant, err)
	}
	st := triage.State{Drill: "torn-state", Timeline: []triage.Moment{{Type: "note", Text: drills.Judgement{Won: true}.Note(s)}}}
	if got, err := drills.Score(st, catalog.New()); err != nil || got.Name != "torn-state (crossed on gcs)" || !got.Won || got.Path != nil {
		t.Errorf("Score() = %+v, %v, want the judgement without a path, which was recorded elsewhere", got, err)
	}
	for _, tc := range []struct{ variant, backend, want string }{
		{"", "oracle", "it runs on kubernetes, s3"}, {"live-holder", "pg", "killed-runner (live-holder) does not run on \"pg\": it runs on s3, "}, {"gone", "pg", `no variant "gone"`},
	} {
		if _, err := d.On(tc.variant, tc.backend); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("On(%q, %q) = %v, want %q", tc.variant, tc.backend, err, tc.want)
		}
	}
	// On the backend that it is written for, a variant is the variant.
	for _, backend := range []string{"", "kubernetes"} {
		if s, err := d.On("live-holder", backend); err != nil || s.Name() != "killed-runner (live-holder)" {
			t.Errorf("On(live-holder, %q) = %q, %v", backend, s.Name(), err)
		}
	}
	none, err := drills.Lookup("orphan-hook", catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.On("", "pg"); err == nil {
		t.Error("a drill that names no backend runs on one")
	}
}
