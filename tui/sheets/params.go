package sheets

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/steps"
	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// The sheets that ask what an incident is about: before it is opened, and later.

// parameters are the lines of such a sheet: first what must be given, then what is
// known already, then the rest. Enter accepts all of them as they stand. A log may be
// pasted into its line; text takes it. Any other text of several lines is no path, and a path
// where nothing is would be refused only by the read that wants it.
func parameters(env *screen.Env, fs []steps.Field, known map[string]string, text *form.Paste) []form.Field {
	rank := func(p steps.Field) int {
		switch {
		case p.Required:
			return 0
		case known[p.Name] != "":
			return 1
		}
		return 2
	}
	fs = slices.Clone(fs)
	slices.SortStableFunc(fs, func(a, b steps.Field) int { return rank(a) - rank(b) })
	var out []form.Field
	for _, p := range fs {
		hint := ink.Shown(p.Doc)
		if p.Required {
			hint = "required: " + hint
		}
		fl := form.Named(p.Name, ink.Shown(p.Name), hint, p.Required)
		value, ok := known[p.Name]
		if !ok {
			value = p.Default
		}
		if p.Type == steps.Time && value == p.Default && noTime(value) {
			value = "" // the line then says what it is for
		}
		if p.Type == steps.Enum {
			fl.Choices, fl.Pick = []form.Choice{}, slices.Index(p.Values, value)
			for _, v := range p.Values {
				fl.Choices = append(fl.Choices, form.Choice{Value: v})
			}
		} else {
			fl.Explain = true
			fl.Fill(value)
			switch {
			case p.Type == steps.Path && p.Name == "log":
				fl.Keeps, fl.Stands = text, triage.Pasted
				fl.Hint("; or paste it")
			case p.Type == steps.Path && p.Later:
				fl.Lines = ink.Say("%s is the path of a file that comes later. Give its path, and save it there once it is.", p.Name)
			case p.Type == steps.Path:
				fl.Lines = ink.Say("%s is the path of a file. Save the text to a file, and give its path here.", p.Name)
			}
			fl.Check = func(s string) ink.Text {
				if _, err := steps.ParseValue(p.Type, s); err != nil {
					return ink.Shown(err.Error())
				}
				if re, err := regexp.Compile(`\A(?:` + p.Pattern + `)\z`); p.Pattern != "" && err == nil && !re.MatchString(steps.WithoutTokens(s)) {
					return ink.Say("%s cannot be %q: %s. %s", p.Name, steps.Clip(steps.WithoutTokens(s), 60), p.Doc, severalAtOnce)
				}
				// Of a directory its own sheet says more, and what was known before was not typed here.
				if p.Type != steps.Path || p.Later || p.Name == "dir" || s == value || s == triage.Pasted || env.Config.Absent == nil {
					return ""
				}
				if why := env.Config.Absent(s); why != "" {
					return ink.Say("%s: %s. Save it to a file and give the path, or leave the line empty.", p.Name, why)
				}
				return ""
			}
		}
		out = append(out, fl)
	}
	return out
}

// noTime reports whether a text is the zero time, which stands for none.
func noTime(text string) bool {
	v, err := steps.ParseValue(steps.Time, text)
	return err == nil && v.Time().IsZero()
}

// tokensOut puts its header in the place of each token that was typed: nothing shows the rest.
func tokensOut(v map[string]string) {
	for name, text := range v {
		v[name] = steps.WithoutTokens(text)
	}
}

// Asks reports whether a runbook has a parameter to ask for: one that must be given and
// is not, or one that was found and that no person has seen yet.
func Asks(fs []steps.Field, found map[string]string, seen bool) bool {
	return slices.ContainsFunc(fs, func(p steps.Field) bool {
		v := found[p.Name]
		return p.Required && p.Default == "" && v == "" || !seen && v != "" && v != p.Default
	})
}

// severalAtOnce says how lines are filled without going to each.
const severalAtOnce ink.Text = "Several at once, typed or pasted: name=value name=value."

// StartForm asks for the parameters of a runbook before it is taken up. What was found
// is filled in; do gets what was accepted, without what is empty, and the text that was
// pasted as the log.
func StartForm(env *screen.Env, id string, fs []steps.Field, found map[string]string, does ink.Text, do func(given map[string]string, text string) tea.Cmd) *form.Form {
	text := &form.Paste{}
	f := &form.Form{Title: ink.Say("Start %s", id), Intro: []ink.Text{"What is it about?"}, Does: does, All: true, Pairs: true, Fields: parameters(env, fs, found, text)}
	var names []string
	for _, p := range fs {
		if v := found[p.Name]; v != "" && v != p.Default {
			names = append(names, p.Name)
		}
	}
	if len(names) > 0 {
		f.Intro = []ink.Text{ink.Say("Found: %s. Correct what is wrong; enter accepts the rest.", strings.Join(names, ", "))}
	}
	if len(fs) > 2 {
		f.Intro = append(f.Intro, severalAtOnce)
	}
	f.AtFirstEmpty()
	f.Submit = func(v map[string]string) tea.Cmd {
		tokensOut(v)
		maps.DeleteFunc(v, func(_, s string) bool { return s == "" }) // absent, so that the default counts
		return do(v, text.Whole())
	}
	return f
}

// ParamsForm shows the parameters of the incident, and changes them. It begins at the
// first that is wanted.
func ParamsForm(env *screen.Env, fs []steps.Field, wanted ...string) *form.Form {
	id, text := env.Snap.State.Plan().Runbook, &form.Paste{}
	now := map[string]string{}
	for _, p := range fs {
		now[p.Name] = p.Default
	}
	for name, v := range env.Snap.State.Params(id) {
		now[name] = v.Text()
	}
	submit := func(v map[string]string) tea.Cmd {
		tokensOut(v)
		changed := map[string]string{}
		for _, p := range fs {
			if v[p.Name] == "" {
				v[p.Name] = p.Default
			}
			if v[p.Name] != now[p.Name] {
				changed[p.Name] = v[p.Name]
			}
		}
		if len(changed) == 0 {
			env.Warn("", "The parameters stay as they were.")
			return nil
		}
		env.Sheet = changeForm(env, id, now, changed, text.Whole())
		return nil
	}
	f := &form.Form{Title: ink.Say("Parameters of %s", id), All: true, Pairs: true, Does: "change", Fields: parameters(env, fs, now, text),
		Intro: []ink.Text{"What the incident is about. Press esc to leave it as it is.", severalAtOnce}, Submit: submit}
	if len(wanted) > 0 {
		f.AtLine(wanted[0])
	}
	return f
}

func orNone(value string) string {
	if noTime(value) {
		return "none"
	}
	return cmp.Or(value, "none")
}

// changeForm says what a change of the parameters does, and asks once more: what was
// read, answered and concluded falls with the old value.
func changeForm(env *screen.Env, id string, now, changed map[string]string, text string) *form.Form {
	var intro []ink.Text
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		intro = append(intro, ink.Say("· %s: %s, now %s", name, orNone(changed[name]), orNone(now[name])))
	}
	return &form.Form{Title: "Change what the incident is about", Does: "record it",
		Intro: append(intro, "What was read, answered or concluded with the old value is stale then, and is asked again."),
		Submit: func(map[string]string) tea.Cmd {
			return env.Send(triage.Intent{Kind: triage.DoPlan, Value: id, Params: changed, Text: text})
		}}
}
