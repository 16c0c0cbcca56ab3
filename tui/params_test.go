package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/screen"
)

// lockFields are the parameters of the fixture's runbook.
func lockFields(string) []steps.Field {
	return []steps.Field{{Name: "dir", Type: steps.Path, Default: ".", Doc: "root module whose state is locked"},
		{Name: "workspace", Type: steps.String, Doc: "workspace, if not the selected one"},
		{Name: "max_apply", Type: steps.Duration, Default: "30m", Doc: "longest plausible apply for this module"},
		{Name: "log", Type: steps.Path, Required: true, Doc: "apply log of the run that holds the lock"}}
}

// toFound is the sheet before a start, with what the text said.
func (s *stage) toFound() {
	match := s.Config.Match
	s.Config.Params = lockFields
	s.Config.Match = func(t string) []screen.Hit {
		hits := match(t)
		for i := range hits {
			hits[i].Params = map[string]string{"workspace": "prod-eu", "log": "/tmp/apply.log"}
		}
		return hits
	}
	s.toMatch()
	s.press("enter")
}

// TestStartAsksForWhatItLacks: a program that is told to start a runbook without what
// that needs asks for it before anything is opened.
func TestStartAsksForWhatItLacks(t *testing.T) {
	t.Parallel()
	started := make(chan map[string]string, 1)
	clock := &clockwork{opened()}
	c := configFixture(clock.now, "")
	c.Params = lockFields
	c.Begin = &screen.Start{Runbook: "state-lock", Given: map[string]string{"workspace": "prod-eu"}}
	c.Start = func(_ context.Context, begin screen.Start) (screen.Incident, error) {
		started <- begin.Given
		return nil, errors.New("far enough")
	}
	s := &stage{clock: clock, model: newModel(t.Context(), c)}
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.Init()
	s.want(t, "Start state-lock", "required: apply log of the run", "prod-eu")
	s.write("/tmp/apply.log")
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
	if got := <-started; got["log"] != "/tmp/apply.log" || got["workspace"] != "prod-eu" {
		t.Errorf("started with %v", got)
	}
}

// untrustedFixture is a directory that someone else wrote.
func untrustedFixture() screen.Untrusted {
	return screen.Untrusted{Dir: "/srv/infra/network", Digest: "d1", Files: 14, Uses: []screen.Used{
		{Title: "Servers that its settings name, which get the credentials that their backend uses, yours among them:", List: []string{"https://state.example.org"}},
		{Title: "Providers, which are programs:", List: []string{"hashicorp/aws 6.2.0", "hashicorp/random 3.7.2", "hashicorp/null 3.2.4", "hashicorp/tls 4.1.0"}}}}
}

func (s *stage) startAt(of screen.Untrusted) {
	s.Config.Untrusted = func(_ context.Context, _ string, given map[string]string) (*screen.Untrusted, error) {
		if given["dir"] == "/srv/good" {
			return nil, nil
		}
		return &of, nil
	}
	s.Config.Params = lockFields
	s.toFound()
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
}

func (s *stage) toUntrusted() { s.startAt(untrustedFixture()) }

// foreignFixture is a runbook of a repository that was not looked at yet.
func foreignFixture() screen.Untrusted {
	return screen.Untrusted{Runbook: "state-lock", Dir: "/srv/infra/.handrail/runbooks/state-lock.yaml", Digest: "d2", Before: "before that of embedded", Uses: []screen.Used{
		{Title: "It reads:", List: []string{"terraform/lock of dir ${params.dir}: the lock of the state"}},
		{Title: "It can change, each behind its gate:", List: []string{"unlock (release), terraform/force-unlock of lock_id ${facts.lock.id}: the lock"}}}}
}

