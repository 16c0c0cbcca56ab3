package runlog

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"handrail/steps"
	"handrail/steps/joblog"
	"handrail/steps/stepstest"
)

// runSample is a log of one run, as the tools write it.
type runSample struct {
	text      string
	began     bool // operations began in it
	unsaved   bool // it could not save its state
	wholeNone bool // whole, it proves that nothing began
}

const planHead = `terraform_data.old: Refreshing state... [id=1]

OpenTofu used the selected providers to generate the following execution
plan. Resource actions are indicated with the following symbols:
  + create
-/+ destroy and then create replacement

OpenTofu will perform the following actions:

  # terraform_data.a will be created
  + resource "terraform_data" "a" {
      + input = <<-EOT
            t.q: Creation complete after 1s
            Apply complete! Resources: 9 added, 0 changed, 0 destroyed.
        EOT
    }

  # module.m["p|q: x"].terraform_data.b["t\tq"] must be replaced
-/+ resource "terraform_data" "b" {
      ~ id = "1" -> (known after apply)
    }

Plan: 2 to add, 0 to change, 1 to destroy.
`

const runLines = `terraform_data.a: Creating...
module.m["p|q: x"].terraform_data.b["t\tq"]: Destroying... [id=1]
module.m["p|q: x"].terraform_data.b["t\tq"]: Destruction complete after 0s
terraform_data.a: Provisioning with 'local-exec'...
terraform_data.a (local-exec): t.q: Creation complete after 1s
terraform_data.a (local-exec): Apply complete! Resources: 9 added, 0 changed, 0 destroyed.
`

