package runbooks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

func mustParse(t *testing.T, src string) *Runbook {
	t.Helper()
	b, err := Parse("f", []byte(src), catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func lockFacts(held bool, age time.Duration) map[string]steps.Value {
	return map[string]steps.Value{
		"held": steps.BoolOf(held), "age": steps.DurationOf(age), "id": steps.IdentOf("5e1c9a00"),
		"backend": steps.EnumOf("kubernetes"), "who": steps.StringOf("ci@runner"),
	}
}

// TestUnknownNeverOpens is the logic of three values: an unknown decides
// nothing, and what does not hang on it is still decided.
func TestUnknownNeverOpens(t *testing.T) {
	t.Parallel()
	known := Vars{Facts: map[string]map[string]steps.Value{"lock": lockFacts(true, time.Hour)}, Answers: map[string]string{"holder": "dead"}}
	answered := func(a string) Vars { return Vars{Facts: known.Facts, Answers: map[string]string{"holder": a}} }
	cases := []struct {
		when    string
		vars    Vars
		want    string
		missing []string
	}{
		{"answers.holder != 'alive'", answered("unknown"), "unknown", []string{"answers.holder"}},
		{"answers.holder != 'alive'", Vars{}, "unknown", []string{"answers.holder"}},
		{"answers.holder != 'alive'", answered("something else"), "unknown", []string{"answers.holder"}},
		{"answers.holder != 'alive'", answered("dead"), "true", nil},
		{"answers.holder != 'alive'", answered("alive"), "false", nil},
		{"!(answers.holder == 'alive')", answered("unknown"), "unknown", []string{"answers.holder"}},
		{"answers.holder in ['dead']", answered("unknown"), "unknown", []string{"answers.holder"}},
		{"answers.holder == 'dead' ? true : true", answered("unknown"), "unknown", []string{"answers.holder"}},
		{"answers.holder == answers.holder", answered("unknown"), "unknown", []string{"answers.holder"}},
		{"facts.lock.held", Vars{}, "unknown", []string{"facts.lock.held"}},
		{"!facts.lock.held", Vars{}, "unknown", []string{"facts.lock.held"}},
		{"facts.lock.held || answers.holder == 'dead'", answered("unknown"), "true", nil},
		{"!facts.lock.held && answers.holder == 'dead'", answered("unknown"), "false", nil},
		{"facts.lock.held && answers.holder == 'dead'", answered("unknown"), "unknown", []string{"answers.holder"}},
		{"facts.lock.age < duration('1m') || facts.lock.own", known, "unknown", []string{"facts.lock.own"}},
		{"facts.state.addresses.all(a, a != 'x')", known, "unknown", []string{"facts.state.addresses"}},
		{"size(facts.state.addresses) == 0", known, "unknown", []string{"facts.state.addresses"}},
		{"1 / (facts.lock.age == duration('1h') ? 0 : 1) == 1", known, "error", nil},
	}
	for _, tc := range cases {
		t.Run(fmt.Sprint(tc.when, " ", tc.want), func(t *testing.T) {
			t.Parallel()
			src := head + strings.Replace(gated, "mutation:\n", "mutation:\n  - {id: holder, ask: q, answers: {alive: a, dead: b}}\n", 1) +
				fmt.Sprintf("    require:\n      - {when: %q, else: \"no: ${facts.lock.who}\"}\ncompare:\n  - {id: state, uses: terraform/state}\n", tc.when)
			b := mustParse(t, src)
			got := b.Judge("sample/unlock", tc.vars)
			if len(got) != 1 || got[0].Result != tc.want {
				t.Fatalf("Judge() = %+v, want %s", got, tc.want)
			}
			if diff := cmp.Diff(tc.missing, got[0].Missing); diff != "" {
				t.Error(diff)
			}
			if tc.want == "false" && got[0].Why != "no: ci@runner" {
				t.Errorf("Why = %q", got[0].Why)
			}
		})
	}
}

func TestBadFactsAreUnknown(t *testing.T) {
	t.Parallel()
	b := library1(t)
	for name, bad := range map[string]steps.Value{
		"another type":   steps.StringOf("true"),
		"outside values": steps.EnumOf("zombie"),
	} {
		fact := map[string]string{"another type": "here", "outside values": "alive"}[name]
		v := recoverable()
		v.Facts["process"][fact] = bad
		v.Facts["process"]["here"] = map[bool]steps.Value{true: bad, false: steps.BoolOf(true)}[fact == "here"]
		if fact == "here" {
			v.Facts["process"]["alive"] = steps.EnumOf("alive")
		}
		if got := results(b.Judge("unlock", v)); !strings.Contains(got, "unknown") {
			t.Errorf("%s: Judge() = %s, want an unknown", name, got)
		}
	}
}

func library1(t *testing.T) *Runbook {
	t.Helper()
	return named(t, "state-lock")
}

// recoverable is what is known when the lock of a killed apply may be released.
func recoverable() Vars {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	lock := lockFacts(true, 47*time.Minute)
	lock["created"] = steps.TimeOf(at)
	lock["operation"], lock["unlock"] = steps.StringOf("OperationTypeApply"), steps.EnumOf("by-id")
	return Vars{
		Params: steps.Params{"dir": steps.PathOf("live"), "max_apply": steps.DurationOf(30 * time.Minute), "log": steps.PathOf("apply.log")},
		Facts: map[string]map[string]steps.Value{
			"lock":    lock,
			"process": {"here": steps.BoolOf(true), "alive": steps.EnumOf("dead"), "orphans": steps.IntOf(0), "pids": steps.StringsOf(nil), "proven_gone": steps.BoolOf(false)},
			"state":   {"exists": steps.BoolOf(true), "written": steps.TimeOf(at.Add(-time.Hour)), "addresses": steps.StringsOf(nil), "objects": steps.StringsOf(nil), "encrypted": steps.BoolOf(false)},
			"log": {
				"found": steps.BoolOf(true), "started": steps.IntOf(3), "completed": steps.IntOf(2), "errored": steps.IntOf(0),
				"finished": steps.BoolOf(false), "interrupted": steps.BoolOf(false), "completed_addresses": steps.StringsOf([]string{"a.b", "a.c"}),
				"present_addresses": steps.StringsOf([]string{"a.b", "a.c"}), "present_objects": steps.StringsOf([]string{"a.b [id=1]", "a.c"}), "destroyed_addresses": steps.StringsOf(nil), "whole": steps.BoolOf(false),
				"started_addresses": steps.StringsOf([]string{"a.d"}),
			},
		},
		Answers: map[string]string{"holder": "dead"},
	}
}

func results(vs []triage.Verdict) string {
	var out []string
	for _, v := range vs {
		out = append(out, v.Result)
	}
	return strings.Join(out, " ")
}

func TestUnlockIsJudged(t *testing.T) {
	t.Parallel()
	b := library1(t)
	// The first says whether force-unlock can release the lock of this backend at all.
	cases := []struct {
		name   string
		change func(v *Vars)
		want   string
	}{
		{"all holds", func(*Vars) {}, "true true true true true"},
		{"a backend that releases nothing", func(v *Vars) { v.Facts["lock"]["unlock"] = steps.EnumOf("nothing") }, "false true true true true"},
		{"a backend that releases anything", func(v *Vars) { v.Facts["lock"]["unlock"] = steps.EnumOf("any-id") }, "false true true true true"},
		{"not looked at", func(v *Vars) { v.Answers = nil }, "true true unknown true true"},
		{"alive by a person", func(v *Vars) { v.Answers["holder"] = "alive" }, "true true false true true"},
		{"alive here", func(v *Vars) { v.Facts["process"]["alive"] = steps.EnumOf("alive") }, "true true true false true"},
		{"elsewhere", func(v *Vars) {
			v.Facts["process"] = map[string]steps.Value{"here": steps.BoolOf(false), "alive": steps.Unknown(steps.Enum, "another host")}
		}, "true true true true true"},
		{"place unknown", func(v *Vars) { v.Facts["process"] = nil }, "true true true unknown true"},
		{"young", func(v *Vars) { v.Facts["lock"]["age"] = steps.DurationOf(29 * time.Minute) }, "true true true true false"},
		{"young, and proven gone", func(v *Vars) {
			v.Facts["lock"]["age"], v.Facts["process"]["proven_gone"] = steps.DurationOf(time.Minute), steps.BoolOf(true)
		}, "true true true true true"},
		{"age skewed", func(v *Vars) { v.Facts["lock"]["age"] = steps.Unknown(steps.Duration, "the clocks differ") }, "true true true true unknown"},
		{"gone", func(v *Vars) { v.Facts["lock"] = map[string]steps.Value{"held": steps.BoolOf(false)} }, "unknown false true true unknown"},
		{"stale lock", func(v *Vars) { v.Stale = map[string]string{"lock": "read 16m ago"} }, "stale stale true true stale"},
		{"stale answer", func(v *Vars) { v.Stale = map[string]string{"holder": "given 6h ago"} }, "true true stale true true"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v := recoverable()
			tc.change(&v)
			vs := b.Judge("state-lock/unlock", v)
			if got := results(vs); got != tc.want {
				t.Errorf("Judge() = %s, want %s", got, tc.want)
			}
			for _, x := range vs {
				if x.Result != "true" && x.Why == "" {
					t.Errorf("%s refuses without a reason", x.Expr)
				}
			}
		})
	}
}

func TestProposals(t *testing.T) {
	t.Parallel()
	b := library1(t)
	set := func(step, fact string, val steps.Value) func(*Vars) {
		return func(v *Vars) { v.Facts[step][fact] = val }
	}
	cases := []struct {
		name   string
		topic  triage.Topic
		change func(v *Vars)
		want   string
	}{
		{"killed apply", triage.TopicMutation, func(*Vars) {}, "yes"},
		{"killed apply", triage.TopicClass, func(*Vars) {}, "MutationPartiallySucceeded"},
		{"completed and not recorded", triage.TopicConsistent, func(*Vars) {}, "no"},
		{"destroyed and not recorded", triage.TopicConsistent, func(v *Vars) {
			v.Facts["log"]["present_addresses"], v.Facts["log"]["present_objects"] = steps.StringsOf(nil), steps.StringsOf(nil)
			v.Facts["log"]["destroyed_addresses"] = steps.StringsOf([]string{"a.b", "a.c"})
		}, "unknown"},
		{"destroyed and recorded", triage.TopicConsistent, func(v *Vars) {
			v.Facts["state"]["addresses"] = steps.StringsOf([]string{"a.b"})
			v.Facts["log"]["present_addresses"], v.Facts["log"]["present_objects"] = steps.StringsOf(nil), steps.StringsOf(nil)
			v.Facts["log"]["destroyed_addresses"] = v.Facts["state"]["addresses"]
		}, "no"},
		{"the lock of a plan, the log of an apply", triage.TopicMutation, func(v *Vars) {
			v.Facts["lock"]["operation"] = steps.StringOf("OperationTypePlan")
			v.Facts["log"]["started"], v.Facts["log"]["completed"] = steps.IntOf(1), steps.IntOf(0)
		}, "unknown"},
		{"the lock of a plan, the log of an apply", triage.TopicClass, func(v *Vars) {
			v.Facts["lock"]["operation"] = steps.StringOf("OperationTypePlan")
		}, "MutationPartiallySucceeded"},
		{"the lock of a plan, a tail", triage.TopicMutation, func(v *Vars) {
			v.Facts["lock"]["operation"] = steps.StringOf("OperationTypePlan")
			v.Facts["log"]["started"], v.Facts["log"]["completed"] = steps.Unknown(steps.Int, "a tail"), steps.Unknown(steps.Int, "a tail")
		}, "unknown"},
		{"domain", triage.TopicDomain, func(*Vars) {}, "state-backend"},
		{"owner", triage.TopicOwner, func(*Vars) {}, "infrastructure platform owner"},
		{"no log", triage.TopicMutation, func(v *Vars) { delete(v.Facts, "log"); delete(v.Params, "log") }, "unknown"},
		{"no log, state written since", triage.TopicMutation, func(v *Vars) {
			delete(v.Facts, "log")
			v.Facts["state"]["written"] = v.Facts["lock"]["created"]
			v.Facts["lock"]["created"] = steps.TimeOf(v.Facts["state"]["written"].Time().Add(-time.Minute))
		}, "yes"},
		{"plan, no log", triage.TopicMutation, func(v *Vars) {
			delete(v.Facts, "log")
			delete(v.Params, "log")
			v.Facts["lock"]["operation"] = steps.StringOf("OperationTypePlan")
		}, "unknown"},
		{"begun and not ended", triage.TopicMutation, set("log", "completed", steps.IntOf(0)), "unknown"},
		{"nothing read", triage.TopicMutation, func(v *Vars) { v.Facts = nil }, "unknown"},
		{"nothing read", triage.TopicClass, func(v *Vars) { v.Facts = nil }, "unknown"},
		{"clean plan, no log", triage.TopicConsistent, func(v *Vars) {
			delete(v.Params, "log")
			v.Facts["plan"] = map[string]steps.Value{"clean": steps.BoolOf(true)}
		}, "yes"},
		{"no rule", triage.TopicReverts, func(*Vars) {}, "unknown"},
	}
	for _, tc := range cases {
		t.Run(tc.name+" "+string(tc.topic), func(t *testing.T) {
			t.Parallel()
			v := recoverable()
			tc.change(&v)
			got, grounds, say := b.Propose(tc.topic, v)
			if got != tc.want {
				t.Errorf("Propose() = %s (%s; %v), want %s", got, say, grounds, tc.want)
			}
			if say == "" {
				t.Error("a proposal without words")
			}
		})
	}
	_, grounds, _ := b.Propose(triage.TopicMutation, recoverable())
	if !strings.Contains(strings.Join(grounds, "\n"), "facts.log.completed = 2") {
		t.Errorf("grounds = %q, want the count of completed operations", grounds)
	}
	if next := b.Next(recoverable()); len(next) != 1 || next[0].Runbook != "partial-apply" ||
		next[0].With["dir"] != "live" || next[0].With["log"] != "apply.log" {
		t.Errorf("Next() = %+v", next)
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	b := library1(t)
	v := recoverable()
	got, err := b.With("unlock", v)
	if err != nil {
		t.Fatal(err)
	}
	if got["lock_id"].Type() != steps.Ident || got.Text("lock_id") != "5e1c9a00" || got.Duration("max_apply") != 30*time.Minute || got["dir"].Type() != steps.Path {
		t.Errorf("With() = %v", got)
	}
	if _, given := got["workspace"]; given {
		t.Error("an optional text that was not given is in the parameters")
	}
	for _, id := range []string{"-help", "a b", "a\nb", "x;y"} {
		v.Facts["lock"]["id"] = steps.IdentOf(id)
		var bad *ArgumentError
		if _, err := b.With("unlock", v); !errors.As(err, &bad) {
			t.Errorf("With(lock_id %q) = %v, want an ArgumentError", id, err)
		}
	}
	v.Facts["lock"]["id"] = steps.Unknown(steps.Ident, "denied")
	var missing *MissingError
	if _, err := b.With("unlock", v); !errors.As(err, &missing) || missing.Missing[0] != "facts.lock.id" || !strings.Contains(err.Error(), "denied") {
		t.Errorf("With() = %v, want a MissingError that names facts.lock.id", err)
	}
}

// TestWithNamesWhatWasNotGiven: a step that lacks a parameter of the runbook names that one, and
// not its own that would come out empty.
func TestWithNamesWhatWasNotGiven(t *testing.T) {
	t.Parallel()
	_, err := named(t, "init-cascade").With("source", Vars{Params: steps.Params{"namespace": steps.StringOf("shop"), "source": steps.StringOf("")}})
	if err == nil || !strings.Contains(err.Error(), "parameter source is not given; give it with P, or with -p source=VALUE") {
		t.Errorf("With() = %v", err)
	}
}

// TestGateWaitsForWhatItLacks: a gate that changes nothing without a parameter asks for it by
// name, once, also where a condition of it says so in its own words.
func TestGateWaitsForWhatItLacks(t *testing.T) {
	t.Parallel()
	rb := named(t, "hardening-cascade")
	for gate, want := range map[string][]string{"way_out": {"policy_patch"}, "give_room": {"quota_patch"}} {
		bound, err := rb.Bind(map[string]string{"policy": "closed", "quota": "small"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range rb.Judge(gate, Vars{Params: bound}) {
			got = append(got, v.Params...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s waits for %v, want %v", gate, got, want)
		}
	}
}

func TestWithFillsTheDefaultsOfTheKind(t *testing.T) {
	t.Parallel()
	got, err := mustParse(t, head+gated).With("lock", Vars{})
	if err != nil || got.Text("dir") != "." || len(got) != 1 {
		t.Errorf("With() = %v, %v", got, err)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	b := mustParse(t, head+gated+`learn:
  - note: "held ${facts.lock.held}, age ${facts.lock.age}, $${HOME}, by ${facts.lock.who}, ${'}' + '{'}"
`)
	v := Vars{Facts: map[string]map[string]steps.Value{"lock": {"held": steps.BoolOf(true), "age": steps.DurationOf(47 * time.Minute)}}}
	if got, want := b.Say("note_learn", v).Ask, "held true, age 47m, ${HOME}, by unknown, }{"; got != want {
		t.Errorf("Say() = %q, want %q", got, want)
	}
	l := library1(t)
	fs := l.Findings("lock", Vars{Params: steps.Params{"max_apply": steps.DurationOf(time.Hour)}})
	if len(fs) == 0 || !strings.HasPrefix(fs[0].Say, "cannot tell: ") || fs[0].Level != steps.Info {
		t.Errorf("findings of nothing read = %+v", fs)
	}
	for _, f := range fs {
		if f.Level == steps.Critical {
			t.Errorf("an unknown is critical: %+v", f)
		}
	}
	if g := l.Green("released", Vars{}); g.Known() || g.Why() == "" {
		t.Errorf("Green() = %v, want unknown with a reason", g)
	}
	v.Facts["released"] = map[string]steps.Value{"held": steps.BoolOf(false)}
	if g := l.Green("released", v); !g.Known() || !g.Bool() {
		t.Errorf("Green() = %v, want true", g)
	}
}

func TestBind(t *testing.T) {
	t.Parallel()
	b := library1(t)
	got, err := b.Bind(map[string]string{"max_apply": "2h"})
	if err != nil || got.Duration("max_apply") != 2*time.Hour || got.Text("dir") != "." {
		t.Fatalf("Bind() = %v, %v", got, err)
	}
	for given, want := range map[string]string{
		"max_aply=2h": `no parameter "max_aply" (did you mean "max_apply"?)`, "max_apply=5s": "less than the least",
		"max_apply=soon": "not a duration", "dir=-x": "begins with a hyphen", "workspace=a b": "does not look like",
	} {
		k, val, _ := strings.Cut(given, "=")
		if _, err := b.Bind(map[string]string{k: val}); !errors.Is(err, ErrParam) || !strings.Contains(err.Error(), want) {
			t.Errorf("Bind(%s) = %v, want %q", given, err, want)
		}
	}
}

// TestGivenTokenIsItsHeader: a token that is given as a parameter goes no further than to where it
// is bound, and no error repeats it.
func TestGivenTokenIsItsHeader(t *testing.T) {
	t.Parallel()
	lib := builtin(t)
	b := lib[slices.IndexFunc(lib, func(b *Runbook) bool { return b.ID == "split-hotfix" })]
	const token = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImtleS03In0.c2VjcmV0LXBheWxvYWQ.c2lnbmF0dXJlLTU1"
	got, err := b.Bind(map[string]string{"issuer": "accounts", "header": token})
	if err != nil || got.Text("header") != "alg=RS256 kid=key-7" {
		t.Errorf("%q, %v", got.Text("header"), err)
	}
	if _, err := b.Bind(map[string]string{"issuer": token}); err == nil || strings.Contains(err.Error(), "c2Vj") {
		t.Errorf("%v", err)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	b := library1(t)
	params, err := b.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := b.Plan(params)
	byID := map[string]triage.PlanStep{}
	for _, s := range p.Steps {
		byID[s.ID] = s
	}
	want := triage.PlanStep{
		ID: "state-lock/unlock", Phase: triage.Recover, Kind: triage.GateStep, Uses: "terraform/force-unlock", Class: triage.Release,
		Title: "Release the lock of a dead run", Covers: []string{"E9"}, Fresh: "15m0s",
		Refs: []string{"state-lock/lock", "state-lock/holder", "state-lock/process"}, Params: []string{"dir", "max_apply", "workspace"},
	}
	if diff := cmp.Diff(want, byID["state-lock/unlock"]); diff != "" {
		t.Error(diff)
	}
	if w := byID["state-lock/released"]; w.Greens != 2 || w.Apart != "20s" || len(w.Refs) != 0 {
		t.Errorf("watch = %+v", w)
	}
	if c := byID["state-lock/mutation"]; c.Kind != triage.ConcludeStep || c.Uses != "mutation" {
		t.Errorf("conclusion = %+v", c)
	}
	if v := p.Params["max_apply"]; v.Type() != steps.Duration || !v.Known() {
		t.Errorf("params = %+v", p.Params)
	}

	bare := mustParse(t, head).Plan(nil)
	var ids []string
	for _, s := range bare.Steps {
		ids = append(ids, string(s.Phase)+" "+s.ID)
	}
	if diff := cmp.Diff([]string{"locate sample/domain", "locate sample/owner", "mutation sample/mutation",
		"compare sample/consistent", "classify sample/class", "authority sample/retry"}, ids); diff != "" {
		t.Error(diff)
	}
}

// A document of several lines may begin with a hyphen, as lists of YAML do; it
// reaches no argument list. Any other text may not.
func TestDocumentsAsParameters(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"- {a: b}\n- {c: d}\n": true, "a: b\r\n\tc": true, "a\x1b[2J": false, "a\x00": false} {
		document, plain := steps.Field{Name: "a", Type: steps.String, Lines: true}, steps.Field{Name: "a", Type: steps.String}
		if err := fits(document, steps.StringOf(text)); (err == nil) != ok {
			t.Errorf("%q as a document: %v", text, err)
		}
		if err := fits(plain, steps.StringOf(text)); err == nil {
			t.Errorf("%q as a plain text was taken", text)
		}
	}
}

// TestTimeAloneMeetsIt: a condition that an age alone keeps from holding says when it
// will, and so does a finding that speaks against the gate; nothing else does.
func TestTimeAloneMeetsIt(t *testing.T) {
	t.Parallel()
	b := library1(t)
	read := time.Date(2026, 3, 2, 17, 26, 0, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		change func(v *Vars)
		age    time.Time // when the condition of the age holds, zero for no time
		found  time.Time // when the finding against the release ends
	}{
		{"two minutes old", func(v *Vars) { v.Facts["lock"]["age"] = steps.DurationOf(2 * time.Minute) }, read.Add(28 * time.Minute), read.Add(28 * time.Minute)},
		{"the module takes longer", func(v *Vars) {
			v.Facts["lock"]["age"], v.Params["max_apply"] = steps.DurationOf(90*time.Second), steps.DurationOf(2*time.Hour)
		}, read.Add(2*time.Hour - 90*time.Second), read.Add(2*time.Hour - 90*time.Second)},
		{"where the holder is cannot be told", func(v *Vars) {
			v.Facts["lock"]["age"], v.Facts["process"] = steps.DurationOf(2*time.Minute), nil
		}, read.Add(28 * time.Minute), time.Time{}},
		{"old", func(*Vars) {}, time.Time{}, time.Time{}},
		{"its age is unknown", func(v *Vars) { v.Facts["lock"]["age"] = steps.Unknown(steps.Duration, "the clocks differ") }, time.Time{}, time.Time{}},
		{"when it was read is not known", func(v *Vars) { v.Facts["lock"]["age"], v.Read = steps.DurationOf(2*time.Minute), nil }, time.Time{}, time.Time{}},
	} {
		v := recoverable()
		v.Read = map[string]time.Time{"lock": read, "process": read.Add(-time.Minute)}
		tc.change(&v)
		vs := b.Judge("unlock", v)
		for i, x := range vs {
			want := time.Time{}
			if i == len(vs)-1 {
				want = tc.age
			}
			if !x.At.Equal(want) || !want.IsZero() && !slices.Equal(x.Aged, []string{"lock"}) {
				t.Errorf("%s: %q holds at %s by %v, want %s", tc.name, x.Expr, x.At, x.Aged, want)
			}
		}
		found := time.Time{}
		for _, f := range b.Findings("lock", v) {
			if !f.At.IsZero() {
				found = f.At
			}
		}
		if !found.Equal(tc.found) {
			t.Errorf("%s: a finding ends at %s, want %s", tc.name, found, tc.found)
		}
	}
}

// TestAnUnseenKeeperHasAWayOn: where nothing in the cluster keeps a finalizer, what a
// person says of its controller reaches the gate, and no word does not.
func TestAnUnseenKeeperHasAWayOn(t *testing.T) {
	t.Parallel()
	b := named(t, "stuck-finalizer")
	for _, tc := range []struct {
		unseen        bool
		place, keeper string // "" for not answered
		told          string // what the gate is told, "" where it is not told anything
		open          bool   // as far as the controller goes
	}{
		{false, "", "gone", "seen", true},
		{false, "nowhere", "", "seen", false},
		{true, "", "gone", "", true},
		{true, "outside", "gone", "outside", true},
		{true, "outside", "", "outside", false},
		{true, "nowhere", "", "unknown", true},
		{true, "unknown", "gone", "", true},
	} {
		v := Vars{
			Params: steps.Params{"name": steps.StringOf("web"), "resource": steps.StringOf("pod")},
			Facts: map[string]map[string]steps.Value{
				"target": {"uid": steps.IdentOf("u"), "kind": steps.StringOf("Pod")},
				"hold":   {"only": steps.StringOf("example.com/hold"), "keeper_unseen": steps.BoolOf(tc.unseen), "count": steps.IntOf(1), "blocker": steps.EnumOf("finalizer"), "remains": steps.EnumOf("none")},
				"alike":  {"orphan": steps.BoolOf(true)},
			},
			Answers: map[string]string{"wanted": "gone"},
		}
		for step, said := range map[string]string{"place": tc.place, "keeper": tc.keeper} {
			if said != "" {
				v.Answers[step] = said
			}
		}
		got, err := b.With("strip", v)
		if (err != nil) != (tc.told == "") || err == nil && got["keeper"].Text() != tc.told {
			t.Errorf("%+v: the gate is told %q, %v", tc, got["keeper"].Text(), err)
		}
		if open := !strings.Contains(results(b.Judge("strip", v)), "false") && !strings.Contains(results(b.Judge("strip", v)), "unknown"); open != tc.open {
			t.Errorf("%+v: judged %s", tc, results(b.Judge("strip", v)))
		}
	}
}

// TestWhatGrewOldStillDoesNotApply: a gate that does not apply by its last reading is not
// wanted because that grew old. One that applied then, or whose target moved, is to be told anew.
func TestWhatGrewOldStillDoesNotApply(t *testing.T) {
	t.Parallel()
	b := named(t, "partial-apply")
	for name, tc := range map[string]struct {
		ghosts []string
		old    bool
		want   string
	}{
		"none, old":       {nil, true, "false"},
		"some, old":       {[]string{"t.a"}, true, "stale"},
		"none, but moved": {nil, false, "stale"},
	} {
		v := Vars{
			Facts: map[string]map[string]steps.Value{"inventory": {"ghosts": steps.StringsOf(tc.ghosts)}},
			Stale: map[string]string{"inventory": "read 16m ago"}, Old: map[string]bool{"inventory": tc.old},
		}
		if got := b.Judge("forget", v)[0]; got.Result != tc.want || !got.Aside {
			t.Errorf("%s: %s (%s), want %s", name, got.Result, got.Why, tc.want)
		}
	}
}
