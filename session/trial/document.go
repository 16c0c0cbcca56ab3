// Package trial tests a runbook without a cluster, a state or a lab: a test says what each
// step would have read and what people would have said, and what must follow from it.
//
// A case goes through the real loop: the laws are asked ([triage.Options], [triage.Check]),
// what happens is an event, and events are folded ([triage.Fold]). Only three things are put
// in place of the world. A read gives the facts that the case records for its step; a step
// without a record is one that could not be read, and its facts are unknown. A clock moves
// where a watch or a read needs time. A gate is armed by a preview that names nothing, once
// the laws and the runbook's own requirements let it; the floors of its kind, which need a
// real target, are not part of a test, and its act is done only where the case says so.
//
// [Run] tells what followed and which branches of the runbook were walked: [Report].
package trial

import (
	"fmt"
	"maps"
	"slices"

	"handrail/runbooks"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/strict"
	"handrail/triage"
)

// Document is the tests of one runbook, NAME.test.yaml beside NAME.yaml.
type Document struct {
	File    string
	Runbook string `key:"runbook,required"`
	Base    Base   `key:"base"`
	Cases   []Case `key:"cases,required" of:"a case"`
}

// Base is what all cases begin with. A case puts its own over it, fact by fact and answer
// by answer; a fact that it gives as null is not read in that case.
type Base struct {
	Params  map[string]string `key:"params" each:"param"`
	Facts   map[string]facts  `key:"facts" each:"facts"`
	Answers map[string]string `key:"answers"`
	Manual  map[string]string `key:"manual"`
	values  map[string]map[string]steps.Value

	Findings []triage.FindingAnswer `key:"findings" each:"finding"`
}

// Case is one incident: what would be read and said, and what must follow.
type Case struct {
	Name     string            `key:"name,required"`
	Params   map[string]string `key:"params" each:"param"`
	Facts    map[string]facts  `key:"facts" each:"facts"` // by step
	Fails    map[string]string `key:"fails"`              // by step: why it cannot be read
	Answers  map[string]string `key:"answers"`            // by step
	Manual   map[string]string `key:"manual"`             // by step: the proof
	Conclude map[string]string `key:"conclude"`           // by topic, in place of what the facts propose
	Skip     map[string]string `key:"skip"`               // by step: why
	Acts     []string          `key:"acts" of:"a gate"`   // gates whose act is done
	Waive    map[string]string `key:"waive"`              // by step: why its law is waived
	Expect   Expect            `key:"expect,required"`
	// Findings answer critical findings that shut no gate, as an answers file does; those of
	// the base come after.
	Findings []triage.FindingAnswer `key:"findings" each:"finding"`
	// ByHand are repairs outside of handrail, recorded once no gate serves.
	ByHand   []triage.HandAct `key:"by_hand" each:"hand"`
	Repaired map[string]facts `key:"repaired" each:"facts"` // by step: what it reads after them
	line     int
	values   map[string]map[string]steps.Value
	after    map[string]map[string]steps.Value
}

// Expect is what must follow. What it does not name may be as it is.
type Expect struct {
	Phase     string              `key:"phase"`                          // where the call stands at the end
	Conclude  map[string]string   `key:"conclude"`                       // what the facts propose, by topic
	Proposes  map[string]string   `key:"proposes"`                       // what the facts say to a question
	Facts     map[string]string   `key:"facts"`                          // STEP.FACT: value, or unknown
	Findings  map[string][]string `key:"findings" of:"a part of a text"` // by step, parts of what is found, also what a later reading resolves
	Armed     []string            `key:"armed" of:"a gate"`              // gates that open
	Refused   map[string]string   `key:"refused"`                        // by gate, a part of why it stays shut
	Aside     []string            `key:"aside" of:"a step"`              // steps that do not apply
	Next      []string            `key:"next" of:"a runbook"`            // all that it goes on with
	Recovered *bool               `key:"recovered"`                      // whether it may be closed as recovered
}

// facts are recorded values before their kind is known.
type facts map[string]*strict.Node

