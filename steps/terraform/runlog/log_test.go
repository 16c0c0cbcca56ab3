package runlog

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/stepstest"
)

const humanLog = `module.a.t.one["x y"]: Creating...
module.a.t.one["x y"]: Still creating... [10s elapsed]
module.a.t.one["x y"]: Creation complete after 12s [id=1]
t.two: Destroying... [id=2]
t.two: Destruction complete after 0s
t.two: Creating...
t.three: Modifying... [id=3]
t.three: Modifications complete after 1s [id=3]
t.four: Creating...
`

func TestRunLog(t *testing.T) {
	t.Parallel()
	jsonLine := func(typ, addr string) string {
		return `{"@level":"info","@message":"` + addr + `: message","type":"` + typ + `","hook":{"resource":{"addr":"` + addr + `"},"action":"create"}}` + "\n"
	}
	type want struct {
		started, completed, failed int
		interrupted, finished      bool
		last                       string
		done, open                 []string
	}
	for _, tc := range []struct {
		name, in string
		want     want
	}{
		{"killed", humanLog, want{5, 3, 0, false, false, "t.four: Creating...", []string{`module.a.t.one["x y"]`, "t.three"}, []string{"t.four", "t.two"}}},
		{"whole", "t.a: Creating...\nt.a: Creation complete after 0s [id=1]\n\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.\n\n",
			want{1, 1, 0, false, true, "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.", []string{"t.a"}, nil}},
		{"colours", "\x1b[0m\x1b[1mt.a: Creating...\x1b[0m\x1b[0m\r\n\x1b[0mt.a: Creation complete after 0s\x1b[0m\n",
			want{1, 1, 0, false, false, "t.a: Creation complete after 0s", []string{"t.a"}, nil}},
		{"error", "t.a: Creating...\n╷\n│ Error: no such thing\n│ \n│   with t.a,\n│   on main.tf line 1, in resource \"t\" \"a\":\n╵\n",
			want{1, 0, 1, false, false, "╵", nil, []string{"t.a"}}},
		{"warning names a resource", "t.a: Creating...\nWarning: old\n\n  with t.a,\n", want{1, 0, 0, false, false, "  with t.a,", nil, []string{"t.a"}}},
		{"interrupted", "t.a: Creating...\n\nInterrupt received.\nPlease wait for OpenTofu to exit\n", want{1, 0, 0, true, false, "Please wait for OpenTofu to exit", nil, []string{"t.a"}}},
		{"json", jsonLine("apply_start", "t.a") + jsonLine("apply_complete", "t.a") + jsonLine("apply_start", "t.b") + jsonLine("apply_errored", "t.b") + jsonLine("apply_start", "t.c"),
			want{3, 1, 1, false, false, "t.c: message", []string{"t.a"}, []string{"t.b", "t.c"}}},
		{"json whole", jsonLine("apply_start", "t.a") + jsonLine("apply_complete", "t.a") + `{"@message":"Apply complete!","type":"change_summary","changes":{"add":1,"operation":"apply"}}`,
			want{1, 1, 0, false, true, "Apply complete!", []string{"t.a"}, nil}},
		{"json of a plan", `{"@message":"Plan: 1 to add","type":"change_summary","changes":{"operation":"plan"}}`, want{last: "Plan: 1 to add"}},
		{"long line", "t.a: Creating...\n" + strings.Repeat("x", 3<<20) + "\nt.a: Creation complete after 0s\n", want{1, 1, 0, false, false, "t.a: Creation complete after 0s", []string{"t.a"}, nil}},
		{"no newline at the end", "t.a: Creating...", want{1, 0, 0, false, false, "t.a: Creating...", nil, []string{"t.a"}}},
		{"data source and output", "data.d.x: Reading...\ndata.d.x: Read complete after 0s\nsay: hello\n", want{last: "say: hello"}},
		{"empty", "", want{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := New()
			for line := range strings.Lines(tc.in) {
				r.Line([]byte(line))
			}
			r.End()
			done, open := r.addresses()
			got := want{r.Started, r.completed, len(r.Failed), r.interrupted, r.finished, r.last, done, open}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLogProbe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := steps.Env{Dir: dir}
	obs, err := stepstest.Observe(t.Context(), Probe{env}, Facts(), steps.Params{"file": steps.PathOf("absent.log")}, stepstest.NewSink())
	if err != nil || obs.Facts["found"].Bool() || obs.Facts["started"].Known() {
		t.Errorf("absent log = %v, %v", obs.Facts, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.log"), []byte(humanLog), 0o600); err != nil {
		t.Fatal(err)
	}
	out := stepstest.NewSink()
	obs, err = stepstest.Observe(t.Context(), Probe{env}, Facts(), steps.Params{"file": steps.PathOf("a.log")}, out)
	if err != nil || !obs.Facts["found"].Bool() || obs.Facts["started"].Int() != 5 || len(obs.Findings) != 3 {
		t.Errorf("log = %v %v, %v", obs.Facts, obs.Findings, err)
	}
	if got := out.Artifacts["log"].String(); got != humanLog {
		t.Errorf("artifact = %q, want the log", got)
	}
	if _, err := stepstest.Observe(t.Context(), Probe{env}, Facts(), steps.Params{"file": steps.PathOf(".")}, stepstest.NewSink()); err == nil {
		t.Error("a directory is read as a log")
	}
}

func FuzzRunLog(f *testing.F) {
	f.Add([]byte(humanLog))
	f.Add([]byte(`{"type":"apply_start","hook":{"resource":{"addr":"t.a"}}}`))
	for _, s := range runSamples() {
		f.Add([]byte(s.text))
	}
	for name, wrap := range logWrappers() {
		if name != "bare" {
			f.Add([]byte(wrap("$ tofu apply p\nt.a: Creating...\n")))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := New()
		for line := range bytes.Lines(in) {
			r.Line(line)
		}
		r.End()
		done, open := r.addresses()
		if len(done) > r.completed || len(open) > r.Started {
			t.Fatalf("%d done of %d, %d open of %d", len(done), r.completed, len(open), r.Started)
		}
		facts := logOf(t, string(in))
		if n := facts["started"]; n.Known() && n.Int() == 0 && !facts["whole"].Bool() {
			t.Fatal("a log that is not whole shows that nothing began")
		}
	})
}

// TestWhatAnAddressStandsFor: an address that was replaced stands for its new object,
// and one that the log names no id of stands for itself alone.
func TestWhatAnAddressStandsFor(t *testing.T) {
	t.Parallel()
	text := "t.a: Destroying... [id=old]\nt.a: Destruction complete after 0s\nt.a: Creating...\nt.a: Creation complete after 1s [id=new]\n" +
		"t.b: Creating...\nt.b: Creation complete after 1s [name=b c]\nt.c: Creating...\nt.c: Creation complete after 1s\n" +
		"t.d: Destroying... [id=4]\nt.d: Destruction complete after 0s\nt.e: Creating...\n" +
		`{"@message":"t.f: Creation complete","type":"apply_start","hook":{"resource":{"addr":"t.f"},"action":"create"}}` + "\n" +
		`{"@message":"t.f: Creation complete","type":"apply_complete","hook":{"resource":{"addr":"t.f"},"action":"create","id_key":"id","id_value":"6]"}}` + "\n"
	f := logOf(t, text)
	if got, want := f["present_ids"].Table(), map[string]string{"t.a": "new", "t.f": "6]"}; !maps.Equal(got, want) {
		t.Errorf("present_ids = %q, want %q", got, want)
	}
	if got, want := f["present_objects"].Strings(), []string{"t.a [id=new]", "t.b [name=b c]", "t.c", "t.f [id=6]]"}; !slices.Equal(got, want) {
		t.Errorf("present_objects = %q, want %q", got, want)
	}
}
