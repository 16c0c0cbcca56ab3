package terraform

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// outside is an API with objects that a provider manages, and others change.
type outside struct {
	*world
	api   *lab.Server
	token string // of another client
	head  string
}

func newOutside(t *testing.T, program string) *outside {
	t.Helper()
	api, err := lab.StartService(t.Context(), lab.Options{}, "records", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	provider, err := lab.Service(t.Context(), lab.Options{}, "records")
	if err != nil {
		t.Fatal(err)
	}
	mirror, home := t.TempDir(), t.TempDir()
	if _, err := lab.Mirror(mirror, provider); err != nil {
		t.Fatal(err)
	}
	rc := filepath.Join(home, "tofu.rc")
	if err := os.WriteFile(rc, fmt.Appendf(nil, "provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &outside{api: api}
	var operator string
	for _, kv := range api.Env {
		name, v, _ := strings.Cut(kv, "=")
		switch name {
		case "RECORDS_ROBOT":
			o.token = v
		case "RECORDS_TOKEN":
			operator = v
		}
	}
	o.head = fmt.Sprintf(`
terraform {
  required_providers {
    records = { source = "lab.example/lab/records", version = "0.1.0" }
  }
}
provider "records" {
  endpoint = %q
  token    = %q
  retry    = "never"
}
`, api.URL, operator)
	o.world = newWorldOf(t, program, "local", "")
	o.bot = append(o.bot, "TF_CLI_CONFIG_FILE="+rc)
	o.env.Environ = append(slices.Clone(o.env.Environ), "TF_CLI_CONFIG_FILE="+rc)
	return o
}

func (o *outside) config(text string) { o.lay("main.tf", o.head+text) }

// ask sends a request of another client.
func (o *outside) ask(method, path, body string) string {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), method, o.api.URL+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+o.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		o.t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, raw, err)
	}
	return string(raw)
}

// wrote counts the writes of the operator that the API saw.
func (o *outside) wrote() int {
	o.t.Helper()
	var log struct {
		Requests []struct{ Who, Method string }
	}
	if err := json.Unmarshal([]byte(o.ask(http.MethodGet, "/log", "")), &log); err != nil {
		o.t.Fatal(err)
	}
	n := 0
	for _, r := range log.Requests {
		if r.Who == "operator" && r.Method != http.MethodGet {
			n++
		}
	}
	return n
}

func entryBlock(label, name, value, more string) string {
	return fmt.Sprintf("resource \"records_entry\" %q {\n  name  = %q\n  value = %q\n%s}\n", label, name, value, more)
}

// TestApplyOutside goes through what plans do to real objects behind an API:
// drift, imports, moves, a replacement whose second half fails, and what it leaves.
func TestApplyOutside(t *testing.T) {
	t.Parallel()
	eachProgram(t, func(t *testing.T, program string) {
		o := newOutside(t, program)
		o.config(entryBlock("a", "a", "one", "") + entryBlock("b", "b", "two", ""))
		o.run("init", "-input=false")
		o.run("apply", "-auto-approve", "-input=false")
		o.drifts()
		o.adopts(program)
		o.halves()
	})
}

// drifts: another client changes an object; a refresh records it and touches nothing.
func (o *outside) drifts() {
	t := o.t
	was := o.ledger()
	o.ask(http.MethodPut, "/entries/a", `{"value":"by hand"}`)
	before := o.wrote()
	obs, in := o.saved(steps.Params{"mode": steps.EnumOf("refresh-only")})
	if f := obs.Facts; f["drifted"].Int() != 1 || f["clean"].Bool() || len(f["addresses"].Strings()) != 0 || f["change"].Int() != 0 {
		t.Errorf("refresh-only plan = %v", f)
	}
	p := o.opens("apply-refresh", in)
	if !strings.Contains(strings.Join(p.Diff, "\n"), "recorded so: records_entry.a (update)") {
		t.Errorf("diff = %q", p.Diff)
	}
	if got := o.carry("apply-refresh", p); got.Result != steps.Done {
		t.Fatalf("outcome = %+v", got)
	}
	if found, err := o.find("apply-refresh", p, in); err != nil || found.Result != steps.Done {
		t.Errorf("Find() = %+v, %v", found, err)
	}
	if o.wrote() != before || !strings.Contains(o.text("terraform.tfstate"), "by hand") {
		t.Errorf("%d writes by a refresh, state:\n%s", o.wrote()-before, o.text("terraform.tfstate"))
	}
	o.undone(p, was)
}

