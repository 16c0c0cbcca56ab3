package runbooks

import (
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// Page is the runbook as a page of Markdown for people: what it is for, its parameters, what
// it reads, runs and can change, and its steps by phase with their conditions.
func (r *Runbook) Page(cat steps.Catalog) string {
	var w strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&w, format, args...) }
	list := func(title string, items []string) {
		if len(items) == 0 {
			return
		}
		say("\n## %s\n\n", title)
		for _, x := range items {
			say("- %s\n", oneLine(x))
		}
	}
	say("# %s\n\n`%s`, %s, domain %s\n", oneLine(r.Title), r.ID, r.Severity, r.Domain)
	if r.Doc != "" {
		say("\n%s\n", strings.TrimSpace(r.Doc))
	}
	list("What people see", r.Symptoms)
	var texts []string
	for _, p := range r.Recognise {
		texts = append(texts, strings.TrimSuffix(fmt.Sprintf("%s (weight %d) %s", code(p.Pattern), p.Weight, oneLine(p.Say)), " "))
	}
	list("What it recognises", texts)
	if len(r.Params) > 0 {
		say("\n## Parameters\n\n| name | type | default | |\n|---|---|---|---|\n")
		for _, p := range r.Params {
			given := code(p.Default)
			if p.Required {
				given = "required"
			}
			say("| %s | %s | %s | %s |\n", p.Name, p.Type, given, tableCell(p.Doc))
		}
	}
	reach := r.Reach(cat)
	list("What it reads", reach.Reads)
	list("What programs it runs", reach.Runs)
	list("What it can change, behind gates", reach.Changes)
	phase := triage.Phase("")
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Phase != phase {
			phase = s.Phase
			say("\n## %s\n", strings.ToUpper(string(phase[:1]))+string(phase[1:]))
		}
		r.pageStep(s, say)
	}
	if len(r.next) > 0 {
		say("\n## What comes next\n\n")
		for _, c := range r.next {
			say("- `%s` when %s%s\n", c.runbook, code(c.when.src), after(": ", c.say.written()))
		}
	}
	return w.String()
}

func (r *Runbook) pageStep(s *Step, say func(string, ...any)) {
	what := string(s.Kind)
	if s.Uses != "" {
		what += " `" + s.Uses + "`"
	}
	if s.Required {
		what += ", required"
	}
	if s.Builtin {
		what += ", asked by the loop itself"
	}
	say("\n### %s\n\n`%s`: %s\n", oneLine(s.Title), s.ID, what)
	for _, t := range []*text{s.ask, s.say, s.help} {
		if x := oneLine(t.written()); x != "" && x != oneLine(s.Title) {
			say("\n%s\n", x)
		}
	}
	var items []string
	add := func(format string, args ...any) { items = append(items, fmt.Sprintf(format, args...)) }
	if s.when != nil && s.Kind == triage.WatchStep {
		add("green while %s, %d times, %s apart", code(s.when.src), s.Greens, s.Apart)
	} else if s.when != nil {
		add("only where %s", code(s.when.src))
	}
	for _, d := range s.require {
		add("stays shut unless %s: %s", code(d.when.src), oneLine(d.other.written()))
	}
	for _, a := range s.Answers {
		add("answer `%s`: %s", a.Value, oneLine(a.Help))
	}
	if s.evidence != nil {
		add("proof: %s", oneLine(s.evidence.written()))
	}
	for _, c := range s.cases {
		if c.when == nil {
			add("else `%s`%s", c.is, after(": ", c.say.written()))
			continue
		}
		add("`%s` where %s%s", c.is, code(c.when.src), after(": ", c.say.written()))
	}
	for _, o := range s.outputs {
		add("tells `%s` (%s): %s%s", o.Name, heldOut(o), readFrom(o), after(", ", o.Doc))
	}
	for _, f := range s.findings {
		when := "always"
		if f.when != nil {
			when = "where " + code(f.when.src)
		}
		add("%s, %s: %s", f.level, when, oneLine(f.say.written()))
	}
	for _, row := range s.rows {
		var sides []string
		for _, c := range row.cells {
			sides = append(sides, c.source+" "+code(c.expr.src))
		}
		add("%s: %s", row.field, strings.Join(sides, ", "))
	}
	if len(items) > 0 {
		say("\n")
	}
	for _, x := range items {
		say("- %s\n", x)
	}
}

