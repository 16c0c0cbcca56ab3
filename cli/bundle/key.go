package bundle

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/term"

	"handrail/cli/process"
)

// KeyChoice says which SSH key signs.
type KeyChoice struct {
	File   string // a private key file
	signer string // of the agent: a fingerprint or a comment
	none   bool
}

func (k *KeyChoice) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.File, "key", "", "sign with this private key `file` instead of the ssh-agent")
	cmd.Flags().StringVar(&k.signer, "signer", "", "the key of the agent with this SHA256 `fingerprint` or comment")
	cmd.MarkFlagsMutuallyExclusive("key", "signer")
}

const maxKeyFile = 1 << 20

func nothing() {}

// Signer gives the key that was chosen; done lets go of the agent. A nil signer means no signature.
func Signer(p *process.Program, k KeyChoice) (_ ssh.Signer, done func(), err error) {
	switch {
	case k.none && (k.File != "" || k.signer != ""):
		return nil, nothing, process.Usage("leave one of them out", "--no-signature beside a key")
	case k.none:
		return nil, nothing, nil
	case k.File != "":
		s, err := keyFile(p, k.File)
		return s, nothing, err
	}
	return signerIn(p, k.signer)
}

// keyFile reads a private key. Its passphrase is asked on the terminal: an argument would show in the list of processes.
func keyFile(p *process.Program, name string) (ssh.Signer, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, process.Usage("name a private key with --key", "signing key: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, fmt.Errorf("signing key %q: %w", name, err)
	}
	s, err := ssh.ParsePrivateKey(raw)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		var phrase []byte
		if phrase, err = passphrase(p, name); err != nil {
			return nil, err
		}
		s, err = ssh.ParsePrivateKeyWithPassphrase(raw, phrase)
		clear(phrase)
	}
	if err != nil {
		return nil, process.Usage("name an OpenSSH private key; a hardware key signs through the ssh-agent", "signing key %q: %w", name, err)
	}
	return s, nil
}

func passphrase(p *process.Program, name string) ([]byte, error) {
	f, ok := p.Stdin.(*os.File)
	if !ok || !process.IsTerminal(p.Stdin) {
		return nil, process.Usage("run it in a terminal, or load the key with ssh-add and leave --key out", "the signing key %q has a passphrase, and there is no terminal to ask for it", name)
	}
	fmt.Fprintf(p.Stderr, "Passphrase of %s: ", process.Safe(name))
	phrase, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(p.Stderr)
	if err != nil {
		return nil, fmt.Errorf("asking for a passphrase: %w", err)
	}
	return phrase, nil
}

// agentKey is a key of the ssh-agent.
type agentKey struct {
	mark, comment string
	blob          []byte
}

var errNoAgent = errors.New("no key to sign with: SSH_AUTH_SOCK names no ssh-agent")

// dialAgent reaches the ssh-agent; done lets go of it.
func dialAgent(p *process.Program) (_ agent.ExtendedAgent, done func(), err error) {
	sock := p.Getenv("SSH_AUTH_SOCK")
	if sock == "" {
		return nil, nothing, errNoAgent
	}
	conn, err := net.Dial("unix", sock)
	if err != nil {
		return nil, nothing, fmt.Errorf("ssh-agent: %w", err)
	}
	return agent.NewClient(conn), func() { _ = conn.Close() }, nil
}

// agentKeys lists the keys of the ssh-agent that could sign.
func agentKeys(p *process.Program) ([]agentKey, error) {
	a, done, err := dialAgent(p)
	if err != nil {
		return nil, err
	}
	defer done()
	return keysOf(a)
}

func keysOf(a agent.Agent) ([]agentKey, error) {
	keys, err := a.List()
	if err != nil {
		return nil, fmt.Errorf("ssh-agent: %w", err)
	}
	var out []agentKey
	for _, k := range keys {
		if !strings.Contains(k.Format, "-cert-") {
			out = append(out, agentKey{ssh.FingerprintSHA256(k), k.Comment, k.Blob})
		}
	}
	return out, nil
}

// signerIn picks a key of the ssh-agent. Which one signs is never left to the order in which they were loaded.
func signerIn(p *process.Program, want string) (_ ssh.Signer, done func(), err error) {
	const next = "load a key with ssh-add, or name one with --key FILE; a seal can do without, with --no-signature"
	a, leave, err := dialAgent(p)
	if err != nil {
		return nil, nothing, process.Usage(next, "%w", err)
	}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	keys, err := keysOf(a)
	if err != nil {
		return nil, nothing, err
	}
	var hits []agentKey
	var names []string
	for _, k := range keys {
		names = append(names, k.mark+" ("+k.comment+")")
		if want == "" || want == k.mark || want == k.comment {
			hits = append(hits, k)
		}
	}
	have := "it has none"
	if len(names) > 0 {
		have = "it has " + strings.Join(names, ", ")
	}
	switch {
	case len(hits) == 0 && want == "":
		return nil, nothing, process.Usage(next, "the ssh-agent has no key to sign with")
	case len(hits) == 0:
		return nil, nothing, process.Usage("choose one with --signer", "the ssh-agent has no key %q; %s", want, have)
	case len(hits) > 1:
		return nil, nothing, process.Usage("choose one with --signer SHA256:...", "the ssh-agent has %d keys that could sign; %s", len(hits), have)
	}
	all, err := a.Signers()
	if err != nil {
		return nil, nothing, fmt.Errorf("ssh-agent: %w", err)
	}
	for _, s := range all {
		if string(s.PublicKey().Marshal()) == string(hits[0].blob) {
			return s, leave, nil
		}
	}
	return nil, nothing, process.Usage(next, "the ssh-agent took the key back")
}

// KeysIn is where redaction keys live in a state directory.
func KeysIn(state string) string { return filepath.Join(state, "keys") }
