package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// Recorded is an incident as a case: what was read, said and done in it. What must follow
// is left to [Case.Follows].
func Recorded(rb *runbooks.Runbook, st triage.State) Case {
	c := Case{Name: "as recorded in " + st.Incident, Params: map[string]string{}, Fails: map[string]string{}, Answers: map[string]string{}, Manual: map[string]string{}, Conclude: map[string]string{},
		Skip: map[string]string{}, Waive: map[string]string{}, values: map[string]map[string]steps.Value{}}
	for name, v := range st.Params(rb.ID) {
		if v.Known() && v.Text() != "" {
			c.Params[name] = v.Text()
		}
	}
	for _, s := range st.Steps {
		id := journal.Bare(s.ID)
		own, ok := rb.Step(s.ID)
		if !ok || journal.BookOf(s.ID) != rb.ID || own.Builtin && s.Kind != triage.ConcludeStep {
			continue
		}
		switch {
		case s.Kind == triage.GateStep && st.Gates[s.ID].Phase == triage.GateDone:
			c.Acts = append(c.Acts, id)
		case s.Kind == triage.AskStep && s.Answer != "":
			c.Answers[id] = s.Answer
		case s.Kind == triage.ManualStep && s.Status == triage.Settled:
			c.Manual[id] = assumed
			if own.Accepts(assumed) != nil {
				c.Manual[id] = s.Summary
			}
		case s.Kind == triage.ProbeStep && s.Attempts > 0 && s.Outcome != "ok":
			c.Fails[id] = s.Summary
		case (s.Kind == triage.ProbeStep || s.Kind == triage.WatchStep) && s.Attempts > 0:
			c.values[id] = known(s.Facts)
		}
	}
	for _, w := range st.Waivers {
		if id := journal.Bare(w.Subject); w.Law != 12 {
			if _, ok := rb.Step(id); ok {
				c.Waive[id] = w.Why
			}
		}
	}
	for _, a := range st.Answered {
		if _, ok := rb.Step(a.Step); ok && journal.BookOf(a.Step) == rb.ID {
			a.Step = journal.Bare(a.Step)
			c.Findings = append(c.Findings, a.FindingAnswer)
		}
	}
	for _, h := range st.Hands {
		if _, ok := rb.Step(h.Proof); ok && journal.BookOf(h.Proof) == rb.ID {
			h.Proof = journal.Bare(h.Proof)
			c.ByHand = append(c.ByHand, h.HandAct)
		}
	}
	for topic, said := range st.Topics {
		if said.Value != said.Proposed && !said.Lapsed {
			c.Conclude[string(topic)] = said.Value
		}
	}
	return c
}

func known(facts map[string]steps.Value) map[string]steps.Value {
	out := map[string]steps.Value{}
	for name, v := range facts {
		if v.Known() {
			out[name] = v
		}
	}
	return out
}

// Follows takes what followed in a run as what must follow: the author reads it over.
func (c Case) Follows(r Result, rb *runbooks.Runbook) Case {
	c.Expect = Expect{Conclude: map[string]string{}, Armed: r.Armed, Refused: map[string]string{}, Next: r.Next, Recovered: &r.Recovered}
	for topic, value := range r.Said {
		if t := triage.Topic(topic); t != triage.TopicOwner && t != triage.TopicDomain {
			c.Expect.Conclude[topic] = value
		}
	}
	for gate, why := range r.Shut {
		if why != "" {
			c.Expect.Refused[gate] = why
		}
	}
	return c
}