// toForeign asks for trust in a runbook, until it is trusted.
func (s *stage) toForeign() {
	of, trusted := foreignFixture(), false
	s.Config.Foreign = func(context.Context, string) (*screen.Untrusted, error) {
		if trusted {
			return nil, nil
		}
		return &of, nil
	}
	if s.Config.Trust == nil {
		s.Config.Trust = func(_ context.Context, asked screen.Untrusted) error { trusted = asked.Digest == of.Digest; return nil }
	}
	s.Config.Params = lockFields
	s.toFound()
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
}

func (s *stage) toNowhere() {
	s.startAt(screen.Untrusted{Dir: ".", Wrong: `"/home/ana" holds no .tf or .tofu file, so there is nothing to trust`})
}

// toParams is the sheet of the parameters of a running incident.
func (s *stage) toParams() {
	s.Config.Params = lockFields
	s.press("P")
}

// change has something happen to the incident of the fixture.
func (s *stage) change(do func()) {
	s.bench.mu.Lock()
	do()
	s.bench.mu.Unlock()
	s.run.Take(s.bench.Snapshot())
}

// heavy makes a step of the fixture run a program.
func (s *stage) heavy(step string) {
	s.change(func() {
		b := s.bench
		b.state.Steps = slices.Clone(b.state.Steps)
		i := slices.IndexFunc(b.state.Steps, func(st triage.Step) bool { return st.ID == step })
		b.state.Steps[i].Heavy = true
		b.record(triage.Note{Text: "it runs a program"})
	})
}

// toCommander is the sheet of SEV-1 on a call without a commander.
func (s *stage) toCommander() {
	s.change(func() {
		s.bench.record(triage.Person{ID: "ana", Name: "Ana", Proof: "kube", Subject: "ana@example.org"})
	})
	s.press("S", "1", "enter")
	s.write("checkout is down")
	s.press("enter", "enter")
}

// toUnread is a question about something that could not be read.
func (s *stage) toUnread() {
	s.change(func() {
		s.bench.unread = "facts.lock.who is unknown: permission denied"
		s.bench.record(triage.Note{Text: "permission denied"})
	})
	s.run.Front(id("holder"))
	s.run.Decide()
}

// TestUnreadIsNoQuestion: the screen says what is missing and how to get it, and no key
// answers.
func TestUnreadIsNoQuestion(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toUnread()
	s.want(t, "what it asks about was not read", "permission denied", "Read it first")
	for _, k := range []string{"1", "u", "enter"} {
		if s.press(k); s.Sheet != nil {
			t.Errorf("%s opens\n%s", k, s.screen())
		}
	}
}

// TestEnterAcceptsWhatWasFound: what the text says stands in the sheet, what is
// required comes first, and one enter takes all of it.
func TestEnterAcceptsWhatWasFound(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	var with map[string]string
	start := s.Config.Start
	s.Config.Start = func(ctx context.Context, begin screen.Start) (screen.Incident, error) {
		with = begin.Given
		return start(ctx, begin)
	}
	s.toFound()
	s.want(t, "Found: workspace, log", "/tmp/apply.log", "prod-eu", "enter start")
	if got := s.Sheet.Fields[0].Edit.Value(); got != "/tmp/apply.log" {
		t.Errorf("the first line is %q, want what is required", got)
	}
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
	if with["log"] != "/tmp/apply.log" || with["workspace"] != "prod-eu" || s.Incident == nil {
		t.Errorf("started with %v\n%s", with, s.screen())
	}
}

// TestNothingFoundNothingAsked: without a finding and without a requirement there is
// no sheet, but after a pasted text, whose log and directory a person may know; with one
// required, enter does not pass it.
func TestNothingFoundNothingAsked(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.Config.Params = func(id string) []steps.Field { return lockFields(id)[:3] }
	s.toMatch()
	s.press("enter")
	s.want(t, "Start state-lock", "enter start")
	s.press("esc")
	s.settle(s.wait.StartWith(s.Env, screen.Start{Runbook: "state-lock"}))
	if s.Sheet != nil {
		t.Errorf("it asks\n%s", s.screen())
	}
	s = onStage(t, 80, 24, false, "")
	s.Config.Params = lockFields
	s.toMatch()
	s.press("enter", "enter")
	s.want(t, "log is required")
}

