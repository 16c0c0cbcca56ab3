package settings

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"handrail/cli/process"
)

const (
	agentWithin = 2 * time.Second
	maxOwnKeys  = 50
	maxPublic   = 64 << 10
)

// ownKeys are the fingerprints of the keys at the operator's hand: those of the ssh-agent, and the public ones of
// ~/.ssh. With none of them a second person can approve. It reads no private key, and what cannot be read is left out.
func ownKeys(ctx context.Context, p *process.Program) []string {
	var out []string
	add := func(key ssh.PublicKey) {
		if mark := ssh.FingerprintSHA256(key); len(out) < maxOwnKeys && !slices.Contains(out, mark) {
			out = append(out, mark)
		}
	}
	for _, k := range keysAtHand(ctx, p) {
		if pub, err := ssh.ParsePublicKey(k.Blob); err == nil {
			add(pub)
		}
	}
	if p.Home() == "" {
		return out
	}
	files, _ := filepath.Glob(filepath.Join(p.Home(), ".ssh", "*.pub")) // the pattern is a good one
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxPublic {
			continue
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if pub, _, _, _, err := ssh.ParseAuthorizedKey(raw); err == nil {
			add(pub)
		}
	}
	return out
}

// keysAtHand asks the ssh-agent what it has; one that does not answer has nothing.
func keysAtHand(ctx context.Context, p *process.Program) []*agent.Key {
	sock := p.Getenv("SSH_AUTH_SOCK")
	if sock == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, agentWithin)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", sock)
	if err != nil {
		return nil
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(agentWithin)); err != nil {
		return nil
	}
	keys, err := agent.NewClient(conn).List()
	if err != nil {
		return nil
	}
	return keys
}
