package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/cli/bundle"
	"handrail/cli/plain"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/session/approval"
)

// TestPlainLowersTheSeverity with a second person, who sees with `handrail approve`
// what would be lowered, and why.
func TestPlainLowersTheSeverity(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	config := filepath.Join(home, "config", "handrail")
	grace := filepath.Join(home, "grace")
	if err := errors.Join(os.MkdirAll(config, 0o700), writeKey(grace)); err != nil {
		t.Fatal(err)
	}
	pub, err := os.ReadFile(grace + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	rules := strings.Replace(vaultPolicy, "release]", "release], severity: SEV-2", 1)
	if err := errors.Join(os.WriteFile(filepath.Join(config, settings.PolicyFile), []byte(rules), 0o600),
		os.WriteFile(filepath.Join(config, "approvers"), []byte("grace@example.com "+string(pub)), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := &process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now,
		Environ: []string{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Dir(config), "XDG_STATE_HOME=" + home}}
	s, err := openVault(p, "prod")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	lines := make(chan string)
	var out bytes.Buffer
	d := &plain.Dialogue{S: s, Lines: lines, Out: &out, Now: time.Now}
	ended := make(chan error)
	go func() { ended <- d.Run(t.Context()) }()
	lines <- "o"
	at := ""
	for i, o := range s.Snapshot().Options {
		if o.Kind == "severity" {
			at = fmt.Sprint(i + 1)
		}
	}
	lines <- at
	lines <- "SEV-3"
	lines <- "no user sees it"
	lines <- "n it is quiet" // it waits, and the incident goes on
	second := s.Snapshot().Lowers
	if second == nil {
		t.Fatalf("nothing waits for a second person\n%s", out.String())
	}
	var line, seen bytes.Buffer
	q := *p
	q.Stdout, q.Stderr = &line, &seen
	ask := func() (approval.Request, error) { return approval.ParseRequest(second.Request) }
	if err := approve(&q, bufio.NewReader(strings.NewReader("lower to SEV-3\n")), ask, nil, bundle.KeyChoice{File: grace}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"take the incident from SEV-2 down to SEV-3", "no user sees it", "one person does not lower it"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("the second person does not see %q\n%s", want, seen.String())
		}
	}
	lines <- strings.TrimSpace(line.String())
	lines <- "q"
	if err := <-ended; !errors.Is(err, plain.ErrLeft) {
		t.Fatal(err)
	}
	if got := s.Snapshot().State.Severity; got != "SEV-3" {
		t.Errorf("it is %s\n%s", got, out.String())
	}
	if got := out.String(); strings.Count(got, "BEGIN HANDRAIL") != 1 || !strings.Contains(got, "stays SEV-2 until a second person") {
		t.Errorf("it says\n%s", got)
	}
}