// TestTrustIsOfferedAtTheStart: before an incident is opened in a directory that is not
// trusted a person says whether programs may run there; enter alone says nothing.
func TestTrustIsOfferedAtTheStart(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{"1": true, "2": false} {
		s := onStage(t, 80, 24, false, "")
		trusted := ""
		s.Config.Trust = func(_ context.Context, of screen.Untrusted) error { trusted = of.Digest; return nil }
		s.toUntrusted()
		s.want(t, "/srv/infra/network is not trusted", "https://state.example.org", "and 1 more")
		s.press("enter")
		if s.Incident != nil || trusted != "" {
			t.Fatal("enter alone went on")
		}
		s.press(key)
		_, cmd := s.Update(keyPress("enter"))
		s.openWith(cmd)
		if s.Incident == nil || (trusted != "") != want {
			t.Errorf("%s: trusted %q\n%s", key, trusted, s.screen())
		}
	}
	s := onStage(t, 80, 24, false, "")
	s.Config.Trust = func(context.Context, screen.Untrusted) error { return errors.New("it changed while you looked at it") }
	s.toUntrusted()
	s.press("1")
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
	s.want(t, "it changed while you looked at it")
}

// TestForeignRunbookIsTrustedFirst: a runbook that does not come with handrail is not begun
// with before a person saw what it does and said so; enter alone says nothing.
func TestForeignRunbookIsTrustedFirst(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{"1": true, "2": false} {
		s := onStage(t, 80, 24, false, "")
		s.toForeign()
		s.want(t, "state-lock does not come with handrail, and is not trusted", "before that of embedded", "unlock (release), terraform/force-unlock")
		s.press("enter")
		if s.Incident != nil {
			t.Fatal("enter alone went on")
		}
		s.press(key)
		_, cmd := s.Update(keyPress("enter"))
		if want {
			s.openWith(cmd)
		}
		if (s.Incident != nil) != want {
			t.Errorf("%s: opened %t\n%s", key, s.Incident != nil, s.screen())
		}
	}
	s := onStage(t, 80, 24, false, "")
	s.Config.Trust = func(context.Context, screen.Untrusted) error { return errors.New("it changed while you looked at it") }
	s.toForeign()
	s.press("1")
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
	if s.Incident != nil {
		t.Error("it was opened all the same")
	}
	s.want(t, "it changed while you looked at it")
}

// TestDirectoryThatHoldsNothing: a start where no program can run asks for another
// directory, and the same one once more is meant.
func TestDirectoryThatHoldsNothing(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	s.toNowhere()
	s.want(t, "holds no .tf or .tofu file", "Correct dir")
	_, cmd := s.Update(keyPress("enter"))
	if s.openWith(cmd); s.Incident == nil {
		t.Errorf("it cannot be meant\n%s", s.screen())
	}
	s = onStage(t, 80, 24, false, "")
	s.toNowhere()
	s.press("ctrl+u")
	s.write("/srv/good")
	_, cmd = s.Update(keyPress("enter"))
	if s.openWith(cmd); s.Incident == nil {
		t.Errorf("the other directory is not taken\n%s", s.screen())
	}
}

// TestParametersChangeOnTheScreen: the sheet sends what changed and nothing else, after
// it has said from what to what.
func TestParametersChangeOnTheScreen(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.toParams()
	before := len(s.bench.sent)
	s.write("run.log")
	s.press("enter")
	s.want(t, "log: run.log, now none", "is stale then")
	if len(s.bench.sent) != before {
		t.Fatal("it was sent before it was asked for once more")
	}
	s.press("enter")
	sent := s.bench.sent[before:]
	if len(sent) != 1 || sent[0].Kind != triage.DoPlan || sent[0].Value != book || sent[0].Params["log"] != "run.log" || sent[0].Params["workspace"] != "" {
		t.Errorf("sent %+v", sent)
	}
}

