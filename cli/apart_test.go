package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/drills"
	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps/catalog"
)

// TestDrillWithoutCluster starts the first drill as make practice does, leaves it, goes on with it
// and stops it. It takes the program on PATH, starts no lab, and what the operator has set for
// their own clouds has no say.
func TestDrillWithoutCluster(t *testing.T) {
	t.Parallel()
	tofu, err := lab.Tofu(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	home := demoHome(t)
	p := withoutLab(t, home, filepath.Dir(tofu))
	p.env = append(p.env,
		"AWS_PROFILE=of-another-account", "AWS_ACCESS_KEY_ID=AKIAOTHER", "AWS_SECRET_ACCESS_KEY=other", "AWS_REGION=eu-other-1", "AWS_ENDPOINT_URL_S3=http://127.0.0.1:1", "TF_WORKSPACE=other", "KUBECONFIG="+filepath.Join(home, "own.kubeconfig"))
	said := p.run(process.ExitOpen, "\nq\n", "drill", "start", "stale-lock", "--plain")
	p.stops("stale-lock")
	for _, want := range []string{"nothing is built: OpenTofu ", "fits", "The page: ", "Next: "} {
		if !strings.Contains(said, want) {
			t.Errorf("the start does not say %q:\n%s", want, said)
		}
	}
	st := p.folded(p.bundle())
	lock, _ := st.Step("state-lock/lock")
	if !lock.Facts["held"].Bool() || lock.Facts["backend"].Text() != "s3" {
		t.Errorf("the lock that was read: %v", lock.Facts)
	}
	src, err := os.ReadFile(filepath.Join(p.state, "handrail/drills/stale-lock/drill.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept struct {
		Lab       string
		Processes []struct{ PID int }
	}
	if err := json.Unmarshal(src, &kept); err != nil {
		t.Fatal(err)
	}
	if kept.Lab != "" || len(kept.Processes) == 0 {
		t.Fatalf("drill.json: %+v", kept)
	}
	p.run(process.ExitUsage, "", "drill", "start", "stale-lock", "--plain") // it is started
	away := *p
	away.env = append(slices.Clone(p.env), "PATH=/usr/bin:/bin") // it goes on with the program that it began with
	away.run(process.ExitOpen, "q\n", "resume", "--plain")
	if _, err := os.Stat(filepath.Join(home, "cache")); err == nil {
		t.Error("something was built, or a lab was started")
	}
	p.run(process.ExitDone, "", "drill", "stop", "stale-lock")
	if stage.StartMark(kept.Processes[0].PID) != "" {
		t.Errorf("the bucket is still served by process %d", kept.Processes[0].PID)
	}
	// What does not fit is named, with what would.
	old := filepath.Join(home, "old", "terraform")
	if err := os.Mkdir(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho 'Terraform v1.8.5'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if said := p.run(process.ExitUsage, "", "drill", "start", "stale-lock", "--plain", "--program", old); !strings.Contains(said, "Terraform 1.8.5 at "+old+" does not fit") || !strings.Contains(said, lab.FitFor) {
		t.Errorf("the refusal says %s", said)
	}
}

// withoutLab is a home for which nothing is built, with a folder of programs on its PATH.
func withoutLab(t *testing.T, home, programs string) *practice {
	p := &practice{t: t, home: home, state: t.TempDir()}
	p.env = []string{"HOME=" + home, "GOGC=" + os.Getenv("GOGC"), "PATH=" + programs + ":/usr/bin:/bin", "TERM=xterm-256color", "LC_ALL=C.UTF-8", "XDG_STATE_HOME=" + p.state, "XDG_CACHE_HOME=" + filepath.Join(home, "cache")}
	return p
}

// TestWhatIsBuiltIsSaidFirst: on the sheet of a drill with a cluster, by doctor and by the status
// of the lab; none of them builds.
func TestWhatIsBuiltIsSaidFirst(t *testing.T) {
	t.Parallel()
	home := demoHome(t)
	p := withoutLab(t, home, filepath.Join(home, "none"))
	s, _ := p.tty(45, 140)
	(&walker{screen: s, p: p}).practises("killed-runner")
	s.send("\r")
	s.shows(`(?s)To be built first, once: the practice cluster.*tofu.*minutes`)
	if said := p.run(process.ExitDone, "", "lab", "status"); !strings.Contains(said, "To be built first, once: the practice cluster") {
		t.Errorf("lab status says %s", said)
	}
	said := p.run(process.ExitDone, "", "doctor")
	if i := strings.Index(said, " practice: "); i < 0 || !strings.Contains(said[i:], "to be built first, once: the practice cluster") {
		t.Errorf("doctor says %s", said)
	}
	if _, err := os.Stat(filepath.Join(home, "cache")); err == nil {
		t.Error("something was built, or a lab was started")
	}
}

// TestBucketIsServedToTheDrillAlone: the command that serves a bucket does nothing without the
// folder of one.
func TestBucketIsServedToTheDrillAlone(t *testing.T) {
	t.Parallel()
	home := demoHome(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(home, "bin", "handrail"), bucketWord, t.TempDir())
	cmd.Env = []string{"HOME=" + home}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "keys of the bucket") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestPracticeNeedsNoCluster: the drill that make practice starts is one that opens at once.
func TestPracticeNeedsNoCluster(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`(?m)^practice:(?:.*\n\t.*)+?drill start ([a-z-]+)`).FindSubmatch(makefile)
	if first == nil {
		t.Fatal("make practice starts no drill")
	}
	rows, err := drills.List(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.ID == string(first[1]) && (r.Cluster || len(r.Programs) != 1) {
			t.Errorf("%s needs %q", r.ID, r.Programs)
		}
	}
	if !slices.ContainsFunc(rows, func(r drills.Row) bool { return r.ID == string(first[1]) }) {
		t.Errorf("there is no drill %s", first[1])
	}
}
