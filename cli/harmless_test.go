package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"handrail/cli/process"
)

// evil must not reach a terminal by being repeated.
const evil = "a\x1b[2J\x1b]0;t\x07\u202e\u200b\x9b31m\rb\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308"

// steers finds in a text what a terminal would act upon.
func steers(text string) string {
	marks := 4
	for i, r := range text {
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		if marks > 4 || r != '\n' && r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf) || r == unicode.ReplacementChar) {
			return fmt.Sprintf("%U at %q", r, text[max(0, i-60):min(len(text), i+20)])
		}
	}
	return ""
}

// every calls visit with each command and the words that lead to it.
func every(cmd *cobra.Command, path []string, visit func(cmd *cobra.Command, path []string)) {
	visit(cmd, path)
	for _, sub := range cmd.Commands() {
		every(sub, append(path[:len(path):len(path)], sub.Name()), visit)
	}
}

// TestNoCommandSteersTheTerminal: whatever a command is given, it repeats nothing that
// steers a terminal: not as an argument, not as the value or the name of a flag, not in
// help and usage. A process with a working directory of its own calls them all, beside
// the other tests.
func TestNoCommandSteersTheTerminal(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args[0] = "handrail-evil"
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir, "PATH=", "GOGC=" + os.Getenv("GOGC")}
	out, err := cmd.Output()
	var told struct {
		Calls, Said int
		Found       []string
	}
	if err := errors.Join(err, json.Unmarshal(out, &told)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range told.Found {
		t.Error(f)
	}
	if told.Calls < 300 || told.Said < 10_000 {
		t.Errorf("%d calls said %d bytes", told.Calls, told.Said)
	}
}

// sayEvil calls each command with what must not reach a terminal, and writes down as
// JSON what did.
func sayEvil() {
	dir := os.Getenv("HOME")
	environ := []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir + "/state", "XDG_CONFIG_HOME=" + dir + "/config", "XDG_CACHE_HOME=" + dir + "/cache", "KUBECONFIG=" + dir + "/none", "PATH="}
	calls, said := 0, 0
	var found []string
	call := func(args ...string) {
		var out, err bytes.Buffer
		Main(append([]string{"handrail"}, args...), strings.NewReader(""), &out, &err, environ)
		calls++
		said += out.Len() + err.Len()
		for name, text := range map[string]string{"stdout": out.String(), "stderr": err.String()} {
			if got := steers(text); got != "" {
				found = append(found, fmt.Sprintf("handrail %q lets %s through on %s", args, got, name))
			}
		}
	}
	p := &process.Program{Environ: environ, Now: time.Now, Interrupts: &process.Interrupts{}}
	every(newRoot(p), nil, func(cmd *cobra.Command, path []string) {
		with := func(more ...string) []string { return append(path[:len(path):len(path)], more...) }
		call(append([]string{"help"}, with(evil)...)...)
		call(with("--" + evil)...)
		call(with("-" + evil)...)
		call(with(evil, evil, evil, evil, evil)...)
		call(with("--output=" + evil)...)
		if startsLong[strings.Join(path, " ")] {
			return
		}
		call(with(evil)...)
		call(with(evil, evil)...)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				call(with("--"+f.Name+"="+evil, evil)...)
			}
		})
	})
	call("__complete", evil)
	call("__complete", "bundle", evil)
	call("completion", evil)
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"calls": calls, "said": said, "found": found}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// startsLong are commands that take any words and begin something.
var startsLong = map[string]bool{}

func TestDefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ok\n":                             "ok\n",
		process.Overwrite + "cluster: 25%": process.Overwrite + "cluster: 25%",
		process.Overwrite + "x" + process.Overwrite: process.Overwrite + `x\x0d\x1b[K`,
		"runbook\tdescription":                      "runbook\tdescription",
		"a\u0301\u0301\u0301\u0301\u0301":           "a\u0301\u0301\u0301\u0301\\u0301",
	} {
		if got := string(process.Defused([]byte(in))); got != want {
			t.Errorf("defused(%q) = %q, want %q", in, got, want)
		}
	}
}