// TestAGateThatLacksAParameterAsksForIt: where nothing but a parameter keeps a gate shut, enter
// opens the sheet at its line, and does not go past the repair. P opens it there too.
func TestAGateThatLacksAParameterAsksForIt(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"enter", "P"} {
		s := onStage(t, 80, 24, true, "")
		s.Config.Params = func(string) []steps.Field { // the one that is lacking is not the first
			return []steps.Field{{Name: "workspace", Type: steps.String, Doc: "workspace"}, {Name: "release", Type: steps.String, Doc: "what the lock was for"}}
		}
		s.bench.ungiven = "release"
		s.toReady()
		s.want(t, "Give release: Release the lock waits for it")
		before := len(s.bench.sent)
		s.press(key)
		s.want(t, "Parameters of state-lock")
		s.write("run.log")
		s.press("enter", "enter")
		if sent := s.bench.sent[before:]; len(sent) != 1 || sent[0].Kind != triage.DoPlan || sent[0].Params["release"] != "run.log" {
			t.Errorf("%s: sent %+v", key, sent)
		}
	}
}

// TestAClosedGateLeadsOn: where another runbook matches, enter at a closed gate offers that one first, and goes past the
// gate only when the offer was declined.
func TestAClosedGateLeadsOn(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.bench.locked, s.bench.leads = true, []view.Lead{{Runbook: "stale-plan", Why: "The plan is not the approved one."}}
	s.toReady()
	s.want(t, "Go on with stale-plan: The plan is not the approved one.")
	before := len(s.bench.sent)
	s.press("enter")
	s.want(t, "Switch to another runbook", "The plan is not the approved one.")
	s.press("esc")
	s.want(t, "Go past the closed gate")
	s.press("enter")
	s.write("it is another lock")
	s.press("enter")
	if sent := s.bench.sent[before:]; len(sent) != 1 || sent[0].Kind != triage.DoSkip || sent[0].Step != id("unlock") {
		t.Errorf("sent %+v", sent)
	}
	s = onStage(t, 80, 24, true, "")
	s.bench.locked, s.bench.leads = true, []view.Lead{{Runbook: "stale-plan", Why: "The plan is not the approved one."}}
	s.toReady()
	before = len(s.bench.sent)
	s.press("enter", "enter")
	if sent := s.bench.sent[before:]; len(sent) != 1 || sent[0].Kind != triage.DoPlan || sent[0].Value != "stale-plan" {
		t.Errorf("sent %+v", sent)
	}
}

// TestSeverityAsksForTheCommander: SEV-1 without one cannot be sent; with one, the
// person is recorded first.
func TestSeverityAsksForTheCommander(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	before := len(s.bench.sent)
	s.toCommander()
	s.want(t, "SEV-1 needs an incident commander")
	s.write("Grace")
	s.press("enter")
	sent := s.bench.sent[before:]
	if len(sent) != 2 || sent[0].Kind != triage.DoPerson || !slices.Contains(sent[0].Who.Roles, "commander") || sent[0].Who.Proof != "claimed" || sent[1].Severity != triage.Sev1 {
		t.Errorf("sent %+v", sent)
	}
}

// TestPeopleAreAdded: a person keeps what proves their name, with other roles.
func TestPeopleAreAdded(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	before := len(s.bench.sent)
	s.press("W")
	s.want(t, "Ana (kube): commander")
	s.write("ana")
	s.press("enter")
	s.write("scribe, Commander")
	s.press("enter", "W")
	s.want(t, "Ana (kube): scribe, commander")
	sent := s.bench.sent[before:]
	if len(sent) != 1 || sent[0].Who.Proof != "kube" || sent[0].Who.Subject != "ana@example.org" {
		t.Errorf("sent %+v", sent)
	}
}

