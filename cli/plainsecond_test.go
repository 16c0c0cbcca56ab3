package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"handrail/cli/plain"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/session/approval"
	"handrail/triage"
)

const vaultPolicy = `apiVersion: handrail/v1
kind: Policy
approvers: approvers
secondPerson: [{gates: [release]}]
`

// TestPlainWaitsForTheSecond walks the gate of two persons line by line.
func TestPlainWaitsForTheSecond(t *testing.T) {
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
	if err := errors.Join(os.WriteFile(filepath.Join(config, settings.PolicyFile), []byte(vaultPolicy), 0o600),
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
	if err := s.Do(t.Context(), unlockVault); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	var out bytes.Buffer
	d := &plain.Dialogue{S: s, Lines: lines, Out: &out, Now: time.Now}
	ended := make(chan error)
	go func() { ended <- d.Run(t.Context()) }()
	r, err := approval.ParseRequest(s.Snapshot().Gate.Second.Request)
	if err != nil {
		t.Fatal(err)
	}
	lines <- "unlock l-1" // the phrase is not asked for yet
	key, err := os.ReadFile(grace)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var line bytes.Buffer
	q := *p
	q.Stdout = &line
	if err := sign(&q, r, signer); err != nil {
		t.Fatal(err)
	}
	lines <- strings.TrimSpace(line.String())
	lines <- "unlock l-1"
	lines <- "q"
	if err := <-ended; !errors.Is(err, plain.ErrLeft) {
		t.Fatal(err)
	}
	if g := s.Snapshot().State.Gates["vault/unlock"]; g.Phase != triage.GateDone {
		t.Errorf("the gate is %s, want done", g.Phase)
	}
	got := out.String()
	for _, want := range []string{
		"WAITING: a second person has not approved it", "who may approve: grace@example.com", "handrail approve " + s.Snapshot().Bundle,
		"HANDRAIL APPROVAL REQUEST", "does not begin with handrail-approval-v1", "approved by grace@example.com, with the key SHA256:", "it lapses at",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q\n%s", want, got)
		}
	}
	waiting, _, _ := strings.Cut(got, "approved by grace")
	if strings.Contains(waiting, "Type this phrase to go on") || strings.Count(got, "BEGIN HANDRAIL") != 1 {
		t.Errorf("it asks for the phrase before the approval, or tells the request twice:\n%s", got)
	}
	if _, err := evidence.Verify(s.Snapshot().Bundle); err != nil {
		t.Error(err)
	}
}
