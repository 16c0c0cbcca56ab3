package home

import (
	"maps"
	"testing"

	"handrail/steps"
)

// TestKnown: after a paste, what home shows fills what the text lacks, where it can be one thing alone.
func TestKnown(t *testing.T) {
	t.Parallel()
	row := func(book string, params ...string) steps.Standing {
		r := steps.Standing{Runbook: book, Params: map[string]string{}}
		for i := 0; i < len(params); i += 2 {
			r.Params[params[i]] = params[i+1]
		}
		return r
	}
	tills := row("gitops-out-of-sync", "name", "tills", "namespace", "argocd")
	for name, c := range map[string]struct {
		rows        []steps.Standing
		more        int
		given, want map[string]string
	}{
		"one thing":                       {rows: []steps.Standing{tills, row("state-lock", "name", "x")}, want: map[string]string{"name": "tills", "namespace": "argocd"}},
		"one thing, said twice":           {rows: []steps.Standing{tills, tills}, want: map[string]string{"name": "tills", "namespace": "argocd"}},
		"the text has more":               {rows: []steps.Standing{tills}, given: map[string]string{"revision": "9"}, want: map[string]string{"name": "tills", "namespace": "argocd", "revision": "9"}},
		"the text names another":          {rows: []steps.Standing{tills}, given: map[string]string{"name": "shop"}, want: map[string]string{"name": "shop"}},
		"the text tells two things apart": {rows: []steps.Standing{tills, row("gitops-out-of-sync", "name", "shop", "namespace", "argocd")}, given: map[string]string{"name": "shop"}, want: map[string]string{"name": "shop", "namespace": "argocd"}},
		"several":                         {rows: []steps.Standing{tills, row("gitops-out-of-sync", "name", "shop")}},
		"perhaps more than are shown":     {rows: []steps.Standing{tills}, more: 1},
		"none":                            {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &Screen{Centre: centre{Answers: map[string]steps.Answer{"apps": {Rows: c.rows, More: c.more}}}}
			if got := h.Known("gitops-out-of-sync", c.given); !maps.Equal(got, c.want) {
				t.Errorf("Known() = %v, want %v", got, c.want)
			}
			if len(c.rows) > 0 && len(c.rows[0].Params) != 2 {
				t.Error("it changed a row")
			}
		})
	}
}
