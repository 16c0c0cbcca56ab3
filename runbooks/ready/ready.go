// Package ready is the runbook of a readiness review: fourteen questions about a platform
// while nothing burns, what is read for them, and the failure models of components. It is
// in no library, since no error leads to it.
package ready

import (
	"bytes"
	_ "embed" // the questions
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/strict"
	"handrail/triage"
)

// ID is the id of the runbook of a readiness review. It is not in the library:
// no error leads to it, and `handrail readiness` alone begins with it.
const ID = "readiness"

//go:embed readiness.yaml.tmpl
var readinessSource string

//go:embed components.yaml
var componentSource []byte

// Item is one of the questions of a readiness review, in the order of the checklist.
type Item struct {
	ID, Ask, Read string
}

// Items are the fourteen questions. Read says what is read for one, "" where
// only people know.
func Items() []Item {
	return []Item{
		{"owned", "Has every state unit an owner?", ""},
		{"trail", "Does every apply leave its evidence, where it is found later?", ""},
		{"bound", "Is a plan, and its approval, bound to the commit and to the digest of the plan?", "a saved plan in the directory"},
		{"state", "Does the state backend keep versions, and lock?", "the versions and the lock of the state"},
		{"unlock", "Is a forced unlock written down as a procedure, and audited?", "the acts in the bundles of this machine"},
		{"partial", "Is the recovery of an apply that broke off practised?", "the drills of this machine"},
		{"pause", "Is pausing and resuming a controller narrow, and allowed to few?", "what every signed-in user may do in the cluster"},
		{"exception", "Is there a way to except one object from an admission policy?", "the exception objects of the cluster"},
		{"secret", "Can a secret be rolled back?", "the objects of the cluster that deliver secrets from a store"},
		{"reconcile", "Does a change by hand in an emergency owe a pull request?", "the debts in the bundles of this machine"},
		{"drift", "Is each finding of drift classified and answered?", "the incidents of this machine"},
		{"upgrade", "Has every upgrade of a controller a way back?", ""},
		{"tested", "Are changes of policy tested?", ""},
		{"learned", "Do reviews of incidents change the platform?", "the follow-ups and drills of this machine"},
	}
}

// Models are the questions about failure models, one for each component.
func Models(list []triage.Component) []Item {
	out := make([]Item, len(list))
	for i, c := range list {
		out[i] = Item{c.Question(), fmt.Sprintf("Does the failure model of the %s hold here?", c.Name), ""}
	}
	return out
}

// model is what the template is given of a component; all of it is YAML.
type model struct {
	ID, Ask, Lacks string
	Heads          []string
}

func modelsOf(list []triage.Component) []model {
	out := make([]model, len(list))
	for i, c := range list {
		q := Models(list)[i]
		m := model{ID: q.ID, Ask: quoted(strings.ReplaceAll(q.Ask, "${", "$${"))}
		var lacks []string
		for _, p := range c.Parts {
			if p.Value == notStated {
				lacks = append(lacks, strings.ToLower(p.Key))
			}
			head := strings.TrimPrefix(p.Key, "Failure modes ") // the question says that it is a failure model
			m.Heads = append(m.Heads, "{"+quoted(head)+": "+quoted(quoted(p.Value))+"}")
		}
		if len(lacks) > 0 {
			m.Lacks = quoted(strings.Join(lacks, ", "))
		}
		out[i] = m
	}
	return out
}

// quoted is a text as JSON has it, which YAML and CEL read as the same text.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // no string is refused
		panic(err)
	}
	return string(b)
}