// adopts: an import, a move and, where the tool knows it, a removal from the record.
func (o *outside) adopts(program string) {
	t := o.t
	o.ask(http.MethodPut, "/entries/c", `{"value":"three"}`)
	config := entryBlock("a", "a", "one", "") + entryBlock("c", "c", "three", "") + "import {\n  to = records_entry.c\n  id = \"c\"\n}\n"
	if program == "terraform15" {
		config += entryBlock("new", "b", "two", "") + "moved {\n  from = records_entry.b\n  to   = records_entry.new\n}\n"
	} else {
		config += "removed {\n  from = records_entry.b\n  lifecycle {\n    destroy = false\n  }\n}\n"
	}
	o.config(config)
	obs, in := o.saved(nil)
	if f := obs.Facts; f["import"].Int() != 1 || f["change"].Int() != 1 || f["add"].Int() != 0 || f["destroy"].Int() != 0 || len(f["addresses"].Strings()) != 3 {
		t.Errorf("plan = %v", f)
	}
	p := o.opens("apply-plan", in)
	out := stepstest.NewSink()
	if got := o.acts("terraform/apply-plan", in, out); got.Result != steps.Done || !strings.Contains(got.Response, "3 changes complete") {
		t.Fatalf("outcome = %+v %s", got, out.Artifacts["operations"])
	}
	if list := strings.Join(p.Diff, "\n"); !strings.Contains(list, "id c") {
		t.Errorf("diff = %s", list)
	}
	if recorded := o.probe("terraform/state", nil).Facts["addresses"].Strings(); !slices.Contains(recorded, "records_entry.c") || slices.Contains(recorded, "records_entry.b") {
		t.Errorf("recorded = %v", recorded)
	}
}

// halves: the new object is made and the old one stays, which the next plan ends.
func (o *outside) halves() {
	t := o.t
	safer := "  lifecycle {\n    create_before_destroy = true\n  }\n"
	o.config(entryBlock("c", "c", "three", safer))
	o.run("apply", "-auto-approve", "-input=false")
	o.config(entryBlock("c", "d", "three", safer))
	obs, in := o.saved(nil)
	if f := obs.Facts; f["replace"].Int() != 1 || !slices.Equal(f["doomed"].Strings(), []string{"records_entry.c"}) {
		t.Errorf("plan = %v", f)
	}
	o.ask(http.MethodPatch, "/control", `{"writes":1}`)
	out := stepstest.NewSink()
	got := o.acts("terraform/apply-plan", in, out)
	if got.Result != steps.Failed || !strings.Contains(got.Response, "Failed: records_entry.c.") || !strings.Contains(got.Response, "Rate exceeded") {
		t.Fatalf("outcome = %+v\n%s", got, out.Artifacts["log"])
	}
	o.ask(http.MethodPatch, "/control", `{"writes":-1}`)
	obs, in = o.saved(nil)
	if d := obs.Facts["doomed"].Strings(); len(d) != 1 || !strings.HasPrefix(d[0], "records_entry.c (deposed ") {
		t.Errorf("doomed = %q", d)
	}
	p := o.opens("apply-plan", in)
	if !strings.HasSuffix(p.Phrase, " destroying 1") || !strings.Contains(p.Diff[0], "what a replacement left behind") {
		t.Errorf("phrase = %q, diff = %q", p.Phrase, p.Diff)
	}
	if got := o.carry("apply-plan", p); got.Result != steps.Done {
		t.Errorf("outcome = %+v", got)
	}
	if list := o.ask(http.MethodGet, "/entries", ""); strings.Contains(list, `"c"`) || !strings.Contains(list, `"d"`) {
		t.Errorf("entries = %s", list)
	}
}
