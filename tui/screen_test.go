package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/gate"
	"handrail/tui/home"
	"handrail/tui/screen"
	"handrail/tui/wait"
)

// clockwork is the clock of a test.
type clockwork struct{ at time.Time }

func (c *clockwork) now() time.Time { return c.at }

// stage is a model with its clock and its incident.
type stage struct {
	t *testing.T
	*model
	clock *clockwork
	bench *bench
}

// onStage shows the home screen, or the run screen of the fixture incident.
func onStage(t *testing.T, w, h int, incident bool, hostile string) *stage {
	t.Helper()
	s := &stage{t: t, clock: &clockwork{opened()}}
	c := configFixture(s.clock.now, hostile)
	if incident {
		s.bench = newBench(s.clock.now, hostile)
		c.Report = s.bench.reportFixture
		c.Open = s.bench
	}
	s.model = newModel(t.Context(), c)
	s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	s.pass(0)
	return s
}

// pass lets time go by; the tick after it is not waited for.
func (s *stage) pass(d time.Duration) {
	s.clock.at = s.clock.at.Add(d)
	s.model.Now = s.clock.at
}

// press sends keys and runs what each of them starts. What a key starts beside
// the loop sends one message back, except a batch, which the caller runs.
func (s *stage) press(keys ...string) {
	for _, k := range keys {
		_, cmd := s.Update(keyPress(k))
		s.settle(cmd)
	}
}

func (s *stage) settle(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if _, more := msg.(tea.BatchMsg); more {
		return
	}
	switch msg.(type) {
	case tea.QuitMsg, tickMsg: // a tick begins the next one, without end
		return
	}
	_, cmd = s.Update(msg)
	if _, opened := msg.(wait.OpenedMsg); !opened {
		s.settle(cmd)
	}
}

// resize pulls at a window that has been drawn, and runs all that follows.
func (s *stage) resize(w, h int) {
	_, cmd := s.Update(tea.WindowSizeMsg{Width: w, Height: h})
	msg := cmd()
	all, batched := msg.(tea.BatchMsg)
	if !batched {
		all = tea.BatchMsg{cmd}
	}
	for _, c := range all {
		s.settle(c)
	}
}

// write types text, one key a rune.
func (s *stage) write(t string) {
	for _, r := range t {
		s.press(string(r))
	}
}

// types is one key that yields all of a text, as what composes letters may do.
func (s *stage) types(text string) {
	_, c := s.Update(tea.KeyPressMsg{Code: tea.KeyExtended, Text: text})
	s.settle(c)
}

func keyPress(s string) tea.KeyPressMsg {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "tab": tea.KeyTab,
		"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "backspace": tea.KeyBackspace,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd}
	if r, ok := named[s]; ok {
		return tea.KeyPressMsg{Code: r}
	}
	if letter, ok := strings.CutPrefix(s, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(letter)[0], Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
}

func (s *stage) screen() string {
	c := lipgloss.NewCanvas(s.W, s.H).Compose(lipgloss.NewLayer(s.View().Content))
	rows := strings.Split(ansi.Strip(c.Render()), "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return strings.Join(rows, "\n") + "\n"
}

func (s *stage) want(t *testing.T, parts ...string) {
	t.Helper()
	got := s.screen()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("the screen does not say %q:\n%s", p, got)
		}
	}
}

// The ways to each screen, from the stage on.

func (s *stage) toHome() {
	s.settle(s.home.Load(s.Env))
	s.settle(s.home.Ask(s.Env))
}

// toAsking has three of ten answers.
func (s *stage) toAsking() {
	s.settle(s.home.Load(s.Env))
	s.Config.Centre = func(context.Context, func(steps.Answer)) {}
	s.home.Ask(s.Env)
	for _, a := range centreFixture("")[:3] {
		s.Update(home.AnswerMsg{Run: s.home.Centre.Run, A: a})
	}
}

