package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"handrail/cli/process"
	"handrail/drills/lab"
)

// docBlock is a block of shell in a document.
type docBlock struct {
	file string
	line int
	text string
}

func (b docBlock) at() string { return fmt.Sprintf("%s:%d", strings.TrimPrefix(b.file, "../"), b.line) }

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// shellBlocks are the blocks of a document that are marked as shell.
func shellBlocks(file, text string) []docBlock {
	var out []docBlock
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		if lang := text[m[2]:m[3]]; lang == "sh" || lang == "shell" || lang == "bash" {
			out = append(out, docBlock{file, strings.Count(text[:m[4]], "\n") + 1, text[m[4]:m[5]]})
		}
	}
	return out
}

var (
	indented = regexp.MustCompile(`(?m)^ {4}((?:handrail|make|go|kubectl) ?[^\n]*)$`)
	inline   = regexp.MustCompile("`((?:handrail|make) [a-z][^`\n]*)`")
	heredoc  = regexp.MustCompile(`(?ms)<<'(\w+)'([^\n]*)\n.*?^(\w+)$`)
	notArgs  = regexp.MustCompile(`(?:\d?>&\d|\d?>>?|<)\s*\S*`)
	comment  = regexp.MustCompile(`\s+#.*$|\s{2,}\S.*$`)
	between  = regexp.MustCompile(`\|\||&&|[|;&]`)
	quote    = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	captured = regexp.MustCompile(`(?m)^\w+=\$\((.*)\)$`)
	argued   = regexp.MustCompile(`\s…$| \.\.\.$`)
)

// simpleCommands are the commands of shell text, without redirections, as words.
func simpleCommands(text string) [][]string {
	text = heredoc.ReplaceAllString(text, "$2")
	text = strings.ReplaceAll(text, "\\\n", " ")
	var quoted []string
	text = quote.ReplaceAllStringFunc(text, func(q string) string {
		quoted = append(quoted, q[1:len(q)-1])
		return fmt.Sprintf("\x00%d\x00", len(quoted)-1)
	})
	text = captured.ReplaceAllString(notArgs.ReplaceAllString(text, ""), "$1")
	var out [][]string
	for _, line := range strings.Split(text, "\n") {
		for _, one := range between.Split(line, -1) {
			one = strings.TrimPrefix(strings.TrimSpace(one), "$ ")
			words := strings.Fields(one)
			for i, w := range words {
				for n, q := range quoted {
					w = strings.ReplaceAll(w, fmt.Sprintf("\x00%d\x00", n), q)
				}
				words[i] = w
			}
			for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains([]string{"do", "done", "until", "!", "exec", "if", "then", "fi"}, words[0])) {
				words = words[1:]
			}
			if len(words) > 0 && !strings.HasPrefix(words[0], "#") {
				out = append(out, words)
			}
		}
	}
	return out
}

// theirs are programs of others in the documents: their arguments are not looked at.
var theirs = []string{"cd", "cat", "chmod", "mkdir", "rm", "ln", "grep", "sleep", "kill", "wait", "true", "export", "awk", "jq", "git", "go",
	"kubectl", "tofu", "terraform", "amtool", "ssh", "sshd", "scp", "sha256sum", "ssh-keygen", "openssl", "tar", "sed", "printf", "echo", "gpg", "age", "age-keygen", "oras", "cosign", "aws", "test", "[", "ps", "man"}

// TestDocumentedCommandsAreReal: every command of handrail in a document is one that it has,
// with its flags and as many arguments as it takes; every target of make is one of the
// Makefile.
func TestDocumentedCommandsAreReal(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for file, text := range documents(t) {
		var lines []string
		for _, b := range shellBlocks(file, text) {
			lines = append(lines, b.text)
		}
		rest := fence.ReplaceAllString(text, "")
		for _, m := range indented.FindAllStringSubmatch(rest, -1) {
			lines = append(lines, alternatives(comment.ReplaceAllString(m[1], ""))...)
		}
		for _, m := range inline.FindAllStringSubmatch(rest, -1) {
			lines = append(lines, alternatives(m[1])...)
		}
		for _, line := range lines {
			for _, words := range simpleCommands(argued.ReplaceAllString(line, "")) {
				count[words[0]]++
				switch {
				case words[0] == "handrail", words[0] == "kubectl" && len(words) > 1 && words[1] == "handrail":
					if err := parses(words[slices.Index(words, "handrail")+1:]); err != nil {
						t.Errorf("%s shows %q: %v", file, strings.Join(words, " "), err)
					}
				case words[0] == "make":
					for _, target := range words[1:] {
						if !strings.Contains(target, "=") && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(target)+`:`).Match(makefile) {
							t.Errorf("%s shows %q, and the Makefile has no %s", file, strings.Join(words, " "), target)
						}
					}
				case !slices.Contains(theirs, words[0]):
					t.Errorf("%s shows %q, of which nothing is known", file, strings.Join(words, " "))
				}
			}
		}
	}
	if count["handrail"] < 100 || count["make"] < 5 {
		t.Errorf("found %v: the test looks for the wrong thing", count)
	}
}