func runSamples() map[string]runSample {
	b := `module.m["p|q: x"].terraform_data.b["t\tq"]`
	finished := planHead + runLines + b + ": Creating...\n" + b + ": Still creating... [10s elapsed]\n" + b + ": Creation complete after 11s [id=2]\n" +
		"terraform_data.a: Creation complete after 12s [id=7]\n\nApply complete! Resources: 2 added, 0 changed, 1 destroyed.\n\nOutputs:\n\nsay = <<EOT\nt.q: Creating...\nEOT\n"
	failed := planHead + runLines + boxed("terraform_data.a", "local-exec provisioner error", "", "Error running command 'x': exit status 1. Output: t.q: Creating...", "t.q: Creation complete after 1s", "Apply complete! Resources: 9 added, 0 changed, 0 destroyed.")
	plain := planHead + runLines + "\nError: creating thing: StatusCode: 429\n\n  with terraform_data.a,\n  on main.tf line 7, in resource \"terraform_data\" \"a\":\n   7:   x\n\nIt said: t.q: throttled\n"
	event := func(typ, rest, message string) string {
		m, _ := json.Marshal(message)
		return fmt.Sprintf(`{"@level":"info","@message":%s,"@module":"tofu.ui","@timestamp":"2026-01-02T03:04:05.000000Z"%s,"type":%q}`+"\n", m, rest, typ)
	}
	hook := func(typ, addr, action, say string) string {
		a, _ := json.Marshal(addr)
		return event(typ, fmt.Sprintf(`,"hook":{"resource":{"addr":%s},"action":%q}`, a, action), addr+": "+say)
	}
	version := event("version", `,"tofu":"1.12.6","ui":"1.2"`, "OpenTofu 1.12.6")
	stream := version + event("planned_change", `,"change":{"resource":{"addr":"terraform_data.a"},"action":"create"}`, "terraform_data.a: Plan to create") +
		event("change_summary", `,"changes":{"add":1,"change":0,"import":0,"remove":0,"operation":"plan"}`, "Plan: 1 to add, 0 to change, 0 to destroy.") +
		hook("apply_start", "terraform_data.a", "create", "Creating...") +
		hook("provision_progress", "terraform_data.a", "create", "(local-exec): t.q: Creation complete after 1s\nInterrupt received.") +
		hook("apply_complete", "terraform_data.a", "create", "Creation complete after 0s") +
		event("change_summary", `,"changes":{"add":1,"change":0,"import":0,"remove":0,"operation":"apply"}`, "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.")
	command := "$ tofu apply -input=false approved.tfplan\n"
	return map[string]runSample{
		"finished":       {text: finished, began: true},
		"failed":         {text: failed, began: true},
		"plain error":    {text: plain, began: true},
		"json":           {text: stream, began: true},
		"json stale":     {text: version + `{"@level":"error","@message":"Error: Saved plan is stale","@module":"tofu.ui","@timestamp":"2026-01-02T03:04:05.000000Z","diagnostic":{"severity":"error","summary":"Saved plan is stale","detail":"The given plan file"},"type":"diagnostic"}` + "\n", wholeNone: true},
		"stale":          {text: command + boxed("", "Saved plan is stale", "", "The given plan file can no longer be runLines because the state was changed", "by another operation after the plan was created."), wholeNone: true},
		"plain stale":    {text: command + "\nError: Saved plan is stale\n\nThe given plan file can no longer be applied because the state was changed by\nanother operation after the plan was created.\n\n", wholeNone: true},
		"plain identity": {text: command + "\nError: No valid credential sources found\n\n  with provider[\"lab.example/drills/records\"],\n  on main.tf line 9, in provider \"records\":\n   9: provider \"records\" {\n\nNo token.\n\n", wholeNone: true},
		"plan failed":    {text: "Acquiring state lock. This may take a few moments...\n\nPlanning failed. OpenTofu encountered an error while generating this plan.\n\n" + boxed("terraform_data.a", "Unsupported attribute"), wholeNone: true},
		"nothing":        {text: "terraform_data.a: Refreshing state... [id=1]\n\nNo changes. Your infrastructure matches the configuration.\n\nApply complete! Resources: 0 added, 0 changed, 0 destroyed.\n", wholeNone: true},
		"declined":       {text: planHead + "\nDo you want to perform these actions?\n  Enter a value: no\n\nApply cancelled.\n", wholeNone: true},
		"unsaved": {text: command + boxed("", "Failed to save state", "", "Error saving state: 500") +
			boxed("", "Failed to persist state to backend", "", "The error shown above has prevented OpenTofu from writing the updated state", "to the configured backend. To allow for recovery, the state has been written", "to the file \"errored.tfstate\" in the current working directory."), unsaved: true},
		"destroyed": {text: "$ terraform destroy -auto-approve\nterraform_data.a: Refreshing state... [id=1]\n\nPlan: 0 to add, 0 to change, 1 to destroy.\nterraform_data.a: Destroying... [id=1]\nterraform_data.a: Destruction complete after 0s\n\nDestroy complete! Resources: 1 destroyed.\n", began: true},
	}
}

// eachLineOf writes each line anew.
func eachLineOf(text string, write func(i int, line string) string) string {
	var out strings.Builder
	i := 0
	for line := range strings.Lines(text) {
		out.WriteString(write(i, strings.TrimSuffix(line, "\n")) + "\n")
		i++
	}
	return out.String()
}

