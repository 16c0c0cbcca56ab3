package runbooks

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/steps/strict"
	"handrail/triage"
)

// form is what a kind of step looks like: the key that names it and the other
// keys that it takes.
type form struct {
	key  string
	kind triage.StepKind
	keys string
}

func forms() []form {
	return []form{
		{"uses", triage.ProbeStep, "id title say help show covers when with facts required findings against fresh"},
		{"ask", triage.AskStep, "id title say help show covers when required answers propose green evidence names fresh"},
		{"manual", triage.ManualStep, "id title say help show covers when required evidence pattern names pays"},
		{"compare", triage.CompareStep, "id title say help show covers when rows fresh"},
		{"conclude", triage.ConcludeStep, "id title say help show cases"},
		{"gate", triage.GateStep, "id title say help show covers when with require fresh"},
		{"watch", triage.WatchStep, "id title say help show covers when with facts greens apart findings against"},
		{"note", triage.NoteStep, "id title say help show when"},
	}
}

// form finds which kind of step n is.
func (r *reader) form(n *yaml.Node) (form, bool) {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "as in - {id: lock, uses: terraform/lock}", "a step must be a mapping of keys to values")
		return form{}, false
	}
	var found []form
	var kinds, all []string
	for _, f := range forms() {
		kinds = append(kinds, f.key)
		for _, k := range append(strings.Fields(f.keys), f.key) {
			if !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == f.key {
				found = append(found, f)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], true
	case 0:
		before := len(r.Problems)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Value == "phrase" {
				r.phrase(key)
			} else if !slices.Contains(all, key.Value) {
				r.Fail(key, strict.Meant(key.Value, all), "a step has no key %q", key.Value)
			}
		}
		if len(r.Problems) == before {
			r.Fail(n, "one of "+strings.Join(kinds, ", "), "a step must say what it is")
		}
	default:
		r.Fail(n, "make them two steps", "a step is %q or %q, not both", found[0].key, found[1].key)
	}
	return form{}, false
}

func (r *reader) phrase(key *yaml.Node) {
	r.Fail(key, "remove it", "the phrase to type is built by the kind of the gate and cannot be set here")
}

// step reads one step of a phase.
func (r *reader) step(phase triage.Phase, n *yaml.Node) {
	fm, ok := r.form(n)
	if !ok {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "phrase" {
			r.phrase(n.Content[i])
			return
		}
	}
	f := r.Fields(n, article(fm.key)+" step", append(strings.Fields(fm.keys), fm.key)...)
	s := Step{Phase: phase, Kind: fm.kind, Line: n.Line, Col: n.Column}
	r.identify(&s, fm, n, f)
	s.Required = r.Flag(f["required"], "required")
	s.Fresh = r.duration(f["fresh"], "fresh")
	s.say, s.help, s.evidence = r.text(f["say"], "say"), r.text(f["help"], "help"), r.text(f["evidence"], "evidence")
	// Between the evidence and its proof a task may be required where its condition holds.
	task := fm.kind == triage.ManualStep && (phase == triage.Authority || phase == triage.Recover)
	if s.when = r.expr(f["when"], "when", wantBool); s.when != nil && s.Required && !task {
		r.Fail(f["when"], "drop one of the two", "step %q is required, so it cannot depend on a condition", s.ID)
	}
	for _, c := range r.Items(f["covers"], "covers") {
		code := r.OneOf(c, "covers", evidenceCodes())
		if slices.Contains(toldCodes(), code) && (fm.kind == triage.ProbeStep || fm.kind == triage.WatchStep) {
			var kind steps.Kind
			if uses := f[fm.key]; uses != nil {
				kind, _ = r.cat.Lookup(uses.Value)
			}
			if !slices.Contains(kind.Covers, code) {
				r.Fail(c, "let a manual step or a question cover it", "this probe reads no %s: a person names it", code)
			}
		}
		s.Covers = append(s.Covers, code)
	}
	for _, c := range r.Items(f["show"], "show") {
		r.display(&s, c)
	}
	for _, c := range r.Items(f["findings"], "findings") {
		r.finding(&s, c)
	}
	s.Against = r.against(f["against"])
	r.body(&s, fm, n, f)
	s.Title = r.literal(f["title"], "title")
	if s.Title == "" {
		s.Title = s.plainTitle()
	}
	r.book.Steps = append(r.book.Steps, s)
}

