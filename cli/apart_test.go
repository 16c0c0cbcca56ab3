package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/drills/lab"
	"handrail/drills/stage"
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
	p := &practice{t: t, home: home, state: t.TempDir()}
	p.env = []string{"HOME=" + home, "PATH=" + filepath.Dir(tofu) + ":/usr/bin:/bin", "TERM=dumb", "XDG_STATE_HOME=" + p.state, "XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"AWS_PROFILE=of-another-account", "AWS_ACCESS_KEY_ID=AKIAOTHER", "AWS_SECRET_ACCESS_KEY=other", "AWS_REGION=eu-other-1", "AWS_ENDPOINT_URL_S3=http://127.0.0.1:1", "TF_WORKSPACE=other", "KUBECONFIG=" + filepath.Join(home, "own.kubeconfig")}
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
	p.run(process.ExitOpen, "q\n", "resume", "--plain")
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