// logWrappers are what systems make of each line.
func logWrappers() map[string]func(string) string {
	prefix := func(form string) func(string) string {
		return func(text string) string {
			return eachLineOf(text, func(i int, line string) string {
				return strings.NewReplacer("SS", fmt.Sprintf("%02d", i%60), "NNN", fmt.Sprintf("%03d", i*7%1000), "LEVEL", []string{"INFO", "ERROR"}[i%2],
					"STREAM", []string{"stdout", "stderr"}[i%2], "00C", []string{"00O", "01E"}[i%2]).Replace(form) + line
			})
		}
	}
	object := func(more func(i int, line string) map[string]any) func(string) string {
		return func(text string) string {
			return eachLineOf(text, func(i int, line string) string {
				b, _ := json.Marshal(more(i, line))
				return string(b)
			})
		}
	}
	return map[string]func(string) string{
		"bare": func(s string) string { return s },
		"crlf": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"colours": func(s string) string {
			return eachLineOf(s, func(_ int, l string) string { return "\x1b[0m\x1b[1m" + l + "\x1b[0m\x1b[0m" })
		},
		"gh run view --log": prefix("apply (prod)\tRun tofu apply\t2026-01-02T03:04:SS.1234NNNZ "),
		"github":            prefix("2026-01-02T03:04:SS.1234NNNZ "),
		"gitlab":            prefix("2026-01-02T03:04:SS.123NNNZ 00C "),
		"gitlab sections": func(s string) string {
			return "section_start:1767323045:step_script\r\x1b[0K\x1b[0K\x1b[36;1mExecuting \"step_script\"\x1b[0;m\n" + s + "section_end:1767323046:step_script\r\x1b[0K\n"
		},
		"jenkins timestamper": prefix("[2026-01-02T03:04:SS.NNNZ] "),
		"jenkins pipeline": func(s string) string {
			return "Started by user x\n[Pipeline] Start of Pipeline\n[Pipeline] sh\n" + s + "[Pipeline] }\n[Pipeline] End of Pipeline\nFinished: FAILURE\n"
		},
		"jenkins branch": prefix("[prod] "),
		"time of day":    prefix("03:04:SS  "),
		"buildkite":      prefix("\x1b_bk;t=1767323045NNN\x07"),
		"azure devops":   prefix("2026-01-02T03:04:SS.1234567Z "),
		"kubectl":        prefix("[pod/apply-7c9f4d8b-x2x9z/tofu] "),
		"kubectl stamps": prefix("[pod/apply-7c9f4d8b-x2x9z/tofu] 2026-01-02T03:04:SS.123456NNNZ "),
		"stern":          prefix("apply-7c9f4d8b-x2x9z tofu "),
		"compose":        prefix("tofu-1  | "),
		"rfc3164":        prefix("Jan  2 03:04:SS runner-7 tofu[4242]: "),
		"rfc5424":        prefix("<14>1 2026-01-02T03:04:SS.123Z runner-7 tofu 4242 - - "),
		"terragrunt":     prefix("03:04:SS.NNN LEVEL  [vpc] tofu: "),
		"terragrunt std": prefix("03:04:SS.NNN STREAM tofu: "),
		"cri":            prefix("2026-01-02T03:04:SS.123456NNNZ STREAM F "),
		"logger":         prefix("2026/01/02 03:04:SS "),
		"markdown quote": prefix("> "),
		"logfmt": func(s string) string {
			return eachLineOf(s, func(i int, l string) string {
				return fmt.Sprintf("time=2026-01-02T03:04:%02dZ level=stdout prefix=[vpc] msg=%q", i%60, l)
			})
		},
		"docker json": object(func(i int, l string) map[string]any {
			return map[string]any{"log": l + "\n", "stream": []string{"stdout", "stderr"}[i%2], "time": "2026-01-02T03:04:05Z"}
		}),
		"journald json": object(func(i int, l string) map[string]any {
			return map[string]any{"MESSAGE": l, "_HOSTNAME": "runner-7", "PRIORITY": "6", "__REALTIME_TIMESTAMP": fmt.Sprint(i)}
		}),
		"cloudwatch": object(func(i int, l string) map[string]any { return map[string]any{"timestamp": i, "message": l} }),
		"docker of gh": func(s string) string {
			return object(func(_ int, l string) map[string]any { return map[string]any{"log": l + "\n"} })(prefix("2026-01-02T03:04:SS.1234NNNZ ")(s))
		},
	}
}

