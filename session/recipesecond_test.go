package session_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"handrail/evidence"
)

// TestApprovalVerifiesWithPublicTools follows the words of evidence/doc.go: what
// ssh-keygen is given comes from the journal alone.
func TestApprovalVerifiesWithPublicTools(t *testing.T) {
	t.Parallel()
	d := newDuo(t)
	s := d.start(t)
	ready(t, s)
	do(t, s, preview())
	do(t, s, approve(replyOf(t, request(t, s), d.grace, d.clk.Now())))
	path := s.Snapshot().Bundle
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var shown, approved struct{ Step, Digest, Until, Signed, Sig string }
	sum := ""
	for e, err := range r.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "gate.shown":
			sum = fmt.Sprintf("%x", sha256.Sum256(e.Data))
			err = json.Unmarshal(e.Data, &shown)
		case "approve":
			err = json.Unmarshal(e.Data, &approved)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"approval.sig": approved.Sig,
		"approvers":    "grace@example.com " + string(ssh.MarshalAuthorizedKey(d.grace.PublicKey())),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprintf("handrail approval v1\nincident %s\nstep %s\ndigest %s\nshown %s\nuntil %s\nsigned %s\n",
		strings.TrimSuffix(filepath.Base(path), ".hrb"), shown.Step, shown.Digest, sum, shown.Until, approved.Signed)
	for input, good := range map[string]bool{text: true, text + "x": false} {
		cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", "approvers", "-I", "grace@example.com",
			"-n", "approve-v1@handrail", "-s", "approval.sig")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
		if out, err := cmd.CombinedOutput(); (err == nil) != good {
			t.Errorf("ssh-keygen: %v, want good %t\n%s", err, good, out)
		}
	}
}
