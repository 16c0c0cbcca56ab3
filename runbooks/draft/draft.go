// Package draft writes the beginning of a runbook, from nothing or from a page of Markdown.
// What it writes passes the linter; what it means is the author's to say. It reads no file.
package draft

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// SchemaFile is the name of the schema that stands beside runbooks.
const SchemaFile = "runbook.schema.json"

// Modeline is the first line of a runbook, by which an editor finds the schema.
const Modeline = "# yaml-language-server: $schema=" + SchemaFile + "\n"

// Template is a runbook with a step in each phase, to be filled in.
func Template(id string) string {
	b := book{id: id, title: words(id)}
	b.see = []string{"what people see, in their words"}
	b.pattern = id
	b.steps = []step{
		{phase: triage.Preserve, key: "uses", id: "lock", text: "terraform/lock", title: "What is read before anything changes", with: [][2]string{{"dir", "${params.dir}"}},
			more: []string{"required: true", "findings:", "  - {when: facts.lock.held, level: warning, say: \"A run holds the lock: ${facts.lock.who}.\"}"}},
		{phase: triage.Mutation, key: "ask", id: "running", text: "Is the change still at work?",
			more: []string{"answers: {running: it is at work, ended: it ended}", "evidence: who looked, and where"}},
		{phase: triage.Mutation, key: "conclude", text: string(triage.TopicMutation), more: []string{"cases:",
			"  - {when: \"answers.running == 'ended' && !facts.lock.held\", is: 'no', say: \"It ended, and no run holds the lock.\"}"}},
		{phase: triage.Classify, key: "conclude", text: string(triage.TopicClass), more: []string{"cases:",
			"  - {when: \"!facts.lock.held\", is: MutationNotStarted, say: No run holds the lock.}"}},
		{phase: triage.Recover, key: "manual", id: "repair", text: "Do the repair, as your team has agreed on.", more: []string{"evidence: link to the change"}},
		{phase: triage.Verify, key: "watch", id: "free", text: "terraform/lock", title: "The lock stays free", with: [][2]string{{"dir", "${params.dir}"}},
			more: []string{"when: '!facts.free.held'"}},
		{phase: triage.Learn, key: "note", text: "What would have made this shorter?"},
	}
	b.params = []param{{"dir", "path", ".", "root module"}}
	return b.text()
}

// TestTemplate is the beginning of the tests of a runbook that Template wrote.
func TestTemplate(id string) string {
	return fmt.Sprintf(`apiVersion: handrail/v1
kind: RunbookTest
runbook: %s
cases:
  - name: nothing holds the lock
    facts:
      lock: {held: false}
      free: {held: false}
    answers: {running: ended}
    expect:
      conclude: {mutation: 'no', class: MutationNotStarted}
  - name: a run holds the lock
    facts:
      lock: {held: true, who: runner@ci-7}
    answers: {running: running}
    expect:
      conclude: {mutation: unknown}
      findings: {lock: [runner@ci-7]}
`, id)
}

type param struct{ name, kind, def, help string }

// step is one step as it will stand in the document.
type step struct {
	phase           triage.Phase
	key, id, text   string
	title, say, why string // why is a comment for the author
	with            [][2]string
	more            []string // further lines, as they are
}

// book is a document that is written.
type book struct {
	id, title, doc, pattern string
	see                     []string
	params                  []param
	steps                   []step
	comment                 []string
}

func (b book) text() string {
	var w strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&w, format, args...) }
	say("%s", Modeline)
	for _, c := range b.comment {
		say("# %s\n", strings.Join(strings.Fields(c), " "))
	}
	say("apiVersion: handrail/v1\nkind: Runbook\nid: %s\ntitle: %s\ndomain: human-process # what failed; see the schema\nseverity: SEV-3\n", b.id, literal(b.title))
	say("matrix: 13 # row of the decision matrix that it is a case of; see docs/doctrine.md\n")
	if i := slices.IndexFunc(b.steps, func(s step) bool { return s.phase == triage.Verify && s.key == "watch" }); i >= 0 {
		say("proves: {PC2: %s} # which post-conditions verify shows\n", b.steps[i].id)
	}
	if b.doc != "" {
		say("doc: %s\n", literal(b.doc))
	}
	if len(b.see) > 0 {
		say("symptoms:\n")
	}
	for _, s := range b.see {
		say("  - %s\n", literal(s))
	}
	say("recognise: # texts of errors; 5 and more claims a text alone\n  - {pattern: %s, weight: 5}\n", quote(b.pattern))
	if len(b.params) > 0 {
		say("params:\n")
	}
	for _, p := range b.params {
		def := ""
		if p.def != "" {
			def = ", default: " + quote(p.def)
		}
		say("  %s: {type: %s%s, help: %s}\n", p.name, p.kind, def, literal(p.help))
	}
	for _, phase := range triage.Phases() {
		open := false
		for _, s := range b.steps {
			if s.phase != phase {
				continue
			}
			if !open {
				open = true
				say("\n%s:\n", phase)
			}
			s.write(say)
		}
	}
	return w.String()
}

func (s step) write(say func(string, ...any)) {
	if s.why != "" {
		say("  # %s\n", strings.Join(strings.Fields(s.why), " "))
	}
	if s.id != "" {
		say("  - id: %s\n    ", s.id)
	} else {
		say("  - ")
	}
	text := s.text
	if s.key != "uses" && s.key != "watch" && s.key != "conclude" {
		text = quote(escape(text))
	}
	say("%s: %s\n", s.key, text)
	if s.title != "" {
		say("    title: %s\n", literal(s.title))
	}
	if s.say != "" {
		say("    say: %s\n", quote(escape(s.say)))
	}
	if len(s.with) > 0 {
		say("    with:\n")
	}
	for _, kv := range s.with {
		say("      %s: %s\n", kv[0], quote(kv[1]))
	}
	for _, line := range s.more {
		say("    %s\n", line)
	}
}

// quote is a text as YAML and JSON both have it.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSpace(b.String())
}

// literal is a text that may name nothing.
func literal(s string) string { return quote(strings.ReplaceAll(s, "${", "$ {")) }

// escape keeps a text from naming what it only shows.
func escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// words are an id as a title.
func words(id string) string {
	s := strings.ReplaceAll(id, "-", " ")
	return strings.ToUpper(s[:1]) + s[1:]
}

// known reports whether a value may be given to a parameter of a kind.
func known(cat steps.Catalog, kind string) bool { _, ok := cat.Lookup(kind); return ok }