// logEncodings are how bytes reach us.
func logEncodings() map[string]func(string) []byte {
	wide := func(order binary.AppendByteOrder, mark bool) func(string) []byte {
		return func(s string) []byte {
			var out []byte
			if mark {
				out = order.AppendUint16(out, 0xfeff)
			}
			for _, u := range utf16.Encode([]rune(s)) {
				out = order.AppendUint16(out, u)
			}
			return out
		}
	}
	return map[string]func(string) []byte{
		"utf-8":           func(s string) []byte { return []byte(s) },
		"mark":            func(s string) []byte { return []byte("\ufeff" + s) },
		"utf-16le":        wide(binary.LittleEndian, true),
		"utf-16be":        wide(binary.BigEndian, true),
		"utf-16le no bom": wide(binary.LittleEndian, false),
		"gzip":            func(s string) []byte { return zipped([]byte(s)) },
		"gzip of utf-16":  func(s string) []byte { return zipped(wide(binary.LittleEndian, true)(s)) },
	}
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// readLog reads the bytes of a log by the probe.
func readLog(t testing.TB, b []byte) steps.Observation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.log")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	obs, err := stepstest.Observe(t.Context(), Probe{steps.Env{}}, Facts(), steps.Params{"file": steps.PathOf(file)}, stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	return obs
}

// told is a text of all facts but those that a wrapper may change.
func told(f map[string]steps.Value) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if name == "last_line" {
			continue
		}
		v := f[name]
		if !v.Known() {
			fmt.Fprintf(&out, "%s unknown\n", name)
			continue
		}
		fmt.Fprintf(&out, "%s %v\n", name, v.Text())
		if v.Type() == steps.Table {
			fmt.Fprintf(&out, "  %v\n", v.Table())
		}
	}
	return out.String()
}

func TestLogSamples(t *testing.T) {
	t.Parallel()
	for name, s := range runSamples() {
		f := readLog(t, []byte(s.text)).Facts
		started := f["started"]
		switch {
		case s.began && (!started.Known() || started.Int() == 0):
			t.Errorf("%s: started = %v", name, started)
		case s.wholeNone && (!started.Known() || started.Int() != 0 || !f["whole"].Bool()):
			t.Errorf("%s: started = %v, whole = %v", name, started, f["whole"])
		case s.unsaved && (started.Known() || !f["save_failed"].Bool()):
			t.Errorf("%s: started = %v, though its state was not saved", name, started)
		}
		for _, list := range []string{"completed_addresses", "started_addresses"} {
			if slices.Contains(f[list].Strings(), "t.q") {
				t.Errorf("%s: %s = %v has what is only quoted", name, list, f[list].Strings())
			}
		}
	}
}

// TestWrappingChangesNoFact reads each sample through each wrapper, and each
// wrapper in each encoding.
func TestWrappingChangesNoFact(t *testing.T) {
	t.Parallel()
	samples := runSamples()
	want := map[string]string{}
	for name, s := range samples {
		want[name] = told(readLog(t, []byte(s.text)).Facts)
	}
	for wname, wrap := range logWrappers() {
		for name, s := range samples {
			if got := told(readLog(t, []byte(wrap(s.text))).Facts); got != want[name] {
				t.Errorf("%s in %s:\n%s\nwant\n%s", name, wname, got, want[name])
			}
		}
		for ename, encode := range logEncodings() {
			if got := told(readLog(t, encode(wrap(samples["failed"].text))).Facts); got != want["failed"] {
				t.Errorf("failed in %s in %s:\n%s\nwant\n%s", wname, ename, got, want["failed"])
			}
		}
	}
}