// Parse reads the tests of a runbook. Bad input gives strict.Problems with their places.
func Parse(file string, src []byte, rb *runbooks.Runbook, cat steps.Catalog) (*Document, error) {
	r := &strict.Reader{File: file, What: "a test of a runbook", Forms: walk.Forms()}
	r.Forms["facts"], r.Forms["param"] = readFacts, readParam
	doc := r.Document(src)
	if doc == nil {
		return nil, r.Problems.Sorted()
	}
	d := &Document{File: file}
	r.Versioned(doc, "RunbookTest", r.Struct(doc, r.What, d, "apiVersion", "kind"))
	if len(r.Problems) == 0 {
		c := checker{Reader: r, rb: rb, cat: cat}
		if d.Runbook != rb.ID {
			r.Fail(strict.At(doc, "runbook"), "", "these are tests of the runbook %q, not of %q", d.Runbook, rb.ID)
		}
		if base := strict.At(doc, "base"); base != nil {
			c.ids(base, map[string][]triage.StepKind{"facts": reads, "answers": {triage.AskStep}, "manual": {triage.ManualStep}})
			c.answers(base)
			c.named(base, "findings", "subject", nil)
			d.Base.values = c.recorded(base, "facts", nil)
		}
		for i, n := range strict.At(doc, "cases").Content {
			c.check(&d.Cases[i], n, d.Base)
		}
	}
	if err := r.Problems.Sorted(); err != nil {
		return nil, err
	}
	return d, nil
}

func readFacts(r *strict.Reader, n *strict.Node, what string) any {
	out := facts{}
	r.Each(n, what, func(key, value *strict.Node) { out[key.Value] = value })
	return out
}

// readParam reads a parameter; an empty one is not given, whatever all cases begin with.
func readParam(r *strict.Reader, n *strict.Node, what string) any {
	if n.Value == "" && len(n.Content) == 0 {
		return ""
	}
	return r.Text(n, what)
}

// checker holds a case to its runbook: a step or a fact that is not there is a slip.
type checker struct {
	*strict.Reader
	rb  *runbooks.Runbook
	cat steps.Catalog
}

// reads are the kinds of steps that tell facts.
var reads = []triage.StepKind{triage.ProbeStep, triage.WatchStep}

func (c checker) check(x *Case, n *strict.Node, base Base) {
	x.line = n.Line
	gates, asks := []triage.StepKind{triage.GateStep}, []triage.StepKind{triage.AskStep}
	c.ids(n, map[string][]triage.StepKind{"facts": reads, "repaired": reads, "fails": reads, "answers": asks, "manual": {triage.ManualStep}, "skip": nil, "waive": nil, "acts": gates})
	expect := strict.At(n, "expect")
	c.ids(expect, map[string][]triage.StepKind{"armed": gates, "refused": gates, "proposes": asks, "findings": reads, "aside": nil})
	for _, of := range []*strict.Node{n, expect} {
		c.Each(strict.At(of, "conclude"), "conclude", func(key, _ *strict.Node) { c.OneOf(key, "a topic", topics()) })
	}
	c.answers(n)
	c.named(n, "findings", "subject", nil)
	c.named(n, "by_hand", "proof", reads)
	x.Findings = slices.Concat(x.Findings, base.Findings)
	x.Params, x.Answers, x.Manual = over(base.Params, x.Params), over(base.Answers, x.Answers), over(base.Manual, x.Manual)
	if _, err := c.rb.Bind(x.Params); err != nil {
		c.Fail(n, "see handrail runbook show "+c.rb.ID, "%v", err)
	}
	x.values = c.recorded(n, "facts", base.values)
	x.after = c.recorded(n, "repaired", x.values)
}

