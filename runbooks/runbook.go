package runbooks

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/steps"
	"handrail/triage"
)

// Runbook is one document, read. It must not be copied; its methods are safe
// for concurrent use.
type Runbook struct {
	ID        string
	Title     string
	Domain    string // slug of a failure domain
	Severity  triage.Severity
	Matrix    []int  // rows of the decision matrix, the main one first
	Departs   string // why its way is another than that of its main row
	Proves    []triage.Proves
	Doc       string
	Symptoms  []string // what people see, in plain words
	Recognise []Pattern
	Params    []steps.Field
	Bounds    map[string]Bounds // of params that have any
	Steps     []Step            // in the order of the loop, built-in ones included
	Source    []byte
	Digest    string // SHA-256 of Source in hex
	File      string

	next  []nextCase
	exprs []*expr // all of the document, in the order of the file
	scope *scope

	once    sync.Once
	compile error // what the one compilation found

	branched sync.Once
	ways     []branch
}

// Pattern is one symptom in an error text.
type Pattern struct {
	Pattern string // Go regular expression
	Weight  int    // 1 to 10: how much a match says; -10 to -1: how much it speaks against
	Say     string // what a match means
	line    int    // where it stands
	col     int
	re      *regexp.Regexp
	needles [][]string // in small letters; a text without a piece of each set cannot match
	lines   bool       // the pattern speaks of line ends, so it is tried on the lines alone
}

// Bounds limit an int or a duration parameter; "" is no limit. Patch says of a text that it is a
// JSON patch, and below which path its KEY=VALUE pairs are set; "/" for a patch without pairs.
type Bounds struct{ Min, Max, Patch string }

// Step is one step of a runbook.
type Step struct {
	ID       string // bare, as in expressions
	Phase    triage.Phase
	Kind     triage.StepKind
	Uses     string // the kind of a probe, watch or gate
	Topic    triage.Topic
	Title    string
	Required bool
	Heavy    bool
	Class    triage.Class
	Covers   []string
	Answers  []Choice // of an ask, `unknown` not among them
	Green    []string // of an ask in verify: the answers that prove the recovery
	Against  *Against // of a read: what that which it finds critical by itself speaks against; nil for the default
	Pattern  string   // of a manual step: what the proof must look like
	Greens   int
	Apart    time.Duration
	Fresh    time.Duration // 0 for the default of the runbook
	Pays     string
	Builtin  bool // added by the loop, not written by the author
	Line     int  // in the file, 0 for a built-in one
	Col      int

	proof    *regexp.Regexp
	names    map[string][]*expr // what the words must name, by answer; of a manual step under ""
	ask      *text
	say      *text
	help     *text
	evidence *text
	with     []argument
	outputs  []steps.Output // facts that it declares by itself
	require  []demand
	when     *expr
	findings []finding
	show     []display
	cases    []conclusion // of a conclude; of an ask, its proposals
	rows     []row
}

// Choice is one answer of an ask.
type Choice struct{ Value, Help string }

type (
	// display is a value that a step puts before the person, by its own name or
	// by a label in plain words.
	display struct {
		label string
		value *expr
	}
	argument struct {
		field steps.Field
		list  bool
		value []*text // one, or the items of a list
	}
	demand struct {
		when  *expr
		other *text
	}
	finding struct {
		when    *expr // nil for always
		level   steps.Level
		say     *text
		against *Against // nil for the default of its level
		doubts  doubts
	}
	conclusion struct {
		when *expr // nil for otherwise
		is   string
		say  *text

		reason  string   // of an owner: why the table of domains does not name them
		despite []string // fields whose comparison does not speak against a consistent yes
	}
	row struct {
		field string
		cells []cell
	}
	cell struct {
		source string
		expr   *expr
	}
	nextCase struct {
		runbook string
		when    *expr
		with    []nextWith
		say     *text
	}
	nextWith struct {
		name  string
		value *text
	}
)

