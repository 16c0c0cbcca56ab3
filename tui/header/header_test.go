package header

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/incident"
	"handrail/tui/screen"
)

// TestChipSaysWhatClosesEveryGate, of the incident that is open and of the place on the
// screens before. What happens now goes over it.
func TestChipSaysWhatClosesEveryGate(t *testing.T) {
	t.Parallel()
	open := struct{ screen.Incident }{}
	for name, tc := range map[string]struct {
		incident screen.Incident
		snap     view.Snapshot
		w        int
		want     string
	}{
		"home":          {nil, view.Snapshot{}, 144, " READ-ONLY by --readonly "},
		"incident":      {open, view.Snapshot{ReadOnly: "context prod-eu"}, 144, " READ-ONLY by context prod-eu "},
		"other context": {open, view.Snapshot{}, 144, " READ-ONLY "},
		"no recording":  {open, view.Snapshot{ReadOnly: "context prod-eu", Dead: "disk full"}, 144, " NOT RECORDING "},
		"narrow":        {open, view.Snapshot{ReadOnly: "context prod-eu"}, 60, " READ-ONLY by context p… "},
		"long name":     {open, view.Snapshot{ReadOnly: "context " + strings.Repeat("x", 99)}, 144, " READ-ONLY by context xxxxxxxxxxxxxxx… "},
	} {
		env := &screen.Env{Config: screen.Config{ReadOnly: "--readonly"}, Incident: tc.incident, W: tc.w, Case: &incident.Case{Snap: tc.snap}}
		if got := string(Chip(env)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestHeaderNamesTheModule: directory and workspace of a runbook about a root module stand in the
// header, at 80 columns too, and none where a runbook is about none.
func TestHeaderNamesTheModule(t *testing.T) {
	t.Parallel()
	plan := func(dir string) triage.State {
		p := triage.Plan{Runbook: "state-lock", Params: map[string]triage.Value{"workspace": steps.StringOf("")}}
		if dir != "" {
			p.Params["dir"] = steps.PathOf(dir)
		}
		return triage.State{Incident: "i", Title: "Plan or apply cannot get the state lock", Severity: triage.Sev2, Plans: []triage.Plan{p}}
	}
	long := "/srv/teams/payments/infrastructure/regions/eu/network"
	host := []steps.KV{{Key: "cluster", Value: "https://10.0.0.1:6443"}, {Key: "namespace", Value: "default"}, {Key: "host", Value: "laptop"}}
	for name, tc := range map[string]struct {
		snap view.Snapshot
		want string
	}{
		"in effect":     {view.Snapshot{State: plan("."), Where: []steps.KV{{Key: "directory", Value: "/srv/infra/network"}, {Key: "workspace", Value: "prod"}}, Header: host}, " dir /srv/infra/network  ·  workspace prod  ·  cluster "},
		"long":          {view.Snapshot{State: plan(long), Where: []steps.KV{{Key: "directory", Value: long}, {Key: "workspace", Value: "prod"}}, Header: host}, " dir …/regions/eu/network  ·  workspace prod  ·  cluster "},
		"not looked at": {view.Snapshot{State: plan("infra"), Header: host}, " dir infra  ·  cluster "},
		"no module":     {view.Snapshot{State: plan(""), Header: host}, " cluster https"},
	} {
		env := &screen.Env{Incident: struct{ screen.Incident }{}, W: 80, Case: &incident.Case{Snap: tc.snap}}
		rows := Draw(env, "run")
		if got := ansi.Strip(string(rows[1])); !strings.HasPrefix(got, tc.want) || len([]rune(got)) > 80 {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestHeaderNamesTheNamespaceOfTheIncident: a namespace that the runbook was given stands in
// the place of that of the context.
func TestHeaderNamesTheNamespaceOfTheIncident(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"parcel": "namespace parcel", "": "namespace default"} {
		plan := triage.Plan{Runbook: "demo", Params: map[string]triage.Value{"namespace": steps.StringOf(given)}}
		env := &screen.Env{Incident: struct{ screen.Incident }{}, W: 120, Case: &incident.Case{Snap: view.Snapshot{
			State: triage.State{Plans: []triage.Plan{plan}}, Header: []steps.KV{{Key: "cluster", Value: "lab"}, {Key: "namespace", Value: "default"}}}}}
		if got := ansi.Strip(string(Draw(env, "run")[1])); !strings.Contains(got, want) {
			t.Errorf("given %q: %q", given, got)
		}
	}
}

// TestHeaderKeepsWhoActs: whom the API server knows stays on the line. The directory yields
// first, then what a gate names again; a long name keeps its end.
func TestHeaderKeepsWhoActs(t *testing.T) {
	t.Parallel()
	const robot = "system:serviceaccount:drill-killed-runner-901454:operator"
	cluster := []steps.KV{{Key: "cluster", Value: "handrail-lab-drill-killed-runner"}, {Key: "namespace", Value: "drill-killed-runner-901454"}, {Key: "host", Value: "vm"}}
	where := []steps.KV{{Key: "directory", Value: "/srv/teams/payments/infrastructure/regions/eu/network"}, {Key: "workspace", Value: "default"}}
	given := map[string]triage.Value{"dir": steps.PathOf("."), "workspace": steps.StringOf("")}
	for name, tc := range map[string]struct {
		who, drill string
		w          int
		want       string
	}{
		"all of it":     {"ana", "", 200, " dir …/regions/eu/network  ·  workspace default  ·  cluster handrail-lab-drill-killed-runner  ·  namespace drill-killed-runner-901454  ·  as ana  ·  host vm"},
		"short dir":     {"ana", "", 140, " dir …/eu/network  ·  workspace default  ·  cluster handrail-lab-drill-killed-runner  ·  namespace drill-killed-runner-901454  ·  as ana  …"},
		"dir behind":    {"ana.maria@example.com", "", 142, " workspace default  ·  cluster handrail-lab-drill-killed-runner  ·  namespace drill-killed-runner-901454  ·  as ana.maria@example.com  ·  di…"},
		"namespace too": {robot, "", 144, " workspace default  ·  cluster handrail-lab-drill-killed-runner  ·  as " + robot + "  ·  namespace…"},
		"end of a name": {robot, "killed-runner", 110, " DRILL killed-runner  ·  workspace default  ·  cluster handrail-lab-drill-…  ·  as …-runner-901454:operator …"},
		"80":            {robot, "", 80, " cluster handrail-lab-drill-…  ·  as …unt:drill-killed-runner-901454:operator …"},
		"80, a person":  {"ana.maria@example.com", "", 80, " cluster handrail-lab-drill-…  ·  as ana.maria@example.com  ·  workspace defau…"},
		"narrow":        {robot, "", 60, " cluster handrail-lab-drill-…  ·  as …ner-901454:operator …"},
		"narrow drill":  {robot, "killed-runner", 60, " DRILL killed-runner  ·  as …illed-runner-901454:operator …"},
		"wide letters":  {strings.Repeat("界", 40) + "ana", "", 80, " cluster handrail-lab-drill-…  ·  as …" + strings.Repeat("界", 18) + "ana …"},
	} {
		s := triage.State{Incident: "i", Drill: tc.drill, Plans: []triage.Plan{{Runbook: "state-lock", Params: given}}, People: []triage.Person{{ID: "root", Proof: "os"}, {ID: tc.who, Proof: "kube"}}}
		env := &screen.Env{Incident: struct{ screen.Incident }{}, W: tc.w, Case: &incident.Case{Snap: view.Snapshot{State: s, Where: where, Header: cluster}}}
		got := ansi.Strip(string(Draw(env, "run")[1]))
		if got != tc.want || ansi.StringWidth(got) > tc.w {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
