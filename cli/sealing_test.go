package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh/agent"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/evidence"
	"handrail/session/report"
	"handrail/triage"
	"handrail/tui"
)

// closedBundle is a bundle of an incident that is closed.
func closedBundle(t *testing.T, p *process.Program) string {
	t.Helper()
	dir, err := p.Incidents()
	if err != nil {
		t.Fatal(err)
	}
	state, _ := p.StateDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const id = "20261120-021400-state-lock-k7qd"
	b, err := evidence.Create(dir, id, evidence.Options{Host: "bridge", Version: "test", Keys: bundle.KeysIn(state)})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []triage.Body{triage.Open{Incident: id, Title: "a lock", Severity: triage.Sev3}, triage.Note{Text: "password=plover-egg-twice"}, triage.Close{Outcome: "aborted"}} {
		if _, err := b.Append(t.Context(), evidence.Draft{Type: body.Type(), Actor: "ana", Data: body}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Path()
}

// agentWith serves an ssh-agent with so many keys.
func agentWith(t *testing.T, n int) string {
	t.Helper()
	ring := agent.NewKeyring()
	for range n {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if err := ring.Add(agent.AddedKey{PrivateKey: key, Comment: "ana@bridge"}); err != nil {
			t.Fatal(err)
		}
	}
	sock := filepath.Join(t.TempDir(), "a")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				_ = agent.ServeAgent(ring, c) // ends with the connection
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return sock
}

func sealingProgram(t *testing.T, env ...string) *process.Program {
	t.Helper()
	home := t.TempDir()
	return &process.Program{Now: time.Now, Environ: append([]string{"HOME=" + home, "USER=ana"}, env...), State: filepath.Join(home, "state")}
}

// TestSealForTheScreens seals, signs with the key of the agent that was chosen among two, verifies, and leaves nothing open.
func TestSealForTheScreens(t *testing.T) {
	t.Parallel()
	p := sealingProgram(t, "SSH_AUTH_SOCK="+agentWith(t, 2))
	path := closedBundle(t, p)
	means, err := bundle.SealOptions(t.Context(), p)
	if err != nil || len(means.Signers) != 2 || means.NoSigner != "" || means.NameOne == "" {
		t.Fatalf("sealing: %+v, %v", means, err)
	}
	var told []string
	tell := func(l string) { told = append(told, l) }
	got, err := bundle.SealFor(t.Context(), p, tui.SealOrder{Bundle: path, Signer: means.Signers[1].ID}, tell)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Verified || got.Wrong != "" || got.Signature == "" || got.Seal != "seals/000001.txt" || got.Key != "destroyed" || got.Failed != nil {
		t.Errorf("sealed: %+v", got)
	}
	if len(told) != 3 {
		t.Errorf("told %q", told)
	}
	c, err := evidence.ParseAnchor(got.Anchor)
	if err != nil || c.Entries != got.Entries {
		t.Errorf("anchor %q: %v", got.Anchor, err)
	}
	again, err := bundle.SealFor(t.Context(), p, tui.SealOrder{Bundle: path}, tell)
	if err != nil || again.Entries != got.Entries || again.Seal != got.Seal || !again.Verified {
		t.Errorf("again: %+v, %v", again, err)
	}
	doc, err := bundle.ReportNow(t.Context(), p, path)
	var page strings.Builder
	if err = errors.Join(err, report.WriteMarkdown(&page, doc)); err != nil || doc.Verification == nil || !strings.Contains(page.String(), "# a lock") {
		t.Errorf("the report: %v\n%s", err, page.String())
	}
	if strings.Contains(page.String(), "plover-egg") {
		t.Error("the report holds a secret")
	}
}

// TestSealForTheScreensWithoutKey says how to get one, and seals nothing for a key that cannot be had.
func TestSealForTheScreensWithoutKey(t *testing.T) {
	t.Parallel()
	p := sealingProgram(t)
	path := closedBundle(t, p)
	means, err := bundle.SealOptions(t.Context(), p)
	if err != nil || means.Signers != nil || !strings.Contains(means.NoSigner, "ssh-add") {
		t.Fatalf("sealing: %+v, %v", means, err)
	}
	nothing := func(string) {}
	if _, err := bundle.SealFor(t.Context(), p, tui.SealOrder{Bundle: path, Signer: "SHA256:x"}, nothing); err == nil {
		t.Fatal("sealed with a key that is not there")
	}
	if list, err := os.ReadDir(filepath.Join(path, "seals")); err == nil && len(list) > 0 {
		t.Fatalf("a seal was written: %v", list)
	}
	got, err := bundle.SealFor(t.Context(), p, tui.SealOrder{Bundle: path}, nothing)
	if err != nil || got.Signature != "" || !got.Verified {
		t.Errorf("sealed: %+v, %v", got, err)
	}
}

// TestSealByKeys opens a closed incident in a terminal, reads its report, seals it by keys, and leaves a bundle that
// verifies and ends with a seal.
func TestSealByKeys(t *testing.T) {
	t.Parallel()
	p := sealingProgram(t)
	home := p.Home()
	p.State = filepath.Join(home, ".local", "state", "handrail")
	path := closedBundle(t, p)
	cmd := frameCommand(t, home)
	cmd.Env = append(cmd.Env, "LC_ALL=C.UTF-8", "SSH_AUTH_SOCK="+agentWith(t, 1))
	cmd.Args = append(cmd.Args, "resume", bundle.IDOf(path))
	s := onScreen(t, cmd, 30, 100)
	s.shows(`CLOSED AS aborted`)
	s.send("p")
	s.shows(`as it would be exported now`)
	s.shows(`severity SEV-3`)
	s.send("\x1b")
	s.shows(`seal it: everything up to now`)
	s.send("z")
	s.shows(`ana@bridge`)
	s.send("\r")
	s.shows(`Type the word seal`)
	s.send("1\r")
	s.send("seal\r")
	s.shows(`SEALED`)
	s.shows(`every byte was verified again`)
	s.shows(`signed: seals/000001`)
	s.send("\r")
	s.shows(`sealed in seals/000001.txt`)
	s.send("t")
	s.shows(`released for sealing`)
	s.send("q")
	<-s.ended
	v, err := bundle.VerdictOf(p, path)
	if err != nil || !v.OK {
		t.Fatalf("it does not verify: %+v, %v", v.Lines, err)
	}
	b, err := evidence.Open(path, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !b.Sealed() {
		t.Error("it does not end with a seal")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}