// Text is a test document.
func (d *Document) Text(modeline string) string {
	var w strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&w, format, args...) }
	say("%sapiVersion: handrail/v1\nkind: RunbookTest\nrunbook: %s\n", modeline, d.Runbook)
	if len(d.Base.values) > 0 || len(d.Base.Answers) > 0 || len(d.Base.Manual) > 0 || len(d.Base.Findings) > 0 {
		say("base:\n")
		texts(say, "  ", "params", d.Base.Params)
		recorded(say, "  ", d.Base.values, nil)
		texts(say, "  ", "answers", d.Base.Answers)
		texts(say, "  ", "manual", d.Base.Manual)
		answered(say, "  ", d.Base.Findings)
	}
	say("cases:\n")
	for i := range d.Cases {
		c := &d.Cases[i]
		say("  - name: %s\n", text(c.Name))
		texts(say, "    ", "params", less(c.Params, d.Base.Params))
		recorded(say, "    ", c.values, d.Base.values)
		texts(say, "    ", "fails", c.Fails)
		texts(say, "    ", "answers", less(c.Answers, d.Base.Answers))
		texts(say, "    ", "manual", less(c.Manual, d.Base.Manual))
		texts(say, "    ", "conclude", c.Conclude)
		texts(say, "    ", "skip", c.Skip)
		texts(say, "    ", "waive", c.Waive)
		list(say, "    ", "acts", c.Acts)
		answered(say, "    ", slices.DeleteFunc(slices.Clone(c.Findings), func(f triage.FindingAnswer) bool { return slices.Contains(d.Base.Findings, f) }))
		repairs(say, "    ", c.ByHand)
		e := c.Expect
		say("    expect:\n")
		if e.Phase != "" {
			say("      phase: %s\n", e.Phase)
		}
		texts(say, "      ", "conclude", e.Conclude)
		texts(say, "      ", "proposes", e.Proposes)
		texts(say, "      ", "facts", e.Facts)
		if len(e.Findings) > 0 {
			say("      findings:\n")
		}
		for _, step := range slices.Sorted(maps.Keys(e.Findings)) {
			list(say, "        ", step, e.Findings[step])
		}
		list(say, "      ", "armed", e.Armed)
		texts(say, "      ", "refused", e.Refused)
		list(say, "      ", "aside", e.Aside)
		if e.Next != nil {
			say("      next: [%s]\n", strings.Join(e.Next, ", "))
		}
		if e.Recovered != nil {
			say("      recovered: %t\n", *e.Recovered)
		}
	}
	return w.String()
}

// less leaves away what all cases begin with.
func less(m, base map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if was, ok := base[k]; !ok || was != v {
			out[k] = v
		}
	}
	return out
}

func texts(say func(string, ...any), indent, key string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	say("%s%s:\n", indent, key)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		say("%s  %s: %s\n", indent, k, text(m[k]))
	}
}

func list(say func(string, ...any), indent, key string, items []string) {
	if len(items) == 0 {
		return
	}
	var out []string
	for _, x := range items {
		out = append(out, text(x))
	}
	say("%s%s: [%s]\n", indent, key, strings.Join(out, ", "))
}

// answered writes the answers to critical findings.
func answered(say func(string, ...any), indent string, fs []triage.FindingAnswer) {
	if len(fs) > 0 {
		say("%sfindings:\n", indent)
	}
	for _, f := range fs {
		how := "resolved: " + text(f.Why)
		if f.How == triage.Taken {
			how = "taken: " + text(f.Person)
			if f.Why != "" {
				how += ", why: " + text(f.Why)
			}
		}
		say("%s  - {subject: %s, finding: %s, %s}\n", indent, f.Step, text(f.Finding), how)
	}
}

// repairs writes the repairs by hand.
func repairs(say func(string, ...any), indent string, hs []triage.HandAct) {
	if len(hs) > 0 {
		say("%sby_hand:\n", indent)
	}
	for _, h := range hs {
		shows := ""
		if h.Shows != "" {
			shows = ", shows: " + text(h.Shows)
		}
		say("%s  - {what: %s, object: %s, person: %s, proof: %s%s}\n", indent, text(h.What), text(h.Object), text(h.Person), h.Proof, shows)
	}
}

// recorded writes facts, but for those that all cases begin with.
func recorded(say func(string, ...any), indent string, values, base map[string]map[string]steps.Value) {
	open := false
	for _, step := range slices.Sorted(maps.Keys(values)) {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(values[step])) {
			v := values[step][name]
			if was, ok := base[step][name]; ok && valueText(was) == valueText(v) {
				continue
			}
			parts = append(parts, name+": "+valueText(v))
		}
		for _, name := range slices.Sorted(maps.Keys(base[step])) {
			if _, still := values[step][name]; !still {
				parts = append(parts, name+": null")
			}
		}
		if _, known := base[step]; known && len(parts) == 0 {
			continue
		}
		if !open {
			open = true
			say("%sfacts:\n", indent)
		}
		say("%s  %s: {%s}\n", indent, step, strings.Join(parts, ", "))
	}
}

func valueText(v steps.Value) string {
	switch v.Type() {
	case steps.Strings:
		return inJSON(append([]string{}, v.Strings()...))
	case steps.Table:
		return inJSON(v.Table())
	case steps.Bool, steps.Int, steps.Duration:
		return v.Text()
	}
	return text(v.Text())
}

// text is a text as YAML and JSON both have it.
func text(s string) string { return inJSON(s) }

func inJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return `""`
	}
	return strings.TrimSpace(b.String())
}