// Step returns the step with this id, bare or with the id of the runbook before
// it.
func (r *Runbook) Step(id string) (Step, bool) {
	s := r.step(id)
	if s == nil {
		return Step{}, false
	}
	return *s, true
}

func (r *Runbook) step(id string) *Step {
	id = r.bare(id)
	for i := range r.Steps {
		if r.Steps[i].ID == id {
			return &r.Steps[i]
		}
	}
	return nil
}

func (r *Runbook) bare(id string) string { return strings.TrimPrefix(id, r.ID+"/") }

func (r *Runbook) full(id string) string { return r.ID + "/" + id }

// Gives reports whether a step gives its kind a parameter.
func (s Step) Gives(param string) bool {
	return slices.ContainsFunc(s.with, func(a argument) bool { return a.field.Name == param })
}

// Keeps is the law that a required step serves and that alone lets it be passed
// over: 1 of a capture, 8 of a proof of the recovery, 0 of any other.
func (s Step) Keeps() int {
	switch {
	case s.Phase == triage.Preserve && s.Required && s.Kind != triage.GateStep:
		return 1
	case s.Phase == triage.Verify && (s.Kind == triage.WatchStep || s.Required && s.Kind != triage.NoteStep):
		return 8
	}
	return 0
}

// Accepts reports whether proof is what the manual step asks for; the error
// says what is wanted.
func (s Step) Accepts(proof string) error {
	if strings.TrimSpace(proof) == "" {
		return errEmptyProof
	}
	if s.proof != nil && !s.proof.MatchString(proof) {
		return &ProofError{Step: s.ID, Proof: proof, Pattern: s.Pattern}
	}
	return nil
}

// subjects are the texts that say what a question or a step by hand is about. A capture
// has none: it waits for no reading, since what it keeps may be gone by then.
func (s *Step) subjects() []*text {
	if s.Kind != triage.AskStep && s.Kind != triage.ManualStep || s.Phase == triage.Preserve {
		return nil
	}
	return []*text{s.ask, s.say}
}

// conditions are the expressions that a step stands on: its conditions, and what it
// gives to its kind.
func (s *Step) conditions() []*expr {
	var exprs []*expr
	if s.when != nil {
		exprs = append(exprs, s.when)
	}
	for _, d := range s.require {
		exprs = append(exprs, d.when)
	}
	for _, c := range s.cases {
		// An answer is a person's: a fact that its proposal stood on may change.
		if c.when != nil && s.Kind != triage.AskStep {
			exprs = append(exprs, c.when)
		}
	}
	for _, row := range s.rows {
		for _, c := range row.cells {
			exprs = append(exprs, c.expr)
		}
	}
	for _, a := range s.with {
		for _, t := range a.value {
			exprs = append(exprs, t.exprs()...)
		}
	}
	return exprs
}

// refs returns the steps, with the id of the runbook, that the conditions and
// parameters of s depend on.
func (r *Runbook) refs(s *Step) []string {
	var out []string
	for _, e := range s.conditions() {
		for _, id := range r.stepsOf(e) {
			// A watch reads itself; that is no dependence.
			if !slices.Contains(out, id) && id != r.full(s.ID) {
				out = append(out, id)
			}
		}
	}
	return out
}

func (r *Runbook) stepsOf(e *expr) []string {
	var out []string
	for _, name := range e.refs {
		if step := r.scope.vars[name].step; step != "" && !slices.Contains(out, r.full(step)) {
			out = append(out, r.full(step))
		}
	}
	return out
}

// plainTitle is the title of a step that has none.
func (s Step) plainTitle() string {
	switch s.Kind {
	case triage.ConcludeStep:
		return "Conclude: " + string(s.Topic)
	case triage.AskStep, triage.ManualStep, triage.CompareStep, triage.NoteStep:
		if s.ask != nil {
			if t, ok := s.ask.constant(); ok {
				first, _, _ := strings.Cut(strings.TrimSpace(t), "\n")
				return first
			}
		}
	}
	return strings.ReplaceAll(s.ID, "_", " ")
}
