package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/session"
)

// TestActIsTakenOut: an act gets a scope where one outlives the login, and where it
// gets none the gate says what ends it.
func TestActIsTakenOut(t *testing.T) {
	t.Parallel()
	const run = "/usr/bin/systemd-run"
	for name, tc := range map[string]struct {
		in      around
		scope   string // what the request for it holds, "" for none
		fragile string // what the gate says, "" for nothing
	}{
		"container":              {around{container: true, systemd: true, root: true, run: run}, "", "container"},
		"no systemd":             {around{}, "", ""},
		"root":                   {around{systemd: true, root: true, run: run, unit: "session-3.scope"}, "--slice=system.slice", ""},
		"root, from a service":   {around{systemd: true, root: true, run: run, unit: "cron.service"}, "--slice=system.slice", ""},
		"lingers":                {around{systemd: true, lingers: true, run: run, unit: "session-3.scope"}, "--user", ""},
		"lingers, no program":    {around{systemd: true, lingers: true, unit: "session-3.scope"}, "", "may end the act"},
		"a login that is killed": {around{systemd: true, run: run, unit: "session-3.scope"}, "", "enable-linger"},
		"a login that is kept":   {around{systemd: true, kept: true, run: run, unit: "session-3.scope"}, "", ""},
		"the user's manager":     {around{systemd: true, kept: true, run: run, unit: "user@1000.service"}, "", "last login"},
		"a service":              {around{systemd: true, kept: true, run: run, unit: "runner.service"}, "", "runner.service"},
		"an unknown unit":        {around{systemd: true, kept: true, run: run}, "", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scope, fragile := tc.in.scope(), ""
			if scope == nil {
				fragile = tc.in.fragile()
			}
			if (scope != nil) != (tc.scope != "") || scope != nil && (!slices.Contains(scope, tc.scope) || scope[0] != run || scope[len(scope)-1] != "--") {
				t.Errorf("scope() = %q, want one with %q", scope, tc.scope)
			}
			if (fragile != "") != (tc.fragile != "") || !strings.Contains(fragile, tc.fragile) {
				t.Errorf("fragile() = %q, want %q", fragile, tc.fragile)
			}
		})
	}
}

// TestExecutorStaysTheSameProcess: in a scope it is what systemd-run becomes, and
// reads its orders from the same pipe.
func TestExecutorStaysTheSameProcess(t *testing.T) {
	t.Parallel()
	o := session.Order{Bundle: "/state/incidents/i 1.hrb", Seq: 17}
	plain := executing("/bin/echo", nil, o)
	if want := []string{"handrail", "__act", o.Bundle, "17"}; plain.Path != "/bin/echo" || !slices.Equal(plain.Args, want) {
		t.Errorf("%s %q, want /bin/echo with %q", plain.Path, plain.Args, want)
	}
	fake := filepath.Join(t.TempDir(), "systemd-run")
	becomes := "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	if err := os.WriteFile(fake, []byte(becomes), 0o700); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "handrail")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $$ \"$*\"\ncat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := executing(script, around{systemd: true, root: true, run: fake}.scope(), o)
	cmd.Stdin = strings.NewReader("its orders")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d __act %s 17\nits orders", cmd.Process.Pid, o.Bundle); out.String() != want {
		t.Errorf("it ran as %q, want %q", out.String(), want)
	}
}

func TestUnitOfACgroup(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0::/user.slice/user-1000.slice/session-3.scope\n":                               "session-3.scope",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-term-12.scope\n": "user@1000.service",
		"12:pids:/x\n0::/system.slice/cron.service\n":                                    "cron.service",
		"0::/\n": "",
		"1:name=systemd:/user.slice/user-1000.slice/session-3.scope\n": "",
		"": "",
	} {
		if got := unitOf(in); got != want {
			t.Errorf("unitOf(%q) = %q, want %q", in, got, want)
		}
	}
}