// TestDamageProvesNothing cuts every sample at each line and within lines, from
// either end, bare and wrapped. What a log lacks makes facts unknown: never a run
// that changed something one that did not, and never what began not begun.
func TestDamageProvesNothing(t *testing.T) {
	t.Parallel()
	wrappers := logWrappers()
	for name, s := range runSamples() {
		if !s.began && !s.unsaved {
			continue
		}
		for _, wname := range []string{"bare", "gh run view --log", "docker json"} {
			whole := wrappers[wname](s.text)
			operations := readLog(t, []byte(whole)).Facts["operations"].Table()
			check := func(how string, damaged string) {
				t.Helper()
				f := logOf(t, damaged)
				for _, fact := range []string{"started", "completed"} {
					if v := f[fact]; v.Known() && v.Int() == 0 && !(fact == "completed" && f["started"].Known()) {
						t.Fatalf("%s in %s, %s: %s = 0\n%s", name, wname, how, fact, damaged)
					}
				}
				for a, how := range f["operations"].Table() {
					if how == NeverStarted && operations[a] != NeverStarted {
						t.Fatalf("%s in %s, %s: %s never started\n%s", name, wname, how, a, damaged)
					}
				}
			}
			step := max(1, len(whole)/40)
			for i := 0; i < len(whole); i += step {
				check("its end cut off", whole[:i])
				check("its beginning cut off", whole[len(whole)-i:])
			}
			lines := strings.SplitAfter(whole, "\n")
			for i := range lines {
				check("its end cut off at a line", strings.Join(lines[:i], ""))
				check("its beginning cut off at a line", strings.Join(lines[i+1:], ""))
			}
		}
	}
}

// logOf reads a log in memory, as the probe reads a file.
func logOf(t testing.TB, in string) map[string]steps.Value {
	t.Helper()
	l := joblog.NewLearner()
	if err := joblog.Each(strings.NewReader(in), l.Line); err != nil {
		t.Fatal(err)
	}
	runs := newRunLogs(l.Frame())
	if err := joblog.Each(strings.NewReader(in), runs.line); err != nil {
		t.Fatal(err)
	}
	runs.end()
	f := steps.NewFacts(Facts())
	f.Set("found", steps.BoolOf(true))
	var obs steps.Observation
	runs.fill(f, &obs, runs.lacks())
	return obs.Facts
}

func TestSeveralRunsInOneLog(t *testing.T) {
	t.Parallel()
	samples := runSamples()
	finished, failed, stale := samples["finished"].text, samples["failed"].text, samples["stale"].text
	interleave := func(a, b string) string {
		x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
		var out strings.Builder
		for i := range max(len(x), len(y)) {
			for _, lines := range [][]string{x, y} {
				if i < len(lines) {
					out.WriteString(lines[i])
				}
			}
		}
		return out.String()
	}
	pod := func(name, text string) string {
		return eachLineOf(text, func(_ int, l string) string { return "[pod/" + name + "/tofu] " + l })
	}
	for _, tc := range []struct {
		name, in string
		runs     int64
		several  bool // which run is meant is not known
		sure     bool // whether what it does not show did not happen
		ending   string
	}{
		{"one after the other", finished + failed, 2, true, true, ""},
		{"a retry that succeeds", failed + "$ tofu apply\n" + finished, 2, true, true, ""},
		{"a retry that is refused", failed + stale, 1, false, true, "failed"},
		{"a second that is cut", finished + "$ tofu apply\nterraform_data.z: Refreshing state... [id=1]\nterraform_data.z: Destroying... [id=1]\n", 2, true, false, ""},
		{"interleaved", interleave(finished, failed), 1, true, false, ""},
		{"interleaved with a refusal", interleave(failed, stale), 1, false, true, ""},
		{"of two pods", interleave(pod("a", finished), pod("b", failed)), 2, true, true, ""},
		{"a plan first", "$ tofu init\nInitializing the backend...\n$ tofu plan -out=p\n" + planHead + "Saved the plan to: p\n$ tofu apply p\n" + runLines +
			"module.m[\"p|q: x\"].terraform_data.b[\"t\\tq\"]: Creating...\nmodule.m[\"p|q: x\"].terraform_data.b[\"t\\tq\"]: Creation complete after 0s\nterraform_data.a: Creation complete after 0s\nApply complete! Resources: 2 added, 0 changed, 1 destroyed.\n", 1, false, true, "finished"},
	} {
		f := logOf(t, tc.in)
		if f["runs"].Int() < tc.runs || !tc.several && f["runs"].Int() > tc.runs || f["operations"].Known() == tc.several && tc.sure || f["whole"].Bool() != tc.sure {
			t.Errorf("%s: runs %d, operations known %v, whole %v", tc.name, f["runs"].Int(), f["operations"].Known(), f["whole"].Bool())
		}
		if v := f["started"]; !v.Known() || v.Int() == 0 {
			t.Errorf("%s: started = %v", tc.name, v)
		}
		if tc.ending != "" && f["ending"].Text() != tc.ending {
			t.Errorf("%s: ending = %v", tc.name, f["ending"])
		}
	}
}