// parses reads the words of a command line as handrail would, and runs nothing.
func parses(words []string) error {
	root := newRoot(&process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	if cmd.DisableFlagParsing || cmd.Name() == "help" || cmd.Name() == "__complete" {
		return nil
	}
	named := len(rest) == 0 || !cmd.Runnable() // a command by its name alone, in a sentence
	if err := cmd.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	args := cmd.Flags().Args()
	if !cmd.HasParent() && len(args) > 0 {
		return fmt.Errorf("there is no command %q", args[0])
	}
	if help, _ := cmd.Flags().GetBool("help"); help || named && cmd.HasParent() {
		return nil
	}
	if cmd.Args == nil {
		return cobra.ArbitraryArgs(cmd, args)
	}
	if err := cmd.Args(cmd, args); err != nil && len(args) > 0 {
		return err
	}
	return nil
}

// notRun are the blocks of shell that no test runs as they stand, by their first line, each
// with the reason; instead runs in their place.
var notRun = map[string]struct{ why, instead string }{
	"make":                                       {"it compiles; the tests run the same program", "mkdir -p bin"},
	"make practice":                              {"it opens the terminal: TestDemoTape walks that drill", ""},
	"handrail resume":                            {"it opens the terminal: TestDemoTape does", "handrail resume --plain </dev/null || test $? = 3"},
	"terraform plan 2>&1 | handrail match":       {"it is run by TestTryingWritesNothing", ""},
	"handrail start state-lock -p dir=.":         {"it opens the terminal", "handrail start state-lock -p dir=. --plain </dev/null || test $? = 3"},
	"handrail start state-lock -p dir=. --plain": {"it asks three times", `printf '\n\n\n' | handrail start state-lock -p dir=. --plain >walk.txt || test $? = 3; grep 'The holder is running on this machine' walk.txt`},
	"handrail runbook rbac stuck-finalizer -n shop | kubectl apply -f -": {"it needs kubectl and a cluster: TestRolesAreEnoughAndLeast makes the roles on one", "handrail runbook rbac stuck-finalizer -n shop"},
	"handrail bundle leaks INCIDENT":                                     {"INCIDENT is one of the reader's", ""},
	"handrail start state-lock --plain":                                  {"it asks", "handrail run state-lock --template"},
	"handrail lab down":                                                  {"the lab is shared by the tests: TestMain ends it", ""},
	"amtool alert query -o json | handrail match":                        {"it needs an Alertmanager: match_alerts.txtar has its answers", ""},
	"cat >~/.local/bin/kubectl_complete-handrail <<'EOF'":                {"it is run by TestKubectlCompletes", ""},
}

// TestEveryDocumentIsInTheIndex: docs/README.md leads to each page, and README.md to it.
func TestEveryDocumentIsInTheIndex(t *testing.T) {
	t.Parallel()
	all := documents(t)
	linked := map[string]bool{}
	for _, m := range mdLink.FindAllStringSubmatch(all["../docs/README.md"], -1) {
		linked[filepath.Join("../docs", m[1])] = true
	}
	for file := range all {
		if !linked[file] && file != "../README.md" && file != "../docs/README.md" {
			t.Errorf("docs/README.md does not lead to %s", file)
		}
	}
	if !strings.Contains(all["../README.md"], "](docs/README.md)") {
		t.Error("README.md does not lead to docs/README.md")
	}
}

// docShell is a home of its own, with handrail and tofu on its PATH, and one shell after
// the other in it.
type docShell struct {
	t   *testing.T
	env []string
	dir string
}

func newDocShell(t *testing.T) *docShell {
	t.Helper()
	home := demoHome(t)
	built, err := lab.Build(t.Context(), lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(built["tofu"], filepath.Join(home, "bin", "tofu")); err != nil {
		t.Fatal(err)
	}
	clone, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	return &docShell{t, []string{"HOME=" + home, "GOGC=" + os.Getenv("GOGC"), "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "GOPATH=" + os.Getenv("GOPATH"),
		"TF_CLI_CONFIG_FILE=" + os.DevNull, "HANDRAIL_LAB_SOURCE=" + clone, usesLab(t)}, work}
}

// run runs blocks of a document one after the other in one shell, and wants each to end
// well.
func (s *docShell) run(blocks []docBlock) {
	s.t.Helper()
	var script strings.Builder
	script.WriteString("set -em\n") // jobs, as in the shell of a person
	script.WriteString("trap 'for j in $(jobs -p); do kill -KILL -- -$j; done' EXIT\n")
	for _, b := range blocks {
		text := b.text
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		fmt.Fprintf(&script, "echo '@@ %s'\n", b.at())
		if not, ok := notRun[first]; ok {
			_, after, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
			if strings.Contains(first, "<<") {
				after = ""
			}
			text = not.instead + "\n" + after
		}
		script.WriteString(strings.ReplaceAll(text, "/tmp/handrail-tutorial", filepath.Join(s.dir, "own")) + "\n") // which other runs use as well
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Cancel = func() error { return cmd.Process.Kill() }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("the commands of the document: %v\n%s", err, out.String())
	}
}

// TestGuidesRun runs what the guides show, in the order in which they show it.
func TestGuidesRun(t *testing.T) {
	t.Parallel()
	all := documents(t)
	ran := 0
	for file, text := range all {
		blocks := shellBlocks(file, text)
		if len(blocks) == 0 || file == "../README.md" { // TestTryingWritesNothing has that
			continue
		}
		ran++
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			newDocShell(t).run(blocks)
		})
	}
	if ran < 5 {
		t.Errorf("%d guides were run", ran)
	}
	used := map[string]bool{}
	for file, text := range all {
		for _, b := range shellBlocks(file, text) {
			first, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
			used[first] = true
		}
	}
	for first := range notRun {
		if !used[first] {
			t.Errorf("no document shows %q any more", first)
		}
	}
}

