package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/runbooks"
	"handrail/session"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// vault is a world with one lock in it, for gates that need no cluster.
type vault struct {
	mu   sync.Mutex
	open bool
}

func (v *vault) Lookup(name string) (steps.Kind, bool) {
	for _, k := range v.Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return steps.Kind{}, false
}

// Kinds are two of the real ones, so that a bundle can be judged by any handrail.
// What they read and change is the vault.
func (v *vault) Kinds() []steps.Kind {
	lock, _ := catalog.New().Lookup("terraform/lock")
	unlock, _ := catalog.New().Lookup("terraform/force-unlock")
	lock.Reads = func(steps.Env) steps.Prober { return v }
	unlock.Changes = func(steps.Env) steps.Gater { return v }
	return []steps.Kind{lock, unlock}
}

func (v *vault) Probe(context.Context, steps.Params, steps.Sink) (steps.Observation, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return steps.Observation{Summary: "the lock is \x1b[31mheld", Facts: map[string]steps.Value{"held": steps.BoolOf(!v.open)}}, nil
}

func (v *vault) Preview(context.Context, steps.Params, steps.Sink) (steps.Preview, error) {
	return steps.Preview{Target: []steps.KV{{Key: "lock", Value: "l-1"}, {Key: "directory", Value: "/srv/vault"}}, Effect: "takes the \x1b[2Jlock away", Request: "unlock l-1",
		Command: "unlock l-1", Phrase: "unlock l-1", Undo: "cannot be undone"}, nil
}

func (v *vault) Act(_ context.Context, a *steps.Approval, _ steps.Sink) (steps.Outcome, error) {
	if _, err := a.Spend(); err != nil {
		return steps.Outcome{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = true
	return steps.Outcome{Result: steps.Done, Response: "unlocked"}, nil
}

const vaultBook = `apiVersion: handrail/v1
kind: Runbook
id: vault
title: A lock that stays
domain: state-backend
severity: SEV-2
matrix: 8
proves: {PC2: free}
preserve: [{id: lock, uses: terraform/lock, required: true}]
mutation: [{conclude: mutation, cases: [{when: facts.lock.held, is: 'yes', say: it is held}]}]
classify: [{conclude: class, cases: [{when: facts.lock.held, is: MutationPartiallySucceeded, say: part of it}]}]
recover: [{id: unlock, gate: terraform/force-unlock, with: {lock_id: l-1}, require: [{when: facts.lock.held, else: it is free}]}]
verify: [{id: free, watch: terraform/lock, when: "!facts.free.held", greens: 2, apart: 20s}]
`

// openVault opens an incident whose gate is the next thing to do, under the policy
// of a home.
func openVault(p *process.Program, header string) (*session.Session, error) {
	v := &vault{}
	rb, err := runbooks.Parse("vault.yaml", []byte(vaultBook), v)
	if err != nil {
		return nil, err
	}
	state, err := p.StateDir()
	if err != nil {
		return nil, err
	}
	s, err := session.Start(context.Background(), session.Config{
		Dir: filepath.Join(state, "incidents"), Keys: bundle.KeysIn(state), Acts: filepath.Join(state, "acts"), Undo: filepath.Join(state, "undo"),
		Catalog: v, Now: time.Now, Rand: rand.Reader, Version: "test", Actor: p.Actor("olga"), Second: func(ctx context.Context, b policy.Question) (*policy.Pair, error) {
			return settings.SecondPerson(ctx, p, b)
		},
		ReadOnly: func(q policy.Question) policy.Closed { return settings.ReadOnly(p, "", nil, q) },
		Header:   []steps.KV{{Key: "cluster", Value: header}},
		Library:  func(string) (*runbooks.Runbook, error) { return nil, errors.New("none") },
	}, session.Begin{Runbook: rb})
	if err != nil {
		return nil, err
	}
	for _, in := range []triage.Intent{
		{Kind: triage.DoProbe, Step: "vault/lock"},
		{Kind: triage.DoConclude, Topic: triage.TopicMutation, Value: "yes"},
		{Kind: triage.DoConclude, Topic: triage.TopicClass, Value: "MutationPartiallySucceeded"},
	} {
		if err := s.Do(context.Background(), in); err != nil {
			return s, err
		}
		for len(s.Snapshot().Running) > 0 {
			<-s.Changed()
		}
	}
	return s, nil
}

var unlockVault = triage.Intent{Kind: triage.DoPreview, Step: "vault/unlock"}

// writeKey makes a key pair of ssh in two files.
func writeKey(name string) error {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		return err
	}
	line, err := ssh.NewPublicKey(pub)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(name, pem.EncodeToMemory(block), 0o600), os.WriteFile(name+".pub", ssh.MarshalAuthorizedKey(line), 0o600))
}

