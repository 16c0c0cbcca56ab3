package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/policy/register"
	"handrail/steps/stepstest"
)

const glassRegister = `shared: [root]
sessions:
  - id: BG-118
    person: ada
    account: ada-emergency
    reason: the tills refuse payments
    scope: [configmaps/tills/limits]
    incident: INC-731
    opened: 2026-03-10T08:05:00Z
    expires: 2026-03-10T09:00:00Z
    closed: 2026-03-10T08:40:00Z
    approvedBy: grace
    review: {owner: platform, due: 2026-03-12}
  - id: BG-119
    person: linus
    reason: the gateway drops requests
    scope: ["deployments/gateway/*"]
    opened: 2026-03-10T07:00:00Z
    expires: 2026-03-10T09:00:00Z
    approvedBy: Linus
  - id: BG-120
    account: root
    scope: ["*"]
    opened: 2026-03-10T11:00:00Z
`

func askGlass(t *testing.T, text string, in steps.Params) (steps.Observation, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "glass.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := Kinds()[slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == "policy/breakglass" })]
	in["file"] = steps.PathOf(name)
	return stepstest.Observe(t.Context(), k.Reads(steps.Env{Now: func() time.Time { return noon }}), k.Facts, in, stepstest.NewSink())
}

func at(hour, minute int) steps.Value {
	return steps.TimeOf(time.Date(2026, 3, 10, hour, minute, 0, 0, time.UTC))
}

// TestBreakglassSession: what a register says of one session, and what it does not.
func TestBreakglassSession(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		in     steps.Params
		want   string // FACT=VALUE, ? for unknown
		finds  string
		denies string // no finding says this
	}{
		{"by person, object and time", steps.Params{"who": steps.StringOf("ada"), "object": steps.StringOf("configmaps/tills/limits"), "at": at(8, 10), "longest": steps.DurationOf(time.Hour)},
			"state=closed id=BG-118 person=ada shared=false same_person=true covers=true within=true overlong=false self_approved=false review=owed holding=BG-118 incident=INC-731 review_owner=platform", "", "Session BG-118"},
		{"by account", steps.Params{"who": steps.StringOf("ADA-emergency")}, "id=BG-118 covers=? within=? overlong=? holding=?", "", "Session BG-118"},
		{"another object", steps.Params{"who": steps.StringOf("ada"), "object": steps.StringOf("secrets/tills/key"), "at": at(8, 10)}, "id=BG-118 covers=false holding=", "does not hold secrets", ""},
		{"another name", steps.Params{"who": steps.StringOf("ada"), "object": steps.StringOf("configmaps/tills/hours")}, "covers=false", "does not hold configmaps/tills/hours", ""},
		{"a write after the close", steps.Params{"session": steps.StringOf("BG-118"), "object": steps.StringOf("configmaps/tills/limits"), "at": at(8, 50)}, "within=false holding= same_person=?", "was not in force at 2026-03-10T08:50:00Z", ""},
		{"of another person", steps.Params{"session": steps.StringOf("BG-118"), "who": steps.StringOf("linus")}, "same_person=false", "is not of linus", ""},
		{"past its end", steps.Params{"session": steps.StringOf("BG-119"), "longest": steps.DurationOf(time.Hour)}, "state=expired review=none self_approved=true overlong=true incident=? account=?", "past its end", ""},
		{"its own approval", steps.Params{"session": steps.StringOf("BG-119")}, "self_approved=true closed=?", "approved by the one who opened it", ""},
		{"of a shared account", steps.Params{"session": steps.StringOf("BG-120"), "object": steps.StringOf("configmaps/tills/limits"), "at": at(11, 30)}, "state=open shared=true person=? reason=? expires=? covers=? within=? self_approved=? review=none", "lacks person, reason, expires, approvedBy, a scope", ""},
		{"given as shared", steps.Params{"session": steps.StringOf("BG-119"), "shared": steps.StringsOf([]string{"linus"})}, "shared=true", "names no one person", ""},
		{"absent", steps.Params{"session": steps.StringOf("BG-1")}, "state=absent id=? review=? shared=? covers=? total=3 open_sessions=BG-119|BG-120 expired_sessions=BG-119 unreviewed=BG-118|BG-119", "has no session BG-1", ""},
		{"no one", steps.Params{}, "state=? id=? total=3 open_sessions=BG-119|BG-120", "lack what a session must have: BG-120", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			obs, err := askGlass(t, glassRegister, tc.in)
			if err != nil {
				t.Fatal(err)
			}
			for pair := range strings.FieldsSeq(tc.want) {
				fact, want, _ := strings.Cut(pair, "=")
				v := obs.Facts[fact]
				got := v.Text()
				switch {
				case !v.Known():
					got = "?"
				case v.Type() == steps.Strings:
					got = strings.Join(v.Strings(), "|")
				}
				if got != want {
					t.Errorf("%s = %q, want %q (%s)", fact, got, want, v.Why())
				}
			}
			all := fmt.Sprint(obs.Findings)
			if !strings.Contains(all, tc.finds) || tc.denies != "" && strings.Contains(all, tc.denies) {
				t.Errorf("findings %s; want %q, not %q", all, tc.finds, tc.denies)
			}
		})
	}
}

// TestBreakglassNotRead: a register that is not understood says of no session that it is closed or absent.
func TestBreakglassNotRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "empty", "sessions:\n": "glass.yaml:1", "- id: a\n  closd: 2026-03-10T08:40:00Z\n": `glass.yaml:2:3: a session has no key "closd" (did you mean "closed"?)`} {
		if obs, err := askGlass(t, text, steps.Params{"session": steps.StringOf("a")}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v %v", text, err, obs.Facts["state"])
		}
	}
	if _, err := askGlass(t, "[]", steps.Params{"longest": steps.DurationOf(-1)}); err == nil {
		t.Error("a negative duration is taken")
	}
}

// FuzzBreakglass: no text of a register makes a fact that is not declared, or a session that is fine without what it needs.
func FuzzBreakglass(f *testing.F) {
	f.Add([]byte(glassRegister), "BG-118", "ada", "configmaps/tills/limits")
	f.Add([]byte("- {id: a, scope: ['*'], closed: null}\n"), "", "a", "a")
	f.Fuzz(func(t *testing.T, text []byte, id, who, object string) {
		reg, err := register.Read("f", text)
		if err != nil {
			return
		}
		facts, obs := steps.NewFacts(glassFacts()), steps.Observation{}
		facts.Set("digest", steps.IdentOf(""))
		tellRegister(reg, glassQuery{id: id, who: who, object: object, at: noon.Add(-time.Hour), longest: time.Hour, now: noon}, func(s string) string { return s }, facts, &obs)
		all := facts.Rest("the entry does not say")
		if err := stepstest.Declared(glassFacts(), all); err != nil || obs.Summary == "" {
			t.Fatal(err, obs.Summary)
		}
		if all["covers"].Bool() && len(all["scope"].Strings()) == 0 || all["within"].Bool() && !all["opened"].Known() || in(all, "state") == "closed" && !all["closed"].Known() {
			t.Fatalf("fine without what it needs: %v", all)
		}
	})
}
