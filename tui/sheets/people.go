package sheets

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/triage"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/screen"
)

// The sheets about who is on the call.

const commander = "commander"

// SeverityForm asks for another severity. SEV-1 needs a commander, so that it asks for
// one in the same breath where there is none.
func SeverityForm(env *screen.Env) *form.Form {
	led := slices.ContainsFunc(env.Snap.State.People, func(p triage.Person) bool { return slices.Contains(p.Roles, commander) })
	var cs []form.Choice
	for _, l := range triage.SeverityLevels() {
		cs = append(cs, form.Choice{Value: string(l.Level), Help: ink.Shown(l.Line())})
	}
	f := &form.Form{Title: ink.Say("Severity, now %s: by risk and impact, not by how it feels", env.Snap.State.Severity),
		Fields: []form.Field{form.OneOf("level", "severity", cs), form.Named("why", "why", "what changed", true)},
		Submit: func(v map[string]string) tea.Cmd {
			set := triage.Intent{Kind: triage.DoSeverity, Severity: triage.Severity(v["level"]), Text: v["why"]}
			if v[commander] == "" {
				return env.Send(set)
			}
			who := personNamed(env, v[commander])
			who.Roles = append(slices.Clip(who.Roles), commander)
			return env.SendAll([]triage.Intent{{Kind: triage.DoPerson, Who: who}, set})
		}}
	if !led {
		f.Fields = append(f.Fields, form.Named(commander, commander, "who leads the call; SEV-1 needs one", false))
		f.Lacks = func(v map[string]string) (string, ink.Text) {
			if v["level"] == string(triage.Sev1) && v[commander] == "" {
				return commander, "SEV-1 needs an incident commander: name the person who leads the call."
			}
			return "", ""
		}
	}
	if env.Snap.Lowers != nil {
		return loweringForm(env, f)
	}
	return f
}

// personNamed is the participant of that name, or a new one whose identity nothing
// proves.
func personNamed(env *screen.Env, name string) triage.Person {
	for _, p := range env.Snap.State.People {
		if strings.EqualFold(p.Name, name) || p.ID == name {
			return p
		}
	}
	return triage.Person{ID: "call/" + name, Name: name, Proof: "claimed"}
}

// PeopleForm shows who is on the call, and adds a person or changes their roles.
func PeopleForm(env *screen.Env) *form.Form {
	var intro []ink.Text
	for _, p := range env.Snap.State.People {
		roles := ink.Text("no role")
		if len(p.Roles) > 0 {
			roles = ink.Shown(strings.Join(p.Roles, ", "))
		}
		intro = append(intro, ink.Say("· %s (%s): ", p.Name, p.Proof)+roles)
	}
	return &form.Form{Title: "People on the call", Does: "record", Intro: append(intro, "Name a person to add them, or to give them other roles."),
		Fields: []form.Field{form.Named("name", "name", "as on the call", true),
			form.Named("roles", "roles", "such as commander, scribe; empty for none", false)},
		Submit: func(v map[string]string) tea.Cmd {
			who := personNamed(env, v["name"])
			who.Roles = strings.FieldsFunc(strings.ToLower(v["roles"]), func(r rune) bool { return r == ',' || r == ' ' })
			return env.Send(triage.Intent{Kind: triage.DoPerson, Who: who})
		}}
}