// display reads one value to show: an expression, or a label in plain words with
// one.
func (r *reader) display(s *Step, n *yaml.Node) {
	label := ""
	if n.Kind == yaml.MappingNode {
		if len(n.Content) != 2 || !fieldForm.MatchString(n.Content[0].Value) {
			r.Fail(n, "as in: - {port of the service: facts.svc.port}", "a label of what is shown has letters, digits, spaces and . _ / - [ ], at most 48, and one expression")
			return
		}
		label, n = n.Content[0].Value, n.Content[1]
	}
	if e := r.expr(n, "show", wantValue); e != nil {
		s.show = append(s.show, display{label, e})
	}
}

// identify gives the step its id: a conclusion is called after its topic, a
// note needs none.
func (r *reader) identify(s *Step, fm form, n *yaml.Node, f map[string]*yaml.Node) {
	switch {
	case f["id"] != nil:
		s.ID = r.Text(f["id"], "id")
	case fm.kind == triage.ConcludeStep:
		s.ID = f[fm.key].Value
	case fm.kind == triage.NoteStep:
		s.ID = r.free("note_" + string(s.Phase))
	default:
		r.Fail(n, "as in id: lock", `%s step needs the key "id"`, article(fm.key))
		return
	}
	at := n
	if f["id"] != nil {
		at = f["id"]
	}
	switch {
	case s.ID == "":
	case !idForm.MatchString(s.ID):
		r.Fail(at, "a hyphen would be a minus in an expression", "id %q must be small letters, digits and underscores", s.ID)
	case fm.kind != triage.ConcludeStep && (slices.Contains(topics(), s.ID) || s.ID == retryID):
		r.Fail(at, "choose another id", "id %q is kept for a step of the loop itself", s.ID)
	case r.book.step(s.ID) != nil:
		r.Fail(at, "choose another id", "id %q again, first on line %d", s.ID, r.book.step(s.ID).Line)
	}
}

// free returns base, or base with the first number that makes it unused.
func (r *reader) free(base string) string {
	id := base
	for i := 2; r.book.step(id) != nil; i++ {
		id = base + "_" + string(rune('0'+i%10))
		if i >= 10 {
			id = base + strings.Repeat("_", i)
		}
	}
	return id
}

// body reads what only this kind of step has.
func (r *reader) body(s *Step, fm form, n *yaml.Node, f map[string]*yaml.Node) {
	main := f[fm.key]
	switch fm.kind {
	case triage.ProbeStep, triage.GateStep, triage.WatchStep:
		if kind, ok := r.kind(s, fm, main, f["with"]); ok {
			r.outputs(s, kind, f["facts"])
		}
		for _, c := range r.Items(f["require"], "require") {
			r.demand(s, c)
		}
		if fm.kind == triage.WatchStep {
			r.watch(s, n, f)
		}
	case triage.ConcludeStep:
		s.Topic = triage.Topic(r.OneOf(main, "conclude", topics()))
		if s.ID != string(s.Topic) && s.Topic != "" {
			r.Fail(main, "leave the id away", "a conclusion is called after its topic, not %q", s.ID)
		}
		r.cases(s, f["cases"])
	case triage.AskStep:
		s.ask = r.text(main, fm.key)
		r.answers(s, n, f["answers"])
		r.proposals(s, f["propose"])
		r.green(s, f["green"])
		r.names(s, f["names"])
	case triage.ManualStep:
		s.ask = r.text(main, fm.key)
		if s.evidence == nil {
			r.Fail(n, "as in: evidence: link to the message", `a manual step needs the key "evidence": the proof to paste`)
		}
		s.Pays = r.OneOf(f["pays"], "pays", debtKinds())
		s.Pattern = r.Text(f["pattern"], "pattern")
		s.proof = r.regexp(f["pattern"], s.Pattern)
		r.names(s, f["names"])
	case triage.CompareStep:
		s.ask = r.text(main, fm.key)
		r.rows(s, f["rows"])
	default:
		s.ask = r.text(main, fm.key)
	}
}

func (r *reader) watch(s *Step, n *yaml.Node, f map[string]*yaml.Node) {
	if s.when == nil {
		r.Fail(n, "as in when: '!facts.free.held'", `a watch needs the key "when": what must hold`)
	}
	s.Greens, s.Apart = usualGreens, usualApart
	if f["greens"] != nil {
		s.Greens = r.Number(f["greens"], "greens", 1, 100)
	}
	if f["apart"] != nil {
		s.Apart = r.duration(f["apart"], "apart")
	}
}