// TestTryingWritesNothing runs what the README lets a stranger try, in a module whose lock
// is held: no file of it changes, nor one of the home, and nothing in the cluster.
func TestTryingWritesNothing(t *testing.T) {
	t.Parallel()
	file := "../README.md"
	blocks := shellBlocks(file, documents(t)[file])
	if len(blocks) == 0 || strings.Count(blocks[0].text, "handrail") < 4 {
		t.Fatalf("the README shows nothing to try: %v", blocks)
	}
	try := blocks[0]
	s := newDocShell(t)
	home := strings.TrimPrefix(s.env[0], "HOME=")
	for name, text := range map[string]string{
		filepath.Join(s.dir, "main.tf"):           "resource \"terraform_data\" \"a\" {}\n",
		filepath.Join(s.dir, "terraform.tfstate"): `{"version": 4, "terraform_version": "1.12.0", "serial": 1, "lineage": "3f1c8a52-0000-4000-8000-000000000000", "outputs": {}, "resources": []}`,
		filepath.Join(home, "bin", "terraform"):   "#!/bin/sh\necho 'Error: Error acquiring the state lock' >&2\nexit 1\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	opts, err := lab.ForTests("try")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	ns, err := l.Namespace(t.Context(), "try")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.VacateNamespace(context.Background(), ns.Name) })
	began := time.Now()
	ready := exec.CommandContext(t.Context(), "bash", "-c", "tofu init")
	ready.Dir, ready.Env = s.dir, s.env
	if out, err := ready.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.env = append(slices.DeleteFunc(s.env, func(kv string) bool { return strings.HasPrefix(kv, "XDG_") }), "KUBECONFIG="+ns.OperatorKubeconfig) // all that it keeps is below its home
	before := filesOf(t, home, s.dir)
	var script strings.Builder
	script.WriteString("set -e\n")
	for line := range strings.Lines(try.text) {
		script.WriteString(line)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"state-lock: Plan or apply cannot get the state lock", "Open incidents:", "state-lock/lock", "state directory:"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %q is said:\n%s", want, out)
		}
	}
	// The home screen, too, as a person sees it.
	screen := exec.CommandContext(t.Context(), "handrail")
	screen.Path = filepath.Join(home, "bin", "handrail")
	screen.Dir, screen.Env = s.dir, append(slices.Clone(s.env), "TERM=xterm-256color")
	on := onScreen(t, screen, 34, 110)
	on.shows(`command centre`)
	on.send("q")
	<-on.ended
	asked, err := l.AuditEvents(context.Background(), lab.AuditFilter{User: ns.Operator, Since: began})
	if err != nil || len(asked) == 0 { // who the operator is, at least
		t.Errorf("the cluster was not asked: %v", err)
	}
	for _, e := range asked {
		if e.Persists() {
			t.Errorf("it did %s %s", e.Verb, e.URI)
		}
	}
	after := filesOf(t, home, s.dir)
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s was %s, and is %s", name, was, after[name])
		}
	}
	for name := range after {
		if before[name] == "" {
			t.Errorf("%s was written", name)
		}
	}
}

// filesOf are all files below some directories, with what tells that one was written.
func filesOf(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			out[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var printedRBAC = regexp.MustCompile("(?s)`handrail (runbook rbac [^`]+)` prints:\n\n```yaml\n(.*?)```")

// TestRBACDocument holds the roles that docs/rbac.md shows against those that are printed.
func TestRBACDocument(t *testing.T) {
	t.Parallel()
	const file = "../docs/rbac.md"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := printedRBAC.FindSubmatchIndex(src)
	if m == nil {
		t.Fatalf("%s shows no roles", file)
	}
	_, yaml := rolesPrinted(t, strings.Fields(string(src[m[2]:m[3]]))[2:]...)
	if *update {
		fresh := slices.Concat(src[:m[4]], []byte(yaml), src[m[5]:])
		if err := os.WriteFile(file, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := string(src[m[4]:m[5]]); got != yaml {
		t.Errorf("%s shows other roles; go test ./cli -run TestRBACDocument -update writes these:\n%s", file, yaml)
	}
}
