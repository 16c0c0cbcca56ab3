package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/cli/process"
	"handrail/session/index"
	"handrail/steps"
	"handrail/tui"
)

// TestPlacedTellsOneStateFromAnother: a link is where it leads to, and two clones with
// one backend are one state; a local state is that of its directory.
func TestPlacedTellsOneStateFromAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	module := func(name, backend string) index.Target {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(at, ".terraform"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "main.tf"), []byte("resource \"terraform_data\" \"a\" {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, ".terraform", "terraform.tfstate"), []byte(`{"version":3,"backend":`+backend+`}`), 0o600); err != nil {
			t.Fatal(err)
		}
		return placed(steps.Env{Dir: dir}, index.Target{Directory: name})
	}
	s3 := `{"type":"s3","config":{"bucket":"b","key":"net"},"hash":1}`
	one, other := module("one", s3), module("other", s3)
	if got := one.Shared(other); got != "state s3 b net workspace default" {
		t.Errorf("two clones share %q (%+v, %+v)", got, one, other)
	}
	if got := one.Shared(module("third", `{"type":"s3","config":{"bucket":"b","key":"dns"},"hash":1}`)); got != "" {
		t.Errorf("two states share %q", got)
	}
	local := `{"type":"local","config":{"path":"terraform.tfstate"},"hash":1}`
	if got := module("fourth", local).Shared(module("fifth", local)); got != "" {
		t.Errorf("two local states share %q", got)
	}
	if err := os.Symlink(filepath.Join(dir, "one"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if got := placed(steps.Env{Dir: dir}, index.Target{Directory: "link"}).Shared(one); got == "" {
		t.Error("a link and what it leads to share nothing")
	}
}

// TestResumeInstead asks on one line, and leaves what is typed after it to the screens.
func TestResumeInstead(t *testing.T) {
	t.Parallel()
	same := []tui.SameTarget{{IncidentRow: tui.IncidentRow{ID: "inc-1", Title: "The lock", Phase: "mutation", Who: "ana"}, What: "directory /net"}}
	for typed, want := range map[string]string{"r\nrest": "inc-1", "R\nrest": "inc-1", "\nrest": "", "no\nrest": "", "": ""} {
		var said strings.Builder
		in := strings.NewReader(typed)
		p := &process.Program{Stdin: in, Stderr: &said, Now: time.Now}
		warnSame(p.Stderr, p, same)
		if got := resumeInstead(p, same); got != want {
			t.Errorf("%q resumes %q, want %q", typed, got, want)
		}
		if left, _ := io.ReadAll(in); typed != "" && string(left) != "rest" {
			t.Errorf("%q leaves %q to the screens", typed, left)
		}
		for _, part := range []string{"inc-1 is open for the same directory /net: The lock, in mutation", "ana at the keyboard", "handrail resume inc-1", "Type r to resume inc-1"} {
			if !strings.Contains(said.String(), part) {
				t.Errorf("it does not say %q: %s", part, said.String())
			}
		}
	}
	if got := resumeInstead(&process.Program{}, nil); got != "" {
		t.Errorf("nothing is open, and %q is resumed", got)
	}
}

// TestStoppedDrillsGo: the incident of a drill is open for as long as the drill is there.
func TestStoppedDrillsGo(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if err := os.MkdirAll(filepath.Join(state, "drills", "going"), 0o700); err != nil {
		t.Fatal(err)
	}
	over, err := stoppedDrills(&process.Program{State: state})
	if err != nil {
		t.Fatal(err)
	}
	for drill, want := range map[string]bool{"": false, "going": false, "stopped": true} {
		if got := over(index.Row{Drill: drill, Path: "x.hrb"}); got != want {
			t.Errorf("drill %q is over: %v, want %v", drill, got, want)
		}
	}
}
