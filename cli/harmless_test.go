package cli

import (
	"bytes"
	"fmt"
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

// Whatever a command is given, it repeats nothing that steers a terminal: not as
// an argument, not as the value or the name of a flag, not in help and usage.
func TestNoCommandSteersTheTerminal(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	environ := []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir + "/state", "XDG_CONFIG_HOME=" + dir + "/config", "XDG_CACHE_HOME=" + dir + "/cache", "KUBECONFIG=" + dir + "/none", "PATH="}
	calls, said := 0, 0
	call := func(args ...string) {
		t.Helper()
		var out, err bytes.Buffer
		Main(append([]string{"handrail"}, args...), strings.NewReader(""), &out, &err, environ)
		calls++
		said += out.Len() + err.Len()
		for name, text := range map[string]string{"stdout": out.String(), "stderr": err.String()} {
			if got := steers(text); got != "" {
				t.Errorf("handrail %q lets %s through on %s", args, got, name)
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
	if calls < 300 || said < 10_000 {
		t.Errorf("%d calls said %d bytes", calls, said)
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