func (s *stage) toMatch() {
	s.toHome()
	_, cmd := s.Update(tea.PasteMsg{Content: "╷\n│ Error: Error acquiring the state lock\n│\n│ Lock Info:\n│   Who:  runner@ci-7f9c\n╵\n"})
	s.settle(cmd)
}

func (s *stage) toEvidence() { s.toFinding(); s.press("e") }

// toViewer gives a long artifact the whole screen.
func (s *stage) toViewer() {
	s.bench.holds(applyLog())
	s.toEvidence()
	s.press("enter", "enter")
}

// toRound has read all that preserve reads, by one enter.
func (s *stage) toRound() { s.pass(47 * time.Second); s.press("enter") }

func (s *stage) toFinding() {
	s.toRound()
	s.run.Front(id("state"))
	s.run.Decide()
}

// toTogether has read all that the early phases read, and concluded nothing.
func (s *stage) toTogether() {
	s.toRound()
	for _, name := range []string{"log", "serials"} {
		s.run.Front(id(name))
		s.press("r")
	}
	s.press("n")
	s.run.Front(id("whose"))
	s.run.Decide()
}

// toAgree is at a question to which the facts have an answer.
func (s *stage) toAgree() {
	s.toAsk()
	c := s.bench.cards[id("holder")]
	c.Proposed, c.Why, c.Grounds = "dead", "Its process is gone from this machine.", []string{"facts.process.alive = dead"}
	s.bench.cards[id("holder")] = c
	s.run.Snap.Cards = s.bench.cards
	s.run.Decide()
}

func (s *stage) toConclusion() {
	s.toRound()
	s.press("enter", "n")
	s.run.Front(id("changed"))
	s.run.Decide()
}

// toAsk has everything before the question settled.
func (s *stage) toAsk() {
	for _, name := range []string{"lock", "state", "process", "log", "serials"} {
		s.run.Front(id(name))
		s.press("r")
	}
	for _, name := range []string{"whose", "changed", "class"} {
		s.run.Front(id(name))
		s.press("a", "enter")
	}
	s.run.Front(id("holder"))
	s.run.Decide()
	s.pass(3 * time.Minute)
}

func (s *stage) toMatrix() {
	s.toAsk()
	s.run.Front(id("serials"))
	s.run.Decide()
}

func (s *stage) toForm() { s.toAsk(); s.press("2") }

// toReady is before a gate that could be shown: the help lay over it as the last word was
// recorded, so that it did not come by itself.
func (s *stage) toReady() {
	s.toForm()
	s.write("no process on the runner")
	s.openHelp()
	s.press("enter")
	s.help = nil
	s.pass(time.Minute)
}

func (s *stage) toGate() {
	s.toReady()
	s.opens(id("unlock"))
	s.pass(gate.Grace)
}

// opens reads the target of a gate, as enter does in front of it.
func (s *stage) opens(step string) { s.settle(s.Ask(screen.OpenGate{Step: step})) }

// toDiff is a gate with a rehearsed change, look-alikes and owners.
func (s *stage) toDiff() {
	s.bench.preview = strip("")
	s.toGate()
}

// toTwo is a gate that waits for a second person.
func (s *stage) toTwo() {
	s.bench.second = twoPersons(s.bench.hostile)
	s.toGate()
}

// approve pastes the answer of a second person.
func (s *stage) approve(line string) {
	_, cmd := s.Update(tea.PasteMsg{Content: line + "\n"})
	s.settle(cmd)
	s.pass(gate.Grace)
}

func (s *stage) toDone() {
	s.toGate()
	_, cmd := s.Update(tea.PasteMsg{Content: s.bench.preview.Phrase + "\n"})
	s.settle(cmd)
	s.press("enter")
}

// toUndone is the done gate after its second look.
func (s *stage) toUndone(outcome string) {
	s.bench.again = "30s"
	s.toDone()
	s.bench.readAgain(outcome, "The lock is held again by runner@ci-7f9c, since 02:19:04Z.")
	_, cmd := s.Update(changedMsg{s.bench, s.bench.Snapshot()})
	_ = cmd // it waits for the next change
	s.pass(gate.Grace)
}

