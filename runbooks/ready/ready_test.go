package ready_test

import (
	"testing"

	"handrail/runbooks/ready"
	"handrail/steps/catalog"
	"handrail/triage"
)

// TestRunbook: fourteen questions and one for each failure model, and nothing that could change anything.
func TestRunbook(t *testing.T) {
	t.Parallel()
	parts, err := ready.ParseComponents("ours.yaml", []byte("apiVersion: handrail/v1\nkind: Components\ncomponents:\n  - {name: 'Image \"registry\" ${x}', responsibility: ['keeps ${images} \\ \"by\" digest']}\n"))
	if err != nil {
		t.Fatal(err)
	}
	rb, err := ready.Runbook(catalog.New(), parts)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, s := range rb.Steps {
		switch s.Kind {
		case triage.AskStep:
			asked++
		case triage.ProbeStep:
		default:
			t.Errorf("%s is a %s", s.ID, s.Kind)
		}
	}
	if want := len(ready.Items()); asked != want+1 || want != 14 {
		t.Errorf("it asks %d questions, want 14 of %d and one of a model", asked, want)
	}
	last := rb.Steps[len(rb.Steps)-1]
	if last.ID != "model_image_registry_x" || last.Title != `Does the failure model of the Image "registry" ${x} hold here?` {
		t.Errorf("the model is asked as %q, %q", last.ID, last.Title)
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	list, err := ready.Components()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if len(c.Parts) != 12 {
			t.Errorf("%s has %d headings, want 12", c.Name, len(c.Parts))
		}
		for _, p := range c.Parts {
			if p.Value == "" || p.Value == "not stated" {
				t.Errorf("%s says nothing of %s", c.Name, p.Key)
			}
		}
	}
	if len(list) != 2 {
		t.Errorf("%d components come with handrail, want 2", len(list))
	}
}

func TestComponentsOfATeam(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: handrail/v1\nkind: Components\ncomponents:\n"
	list, err := ready.ParseComponents("ours.yaml", []byte(head+"  - {name: registry, responsibility: [keeps images], unsafe: [push over a tag]}\n"))
	if err != nil || len(list) != 1 || list[0].Parts[9].Value != "push over a tag" || list[0].Parts[1].Value != "not stated" {
		t.Errorf("read %+v, %v", list, err)
	}
	for _, bad := range []string{"  - {name: registry}\n", "  - {name: a, responsibility: [x], colour: [y]}\n", "  - {name: a b, responsibility: [x]}\n  - {name: A-b, responsibility: [y]}\n", "  - {name: '??', responsibility: [x]}\n"} {
		if list, err := ready.ParseComponents("ours.yaml", []byte(head+bad)); err == nil {
			t.Errorf("%q was read as %+v", bad, list)
		}
	}
}

func FuzzComponents(f *testing.F) {
	f.Add([]byte("apiVersion: handrail/v1\nkind: Components\ncomponents:\n  - {name: a, responsibility: [x]}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		list, err := ready.ParseComponents("fuzz.yaml", src)
		if err != nil {
			return
		}
		for _, c := range list {
			if c.Name == "" || len(c.Parts) != 12 {
				t.Errorf("%q was read as %+v", src, c)
			}
		}
	})
}
