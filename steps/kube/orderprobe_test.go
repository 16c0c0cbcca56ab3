package kube

import (
	"strings"
	"testing"

	"handrail/steps"
)

func TestRepairOrder(t *testing.T) {
	t.Parallel()
	ask := func(in steps.Params) (steps.Observation, *readsSink) {
		t.Helper()
		sink := newReadsSink()
		obs, err := readsProbe(t.Context(), steps.Env{}, "kube/repair-order", in, sink)
		if err != nil {
			t.Fatal(err)
		}
		return obs, sink
	}
	faults := steps.StringsOf([]string{"init", "schema", "quota", "egress_dns"})
	obs, sink := ask(steps.Params{"faults": faults, "place": steps.StringOf("shop"), "first": steps.StringOf("as_drawn")})
	for fact, want := range map[string]string{"order": `["quota" "egress_dns" "schema" "init"]`, "first": "quota", "changed": "false", "against": "[]", "cycles": "[]"} {
		wantFact(t, obs, fact, want)
	}
	if got := obs.Facts["blocked_by"].Table()["init"]; got != "quota, egress_dns, schema" {
		t.Errorf("init is blocked by %q", got)
	}
	if !strings.Contains(sink.text("graph"), "▶ 4 init") || !strings.Contains(sink.text("graph-ascii"), "> 4 init") {
		t.Errorf("graphs:\n%s\n%s", sink.text("graph"), sink.text("graph-ascii"))
	}
	obs, _ = ask(steps.Params{"faults": faults, "first": steps.StringOf("init"), "also": steps.StringsOf([]string{"schema before quota because so"})})
	wantFact(t, obs, "first", "init")
	wantFact(t, obs, "changed", "true")
	wantFinding(t, obs, "The order goes against: quota before init")
	obs, _ = ask(steps.Params{"faults": steps.StringsOf([]string{"init", "schema"}), "mended": steps.StringsOf([]string{"quota", "egress_dns", "rbac", "init"}), "unsure": steps.StringsOf([]string{"egress_dns"})})
	wantFact(t, obs, "order", `["quota" "rbac" "egress_dns" "schema" "init"]`)
	wantFact(t, obs, "next", "egress_dns")
	if got := obs.Facts["states"].Table(); got["quota"] != "done" || got["rbac"] != "done" || got["egress_dns"] != "unknown" || got["init"] != "open" {
		t.Errorf("states %v", got)
	}
	if want := "2 of 5 faults are repaired; next is egress_dns."; !strings.HasPrefix(obs.Summary, want) {
		t.Errorf("summary %q, want %q", obs.Summary, want)
	}
	obs, _ = ask(steps.Params{"faults": steps.StringsOf(nil), "mended": faults})
	wantFact(t, obs, "next", "")
	if !strings.HasPrefix(obs.Summary, "All 4 faults are repaired") {
		t.Errorf("summary %q", obs.Summary)
	}
	obs, _ = ask(steps.Params{"faults": faults, "also": steps.StringsOf([]string{"init before schema because so"})})
	wantFact(t, obs, "cycles", `["schema -> init -> schema"]`)
	wantFinding(t, obs, "hold each other up")
	for name, in := range map[string]steps.Params{
		"no faults":   {},
		"no name":     {"faults": steps.StringsOf([]string{"A B"})},
		"not an edge": {"faults": faults, "also": steps.StringsOf([]string{"quota!"})},
		"not all":     {"faults": faults, "order": steps.StringsOf([]string{"quota"})},
	} {
		if obs, err := readsProbe(t.Context(), steps.Env{}, "kube/repair-order", in, newReadsSink()); err == nil {
			t.Errorf("%s: %+v", name, obs)
		}
	}
}
