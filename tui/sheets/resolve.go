package sheets

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/incident"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// untold is the first critical finding without an answer that the close as recovered
// asks for, where nothing else is in its way.
func untold(env *screen.Env) (triage.Option, bool) {
	all, first := 0, triage.Option{}
	for _, o := range env.Snap.Options {
		if o.Kind == triage.DoResolve {
			if all++; all == 1 {
				first = o
			}
		}
	}
	for _, o := range env.Snap.Options {
		if o.Kind == triage.DoClose && o.Value == "recovered" && len(o.Refusals) != all {
			return first, false
		}
	}
	return first, all > 0
}

// ResolveForm asks for the answers to the critical findings that shut no gate, all on
// one sheet, o first.
func ResolveForm(env *screen.Env, o triage.Option) *form.Form {
	all := [][]triage.Option{{o}} // of one text, which is answered once
	for _, x := range env.Snap.Options {
		if x.Kind != triage.DoResolve || x.Step == o.Step && x.Subject == o.Subject {
			continue
		}
		if i := slices.IndexFunc(all, func(of []triage.Option) bool { return of[0].Subject == x.Subject }); i >= 0 {
			all[i] = append(all[i], x)
			continue
		}
		all = append(all, []triage.Option{x})
	}
	f := &form.Form{Title: "Before the close: what was found and not answered", Intro: []ink.Text{"How was it resolved, and what shows it? @NAME says who takes it from here. What is left empty is asked again."}}
	for i, of := range all {
		line := form.Named(answerLine(i), "answer", "how it was resolved, or @NAME who takes it", false)
		line.About = ink.Say("! %s found: %s", foundBy(of), of[0].Subject)
		f.Fields = append(f.Fields, line)
	}
	f.Lacks = func(v map[string]string) (string, ink.Text) {
		for i := range all {
			if a := answerTo(all[i][0], v[answerLine(i)]); a.How == triage.Taken && a.Person == "" {
				return answerLine(i), "Name who takes it after the @."
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(s string) bool { return s != "" }) {
			return answerLine(0), "Say how it was resolved, or who takes it."
		}
		return "", ""
	}
	f.Submit = func(v map[string]string) tea.Cmd {
		var ins []triage.Intent
		for i, of := range all {
			for _, x := range of {
				if said := v[answerLine(i)]; said != "" {
					ins = append(ins, triage.Intent{Kind: triage.DoResolve, Finding: answerTo(x, said)})
				}
			}
		}
		return env.SendAll(ins)
	}
	return f
}

// foundBy names the steps that found the same.
func foundBy(of []triage.Option) string {
	var names []string
	for _, x := range of {
		names = append(names, string(incident.Short(x.Step)))
	}
	return strings.Join(names, ", ")
}

func answerLine(i int) string { return "answer" + strconv.Itoa(i) }

// answerTo reads a line of the sheet: "@NAME" takes the finding, "@NAME: why" says why.
func answerTo(o triage.Option, said string) triage.FindingAnswer {
	a := triage.FindingAnswer{Step: o.Step, Finding: o.Subject, How: triage.Resolved, Why: said}
	if who, taken := strings.CutPrefix(said, "@"); taken {
		who, why, _ := strings.Cut(who, ":")
		a.How, a.Person, a.Why = triage.Taken, strings.TrimSpace(who), strings.TrimSpace(why)
	}
	return a
}

// DriftForm asks for what nothing answers of a difference, before the record is written: all
// on one sheet.
func DriftForm(env *screen.Env) *form.Form {
	open := env.Snap.State.Undrifted()
	f := &form.Form{Title: "Before the record is written", Intro: []ink.Text{"An import, a state command or a refresh makes the record fit what exists. What the call knows already is not asked."}}
	for _, q := range open {
		line := form.Named(q.ID, "answer", "in a sentence, with its proof", true)
		line.About = ink.Shown(q.Ask)
		f.Fields = append(f.Fields, line)
	}
	f.Submit = func(v map[string]string) tea.Cmd {
		var said []triage.KV
		for _, q := range open {
			said = append(said, triage.KV{Key: q.ID, Value: v[q.ID]})
		}
		return env.Send(triage.Intent{Kind: triage.DoDrift, Drift: triage.DriftAnswer{Answers: said}})
	}
	return f
}
