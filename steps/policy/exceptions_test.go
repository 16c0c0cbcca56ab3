package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

const complete = `exceptions:
  - id: EX-17
    rule: iam.no-admin-wildcard
    scope: aws_iam_role.break_glass
    owner: platform-security
    expires: 2026-06-01T00:00:00Z
    reason: The vendor needs it until the migration is over.
    compensatingControls: [alert on use, daily review of access]
    ticket: SEC-4711
`

// one is an exception that lacks nothing, with some fields changed.
func one(id, changes string) string {
	fields := map[string]string{"id": id, "rule": "r", "scope": "a.b", "owner": "o", "expires": "2026-06-01", "reason": "x", "compensatingControls": "[c]"}
	for change := range strings.SplitSeq(changes, ";") {
		if k, v, ok := strings.Cut(change, "="); ok {
			fields[k] = v
		}
	}
	var b strings.Builder
	for _, k := range []string{"id", "rule", "scope", "owner", "expires", "reason", "compensatingControls"} {
		if fields[k] != "-" {
			fmt.Fprintf(&b, "  %s: %s\n", k, fields[k])
		}
	}
	return "- " + strings.TrimPrefix(b.String(), "  ")
}

func ask(t *testing.T, text string, in steps.Params) (steps.Observation, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "exceptions.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := Kinds()[1]
	in["file"] = steps.PathOf(name)
	return stepstest.Observe(t.Context(), k.Reads(steps.Env{Now: func() time.Time { return noon }}), k.Facts, in, stepstest.NewSink())
}

// TestExceptionHolds: what a file has for a rule and a scope.
func TestExceptionHolds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, rule, scope string
		want, id                string
	}{
		{"complete", complete, "iam.no-admin-wildcard", "aws_iam_role.break_glass", valid, "EX-17"},
		{"of another rule", complete, "iam.no-admin", "aws_iam_role.break_glass", absent, ""},
		{"of another scope", complete, "iam.no-admin-wildcard", "aws_iam_role.break_glass2", absent, ""},
		{"in JSON", `[{"id":1,"rule":"r","scope":"a.*","owner":"o","expires":"2026-12-31","reason":"x","compensatingControls":"c"}]`, "r", "a.b", valid, "1"},
		{"none", "[]", "r", "a.b", absent, ""},
		{"no exceptions", "exceptions: []\n", "r", "a.b", absent, ""},
		{"ended", one("a", "expires=2026-03-09"), "r", "a.b", expired, "a"},
		{"ends today", one("a", "expires=2026-03-10"), "r", "a.b", expired, "a"},
		{"ends tomorrow", one("a", "expires=2026-03-11"), "r", "a.b", valid, "a"},
		{"ends at this second", one("a", "expires='2026-03-10T12:00:00Z'"), "r", "a.b", expired, "a"},
		{"ends a second later, elsewhere", one("a", "expires='2026-03-10T14:00:01+02:00'"), "r", "a.b", valid, "a"},
		{"no end", one("a", "expires=-"), "r", "a.b", incomplete, "a"},
		{"an end that is none", one("a", "expires=never"), "r", "a.b", incomplete, "a"},
		{"an owner of blanks", one("a", "owner=' '"), "r", "a.b", incomplete, "a"},
		{"no controls", one("a", "compensatingControls=[]"), "r", "a.b", incomplete, "a"},
		{"an empty control", one("a", "compensatingControls=['']"), "r", "a.b", incomplete, "a"},
		{"ended, and lacks its owner", one("a", "expires=2026-03-01;owner=-"), "r", "a.b", incomplete, "a"},
		{"all resources", one("a", "scope='*'"), "r", "a.b", absent, ""},
		{"one id for two", one("a", "") + one("a", "scope=c.d"), "r", "a.b", incomplete, "a"},
		{"two, one holds", one("a", "expires=2026-03-01") + one("b", "scope='a.*'"), "r", "a.b", valid, "b"},
		{"two, the other way", one("b", "scope='a.*'") + one("a", "expires=2026-03-01"), "r", "a.b", valid, "b"},
		{"two hold, the later end", one("a", "expires=2026-04-01") + one("b", "expires=2026-05-01"), "r", "a.b", valid, "b"},
		{"ended and incomplete", one("a", "owner=-") + one("b", "expires=2026-03-01"), "r", "a.b", expired, "b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			obs, err := ask(t, tc.text, steps.Params{"rule": steps.StringOf(tc.rule), "scope": steps.StringOf(tc.scope)})
			if err != nil {
				t.Fatal(err)
			}
			if got := in(obs.Facts, "exception"); got != tc.want || in(obs.Facts, "id") != tc.id {
				t.Errorf("%q of %q, want %q of %q; %s", got, in(obs.Facts, "id"), tc.want, tc.id, obs.Summary)
			}
			if strings.HasPrefix(tc.name, "two") && !strings.Contains(fmt.Sprint(obs.Findings), "2 exceptions match") {
				t.Errorf("that two match is not said: %v", obs.Findings)
			}
		})
	}
}

