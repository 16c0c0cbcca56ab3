package evidence

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

// run runs a public tool. One that is missing fails the test: a recipe that was not run proves nothing.
func run(t *testing.T, dir, stdin, name string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Fatalf("%s is needed to try the recipe of a bundle: %v", name, err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// recipe takes the commands out of the README of a bundle: paragraphs between blank lines that a shell understands.
func recipe(t *testing.T, path string) (chain, files, hashes, signature string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(path, "README"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Split(string(raw), "\n\n") {
		switch {
		case strings.HasPrefix(p, "python3 "):
			chain = p
		case strings.HasPrefix(p, "find "):
			files = p
		case strings.HasPrefix(p, "sha256sum "):
			hashes = p
		case strings.HasPrefix(p, "ssh-keygen "):
			signature = strings.TrimSpace(p)
		}
	}
	if chain == "" || files == "" || hashes == "" || signature == "" {
		t.Fatal("README lacks a command")
	}
	return
}

// TestRecipeOfREADME verifies bundles with what their own README says, by public tools alone, in an empty folder.
func TestRecipeOfREADME(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		edit func(k *kit)
		bad  string // the command that must notice
	}{
		{name: "unchanged"},
		{name: "line edited", edit: inFile(firstSegment, "first", "forst"), bad: "chain"},
		{name: "tail cut", edit: editLines(func(l []string) []string { return l[:3] }), bad: "chain"},
		{name: "rewritten", edit: all(editEntries(func(e []Entry) []Entry { e[1] = withData(e[1], "text", `"no"`); return e }), reseal), bad: "signature"},
		{name: "root edited", edit: func(k *kit) { k.set(firstSeal, string(k.at(3).Text())) }, bad: "chain"},
		{name: "blob edited", edit: func(k *kit) { k.set(k.someBlob(), "x") }, bad: "files"},
		{name: "signature edited", edit: inSig(firstSig, func(raw []byte) []byte { raw[len(raw)-9] ^= 4; return raw }), bad: "signature"},
		{name: "bundle.json edited", edit: inFile("bundle.json", "2026", "2025"), bad: "hashes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			k := signedKit(t)
			if tc.edit != nil {
				tc.edit(k)
			}
			path := k.write(t.TempDir())
			if err := os.WriteFile(filepath.Join(path, "allowed_signers"), []byte(allowed(t, alice...)), 0o600); err != nil {
				t.Fatal(err)
			}
			chain, files, hashes, signature := recipe(t, path)
			noticed := map[string]bool{}
			out, err := run(t, path, chain+"\n", "sh")
			if noticed["chain"] = err != nil; err == nil && !strings.Contains(out, "seals/000001.txt covers 5") {
				t.Errorf("chain: %s", out)
			}
			out, err = run(t, path, files+"\n", "sh")
			if noticed["files"] = out != ""; err != nil {
				t.Errorf("files: %v: %s", err, out)
			}
			out, err = run(t, path, hashes+"\n", "sh")
			if err != nil {
				t.Errorf("hashes: %v: %s", err, out)
			}
			lines := strings.Split(out, "\n")
			for _, l := range lines[:2] {
				noticed["hashes"] = noticed["hashes"] || !strings.Contains(lines[2], strings.Fields(l)[0])
			}
			out, err = run(t, path, strings.Replace(signature, "WHO", "alice@example.com", 1)+"\n", "sh")
			noticed["signature"] = err != nil
			if tc.bad == "" && !strings.Contains(out, "Good") {
				t.Errorf("signature: %s", out)
			}
			for what, got := range noticed {
				if tc.bad == "" && got || tc.bad == what && !got {
					t.Errorf("%s: noticed is %v", what, got)
				}
			}
		})
	}
}

// TestSignaturesGoBothWays has ssh-keygen verify what handrail signed with each kind of key, and the other way round.
func TestSignaturesGoBothWays(t *testing.T) {
	t.Parallel()
	for _, kind := range [][]string{{"ed25519"}, {"ecdsa", "-b", "256"}, {"ecdsa", "-b", "384"}, {"ecdsa", "-b", "521"}, {"rsa", "-b", "2048"}} {
		t.Run(strings.Join(kind, ""), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if out, err := run(t, dir, "", "ssh-keygen", append([]string{"-q", "-N", "", "-f", "key", "-t"}, kind...)...); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			raw, err := os.ReadFile(filepath.Join(dir, "key"))
			if err != nil {
				t.Fatal(err)
			}
			key, err := ssh.ParsePrivateKey(raw)
			if err != nil {
				t.Fatal(err)
			}
			const text = "handrail/bundle/v1/i1\n5\nroot\n"
			pub := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey())))
			files := map[string]string{"text": text, "allowed": "me@example.com namespaces=\"" + sig.SealNamespace + "\" " + pub + "\n"}
			for by, s := range map[string]ssh.Signer{"file": key, "agent": throughAgent(t, raw)} {
				armoured, err := sig.SignSeal(s, []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				files[by+".sig"] = string(armoured)
			}
			for name, data := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			verify := []string{"-Y", "verify", "-f", "allowed", "-I", "me@example.com", "-n", sig.SealNamespace, "-s"}
			for _, by := range []string{"file.sig", "agent.sig"} {
				if out, err := run(t, dir, text, "ssh-keygen", append(verify, by)...); err != nil {
					t.Errorf("%s: %v: %s", by, err, out)
				}
				if out, err := run(t, dir, text+"x", "ssh-keygen", append(verify, by)...); err == nil {
					t.Errorf("%s fits another text: %s", by, out)
				}
			}
			if out, err := run(t, dir, "", "ssh-keygen", "-q", "-Y", "sign", "-n", sig.SealNamespace, "-f", "key", "text"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			theirs, err := os.ReadFile(filepath.Join(dir, "text.sig"))
			if err != nil {
				t.Fatal(err)
			}
			s, err := sig.ParseSignature(theirs)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Verify([]byte(text)); err != nil {
				t.Error(err)
			}
			if s.Verify([]byte(text+"x")) == nil {
				t.Error("their signature fits another text")
			}
		})
	}
}

