package drills_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"handrail/drills"
	"handrail/steps/catalog"
)

// TestParseRefuses changes one place of the first drill of the library and
// wants the problem named at that place.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("library/killed-runner.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, from, to, want string }{
		{"key", "runbook: state-lock", "runbok: state-lock", `4:1: a drill has no key "runbok" (did you mean "runbook"?)`},
		{"verb", "- tofu.apply: {dir: six-slow, kill", "- tofu.aply: {dir: six-slow, kill", `16:5: verb cannot be "tofu.aply" (did you mean "tofu.apply"?)`},
		{"argument", "{by: 47m}", "{bye: 47m}", `lease.backdate has no key "bye"`},
		{"duration", "{by: 47m}", "{by: 47}", `by must be a duration above zero`},
		{"signal", "signal: KILL", "signal: KIL", `signal cannot be "KIL" (did you mean "KILL"?)`},
		{"workspace", "{dir: six-slow, kill", "{dir: six-slo, kill", `there is no workspace "six-slo" (did you mean "six-slow"?)`},
		{"export", "serial: state.serial", "serial: state.seriel", `21:11: export cannot be "state.seriel" (did you mean "state.serial"?)`},
		{"probe", "l: terraform/lock", "l: terraform/look", `there is no probe "terraform/look" (did you mean "terraform/lock"?)`},
		{"gate as probe", "l: terraform/lock", "l: terraform/force-unlock", `there is no probe "terraform/force-unlock"`},
		{"fact", `"!facts.l.held"`, `"!facts.l.hold"`, "hold"},
		{"tag", `"!facts.l.held"`, `!facts.l.held`, `a YAML tag "!facts.l.held"`},
		{"drill value", "facts.s.serial == drill.serial", "facts.s.serial == drill.lock_id", "no matching overload"},
		{"not a condition", "facts.s.serial == drill.serial", "facts.s.serial", "true or false"},
		{"parameter", "${drill.log}", "${drill.lock}", `the drill has no value "lock"`},
		{"foreign parameter", "${drill.log}", "${env.HOME}", `${env.HOME} cannot be named here`},
		{"reference", "killed-runner.answers.yaml", "nobody.answers.yaml", `reference "nobody.answers.yaml" cannot be read`},
		{"repeated key", "title: The runner", "id: x\ntitle: The runner", `key "id" again, first on line 3`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(string(src), tc.from, tc.to, 1)
			if bad == string(src) {
				t.Fatalf("%q is not in the drill", tc.from)
			}
			_, err := drills.Parse("library/killed-runner.yaml", []byte(bad), os.DirFS("."), catalog.New())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse() = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	cat := catalog.New()
	rows, err := drills.List(cat)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(rows, func(r drills.Row) bool {
		return r.ID == "killed-runner" && r.Runbook == "state-lock" && slices.Equal(r.Variants, []string{"live-holder"})
	}) {
		t.Errorf("List() = %+v", rows)
	}
	all, err := drills.Library(cat)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		rb, err := library(cat)(d.Runbook)
		if err != nil {
			t.Fatalf("%s: runbook %s: %v", d.ID, d.Runbook, err)
		}
		for _, v := range append(d.Variants(), "") {
			s, err := d.Scene(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Answers.Check(rb); err != nil {
				t.Errorf("%s: %v", s.Name(), err)
			}
		}
	}
	if _, err := drills.Lookup("killed-runer", cat); err == nil || !strings.Contains(err.Error(), `"killed-runner"`) {
		t.Errorf("Lookup of a slip = %v, want the nearest id", err)
	}
}

// FuzzParse wants an answer for anything, never a panic.
func FuzzParse(f *testing.F) {
	src, err := os.ReadFile("library/killed-runner.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src)
	f.Add([]byte("a: &x [*x]"))
	cat := catalog.New()
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := drills.Parse("x.yaml", src, fstest.MapFS{}, cat)
		if (d == nil) == (err == nil) {
			t.Errorf("Parse() = %v, %v", d, err)
		}
	})
}
