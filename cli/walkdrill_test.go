package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"handrail/cli/bundle"
	"handrail/cli/process"
)

// drillFile is what a drill says of itself to those who look for it by hand.
type drillFile struct {
	Namespace struct{ Name, OperatorKubeconfig, RobotKubeconfig string }
	Dir, Log  string
}

// broken starts a drill and leaves its own incident alone; what it broke is met
// as on any other day, by an error text.
func (p *practice) broken(id string) drillFile {
	p.t.Helper()
	p.run(process.ExitOpen, "q\n", "drill", "start", id, "--plain")
	return p.meets(id)
}

// meets is a drill as a new user finds it.
func (p *practice) meets(id string) drillFile {
	p.t.Helper()
	p.stops(id)
	src, err := os.ReadFile(filepath.Join(p.state, "handrail/drills", id, "drill.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	var d drillFile
	if err := json.Unmarshal(src, &d); err != nil {
		p.t.Fatal(err)
	}
	return d
}

// operator is who meets it: with the kubeconfig and the tofu of the drill, and
// with files of their own.
func (p *practice) operator(d drillFile) *practice {
	p.t.Helper()
	q := p.elsewhere("KUBECONFIG="+d.Namespace.OperatorKubeconfig, "KUBE_CONFIG_PATH="+d.Namespace.OperatorKubeconfig, "PS1=$ ",
		"PATH="+filepath.Join(p.home, "bin")+":"+filepath.Dir(p.tofu)+":"+os.Getenv("PATH"),
		"TF_CLI_CONFIG_FILE="+filepath.Join(p.state, "handrail/drills/killed-runner/tofu.rc"), "CHECKPOINT_DISABLE=1")
	return q
}

// pasted puts a text on the home screen as a terminal does and goes to the run
// screen of the runbook that recognises it.
func (w *walker) pasted(text, runbook string, fields map[string]string) {
	w.t.Helper()
	w.shows(`command centre`)
	w.until("the move of the home screen", func(text string) bool { return move(text) != "" })
	w.begun, w.seen = w.keys, "the shell"
	w.key("\x1b[200~" + text + "\x1b[201~")
	w.until("the runbook for the error", func(text string) bool { return strings.Contains(move(text), "incident with "+runbook) })
	w.key("\r")
	w.until("the sheet of the parameters", func(text string) bool { return strings.Contains(sheet(text), runbook) })
	filled := 0
	for first := ""; filled < len(fields); { // enter would send the whole sheet
		field := fieldName(w.text())
		if v := fields[field]; v != "" {
			w.says(v)
			filled++
			continue
		}
		if field == first {
			w.t.Fatalf("%d of %d parameters could be given\n%s", filled, len(fields), w.text())
		}
		if first == "" {
			first = field
		}
		w.key("\x1b[B")
		w.until("the next field", func(text string) bool { return fieldName(text) != field })
	}
	w.key("\r")
	w.until("the incident", func(text string) bool { return sheet(text) == "" && move(text) != "" })
	w.read() // the first reads begin by themselves
}

var fieldLine = regexp.MustCompile(`(?m)^ *▸ ([a-z0-9_…]+)  `)

// fieldName is the line of a sheet that has the cursor, "" without a sheet.
func fieldName(text string) string {
	if sheet(text) == "" {
		return ""
	}
	m := fieldLine.FindStringSubmatch(text)
	if m == nil {
		return "" // its line is above the window
	}
	return m[1]
}

// The walks by keys are tests of their own and no subtests, which begin when all tests
// have: they wait for most of their time, and are the longest.

func TestOrphanHookByKeys(t *testing.T) {
	t.Parallel()
	walkOrphanHook(t, keyed(t))
}

func TestKilledRunnerByKeys(t *testing.T) {
	t.Parallel()
	walkKilledRunner(t, keyed(t))
}

// keyed is a home with the lab, and a key to seal with.
func keyed(t *testing.T) *practice {
	t.Helper()
	home := demoHome(t)
	p := newPractice(t, home)
	p.run(process.ExitDone, "", "lab", "up")
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(home, ".ssh", "id_ed25519")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// shell opens a terminal with bash in it, as an operator has one.
func (p *practice) shell(dir string, rows, cols int) *screen {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "bash", "--norc", "--noprofile")
	cmd.Dir, cmd.Env = dir, p.env
	return onScreen(p.t, cmd, rows, cols)
}

// prompt is the shell that waits for a line.
const prompt = `\$\s*\z`

// types a line at the prompt of the shell.
func (w *walker) types(line string) {
	w.t.Helper()
	w.shows(prompt)
	w.typed += utf8.RuneCountInString(line)
	w.keys++
	w.send(line + "\r")
}

func walkKilledRunner(t *testing.T, p *practice) {
	d := p.broken("killed-runner")
	q := p.operator(d)
	refused := exec.CommandContext(t.Context(), p.tofu, "plan", "-no-color", "-input=false")
	refused.Dir, refused.Env = d.Dir, q.env
	said, err := refused.CombinedOutput()
	if err == nil {
		t.Fatalf("tofu was not refused by the lock:\n%s", said)
	}
	w := &walker{screen: q.shell(d.Dir, 34, 110), p: q, answers: killedRunnerAnswers}
	w.types("handrail trust")
	w.shows(`Trusted`)
	w.types("handrail")
	w.pasted(string(said), "state-lock", map[string]string{"log": d.Log})
	w.walk(func(string) string { return "force-unlock " + w.lockID() })
	w.sealed()
	w.documented("killed-runner")
}

var killedRunnerAnswers = []answered{
	{to: "Find the run that holds", words: []string{"run 4711: its runner is gone"}},
	{to: "Is the process that holds", value: "dead", words: []string{"no tofu on the runner; its log stops in a creation"}},
	{to: "Tell the on-call", words: []string{"#platform-oncall, told; nobody objected"}},
	{to: "newest serial", value: "explained", words: []string{"the init of the run that died"}},
	{to: "Settle:", value: "carried"},
	{to: "Debt carried", words: []string{"platform", "2027-01-31"}},
	{to: "Before the close", words: []string{"it is in the debt for the run"}},
	{to: "Close the incident", value: "recovered", words: []string{"", ""}},
	{to: "Close as recovered", words: []string{"recovered"}},
}

// hookError is what the controller says of the sync that waits.
const hookError = `Sync operation to 5.1.0 running: waiting for completion of hook batch/Job/tariffs-schema-step-7xq4m
`

func walkOrphanHook(t *testing.T, p *practice) {
	d := p.broken("orphan-hook")
	q := p.operator(d)
	w := &walker{screen: q.shell(t.TempDir(), 34, 110), p: q, answers: orphanHookAnswers}
	w.types("handrail")
	w.pasted(hookError, "stuck-finalizer", map[string]string{"controller": "deployment/hook-runner"})
	w.walk(func(text string) string { return jobPhrase.FindString(text) })
	w.sealed()
	w.documented("orphan-hook")
}

var jobPhrase = regexp.MustCompile(`\b(?:patch|delete) job/[a-z0-9-]+/[a-z0-9.-]+`)

var orphanHookAnswers = []answered{
	{to: "last lines of the controller", words: []string{"hook-runner has no Pod; the log store has nothing"}},
	{to: "want it gone", value: "gone", words: []string{"Git removed the hook two releases ago; tariffs: it never ran and left nothing"}},
	{to: "gone for good", value: "gone", words: []string{"the hardening rollout scaled hook-runner to zero"}},
	{to: "Tell the on-call", words: []string{"#platform-oncall, told the whole name"}},
	{to: "what waited for this object", value: "moves", words: []string{"the sync of tariffs went on"}},
	{to: "Settle: unfinished", value: "waived"},
	{to: "Debt waived", words: []string{"owner of tariffs", "the hook never ran"}},
	{to: "Settle: reconcile", value: "paid"},
	{to: "Debt paid", words: []string{"the release that took the hook out of Git"}},
	{to: "Close the incident", value: "recovered", words: []string{"", ""}},
	{to: "Close as recovered", words: []string{"recovered"}},
}

// sealed leaves the closed incident, seals its bundle and verifies it.
func (w *walker) sealed() {
	w.t.Helper()
	w.shows(`RECOVERED`)
	path := w.p.bundle()
	if st := w.p.folded(path); st.Outcome != "recovered" {
		w.t.Fatalf("the incident ended as %q", st.Outcome)
	}
	w.key("\r")
	home := w.until("the home screen", func(text string) bool {
		return strings.Contains(text, "command centre") && strings.Contains(text, "None. Press p")
	})
	if strings.Contains(home, bundle.IDOf(path)) && strings.Contains(move(home), "Resume") {
		w.t.Errorf("a closed incident is to be resumed:\n%s", home)
	}
	w.key("q")
	w.types("handrail bundle seal " + bundle.IDOf(path) + " --key ~/.ssh/id_ed25519")
	w.shows(`(?s)redaction key: destroyed.*handrail-seal `)
	w.types("handrail bundle verify " + bundle.IDOf(path))
	w.shows(`verified, \d+ entries`)
	w.p.sound(path)
}
