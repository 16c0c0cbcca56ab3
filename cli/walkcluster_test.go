package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/cli/process"
	"handrail/runbooks"
	"handrail/session/walk"
	"handrail/steps"
)

// TestRevertingFixesByKeys and TestHardeningCascadeByKeys walk drills of the Kubernetes
// API to their end in a real terminal, by keys alone: what their scripts say, as a person
// types it. Together with the walks of walkdrill_test.go they pass each class of gate
// once: contain, release, repair and rerun. Headless, every drill is walked
// (drills.TestWalks).
func TestRevertingFixesByKeys(t *testing.T) {
	t.Parallel()
	walkByScript(t, "reverting-fixes", 24, 80)
}

func TestHardeningCascadeByKeys(t *testing.T) {
	t.Parallel()
	walkByScript(t, "hardening-cascade", 45, 140)
}

func walkByScript(t *testing.T, id string, rows, cols int) {
	p := newPractice(t, demoHome(t))
	p.run(process.ExitDone, "", "lab", "up")
	p.stops(id)
	s, cmd := p.tty(rows, cols, "drill", "start", id)
	w := &walker{screen: s, p: p}
	w.begins()
	w.until("the incident", func(text string) bool { return strings.HasPrefix(move(text), "Read") })
	script := p.script(id)
	w.answers = script.answers(map[string]func(){"outside": p.ends("k8s-health-monitor")})
	w.walk(script.phrase)
	w.shows(`RECOVERED`)
	w.shows(`✓ WON`)
	w.key("\r")
	<-s.ended
	if err := cmd.Wait(); err != nil {
		t.Errorf("the drill ended with %v\n%s", err, s.text())
	}
	if st := p.folded(p.bundle()); st.Outcome != "recovered" {
		t.Errorf("the incident ended as %q", st.Outcome)
	}
	p.sound(p.bundle())
	t.Logf("%d keys, %d characters of words", w.keys, w.typed)
}

// script is what a person says in a drill, by its answers file.
type script struct {
	*walk.Answers
	titles  map[string]string // of the steps of its runbook, by id
	phrases []string          // of its gates
}

// script reads the answers of a drill that runs.
func (p *practice) script(id string) script {
	p.t.Helper()
	file := filepath.Join("../drills/library", id+".answers.yaml")
	src, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	a, err := walk.ParseAnswers(file, src)
	if err != nil {
		p.t.Fatal(err)
	}
	books := library(p.t)
	at := slices.IndexFunc(books, func(b *runbooks.Runbook) bool { return b.ID == a.Runbook })
	if at < 0 {
		p.t.Fatalf("%s is for %q, which is no runbook", file, a.Runbook)
	}
	s := script{Answers: a, titles: map[string]string{}}
	for _, st := range books[at].Steps {
		s.titles[st.ID] = st.Title
	}
	var drill struct{ Values map[string]steps.Value }
	src, err = os.ReadFile(filepath.Join(p.state, "handrail/drills", id, "drill.json"))
	if err == nil {
		err = json.Unmarshal(src, &drill)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	for g := range maps.Values(a.Gates) {
		s.phrases = append(s.phrases, drillValue.ReplaceAllStringFunc(g.Phrase, func(m string) string {
			return drill.Values[strings.TrimSuffix(strings.TrimPrefix(m, "${drill."), "}")].Text()
		}))
	}
	return s
}

var drillValue = regexp.MustCompile(`\$\{drill\.[a-z_]+\}`)

// answers are the words of the script, each beside what a screen says when it
// asks for them. Before a manual step is said to be done, hands does it.
func (s script) answers(hands map[string]func()) []answered {
	var out []answered
	titled := func(step string) string {
		title := []rune(s.titles[step])
		return string(title[:min(len(title), 40)])
	}
	for step, g := range s.Answers.Answers {
		out = append(out, answered{to: titled(step), value: g.Value, words: []string{g.How}})
	}
	for step, proof := range s.Manual {
		out = append(out, answered{to: titled(step), words: []string{proof}, first: hands[step]})
	}
	for step, g := range s.Gates {
		if g.Why == "" {
			continue
		}
		out = append(out, answered{to: "A wider pause: " + titled(step), words: []string{g.Why}})
	}
	for kind, d := range s.Debts {
		words := map[string][]string{"paid": {d.Proof}, "waived": {d.Person, d.Why}, "carried": {d.Owner, d.Until}}
		out = append(out, answered{to: "Settle: " + kind, value: d.How}, answered{to: "Debt " + d.How + ": " + kind, words: words[d.How]})
	}
	out = append(out, answered{to: "Before the close", words: []string{"as in the script"}})
	return append(out, answered{to: "Close the incident", value: "recovered", words: []string{"", ""}}, answered{to: "Close as recovered", words: []string{"recovered"}})
}

// phrase is what an armed gate wants typed.
func (s script) phrase(text string) string {
	seen := tight(text)
	for _, p := range s.phrases {
		if strings.Contains(seen, tight(p)) {
			return p
		}
	}
	return "the script has no phrase for this gate"
}

// tight is a text without what its lines are broken and framed with.
func tight(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n│║", r) {
			return -1
		}
		return r
	}, text)
}

// ends is what a person does on the node of a drill who found a program there,
// and waits for the new report of the node.
func (p *practice) ends(unit string) func() {
	return func() {
		p.t.Helper()
		roots, err := filepath.Glob(filepath.Join(p.state, "handrail/drills/*/node/root"))
		if err != nil || len(roots) != 1 {
			p.t.Fatalf("disks of nodes = %v, %v, want one", roots, err)
		}
		service := filepath.Join(roots[0], "etc/systemd/system", unit+".service")
		for _, file := range []string{filepath.Join(roots[0], "etc/cron.d", unit), service} {
			if err := os.Remove(file); err != nil {
				p.t.Fatal(err)
			}
		}
		if err := os.Symlink(os.DevNull, service); err != nil {
			p.t.Fatal(err)
		}
		reports, err := filepath.Glob(filepath.Join(filepath.Dir(roots[0]), "reports", "*.report"))
		if err != nil || len(reports) != 1 {
			p.t.Fatalf("reports of nodes = %v, %v, want one", reports, err)
		}
		for {
			told, err := os.ReadFile(reports[0])
			if err != nil {
				p.t.Fatal(err)
			}
			if len(told) > 0 && !bytes.Contains(told, []byte(unit)) {
				return
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-p.t.Context().Done():
				p.t.Fatal("the node never reported without ", unit)
			}
		}
	}
}
