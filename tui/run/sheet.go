package run

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
	"handrail/tui/sheets"
)

// What comes by itself with a person's words: the sheet on which they stand, the read that their
// key named, the gate that they led to.

// sheet are the words that stand on one sheet, beside what is proposed: a proof, two questions, or
// one whose page is not in front. A question with a drawing has its page alone, and a conclusion
// for which the facts propose nothing. One that waits for another word of the sheet stands there
// where they propose it whatever that one says.
func (r *Screen) sheet() []triage.Option {
	var out []triage.Option
	for _, o := range r.Snap.Options {
		if o.Sheet > 0 {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b triage.Option) int { return a.Sheet - b.Sheet })
	if at := slices.IndexFunc(out, r.leansOnNothing); at >= 0 { // those after it would come before it
		from := out[at].Sheet
		out = slices.DeleteFunc(out, func(o triage.Option) bool { return o.Leans && o.Sheet >= from })
	}
	for i, o := range out {
		v := r.Proposed(o)
		if o.Kind == triage.DoConclude && (v == "" || v == triage.Unknown) || r.Snap.Cards[o.Step].Graph != nil {
			out = out[:i]
			break
		}
	}
	asks, proofs := 0, 0
	for _, o := range out {
		switch o.Kind {
		case triage.DoAnswer:
			asks++
		case triage.DoManual:
			proofs++
		}
	}
	elsewhere := len(out) > 0 && out[0].Kind == triage.DoAnswer && out[0].Step != r.Focus
	if elsewhere || asks > 1 || proofs > 0 && len(out) > 1 {
		return out
	}
	return nil
}

// leansOnNothing says of a conclusion that waits for another word that the facts do not propose it.
func (r *Screen) leansOnNothing(o triage.Option) bool {
	v := r.Proposed(o)
	return o.Leans && o.Kind == triage.DoConclude && (v == "" || v == triage.Unknown)
}

// SheetComes shows the next sheet by itself, where the person's words led to it and nothing is
// left to be read first. What was left open on the one before is not pressed upon them.
func (r *Screen) SheetComes(env *screen.Env) {
	left := func(o triage.Option) bool { return slices.Contains(r.asked, o.Step) }
	if r.onward && r.Move.sheet && len(env.Underway) == 0 && len(r.Reading()) == 0 && !slices.ContainsFunc(r.sheet(), left) {
		r.openSheet(env)
		env.Sheet.Came = true
		env.Quiet = env.Now.Add(env.Config.Pause)
	}
}

// follows is the read that the words in front may begin with their key, "" for none: it runs a
// program, so that the key has to name it.
func (r *Screen) follows() string {
	for _, o := range r.Snap.Options {
		if o.Follows && r.Can(triage.DoProbe, o.Step) && !(o.Leans && slices.ContainsFunc(r.Snap.Options, r.leansOnNothing)) {
			return o.Step
		}
	}
	return ""
}

// leading has the key that sends a form begin the read that follows on its words, and say so.
func (r *Screen) leading(f *form.Form) *form.Form {
	step := r.follows()
	if step == "" {
		return f
	}
	f.Does = ink.Say("%s, then run a program: %s", ink.Or(f.Does, "send"), incident.Short(step))
	send := f.Submit
	f.Submit = func(v map[string]string) tea.Cmd {
		r.then = step
		return send(v)
	}
	return f
}

// Then begins the read that was named with the words before it, once they are recorded and it is
// what the loop wants.
func (r *Screen) Then(env *screen.Env, recorded bool) tea.Cmd {
	step := r.then
	r.then = ""
	o, ok := r.Recommended()
	if step == "" || !recorded || !ok || o.Kind != triage.DoProbe || o.Step != step || r.contradicted() || len(env.Underway) > 0 || len(r.Reading()) > 0 {
		return nil
	}
	r.Front(step)
	defer r.Decide()
	return r.probe(env, step)
}

// contradicted says that the decision matrix speaks against something that was concluded.
func (r *Screen) contradicted() bool {
	for _, c := range r.Snap.State.Topics {
		if c.Contradicts != "" {
			return true
		}
	}
	return false
}

// GateComes names the gate whose preview begins by itself after a person's word: nothing else is
// wanted before it, and it was not shown before. A preview reads, and arms nothing without the
// phrase. What a person has to give a reason for, or read first, waits for their key.
func (r *Screen) GateComes(env *screen.Env, after triage.Intent) string {
	switch after.Kind {
	case triage.DoAnswer, triage.DoManual, triage.DoConclude:
	default:
		return ""
	}
	o, ok := r.Recommended()
	if !ok || o.Kind != triage.DoPreview || !o.Available() || r.Snap.ReadOnly != "" || len(env.Underway) > 0 || len(r.Reading()) > 0 || r.Wider(o.Step) || r.contradicted() {
		return ""
	}
	if g := r.Snap.State.Gates[o.Step]; g.ShownSeq > 0 || g.ClosedSeq > 0 || g.Phase != triage.GateIdle && g.Phase != "" {
		return ""
	}
	return o.Step
}

func (r *Screen) openSheet(env *screen.Env) {
	all := r.sheet()
	env.Sheet, r.asked = r.leading(sheets.WordsForm(env, all)), nil
	for _, o := range all {
		r.asked = append(r.asked, o.Step)
	}
}

// Alone has what is asked come one by one, until enter leads on again.
func (r *Screen) Alone() { r.onward = false }