func (r *reader) demand(s *Step, n *yaml.Node) {
	f := r.part(n, "a requirement")
	if f["when"] == nil || f["else"] == nil {
		r.Fail(n, "as in {when: facts.lock.held, else: The lock is free.}", `a requirement needs the keys "when" and "else"`)
		return
	}
	d := demand{r.expr(f["when"], "when", wantBool), r.text(f["else"], "else")}
	if d.when != nil {
		s.require = append(s.require, d)
	}
}

func (r *reader) finding(s *Step, n *yaml.Node) {
	f := r.part(n, "a finding")
	if f["say"] == nil {
		r.Fail(n, "as in say: The lock is held.", `a finding needs the key "say"`)
		return
	}
	level := steps.Warning
	if f["level"] != nil {
		level = steps.Level(r.OneOf(f["level"], "level", levels()))
	}
	s.findings = append(s.findings, finding{r.expr(f["when"], "when", wantBool), level, r.text(f["say"], "say"), r.against(f["against"]), r.doubts(f["doubts"])})
}

func (r *reader) cases(s *Step, n *yaml.Node) {
	list := r.Items(n, "cases")
	for i, c := range list {
		f := r.part(c, "a case")
		if f["is"] == nil {
			r.Fail(c, "as in is: 'yes'", `a case needs the key "is"`)
			continue
		}
		if f["when"] == nil && i < len(list)-1 {
			r.Fail(c, "only the last case may go without", `a case needs the key "when"`)
		}
		is := r.Text(f["is"], "is")
		if values := topicValues(s.Topic); values != nil {
			is = r.OneOf(f["is"], "is", append(values, triage.Unknown))
		}
		s.cases = append(s.cases, conclusion{
			when: r.expr(f["when"], "when", wantBool), is: is, say: r.text(f["say"], "say"), despite: r.despite(s, is, f["despite"]),
			reason: strings.TrimSpace(r.literal(f["reason"], "reason")),
		})
		if f["reason"] != nil && (s.Topic != triage.TopicOwner || is == DomainOwner) {
			r.Fail(f["reason"], "remove it", "only an owner that the table of domains does not name has a reason")
		}
	}
}

// proposals reads what the facts say to a question. What they say is recorded with
// the answer of a person who agrees, so each has its words.
func (r *reader) proposals(s *Step, n *yaml.Node) {
	for _, c := range r.Items(n, "propose") {
		f := r.part(c, "a proposal")
		if f["when"] == nil || f["is"] == nil || f["say"] == nil {
			r.Fail(c, "as in: {when: facts.process.alive == 'dead', is: dead, say: its process is gone}", `a proposal needs the keys "when", "is" and "say"`)
			continue
		}
		var values []string
		for _, a := range s.Answers {
			values = append(values, a.Value)
		}
		s.cases = append(s.cases, conclusion{when: r.expr(f["when"], "when", wantBool), is: r.OneOf(f["is"], "is", values), say: r.text(f["say"], "say")})
	}
}

func (r *reader) answers(s *Step, step, n *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		r.Fail(step, "as in: answers: {alive: it still runs, dead: it is gone}", `an ask needs the key "answers", a mapping of answers to their meaning`)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Value == triage.Unknown:
			r.Fail(key, "remove it", "the answer unknown is always there")
		case !idForm.MatchString(key.Value):
			r.Fail(key, "as in alive", "answer %q must be small letters, digits and underscores", key.Value)
		default:
			s.Answers = append(s.Answers, Choice{key.Value, r.literal(n.Content[i+1], "the meaning of an answer")})
		}
	}
	values := make([]string, len(s.Answers))
	for i, a := range s.Answers {
		values[i] = a.Value
	}
	r.book.scope.add(variable{"answers." + s.ID, s.ID, steps.Field{Name: s.ID, Type: steps.Enum, Values: values}})
}

// toldCodes are those that stand outside of what is read: the commit, the pull
// request, the run, the result of the policy and who approved it.
func toldCodes() []string { return []string{"E1", "E2", "E3", "E5", "E6"} }

// evidenceCodes are what `covers` may name: the fourteen items of evidence.
func evidenceCodes() []string {
	return strings.Fields("E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11 E12 E13 E14")
}