// Runbook is the runbook of a review that goes through these failure models too.
func Runbook(cat steps.Catalog, parts []triage.Component) (*runbooks.Runbook, error) {
	t, err := template.New("readiness").Parse(readinessSource)
	if err != nil {
		return nil, fmt.Errorf("the questions of readiness: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, map[string]any{"Items": Items(), "Models": modelsOf(parts)}); err != nil {
		return nil, fmt.Errorf("the questions of readiness: %w", err)
	}
	rb, err := runbooks.Parse("readiness.yaml", b.Bytes(), cat)
	if err != nil {
		return nil, err
	}
	asked := func(s runbooks.Step) bool {
		return slices.ContainsFunc(slices.Concat(Items(), Models(parts)), func(i Item) bool { return i.ID == s.ID })
	}
	rb.Steps = slices.DeleteFunc(rb.Steps, func(s runbooks.Step) bool { // what the loop adds for a failure
		return s.Kind == triage.ConcludeStep || s.Kind == triage.AskStep && !asked(s)
	})
	return rb, nil
}

// Components are the failure models that come with handrail, as worked examples.
func Components() ([]triage.Component, error) {
	return ParseComponents("components.yaml", componentSource)
}

// Over are a team's components, and the worked ones that it does not state itself.
func Over(own, worked []triage.Component) []triage.Component {
	out := slices.Clone(own)
	for _, c := range worked {
		if !slices.ContainsFunc(own, func(o triage.Component) bool { return o.Question() == c.Question() }) {
			out = append(out, c)
		}
	}
	return out
}

type componentDoc struct {
	Components []componentEntry `key:"components,required" each:"component"`
}

type componentEntry struct {
	Name           string   `key:"name,required"`
	Responsibility []string `key:"responsibility,required" of:"a line"`
	Inputs         []string `key:"inputs" of:"a line"`
	Outputs        []string `key:"outputs" of:"a line"`
	State          []string `key:"state" of:"a line"`
	Before         []string `key:"before" of:"a line"`
	During         []string `key:"during" of:"a line"`
	After          []string `key:"after" of:"a line"`
	Detection      []string `key:"detection" of:"a line"`
	Safe           []string `key:"safe" of:"a line"`
	Unsafe         []string `key:"unsafe" of:"a line"`
	Evidence       []string `key:"evidence" of:"a line"`
	Prevention     []string `key:"prevention" of:"a line"`
}

// ParseComponents reads the failure models of a file.
func ParseComponents(file string, src []byte) ([]triage.Component, error) {
	r := &strict.Reader{File: file, What: "a file of components", Forms: map[string]strict.Form{"component": componentForm}}
	doc := &componentDoc{}
	if err := r.Envelope(src, "Components", doc); err != nil {
		return nil, err
	}
	var out []triage.Component
	for _, c := range doc.Components {
		next := triage.Component{Name: c.Name, Parts: c.parts()}
		switch {
		case next.Question() == triage.ModelPrefix:
			return nil, fmt.Errorf("%s names a component %q: a name has letters or digits", file, c.Name)
		case slices.ContainsFunc(out, func(o triage.Component) bool { return o.Question() == next.Question() }):
			return nil, fmt.Errorf("%s states component %q twice", file, c.Name)
		}
		out = append(out, next)
	}
	return out, nil
}

func componentForm(r *strict.Reader, n *strict.Node, _ string) any {
	c := componentEntry{}
	r.Struct(n, "a component", &c)
	return c
}

// notStated stands below a heading that a team left out.
const notStated = "not stated"

// parts are the headings with what stands below them. What a team left out says so.
func (c componentEntry) parts() []triage.KV {
	var out []triage.KV
	for _, p := range []struct {
		head string
		body []string
	}{
		{"Responsibility", c.Responsibility}, {"Inputs", c.Inputs}, {"Outputs", c.Outputs}, {"State", c.State},
		{"Failure modes before mutation", c.Before}, {"Failure modes during mutation", c.During}, {"Failure modes after mutation", c.After},
		{"Detection", c.Detection}, {"Safe recovery", c.Safe}, {"Unsafe recovery", c.Unsafe}, {"Evidence", c.Evidence}, {"Preventive controls", c.Prevention},
	} {
		text := strings.Join(p.body, "; ")
		if text == "" {
			text = notStated
		}
		out = append(out, triage.KV{Key: p.head, Value: text})
	}
	return out
}