// TestTrustIsOfferedBeforeAProgram: a step that runs a program asks first where its
// directory is not trusted.
func TestTrustIsOfferedBeforeAProgram(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{"1": true, "2": false} {
		s := onStage(t, 80, 24, true, "")
		of, trusted := untrustedFixture(), false
		s.Config.Untrusted = func(context.Context, string, map[string]string) (*screen.Untrusted, error) { return &of, nil }
		s.Config.Trust = func(context.Context, screen.Untrusted) error { trusted = true; return nil }
		s.heavy(id("log"))
		before := len(s.bench.sent)
		s.run.Front(id("log"))
		s.press("r")
		s.want(t, "May programs run in this directory?")
		if len(s.bench.sent) != before {
			t.Fatal("it ran before it was asked")
		}
		s.press(key, "enter")
		if sent := s.bench.sent[before:]; len(sent) != 1 || sent[0].Step != id("log") || trusted != want {
			t.Errorf("%s: sent %+v, trusted %t", key, sent, trusted)
		}
	}
}

// TestNoDirectoryIsAskedFor: a program that its runbook gives no directory runs at once.
func TestNoDirectoryIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		with  []steps.KV
		asked bool
	}{
		{[]steps.KV{{Key: "argv", Value: `["df"]`}}, false},
		{[]steps.KV{{Key: "argv", Value: `["df"]`}, {Key: "dir", Value: "."}}, true},
		{[]steps.KV{{Key: "dir", Value: "."}}, true},
		{nil, true},
	} {
		s := onStage(t, 80, 24, true, "")
		of, looked := untrustedFixture(), false
		s.Config.Untrusted = func(context.Context, string, map[string]string) (*screen.Untrusted, error) {
			looked = true
			return &of, nil
		}
		s.heavy(id("log"))
		card := s.run.Snap.Cards[id("log")]
		card.With = tc.with
		s.run.Snap.Cards[id("log")] = card
		s.run.Front(id("log"))
		s.press("r")
		if looked != tc.asked {
			t.Errorf("given %v it asked for trust: %t", tc.with, looked)
		}
	}
}

// TestSeveritiesAreExplained: where a severity is chosen, each stands with its meaning, an
// example and its handling, whole in the smallest usual terminal.
func TestSeveritiesAreExplained(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.press("S")
	seen := strings.Join(strings.Fields(s.screen()), " ")
	for _, l := range triage.SeverityLevels() {
		for _, part := range []string{string(l.Level), l.Means, l.Example, l.Handling} {
			if !strings.Contains(seen, part) {
				t.Errorf("the sheet does not show %q:\n%s", part, s.screen())
			}
		}
	}
}

// TestConditionsAreListed: in verify each post-condition stands with what shows it, or with
// why it does not.
func TestConditionsAreListed(t *testing.T) {
	t.Parallel()
	s := onStage(t, 140, 45, true, "")
	s.toWatch()
	s.want(t, "POST-CONDITIONS", "? PC2", "clean open", "Not asked by this runbook: PC1, PC3, PC4, PC5, PC6")
	s.pass(8 * time.Second)
	s.settle(s.run.SampleWhenDue(s.Env))
	s.run.Front(id("clean"))
	s.want(t, "✓ PC2")
}

// TestUnconfinedProgramIsNotSaidToRead: where nothing keeps a program of a runbook from
// writing, the line above the keys promises nothing.
func TestUnconfinedProgramIsNotSaidToRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		unconfined bool
		with       []steps.KV
		want       string
	}{
		{true, []steps.KV{{Key: "argv", Value: `["df"]`}}, "which nothing here confines"},
		{false, []steps.KV{{Key: "argv", Value: `["df"]`}}, "which only reads"},
		{true, []steps.KV{{Key: "dir", Value: "."}}, "which only reads"},
	} {
		s := onStage(t, 120, 24, true, "")
		s.heavy(id("log"))
		card := s.run.Snap.Cards[id("log")]
		card.With = tc.with
		s.run.Snap.Cards[id("log")] = card
		s.run.Unconfined = tc.unconfined
		s.run.Front(id("log"))
		s.run.Decide()
		s.want(t, tc.want)
	}
}