// over is a with b over it.
func over[V any](a, b map[string]V) map[string]V {
	out := map[string]V{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// ids refuses what stands under a key and is no step of the kinds that are meant.
func (c checker) ids(of *strict.Node, keys map[string][]triage.StepKind) {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		at := strict.At(of, key)
		if at == nil {
			continue
		}
		each := 1
		if at.Tag == "!!map" {
			each = 2
		}
		for i := 0; i < len(at.Content); i += each {
			c.step(at.Content[i], key, keys[key])
		}
	}
}

// named refuses an item under a key whose own key names no step of the kinds that are meant.
func (c checker) named(of *strict.Node, key, own string, kinds []triage.StepKind) {
	if items := strict.At(of, key); items != nil {
		for _, item := range items.Content {
			c.step(strict.At(item, own), key, kinds)
		}
	}
}

func (c checker) answers(n *strict.Node) {
	c.Each(strict.At(n, "answers"), "answers", func(key, value *strict.Node) {
		st, ok := c.rb.Step(key.Value)
		if !ok || st.Kind != triage.AskStep {
			return // the key was refused
		}
		c.OneOf(value, "the answer to "+key.Value, choices(st))
	})
}

// recorded reads the facts of a case under a key over those that it begins with.
func (c checker) recorded(n *strict.Node, key string, base map[string]map[string]steps.Value) map[string]map[string]steps.Value {
	out := map[string]map[string]steps.Value{}
	for step, values := range base {
		out[step] = maps.Clone(values)
	}
	c.Each(strict.At(n, key), key, func(key, value *strict.Node) {
		got, none := c.values(key.Value, value)
		out[key.Value] = over(out[key.Value], got)
		for _, name := range none {
			delete(out[key.Value], name)
		}
	})
	return out
}

func choices(st runbooks.Step) []string {
	var out []string
	for _, a := range st.Answers {
		out = append(out, a.Value)
	}
	return append(out, triage.Unknown)
}

func topics() []string {
	var out []string
	for _, t := range []triage.Topic{triage.TopicDomain, triage.TopicMutation, triage.TopicConsistent, triage.TopicClass, triage.TopicOwner, triage.TopicReverts} {
		out = append(out, string(t))
	}
	return out
}

// step refuses what is no step of the kinds that are meant.
func (c checker) step(n *strict.Node, what string, kinds []triage.StepKind) {
	var ids []string
	for _, st := range c.rb.Steps {
		if kinds == nil || slices.Contains(kinds, st.Kind) {
			ids = append(ids, st.ID)
		}
	}
	if !slices.Contains(ids, n.Value) {
		c.Fail(n, strict.Meant(n.Value, ids), "%s: the runbook has no such step %q", what, n.Value)
	}
}

// values reads the facts of a step by the types that its kind declares.
func (c checker) values(step string, n *strict.Node) (out map[string]steps.Value, none []string) {
	k, ok := c.rb.Kind(step, c.cat)
	if !ok {
		return nil, nil
	}
	out = map[string]steps.Value{}
	var names []string
	for _, f := range k.Facts {
		names = append(names, f.Name)
	}
	c.Each(n, step, func(key, value *strict.Node) {
		i := slices.Index(names, key.Value)
		if i < 0 {
			c.Fail(key, strict.Meant(key.Value, names), "%s tells no fact %q", k.Name, key.Value)
			return
		}
		if value.Tag == "!!null" {
			none = append(none, key.Value)
			return
		}
		v, err := valueOf(k.Facts[i], value)
		if err != nil {
			c.Fail(value, "", "%s.%s: %v", step, key.Value, err)
			return
		}
		out[key.Value] = v
	})
	return out, none
}

// valueOf reads one value: a list and a table as YAML has them, all else as text.
func valueOf(f steps.Field, n *strict.Node) (steps.Value, error) {
	switch f.Type {
	case steps.Strings:
		var list []string
		if err := n.Decode(&list); err != nil {
			return steps.Value{}, fmt.Errorf("it is a list of texts")
		}
		return steps.StringsOf(list), nil
	case steps.Table:
		table := map[string]string{}
		if err := n.Decode(&table); err != nil {
			return steps.Value{}, fmt.Errorf("it is a mapping of texts")
		}
		return steps.TableOf(table), nil
	}
	if len(n.Content) > 0 {
		return steps.Value{}, fmt.Errorf("it is one %s", f.Type)
	}
	if f.Type == steps.Enum && !slices.Contains(f.Values, n.Value) {
		return steps.Value{}, fmt.Errorf("%q is none of its values (%s)", n.Value, strict.Meant(n.Value, f.Values))
	}
	return steps.ParseValue(f.Type, n.Value)
}
