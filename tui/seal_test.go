package tui

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/session/report"
	"handrail/session/view"
	"handrail/triage"
	"handrail/tui/screen"
	"handrail/tui/viewer"
)

// reportFixture is the report of an incident on the table.
func (b *bench) reportFixture(context.Context, string) (report.Document, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return report.New(b.state), nil
}

func sealingFixture(h string) screen.SealOptions {
	return screen.SealOptions{Signers: []screen.Signer{{ID: "SHA256:ltHUH9MRLBNvPoL8oiqgDBWMNdKpUZu3bEMkBcpWmJo" + h, Name: "ana@bridge" + h}},
		Recipients: []string{"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p" + h}, NameOne: "make a key with `age-keygen -o KEY`" + h}
}

func sealedFixture(o screen.SealOrder, h string) screen.SealResult {
	s := screen.SealResult{Seal: "seals/000001.txt" + h, Entries: 48, Anchor: "handrail 20261120-021400-state-lock-k7qd 48 3Jx0hQ8sK1pZb5yq2mN7tV4wR9uL6cE0aG1dF8iT2o=" + h, Key: "escrowed",
		Escrow: "~/.local/state/handrail/keys/20261120-021400-state-lock-k7qd-000001.age" + h, Verified: true, Unproven: []string{"time stamp: none" + h}}
	if o.Signer != "" {
		s.Signature = "seals/000001.txt.sig" + h
	}
	return s
}

// toSeal is the screen that says what a seal would be.
func (s *stage) toSeal() { s.toDebrief(); s.press("z") }

func (s *stage) toSealForm() { s.toSeal(); s.press("enter") }

func (s *stage) toSealed() {
	s.toSealForm()
	s.press("1", "enter")
	s.write("seal")
	_, cmd := s.Update(keyPress("enter"))
	s.finish(cmd)
}

// finish carries out a batch: each part sends a message at most.
func (s *stage) finish(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			s.finish(c)
		}
		return
	}
	if msg != nil {
		_, cmd = s.Update(msg)
		s.finish(cmd)
	}
}

func (s *stage) toReport() { s.toDebrief(); s.press("p") }

// TestSealFromTheDebrief seals what is closed: it lets go of the incident first, asks for the word, and takes no note after.
func TestSealFromTheDebrief(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	var got []screen.SealOrder
	s.Config.Seal = func(_ context.Context, o screen.SealOrder, tell func(string)) (screen.SealResult, error) {
		if !s.bench.closed {
			t.Error("it is sealed while it is open for writing")
		}
		got = append(got, o)
		tell("writing the seal")
		return sealedFixture(o, ""), nil
	}
	s.press("z")
	s.want(t, "Not now: this incident is open", "screen closes it")
	if s.At != screen.AtRun {
		t.Fatal("an open incident shows the seal")
	}
	s.toDebrief()
	s.want(t, "z  seal it", "p  show the report")
	s.press("z")
	s.want(t, "SEAL", "WHO SIGNS", "ana@bridge", "captured", "▸ enter  Seal it")
	s.press("enter", "enter")
	s.want(t, "Choose one")
	s.press("1", "enter")
	s.write("sea")
	s.press("enter")
	if s.want(t, "Type the word seal"); len(got) != 0 {
		t.Fatal("sealed without the word")
	}
	s.write("l")
	_, cmd := s.Update(keyPress("enter"))
	s.finish(cmd)
	s.want(t, "✓ SEALED", "seals/000001.txt.sig", "POST THIS LINE")
	if len(got) != 1 || got[0].Signer != sealingFixture("").Signers[0].ID || got[0].Bundle != s.run.Snap.Bundle {
		t.Fatalf("ordered %+v", got)
	}
	if _, cmd := s.Update(keyPress("A")); cmd == nil {
		t.Error("A hands no line to the clipboard")
	}
	s.press("enter")
	s.want(t, "sealed in seals/000001.txt")
	for _, k := range []string{"t", "d"} {
		s.press(k)
		s.want(t, "released for sealing")
		if s.Sheet != nil {
			t.Errorf("%s asks for something to add", k)
		}
	}
	if s.press("z"); s.At != screen.AtSeal || len(got) != 1 {
		t.Error("z does not show the seal again")
	}
}

// TestSealThatFails keeps what is there, says so, and can be tried again.
func TestSealThatFails(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	fail := true
	s.Config.Seal = func(_ context.Context, o screen.SealOrder, _ func(string)) (screen.SealResult, error) {
		if fail {
			return screen.SealResult{}, errors.New("no space left on device")
		}
		return sealedFixture(o, ""), nil
	}
	s.toSealForm()
	again := func() {
		s.press("2", "enter")
		s.write("seal")
		_, cmd := s.Update(keyPress("enter"))
		s.finish(cmd)
	}
	again()
	s.want(t, "no space left", "closed and kept", "bundle seal 2026")
	fail = false
	s.press("enter")
	again()
	s.want(t, "✓ SEALED", "not signed")
}