// TestHardwareKeys signs through an agent as a FIDO token would, and has ssh-keygen verify it.
func TestHardwareKeys(t *testing.T) {
	t.Parallel()
	for _, who := range tokens {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			key := sigtest.Key(t, who).(*sigtest.Token)
			path := sealedKit(t).write(t.TempDir())
			name, err := Sign(path, overAgent(t, &tokenAgent{Agent: agent.NewKeyring(), key: key}), testOptions(""))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, "allowed"), []byte(allowed(t, tokens...)), 0o600); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(path, firstSeal))
			if err != nil {
				t.Fatal(err)
			}
			verify := []string{"-Y", "verify", "-f", "allowed", "-I", who + "@example.com", "-n", sig.SealNamespace, "-s", name}
			if out, err := run(t, path, string(text), "ssh-keygen", verify...); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			if out, err := run(t, path, string(text)+"x", "ssh-keygen", verify...); err == nil {
				t.Errorf("it fits another text: %s", out)
			}
			key.Flags = 0
			if _, err := sig.SignSeal(key, text); err == nil {
				t.Error("signed by a token that was not touched")
			}
		})
	}
}

// tokenAgent is an ssh-agent with a hardware key, which no agent of a library can hold.
type tokenAgent struct {
	agent.Agent
	key *sigtest.Token
}

func (a *tokenAgent) List() ([]*agent.Key, error) {
	return []*agent.Key{{Format: a.key.PublicKey().Type(), Blob: a.key.PublicKey().Marshal(), Comment: "token"}}, nil
}

func (a *tokenAgent) Sign(key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	if string(key.Marshal()) != string(a.key.PublicKey().Marshal()) {
		return nil, errors.New("no such key")
	}
	return a.key.Sign(nil, data)
}

// throughAgent gives the key as an ssh-agent does, over its protocol.
func throughAgent(t *testing.T, raw []byte) ssh.Signer {
	t.Helper()
	key, err := ssh.ParseRawPrivateKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	return overAgent(t, ring)
}

func overAgent(t *testing.T, ring agent.Agent) ssh.Signer {
	t.Helper()
	here, there := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_ = agent.ServeAgent(ring, there) // ends when the other end is closed
	}()
	t.Cleanup(func() { _ = here.Close(); <-ctx.Done() })
	signers, err := agent.NewClient(here).Signers()
	if err != nil || len(signers) != 1 {
		t.Fatalf("%d keys, %v", len(signers), err)
	}
	return signers[0]
}
