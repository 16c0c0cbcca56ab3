package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"handrail/runbooks"
	"handrail/session/trial"
	"handrail/steps/catalog"
)

// TestPastedTokenIsItsHeader: of a token that is pasted into a line its header alone arrives, and
// one that is typed is on no screen: not in its line, and not in what is started with it.
func TestPastedTokenIsItsHeader(t *testing.T) {
	t.Parallel()
	const token = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImtleS03In0.c2VjcmV0LXBheWxvYWQ.c2lnbmF0dXJlLTU1"
	cat := catalog.New()
	lib, err := runbooks.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	rb := lib[slices.IndexFunc(lib, func(rb *runbooks.Runbook) bool { return rb.ID == "split-hotfix" })]
	for name, put := range map[string]func(h *hand){
		"pasted": func(h *hand) { h.Update(tea.PasteMsg{Content: "issuer=accounts header=" + token}) },
		"typed":  func(h *hand) { h.types("issuer=accounts header=" + token) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := strokes(t, rb, cat, &trial.Case{})
			_, cmd := h.Update(tea.PasteMsg{Content: "401 for " + token})
			h.runs(cmd)
			h.key("enter")
			put(h)
			for range 3 {
				if text := h.screen(); strings.Contains(text, "c2Vj") || strings.Contains(text, "c2ln") {
					t.Fatalf("the token is on the screen:\n%s", text)
				}
				h.key("enter")
			}
			if got := h.b.state.Params("split-hotfix")["header"]; got.Text() != "alg=RS256 kid=key-7" {
				t.Errorf("the parameter is %q\n%s", got.Text(), h.screen())
			}
		})
	}
}