// TestExceptionsOfTheFile: what is told without rule and scope.
func TestExceptionsOfTheFile(t *testing.T) {
	t.Parallel()
	text := one("soon", "expires=2026-03-15") + one("past", "expires=2026-03-01") + one("far", "expires=2028-01-01") + one("later", "") + one("-", "reason=-") + one("wide", "scope='aws_iam*'")
	obs, err := ask(t, text, steps.Params{"rule": steps.StringOf("r")})
	if err != nil {
		t.Fatal(err)
	}
	f := obs.Facts
	for name, want := range map[string]string{"expiring": "soon", "expired": "past", "distant": "far",
		"incomplete": "number 5: id, reason|wide: a scope whose * follows a dot, a slash or a bracket, at the end"} {
		if got := strings.Join(f[name].Strings(), "|"); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if f["exception"].Known() || f["total"].Int() != 6 {
		t.Errorf("exception %v, total %v", f["exception"], f["total"])
	}
	obs, err = ask(t, text, steps.Params{"within": steps.DurationOf(24 * time.Hour)})
	if err != nil || len(obs.Facts["expiring"].Strings()) != 0 {
		t.Errorf("within a day: %q, %v", obs.Facts["expiring"].Strings(), err)
	}
}

// TestExceptionsNotRead: what is no file of exceptions has no exception, and no absence either.
func TestExceptionsNotRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "a text": "none", "another object": "waivers: []\n", "a list of texts": "- a\n", "cut": "exceptions:", "an empty item": "-\n",
		"a key twice": "exceptions:\n  - {id: a, expires: 2026-01-01, expires: 2030-01-01}\n", "an alias": "exceptions:\n  - &a {id: a}\n  - *a\n",
		"cut JSON": `[{"id":"a"}`, "two documents": "exceptions: []\n---\nexceptions: []\n",
	} {
		if obs, err := ask(t, text, steps.Params{"rule": steps.StringOf("r"), "scope": steps.StringOf("s")}); err == nil {
			t.Errorf("%s: %q %v", name, obs.Summary, obs.Facts["exception"])
		}
	}
	if _, err := ask(t, complete, steps.Params{"within": steps.DurationOf(-1)}); err == nil {
		t.Error("a negative duration is taken")
	}
}

// TestCovers: where a scope holds, and that part of a name is none.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		scope, resource string
		want            bool
	}{
		{"aws_iam_role.admin", "aws_iam_role.admin", true},
		{"aws_iam_role.admin", "aws_iam_role.admin_role", false},
		{"aws_iam_role.admin", "module.x.aws_iam_role.admin", false},
		{"aws_iam_role.admin", "aws_iam_role.admin[0]", false},
		{"admin", "aws_iam_role.admin", false},
		{"aws_iam_role.*", "aws_iam_role.admin", true},
		{"aws_iam_role.*", "aws_iam_role_policy.admin", false},
		{"aws_iam_role.*", "aws_iam_role.", false},
		{"aws_iam_role.ad*", "aws_iam_role.admin", false},
		{"aws_*.admin", "aws_iam_role.admin", false},
		{"*.admin", "aws_iam_role.admin", false},
		{"*", "aws_iam_role.admin", false},
		{".*", ".x", false},
		{"module.net.*", "module.net.aws_vpc.main", true},
		{"module.net.*", "module.network.aws_vpc.main", false},
		{"modules/net/*", "modules/net/main.tf", true},
		{"modules/net/*", "modules/net/../iam/main.tf", false},
		{"aws_vpc.main[*]", "aws_vpc.main[0]", true},
		{"aws_vpc.main[*]", `aws_vpc.main["eu"]`, true},
		{"aws_vpc.main[*]", "aws_vpc.main", false},
		{"module.net[*]", `module.net["eu"].aws_vpc.main[0]`, false},
		{"aws_vpc.main[*", "aws_vpc.main[0]", true},
		{"", "", false},
		{"a.*", "", false},
	} {
		if got := covers(tc.scope, tc.resource); got != tc.want {
			t.Errorf("covers(%q, %q) = %t", tc.scope, tc.resource, got)
		}
	}
}