func TestHalfReplacement(t *testing.T) {
	t.Parallel()
	b := `module.m["p|q: x"].terraform_data.b["t\tq"]`
	f := logOf(t, planHead+b+": Destroying... [id=1]\n"+b+": Destruction complete after 0s\n"+boxed("terraform_data.a", "boom"))
	if got := f["operations"].Table()[b]; got != Half || slices.Contains(f["completed_addresses"].Strings(), b) {
		t.Errorf("half of a replacement is %q, completed %v", got, f["completed_addresses"].Strings())
	}
	if present, destroyed := f["present_addresses"].Strings(), f["destroyed_addresses"].Strings(); len(present)+len(destroyed) > 0 {
		t.Errorf("half of a replacement is present %v, destroyed %v", present, destroyed)
	}
	f = logOf(t, "t.a[\"a: going...: complete\"]: Creating...\nt.a[\"a: going...: complete\"]: Creation complete after 0s\n")
	if f["completed"].Int() != 1 || f["started"].Int() != 1 {
		t.Errorf("a key like an operation = %v", f)
	}
	f = logOf(t, "t.a: Destroying... [id=1]\nt.a: Destruction complete after 0s\n")
	if got := f["operations"].Table()["t.a"]; got != Destroyed {
		t.Errorf("destroyed without a plan is %q", got)
	}
	if present, gone := f["present_addresses"].Strings(), f["destroyed_addresses"].Strings(); len(present) != 0 || !slices.Equal(gone, []string{"t.a"}) {
		t.Errorf("what was destroyed is present as %v, destroyed as %v", present, gone)
	}
}

func TestUnreadableLogs(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][]byte{
		"page":    []byte("\n<!DOCTYPE html><html><body><pre>t.a: Creating...</pre>"),
		"zip":     []byte("PK\x03\x04rest"),
		"zstd":    []byte("\x28\xb5\x2f\xfdrest"),
		"binary":  []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00rest"),
		"no gzip": []byte("\x1f\x8brest"),
		"twice":   zipped(zipped([]byte("t.a: Creating...\n"))),
	} {
		obs := readLog(t, in)
		if obs.Facts["started"].Known() || obs.Facts["whole"].Known() || !obs.Facts["found"].Bool() || len(obs.Gaps) == 0 {
			t.Errorf("%s: %v", name, obs.Facts)
		}
	}
	torn := zipped([]byte("$ tofu apply p\n" + boxed("", "Saved plan is stale")))
	if f := readLog(t, torn[:len(torn)-9]).Facts; f["started"].Known() || f["whole"].Bool() {
		t.Errorf("torn gzip = %v", f)
	}
	refused := boxed("", "No valid credential sources found")
	for name, in := range map[string]string{"output elsewhere": "$ tofu apply p > out.log\n" + refused, "piped": "+ tofu apply p | grep -v Creating\n" + refused,
		"remote":    "Running apply in HCP Terraform. Output will stream here.\n" + boxed("", "Failed to retrieve the logs"),
		"truncated": "$ tofu apply p\n... 4000 lines omitted ...\n" + refused, "limit": "$ tofu apply p\nJob's log exceeded limit of 4194304 bytes.\n" + refused,
		"box alone": refused, "plan alone": planHead, "broke down": "$ tofu apply p\npanic: boom\n" + refused,
		"empty": "", "noise": "lorem ipsum\nError 42\n", "blank": "\n \n"} {
		if f := readLog(t, []byte(in)).Facts; f["started"].Known() || f["completed"].Known() || f["whole"].Bool() {
			t.Errorf("%s = %v", name, f)
		}
	}
}

