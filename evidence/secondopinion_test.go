package evidence

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildGitleaks builds the gitleaks that evidence/gitleaks pins.
func buildGitleaks(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "gitleaks")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-tags", "gore2regex", "-o", tool, "github.com/zricethezav/gitleaks/v8")
	cmd.Dir = "gitleaks"
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building gitleaks: %v\n%s", err, out)
	}
	return tool
}

type gitleaksFinding struct {
	RuleID, File, Match, Secret string
	StartLine                   int
}

func askGitleaks(t *testing.T, tool, dir string) []gitleaksFinding {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool, "dir", "--no-banner", "--log-level", "error", "--exit-code", "0",
		"--ignore-gitleaks-allow", "--gitleaks-ignore-path", os.DevNull, "--report-format", "json", "--report-path", "-", "--", dir)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("gitleaks: %v", err)
	}
	var all []gitleaksFinding
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatalf("gitleaks says %q: %v", out, err)
	}
	return all
}

// TestSecondOpinion plants every kind in every context into a bundle, as notes and as artifacts, and lets gitleaks, whose
// rules are not ours, search the bundle. It also searches the same texts as they were, so that finding nothing means
// something.
func TestSecondOpinion(t *testing.T) {
	t.Parallel()
	tool := buildGitleaks(t)
	b := create(t, testOptions(filepath.Join(t.TempDir(), "keys")))
	raw := t.TempDir()
	var secrets []string
	for n, k := range kinds {
		rnd := rand.New(rand.NewPCG(11, uint64(n)))
		for i, c := range contexts {
			text, planted := plant(rnd, k.text)
			secrets = append(secrets, planted...)
			in := c.wrap(text)
			note(t, b, in)
			putBlob(t, b, "text/plain", in)
			if err := os.WriteFile(filepath.Join(raw, fmt.Sprintf("%d-%d.txt", n, i)), []byte(in), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := askGitleaks(t, tool, raw)
	if len(before) < len(kinds) {
		t.Errorf("gitleaks finds %d secrets in %d texts that are full of them: it does not search", len(before), len(kinds)*len(contexts))
	}
	planted := allSlices12(secrets)
	doubts := 0
	for _, f := range askGitleaks(t, tool, b.Path()) {
		if l := leakOf(f.Match, planted); l != "" {
			t.Errorf("%s, line %d: gitleaks (%s) finds %q, a part of what was planted", f.File, f.StartLine, f.RuleID, l)
			continue
		}
		if !strings.Contains(f.Match, tokenOpen) && !strings.Contains(f.Secret, tokenOpen) && !isHex64(f.Secret) {
			doubts++
			t.Errorf("%s, line %d: gitleaks (%s) doubts %q", f.File, f.StartLine, f.RuleID, f.Match)
		}
	}
	t.Logf("%d findings before redaction, %d after", len(before), doubts)
}
