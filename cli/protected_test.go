package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/steps"
)

func TestProtectedFile(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: handrail/v1\nkind: Protected\n"
	p := &process.Program{Environ: []string{"HOME=" + t.TempDir()}}
	if got, err := settings.ProtectedMarkers(p); err != nil || got != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	dir := filepath.Join(p.Home(), ".config", "handrail")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, settings.ProtectedFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(head + "markers:\n- {key: example.com/tier, value: ledger}\n- {key: \"*/do-not-touch\"}\n")
	env, err := stepEnv(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := env.Protected()
	want := []steps.Marker{{Key: "example.com/tier", Value: "ledger"}, {Key: "*/do-not-touch"}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("markers, %v:\n%s", err, d)
	}
	if c := settings.CheckProtected(p); c.State != "ok" || !strings.Contains(c.Detail, "2 markers of the team") {
		t.Errorf("doctor: %+v", c)
	}
	for text, want := range map[string]string{
		"markers: []\n":                           "apiVersion is missing",
		head:                                      "markers is missing",
		head + "markers: [{value: x}]\n":          "key is missing",
		head + "markers: [{key: \"*\"}]\n":        "not a label or annotation key",
		head + "markers: [{key: a b}]\n":          "not a label or annotation key",
		head + "markers: [{key: a, valu: b}]\n":   "valu",
		head + "markers: [{key: a, value: ''}]\n": "value is empty",
	} {
		write(text)
		if got, err := settings.ProtectedMarkers(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", text, got, err, want)
		}
	}
	if c := settings.CheckProtected(p); c.State != "bad" {
		t.Errorf("doctor: %+v", c)
	}
}