func TestLinesLeftAway(t *testing.T) {
	t.Parallel()
	for text, left := range map[string]bool{
		"Job's log exceeded limit of 4194304 bytes.":                      true,
		"... 4000 lines omitted ...":                                      true,
		"[truncated 1234 bytes]":                                          true,
		"##[warning]The log output has been truncated":                    true,
		"The job exceeded the maximum log length, and was terminated.":    true,
		"creating CloudWatch Log Group: LimitExceededException: exceeded": false,
		"        # (12 unchanged attributes hidden)":                      false,
		"Skipping Git submodules setup":                                   false,
		"terraform_data.a: Creating...":                                   false,
	} {
		if got := leftAway(text); got != left {
			t.Errorf("leftAway(%q) = %v", text, got)
		}
	}
}

func TestEchoedCommands(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"$ tofu apply", "+ terraform apply -input=false p.tfplan", "++ tofu -chdir=live apply p", "##[group]Run tofu apply -auto-approve", "[command]/usr/bin/terraform apply p",
		"user@host:~/live$ tofu apply", "ci@runner:/x# TF_IN_AUTOMATION=1 tofu apply", "terraform apply p.tfplan", "> terragrunt run-all apply", "$ tofu apply p 2>&1 | tee apply.log", "$ sudo terraform.exe plan -out=p"} {
		if !begins(line) || sentAway(line) {
			t.Errorf("%q: begins %v, elsewhere %v", line, begins(line), sentAway(line))
		}
	}
	for _, line := range []string{"$ tofu apply p >out", "$ tofu apply p >> out 2>&1", "$ tofu apply p &> out", "$ tofu apply p 1>/dev/null", "$ tofu apply p | grep x", "+ tofu apply p |& grep x"} {
		if !sentAway(line) {
			t.Errorf("%q: its output is not seen to go elsewhere", line)
		}
	}
	for _, line := range []string{`    tofu apply "p"`, "terraform apply will make these changes", `echo "tofu apply"`, "tofu version", "see tofu apply", "$ ls tofu"} {
		if begins(line) {
			t.Errorf("%q begins a run", line)
		}
	}
}

// TestRefusedBeforeItBegan: the tool says nothing before it refuses a saved plan, so that the
// output of such a command shows no beginning. It is a refusal all the same, and only where
// it shows nothing else.
func TestRefusedBeforeItBegan(t *testing.T) {
	t.Parallel()
	stale := "\nError: Saved plan is stale\n\nThe given plan file can no longer be applied because the state was changed by\nanother operation after the plan was created.\n"
	warned := "There are some problems with the CLI configuration:\n\nWarning: Unable to open CLI configuration file\n\nThe CLI configuration file at \"/h/.terraformrc\" does not exist.\n"
	began := "t.a: Creating...\nt.a: Creation complete after 0s [id=1]\n"
	for name, tc := range map[string]struct {
		log  string
		want bool
	}{
		"alone":                {stale, true},
		"in a box":             {boxed("", "Saved plan is stale"), true},
		"with its command":     {"$ tofu apply p\n" + stale, true},
		"behind a warning":     {warned + stale, true},
		"after an operation":   {began + stale, false},
		"a retry":              {"$ tofu apply p\n" + began + boxed("t.b", "boom") + "$ tofu apply p\n" + stale, false},
		"with another error":   {stale + "\nError: boom\n\nIt broke.\n", false},
		"lines were left away": {"[log truncated: 512 lines omitted]\n" + stale, false},
		"another error":        {"\nError: No valid credential sources found\n\nNo token.\n", false},
		"nothing":              {"", false},
	} {
		if f := logOf(t, tc.log); f["refused"].Bool() != tc.want || !f["refused"].Known() {
			t.Errorf("%s: refused = %v, want %t", name, f["refused"], tc.want)
		}
	}
}