// TestLogIsPastedIntoItsLine: a text of several lines is taken as the log itself, at the
// start and later; a path that is pasted stays a path.
func TestLogIsPastedIntoItsLine(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	var begun screen.Start
	s.Config.Params = lockFields
	s.Config.Start = func(_ context.Context, begin screen.Start) (screen.Incident, error) {
		begun = begin
		return nil, errors.New("far enough")
	}
	s.settle(s.wait.StartWith(s.Env, screen.Start{Runbook: "state-lock", Text: "what was matched\nbefore"}))
	s.Sheet.Paste("module.a: Creating...\r\nError: b\r\n")
	s.want(t, triage.Pasted)
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
	if begun.Given["log"] != triage.Pasted || begun.Text != "module.a: Creating...\nError: b\n" {
		t.Errorf("begun with %+v", begun)
	}
	s.press("ctrl+u")
	s.Sheet.Paste("/tmp/apply.log\n")
	_, cmd = s.Update(keyPress("enter"))
	s.openWith(cmd)
	if begun.Given["log"] != "/tmp/apply.log" {
		t.Errorf("a path is taken as %+v", begun)
	}
}

// TestListPastedAsPathIsRefusedAtOnce: a text of several lines in the line of a path, a path where
// nothing is, and a value against the grammar of its line are each refused on the sheet, whole.
func TestListPastedAsPathIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, true, "")
	s.Config.Params = func(string) []steps.Field {
		return []steps.Field{{Name: "list", Type: steps.Path, Doc: "ids of all objects"}, {Name: "quota", Type: steps.String, Pattern: "[a-z]+", Doc: "name of the quota that refuses"}}
	}
	s.Config.Absent = func(path string) string {
		if path == "ids.txt" {
			return ""
		}
		return "there is no file \"" + path + "\""
	}
	s.press("P")
	before := len(s.bench.sent)
	s.Sheet.Paste("alias-ada\nalias-bea\n")
	s.want(t, "list is the path of a file. Save the text to a file")
	s.write("nowhere.txt")
	s.press("enter")
	s.want(t, "there is no file", "or leave the line empty")
	s.press("ctrl+u")
	s.write("ids.txt")
	s.press("down")
	s.write("base line")
	s.press("enter")
	s.want(t, "quota cannot be", "name of the quota that refuses")
	s.press("ctrl+u")
	s.press("enter", "enter")
	if sent := s.bench.sent[before:]; len(sent) != 1 || sent[0].Params["list"] != "ids.txt" {
		t.Errorf("sent %+v", sent)
	}
}

// TestMatchedTextGoesAlong: the text that was matched is what the incident begins with.
func TestMatchedTextGoesAlong(t *testing.T) {
	t.Parallel()
	s := onStage(t, 80, 24, false, "")
	var begun screen.Start
	s.Config.Start = func(_ context.Context, begin screen.Start) (screen.Incident, error) {
		begun = begin
		return nil, errors.New("far enough")
	}
	s.toFound()
	_, cmd := s.Update(keyPress("enter"))
	s.openWith(cmd)
	if begun.Text == "" || begun.Text != s.match.Said.Whole() {
		t.Errorf("begun with %q", begun.Text)
	}
}

// TestSeveralAtOnce: one line fills others, and all are seen before enter starts; what an enum
// does not have is said.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	h := staled(t)
	_, cmd := h.Update(tea.PasteMsg{Content: "the error that was pasted"})
	h.runs(cmd)
	h.key("enter")
	h.types("workspace=prod -p var_file='new.tfvars'")
	h.key("enter")
	if h.Sheet == nil {
		t.Fatalf("it was started unseen:\n%s", h.screen())
	}
	h.want(t, "workspace", "prod", "new.tfvars")
	h.key("enter")
	h.key("1") // it is trusted
	h.key("enter")
	got := h.b.state.Params("stale-plan")
	if got["workspace"].Text() != "prod" || got["var_file"].Text() != "new.tfvars" {
		t.Errorf("started with %v", got)
	}
}
