package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"handrail/cli/bundle"
)

// TestMain lets the scripts start this test binary as handrail: a real process
// with its own streams, signals and exit code.
func TestMain(m *testing.M) {
	run := func() { os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr, os.Environ())) }
	testscript.Main(withLab{m}, map[string]func(){
		"handrail": run, "kubectl-handrail": run,
		"handrail-noisy": noisy, "handrail-evil": sayEvil,
	})
}

// TestScripts runs one script for each behaviour of the command line. No script
// sees the files, the cluster or the tools of the user.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("GOGC", os.Getenv("GOGC"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			// The commands of testscript come first in PATH; what follows is of
			// the user and may hold a tofu.
			own, _, _ := strings.Cut(e.Getenv("PATH"), string(os.PathListSeparator))
			e.Setenv("PATH_OF_TEST", own)
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "bundle": bundlePath, "flip": flip, "serve": serveFar, "cut": cutFile,
			"waits": gateWaits, "takes": gateTakes, "status": serveStatus,
		},
	})
}

// exits runs handrail and compares the exit code: exits CODE ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec("handrail", args[1:]...)
	got := "0"
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("handrail %v: %v", args[1:], err)
		}
		got = strconv.Itoa(exit.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("handrail %v ended with %s, want %s", args[1:], got, args[0])
	}
	judgeJSON(ts, args[1:])
}

// bundlePath sets $BUNDLE to the one bundle in the state directory.
func bundlePath(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "handrail", "incidents", "*.hrb"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("bundles: %v, want one", found)
	}
	ts.Setenv("BUNDLE", found[0])
	ts.Setenv("INCIDENT", bundle.IDOf(found[0]))
}

// flip changes one bit in the middle of each journal segment of a bundle.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(filepath.Join(args[0], "journal", "*"))
	ts.Check(err)
	if len(found) == 0 {
		found, err = filepath.Glob(filepath.Join(args[0], "*.jsonl"))
		ts.Check(err)
	}
	if len(found) == 0 {
		ts.Fatalf("%s holds no journal", args[0])
	}
	for _, f := range found {
		b, err := os.ReadFile(f)
		ts.Check(err)
		b[len(b)/2] ^= 1
		ts.Check(os.Chmod(f, 0o600))
		ts.Check(os.WriteFile(f, b, 0o600))
	}
}
