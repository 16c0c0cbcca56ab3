package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/cli/process"
	"handrail/runbooks"
	"handrail/steps/catalog"
)

// TestPastedTextIsTheLog: the text that a runbook recognises is given to it as the log, where
// it says that it wants it. It becomes a file with the incident, not with the match, and
// without the secrets in it. The log of the run that holds a lock is another text than the
// one of the run that was refused.
func TestPastedTextIsTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := &pastes{p: &process.Program{Environ: []string{"HOME=" + dir}, State: filepath.Join(dir, "handrail"), Now: time.Now}}
	lib, err := runbooks.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	text := "token = \"ghp_16C7e42F292c6912E7710c838347Ae178B4a\"\n\nError: Saved plan is stale\n\nThe given plan file can no longer be applied.\n"
	file := k.file(text)
	of := func(runbook string) map[string]string {
		return spoken(lib, runbooks.Hit{Runbook: runbook}, text, file)
	}
	if got := of("stale-plan")["log"]; got != file || file == "" {
		t.Errorf("the log of stale-plan is %q, want %q", got, file)
	}
	for _, runbook := range []string{"state-lock", "late-destroy", "state-corruption", "state-collision"} {
		if got := of(runbook)["log"]; got != "" {
			t.Errorf("%s takes a text that is not of its run as %q", runbook, got)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "handrail")); err == nil {
		t.Error("the match wrote something")
	}
	if err := k.write(map[string]string{"log": file}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(got), "Error: Saved plan is stale") || strings.Contains(string(got), "ghp_16C7") {
		t.Errorf("the log is %q %v", got, err)
	}
	if file := k.file("saved plan is stale"); file != "" {
		t.Errorf("a few words became the log %s", file)
	}
}