// gateWaits opens an incident in this process, previews its gate and leaves it
// waiting: waits CLUSTER FILE. The request is in FILE, which stays empty where one
// person is enough; grace and eve have keys, and grace may approve.
func gateWaits(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] waits CLUSTER FILE")
	}
	home := ts.Getenv("HOME")
	ts.Check(os.MkdirAll(filepath.Join(home, ".ssh"), 0o700))
	for _, name := range []string{"grace", "eve", ".ssh/olga"} {
		if _, err := os.Stat(filepath.Join(home, name)); err != nil {
			ts.Check(writeKey(filepath.Join(home, name)))
		}
	}
	var allowed strings.Builder
	for _, name := range []string{"grace", ".ssh/olga"} {
		pub, err := os.ReadFile(filepath.Join(home, name+".pub"))
		ts.Check(err)
		allowed.WriteString(filepath.Base(name) + "x@example.com " + string(pub))
	}
	config := filepath.Join(ts.Getenv("XDG_CONFIG_HOME"), "handrail")
	ts.Check(os.MkdirAll(config, 0o700))
	ts.Check(os.WriteFile(filepath.Join(config, "approvers"), []byte(allowed.String()), 0o600))
	p := &process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now,
		Environ: []string{"HOME=" + home, "XDG_CONFIG_HOME=" + ts.Getenv("XDG_CONFIG_HOME"), "XDG_STATE_HOME=" + ts.Getenv("XDG_STATE_HOME")}}
	s, err := openVault(p, args[0])
	if s != nil {
		ts.Defer(func() { _ = s.Close() })
	}
	ts.Check(err)
	vaults.Store(ts, s)
	err = s.Do(context.Background(), unlockVault)
	if neg {
		var no *triage.Refused
		if !errors.As(err, &no) {
			ts.Fatalf("the gate opens, want a refusal")
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(no.Error()), 0o600))
		return
	}
	ts.Check(err)
	text := ""
	if second := s.Snapshot().Gate.Second; second != nil {
		text = second.Request
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
	ts.Setenv("BUNDLE", s.Snapshot().Bundle)
}

// vaults holds the open incident of each script.
var vaults sync.Map

// gateTakes gives the gate that waits an approval, and acts: takes FILE. Where the
// file is empty, it acts without.
func gateTakes(ts *testscript.TestScript, neg bool, args []string) {
	got, _ := vaults.Load(ts)
	s := got.(*session.Session)
	line := ts.ReadFile(args[0])
	var err error
	if strings.TrimSpace(line) != "" {
		err = s.Do(context.Background(), triage.Intent{Kind: triage.DoApprove, Step: unlockVault.Step, Sig: line})
	}
	if err == nil {
		err = s.Do(context.Background(), triage.Intent{Kind: triage.DoConfirm, Step: unlockVault.Step, Typed: "unlock l-1"})
	}
	if (err != nil) != neg {
		ts.Fatalf("takes %s = %v", args[0], err)
	}
	if neg {
		return
	}
	for len(s.Snapshot().Running) > 0 {
		<-s.Changed()
	}
	if g := s.Snapshot().State.Gates[unlockVault.Step]; g.Phase != triage.GateDone {
		ts.Fatalf("the gate is %s, want done", g.Phase)
	}
	ts.Check(s.Close())
}