func (s *stage) toWatch() {
	s.toDone()
	s.pass(gate.Grace)
	s.press("enter")
	s.run.Front(id("clean"))
	s.press("r")
	s.pass(12 * time.Second)
}

func (s *stage) toVerified() {
	s.toWatch()
	s.pass(8 * time.Second)
	s.settle(s.run.SampleWhenDue(s.Env))
}

func (s *stage) toSettle() {
	s.toVerified()
	s.press("d", "2", "enter")
}

func (s *stage) toDebrief() {
	s.toClosing()
	s.write("recovered")
	s.press("enter")
}

// toClosing asks for the word that closes an incident as recovered whose debt is carried.
func (s *stage) toClosing() {
	s.toSettle()
	s.write("platform")
	s.press("enter")
	s.write("2026-12-01")
	s.press("enter")
	s.bench.record(triage.Conclude{Topic: triage.TopicConsistent, Value: "yes", Person: "ana@example.org", Why: "the plan after the release is empty"})
	for _, st := range s.bench.state.Steps {
		for _, f := range st.Telling() {
			s.bench.record(triage.FindingAnswer{Step: st.ID, Finding: f.Say, How: triage.Resolved, Why: "the run is gone, and what it wrote is owed" + s.bench.hostile})
		}
	}
	s.hear()
	s.press("c", "1", "enter", "enter")
}

// toReads has three reads at once, and the lines that they print.
func (s *stage) toReads() {
	s.bench.slow = map[string]bool{id("lock"): true, id("state"): true, id("process"): true}
	s.press("R")
	s.bench.print(id("lock"), "GET Lease infra/lock-tfstate-default-network"+s.bench.hostile)
	s.bench.print(id("state"), "GET Secret infra/tfstate-default-network"+s.bench.hostile, "decoding 31 resources"+s.bench.hostile)
	s.pass(52 * time.Second)
	s.hear()
}

// hear takes what the incident published.
func (s *stage) hear() {
	s.run.Take(s.Incident.Snapshot())
	s.settle(s.evidence.LiveGrew(s.Env))
}

// toLive reads what a probe prints, while it runs.
func (s *stage) toLive() {
	s.toReads()
	for l := range strings.Lines(applyLog()) {
		s.bench.print(id("lock"), strings.TrimSuffix(l, "\n")+s.bench.hostile)
	}
	s.hear()
	s.press("v")
}

// toHistory is a watch that was red once, and unknown once.
func (s *stage) toHistory() {
	s.toDone()
	s.pass(gate.Grace)
	s.press("enter")
	s.run.Front(id("clean"))
	end := s.bench.probes[id("clean")]
	for _, seen := range []string{"true", "false", "", "true", "true"} {
		green := steps.BoolOf(seen == "true")
		if seen == "" {
			green = steps.Unknown(steps.Bool, "the server did not answer")
		}
		end.Green = &green
		s.bench.probes[id("clean")] = end
		s.press("r")
		s.pass(11 * time.Second)
	}
}

// shot is a screen and the way to it from the stage.
type shot struct {
	incident bool
	to       func(*stage)
}

