package redact_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"handrail/evidence"
	"handrail/evidence/redact"
)

// buildGitleaks builds the gitleaks that evidence/gitleaks pins.
func buildGitleaks(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "gitleaks")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-tags", "gore2regex", "-o", tool, "github.com/zricethezav/gitleaks/v8")
	cmd.Dir = "../gitleaks"
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

// keep stores text as a note and as an artifact.
func keep(t *testing.T, b *evidence.Bundle, text string) {
	t.Helper()
	if _, err := b.Append(t.Context(), evidence.Draft{Type: "note", Actor: "robin", Data: map[string]any{"text": text}}); err != nil {
		t.Fatal(err)
	}
	w, err := b.Blob("log", "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// TestSecondOpinion plants every kind in every context into a bundle, as notes and as artifacts, and lets gitleaks, whose
// rules are not ours, search the bundle. It also searches the same texts as they were, so that finding nothing means
// something.
func TestSecondOpinion(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	tool := buildGitleaks(t)
	b := create(t, filepath.Join(t.TempDir(), "keys"))
	raw := t.TempDir()
	var secrets []string
	kinds, wraps := redact.KindTexts(), redact.Wraps()
	for n, kind := range kinds {
		rnd := rand.New(rand.NewPCG(11, uint64(n)))
		for i, wrap := range wraps {
			text, planted := redact.Plant(rnd, kind)
			secrets = append(secrets, planted...)
			in := wrap(text)
			keep(t, b, in)
			if err := os.WriteFile(filepath.Join(raw, fmt.Sprintf("%d-%d.txt", n, i)), []byte(in), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := askGitleaks(t, tool, raw)
	if len(before) < len(kinds) {
		t.Errorf("gitleaks finds %d secrets in %d texts that are full of them: it does not search", len(before), len(kinds)*len(wraps))
	}
	planted := redact.AllSlices12(secrets)
	doubts := 0
	for _, f := range askGitleaks(t, tool, b.Path()) {
		if l := redact.LeakOf(f.Match, planted); l != "" {
			t.Errorf("%s, line %d: gitleaks (%s) finds %q, a part of what was planted", f.File, f.StartLine, f.RuleID, l)
			continue
		}
		if !strings.Contains(f.Match, redact.TokenOpen) && !strings.Contains(f.Secret, redact.TokenOpen) && !digest.MatchString(f.Secret) {
			doubts++
			t.Errorf("%s, line %d: gitleaks (%s) doubts %q", f.File, f.StartLine, f.RuleID, f.Match)
		}
	}
	t.Logf("%d findings before redaction, %d after", len(before), doubts)
}
