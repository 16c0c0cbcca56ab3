package cli

import (
	"regexp"
	"strings"
	"testing"
)

// plainPrompt is the last line of what was said when the dialogue waits for one.
var plainPrompt = regexp.MustCompile(`(?:\A|\n)[^\n>]*> \z`)

var plainPhrase = regexp.MustCompile(`Type this phrase to go on, q to leave: (.*)`)

// TestWalkInPlainMode walks a drill line by line in a real terminal, as with a
// screen reader, until it is won. Nothing is ever drawn over.
func TestWalkInPlainMode(t *testing.T) {
	t.Parallel()
	p := newPractice(t, demoHome(t))
	p.stops("killed-runner")
	s, cmd := p.tty(40, 100, "drill", "start", "killed-runner", "--plain")
	next := []answered{ // what is typed where enter alone does not go on
		{to: "state-lock/ci_run", words: []string{"run 4711: its runner is gone"}},
		{to: "answer state-lock/holder", words: []string{"dead", "no tofu on the runner"}},
		{to: "answer state-lock/serial", words: []string{"explained", "the init of the run that died"}},
		{to: "settle ", words: []string{"", "carried", "platform", "2027-01-31"}},
		{to: "resolve ", words: []string{"", "resolved", "it is in the debt for the run"}},
		{to: "close recovered", words: []string{"", ""}},
	}
	at := 0
	asked := func() (said string, open bool) {
		s.until("a prompt, or the end", func(string) bool {
			said = strings.ReplaceAll(s.written()[at:], "\r", "")
			select {
			case <-s.ended:
				open = false
			default:
				open = true
			}
			return !open || strings.Contains(said, "\n") && plainPrompt.MatchString(said)
		})
		return said, open
	}
	enter := func(line string) {
		at = len(s.written())
		s.send(line + "\r")
	}
	for {
		said, open := asked()
		if !open {
			break
		}
		if phrase := plainPhrase.FindStringSubmatch(said); phrase != nil {
			enter(strings.TrimSpace(phrase[1]))
			continue
		}
		words := []string{""}
		title := said[max(0, strings.LastIndex(said, "Next: ")):]
		title, _, _ = strings.Cut(title, "\n")
		for _, a := range next {
			if strings.Contains(title, a.to) {
				words = a.words
			}
		}
		for i, w := range words {
			enter(w)
			if i < len(words)-1 {
				asked()
			}
		}
	}
	if at := strings.IndexByte(s.written(), '\x1b'); at >= 0 {
		t.Errorf("a control sequence was written in plain mode: %q", s.written()[max(0, at-80):min(at+80, len(s.written()))])
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(s.written(), "The drill is won.") {
		t.Errorf("the walk ended with %v:\n%s", err, s.written())
	}
	p.sound(p.bundle())
}