// TestSealGoesOnBehindAnotherScreen says what came of it wherever the person is by then.
func TestSealGoesOnBehindAnotherScreen(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toSealForm()
	s.press("1", "enter")
	s.write("seal")
	_, cmd := s.Update(keyPress("enter"))
	s.want(t, "sealing continues")
	s.press("esc")
	s.want(t, "sealing is in progress")
	s.finish(cmd)
	s.want(t, "is sealed: seals/000001.txt")
}

// TestSealSaysWhatIsMissing: captures not taken, debts without an owner, a line not posted, no signer.
func TestSealSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 60, true, "")
	s.Config.SealOptions = func(context.Context) (screen.SealOptions, error) {
		return screen.SealOptions{NoSigner: "SSH_AUTH_SOCK names no ssh-agent: make a key with ssh-keygen, and load it with ssh-add", NameOne: "make a key with age-keygen"}, nil
	}
	snap := s.bench.Snapshot()
	snap.State.Outcome, snap.State.Seq = "open", snap.State.Seq+1
	snap.Anchor = view.Anchor{Line: "handrail x 1 y", Due: "the incident is open"}
	snap.State.Debts = []triage.Debt{{DebtOpened: triage.DebtOpened{ID: "a", Text: "the apply was cut off"}}, {DebtOpened: triage.DebtOpened{ID: "b", Text: "replicas"}, Settled: triage.Settle{How: "carried", Owner: "platform", Until: "2026-12-01"}}}
	s.run.Take(snap)
	s.press("z")
	s.want(t, "state-lock/lock is missing", "open debt without an owner: the apply was cut off", "platform carries until 2026-12-01", "not posted since the incident is open",
		"steps were left out", "WHO SIGNS", "names no ssh-agent", "is destroyed", "age-keygen")
	s.press("enter")
	s.want(t, "1   no signature")
}

// TestReport reads the report as it is on the disk: laid out, searched, copied, saved as Markdown, laid out again when the
// terminal is another one, and with the way back.
func TestReport(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	var name, saved string
	s.Config.Save = saveTo(&name, &saved)
	s.press("r")
	s.press("p")
	s.want(t, "REPORT  as it would be exported now", "Plan or apply cannot get the state lock", "✓E9", "══", "missing", "s save")
	s.press("/")
	s.write("path through")
	s.press("enter")
	s.want(t, "in line", "The path through the loop")
	s.press("esc", "end")
	s.want(t, "end")
	s.press("home", "pgdown")
	at := s.evidence.View.Doc.Lines[s.evidence.View.Doc.Line(s.evidence.View.Look.At.Off)].From
	s.resize(120, 24)
	d := s.evidence.View.Doc
	if got := d.Lines[d.Line(s.evidence.View.Look.At.Off)].From; d.W != 114 || got < at-1 || got > at+1 {
		t.Errorf("laid out for %d cells, at line %d of the source, was at %d", d.W, got, at)
	}
	s.press("s")
	s.write("r.md")
	s.press("enter")
	var want strings.Builder
	if err := report.Markdown(&want, s.bench.state); err != nil {
		t.Fatal(err)
	}
	if name != "r.md" || saved != want.String() {
		t.Errorf("saved %q: %d bytes, want %d", name, len(saved), want.Len())
	}
	s.press("[", "]")
	if s.press("esc"); s.At != screen.AtRun || s.evidence.View != nil {
		t.Error("esc does not lead back to the step")
	}
	s.press("e", "p", "esc")
	if s.At != screen.AtEvidence {
		t.Error("esc does not lead back to the list")
	}
	s.want(t, "EVIDENCE  ")
	s.Config.Report = func(context.Context, string) (report.Document, error) {
		return report.Document{}, errors.New("the disk is gone")
	}
	s.press("p")
	s.want(t, "the disk is gone")
}

// TestKinds keeps the list to one sort of entries after the other, and esc shows all of them again.
func TestKinds(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toDebrief()
	s.press("e")
	all := len(s.evidence.Found)
	seen := map[string]bool{}
	for {
		if s.press("v"); s.evidence.Kind == 0 {
			break
		}
		name := string(viewer.EntryKinds()[s.evidence.Kind].Name)
		s.want(t, "only "+name)
		if n := len(s.evidence.Found); n == 0 || n >= all || seen[name] {
			t.Errorf("%s: %d of %d entries", name, n, all)
		}
		seen[name] = true
	}
	if len(seen) < 4 {
		t.Errorf("kinds: %v", seen)
	}
	s.press("v", "/")
	s.write("no such thing")
	s.want(t, "to show all")
	s.press("enter", "esc")
	if len(s.evidence.Found) != all || s.At != screen.AtEvidence {
		t.Error("esc does not show everything again")
	}
	s.press("home")
	if s.evidence.At != 0 {
		t.Error("home does not go to the first entry")
	}
	if strings.Contains(s.screen(), "only ") {
		t.Error("a filter is shown that is not there")
	}
}

// saveTo is a place to save in that tells what came.
func saveTo(name, body *string) func(context.Context, string, io.Reader) (string, error) {
	return func(_ context.Context, n string, from io.Reader) (string, error) {
		b, err := io.ReadAll(from)
		*name, *body = n, string(b)
		return n, err
	}
}