func after(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + oneLine(text)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func tableCell(s string) string { return strings.ReplaceAll(oneLine(s), "|", `\|`) }

// code is a text as Markdown shows code, whatever ticks it has.
func code(s string) string {
	if s = oneLine(s); s == "" {
		return ""
	}
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if len(ticks) > 1 {
		return ticks + " " + s + " " + ticks
	}
	return ticks + s + ticks
}

// Graph draws what stands on what: steps by phase, an arrow from each step to those whose
// conditions, parameters or conclusions name it, and the runbooks that may come next. The
// form is mermaid or dot.
func (r *Runbook) Graph(form string) string {
	var w strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&w, format, args...) }
	plan := r.Plan(nil)
	dot := form == "dot"
	quoted := func(s string) string {
		return `"` + strings.NewReplacer(`\`, " ", `"`, "'", "\n", " ").Replace(s) + `"`
	}
	if dot {
		say("digraph %s {\n  rankdir=LR;\n  node [shape=box];\n", quoted(r.ID))
	} else {
		say("flowchart LR\n")
	}
	for _, phase := range triage.Phases() {
		open := false
		for _, st := range plan.Steps {
			if st.Phase != phase {
				continue
			}
			if !open {
				open = true
				if dot {
					say("  subgraph %s {\n    label=%s;\n", quoted("cluster_"+string(phase)), quoted(string(phase)))
				} else {
					say("  subgraph %s\n", phase)
				}
			}
			id, label := r.bare(st.ID), string(st.Kind)+": "+st.Title
			switch {
			case dot && st.Kind == triage.GateStep:
				say("    %s [label=%s, shape=octagon];\n", quoted(id), quoted(label))
			case dot:
				say("    %s [label=%s];\n", quoted(id), quoted(label))
			case st.Kind == triage.GateStep:
				say("    s_%s{{%s}}\n", id, quoted(label))
			default:
				say("    s_%s[%s]\n", id, quoted(label))
			}
		}
		if open && dot {
			say("  }\n")
		} else if open {
			say("  end\n")
		}
	}
	for _, st := range plan.Steps {
		for _, ref := range st.Refs {
			if dot {
				say("  %s -> %s;\n", quoted(r.bare(ref)), quoted(r.bare(st.ID)))
			} else {
				say("  s_%s --> s_%s\n", r.bare(ref), r.bare(st.ID))
			}
		}
	}
	for i, c := range r.next {
		if dot {
			say("  %s [label=%s, shape=folder];\n", quoted(fmt.Sprintf("next %d", i+1)), quoted(c.runbook))
		} else {
			say("  next_%d([%s])\n", i+1, quoted(c.runbook))
		}
		for _, ref := range r.stepsOf(c.when) {
			if dot {
				say("  %s -> %s [style=dashed];\n", quoted(r.bare(ref)), quoted(fmt.Sprintf("next %d", i+1)))
			} else {
				say("  s_%s -.-> next_%d\n", r.bare(ref), i+1)
			}
		}
	}
	if dot {
		say("}\n")
	}
	return w.String()
}

// readFrom is how a declared fact is read, in words.
func readFrom(o steps.Output) string {
	if o.Regexp != "" {
		return "what matches " + code(o.Regexp)
	}
	return code(o.CEL)
}

// heldOut is what a declared fact is called and what it may be.
func heldOut(o steps.Output) string {
	if len(o.Values) > 0 {
		return string(o.Type) + " of " + strings.Join(o.Values, ", ")
	}
	return string(o.Type)
}