// shots are all screens.
func shots() map[string]shot {
	return map[string]shot{
		"home":          {false, (*stage).toHome},
		"loading":       {false, func(*stage) {}},
		"empty":         {false, func(s *stage) { s.Update(home.HomeMsg{}) }},
		"match":         {false, (*stage).toMatch},
		"params":        {false, func(s *stage) { s.toMatch(); s.press("down", "enter") }},
		"found":         {false, (*stage).toFound},
		"untrusted":     {false, (*stage).toUntrusted},
		"foreign":       {false, (*stage).toForeign},
		"nowhere":       {false, (*stage).toNowhere},
		"unread":        {true, (*stage).toUnread},
		"parameters":    {true, (*stage).toParams},
		"changed":       {true, func(s *stage) { s.toParams(); s.press("ctrl+u"); s.write("infra/prod"); s.press("enter") }},
		"people":        {true, func(s *stage) { s.press("W"); s.write("Grace"); s.press("enter") }},
		"commander":     {true, (*stage).toCommander},
		"run":           {true, func(s *stage) { s.pass(12 * time.Second) }},
		"review":        {true, (*stage).toReview},
		"review-read":   {true, (*stage).toReviewRead},
		"review-ask":    {true, (*stage).toReviewAsk},
		"review-model":  {true, (*stage).toReviewModel},
		"review-gap":    {true, (*stage).toReviewGap},
		"review-owner":  {true, func(s *stage) { s.toReviewGap(); s.press("enter") }},
		"readonly":      {true, func(s *stage) { s.pass(12 * time.Second); s.run.Snap.ReadOnly = "context prod-eu-central-1-blue" }},
		"round":         {true, (*stage).toRound},
		"together":      {true, (*stage).toTogether},
		"agree":         {true, (*stage).toAgree},
		"sheet":         {false, (*stage).toSheet},
		"sheet-typed":   {false, (*stage).toTyped},
		"sheet-class":   {false, (*stage).toClassOnSheet},
		"finding":       {true, (*stage).toFinding},
		"opposed":       {true, (*stage).toOpposed},
		"unserved":      {true, (*stage).toUnserved},
		"blocked":       {true, (*stage).toBlocked},
		"untold":        {true, func(s *stage) { s.toUntold(); s.press("enter") }},
		"byhand":        {true, func(s *stage) { s.toUnserved(); s.press("M") }},
		"overrule":      {true, func(s *stage) { s.toOpposed(); s.press("w") }},
		"facts":         {true, func(s *stage) { s.toAsk(); s.press("f") }},
		"conclusion":    {true, (*stage).toConclusion},
		"matrix":        {true, (*stage).toMatrix},
		"matrix-picked": {true, func(s *stage) { s.toMatrix(); s.press("down", "down", "down", "right") }},
		"ask":           {true, (*stage).toAsk},
		"ask-lists":     {true, (*stage).toLists},
		"form":          {true, (*stage).toForm},
		"gateshut":      {true, func(s *stage) { s.run.Front(id("unlock")); s.press("g"); s.pass(gate.Grace) }},
		"gate":          {true, (*stage).toGate},
		"gatelook":      {true, func(s *stage) { s.toReady(); s.press("g"); s.pass(gate.Grace) }},
		"unknown":       {true, func(s *stage) { s.toAsk(); s.press("u") }},
		"accept":        {true, func(s *stage) { s.toConclusion(); s.press("a") }},
		"closing":       {true, func(s *stage) { s.toFinding(); s.press("c", "3", "enter", "enter") }},
		"continue":      {true, func(s *stage) { s.toDebrief(); s.press("O") }},
		"gatediff":      {true, (*stage).toDiff},
		"gatemore":      {true, func(s *stage) { s.toDiff(); s.press("pgdown") }},
		"gatedone":      {true, (*stage).toDone},
		"gateagain":     {true, func(s *stage) { s.bench.again = "30s"; s.toDone() }},
		"gateundone":    {true, func(s *stage) { s.toUndone(triage.Undone) }},
		"undone": {true, func(s *stage) {
			s.toUndone(triage.Undone)
			s.pass(gate.Grace)
			s.press("enter")
			s.run.Front(id("unlock"))
			s.pass(gate.Grace)
		}},
		"gatewaits":      {true, (*stage).toTwo},
		"waiting":        {true, func(s *stage) { s.toTwo(); s.press("enter") }},
		"gateapproved":   {true, func(s *stage) { s.toTwo(); s.approve(goodApproval); s.pass(2 * time.Minute) }},
		"gatenottaken":   {true, func(s *stage) { s.toTwo(); s.approve("handrail-approval-v1 of somebody else") }},
		"watch":          {true, (*stage).toWatch},
		"samples":        {true, (*stage).toHistory},
		"reads":          {true, (*stage).toReads},
		"cutoff":         {true, func(s *stage) { s.toReads(); s.press("x") }},
		"live":           {true, (*stage).toLive},
		"barred":         {true, func(s *stage) { s.toFinding(); s.bar("log"); s.run.Front(id("log")); s.run.Decide() }},
		"gatenote":       {true, func(s *stage) { s.toGate(); s.write("force-un"); s.press("ctrl+t"); s.write("waiting for Ben") }},
		"settle":         {true, (*stage).toSettle},
		"debrief":        {true, (*stage).toDebrief},
		"debrief-won":    {true, (*stage).toWon},
		"debrief-lost":   {true, (*stage).toLost},
		"evidence":       {true, (*stage).toEvidence},
		"artifact":       {true, func(s *stage) { s.toEvidence(); s.press("enter") }},
		"viewer":         {true, func(s *stage) { s.toViewer(); s.press("pgdown") }},
		"viewer-search":  {true, func(s *stage) { s.toViewer(); s.press("/"); s.write("error"); s.press("enter", "n") }},
		"viewer-wrapped": {true, func(s *stage) { s.toViewer(); s.press("w", "/"); s.write("conflict") }},
		"report":         {true, (*stage).toReport},
		"report-tables":  {true, func(s *stage) { s.toReport(); s.press("/"); s.write("decisions and"); s.press("enter") }},
		"kinds":          {true, func(s *stage) { s.toDebrief(); s.press("e", "v") }},
		"seal":           {true, (*stage).toSeal},
		"seal-form":      {true, (*stage).toSealForm},
		"sealed":         {true, (*stage).toSealed},
		"handover":       {true, (*stage).toHandOver},
		"takeover":       {false, (*stage).toTakeOver},
		"symptoms":       {false, (*stage).toSymptoms},
		"help":           {true, func(s *stage) { s.press("?") }},
		"palette":        {true, func(s *stage) { s.toFinding(); s.press(":"); s.write("st") }},
		"narrow":         {false, func(s *stage) { s.toHome(); s.press("/"); s.write("lock") }},
		"status":         {true, func(s *stage) { s.toFinding(); s.press("U") }},
		"asking":         {false, (*stage).toAsking},
		"standing":       {false, func(s *stage) { s.toHome(); s.press("down", "down", "enter") }},
		"order":          {true, (*stage).toOrder},
		"order-changed":  {true, (*stage).toChanged},
		"order-why":      {true, func(s *stage) { s.toOrder(); s.press("pgdown") }},
		"order-ask":      {true, (*stage).toWish},
		"order-facts":    {true, func(s *stage) { s.toOrder(); s.press("f"); s.press("pgdown") }},
		"way":            {true, (*stage).toWay},
		"way-down":       {true, func(s *stage) { s.toWay(); s.press("pgdown") }},
		"gaps":           {false, func(s *stage) { s.toHome(); s.press("/"); s.write("not seen"); s.press("enter") }},
	}
}

// bar makes the session refuse to start a probe.
func (s *stage) bar(step string) {
	s.bench.mu.Lock()
	defer s.bench.mu.Unlock()
	c := s.bench.cards[id(step)]
	c.Shut = []triage.Refusal{{Why: "step " + step + ": parameter holder: fact lock.holder is not known", Cure: "complete the step that yields it first"}}
	s.bench.cards[id(step)] = c
}

func TestScreens(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {140, 45}, {60, 18}, {59, 17}} {
		for name, sc := range shots() {
			if size[0] == 59 && name != "run" && name != "gate" {
				continue
			}
			t.Run(fmt.Sprintf("%s_%dx%d", name, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := onStage(t, max(60, size[0]), max(18, size[1]), sc.incident, "")
				sc.to(s)
				s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				golden.RequireEqual(t, s.screen())
			})
		}
	}
}
