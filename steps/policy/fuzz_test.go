package policy

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// hold holds an output, and what is left of it where it is cut, to what must be true of each.
func hold(t *testing.T, text []byte, as, means string, cut uint16) {
	t.Helper()
	if len(text) > 64<<10 {
		t.Skip("longer than what finds anything")
	}
	d := decide(t.Context(), text, as, means)
	is, why := d.verdict()
	if is == "" && why == "" {
		t.Fatal("unknown without a reason")
	}
	obs := steps.Observation{}
	d.tell("", func(s string) string { return s }, &obs)
	if err := stepstest.Declared(resultFacts(), obs.Facts); err != nil {
		t.Fatal(err)
	}
	if obs.Summary == "" {
		t.Fatal("no summary")
	}
	if is == allow && (d.broken != "" || d.count(failed)+d.count(erred) > 0 || d.overall == deny || d.evaluated() == 0) {
		t.Fatalf("allows: %+v", d)
	}
	if is != deny || len(text) == 0 {
		return
	}
	whole := bytes.TrimSpace(text)
	for _, n := range []int{int(cut) % len(text), len(whole) - 1, len(whole) / 2} {
		if n < 0 {
			continue
		}
		if of, _ := decide(t.Context(), text[:n], as, means).verdict(); of == allow {
			t.Fatalf("denies, and allows cut at %d: %q", n, text[:n])
		}
	}
}

func seedFiles(f *testing.F, pattern string, add func([]byte)) {
	f.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(names) == 0 {
		f.Fatalf("no seeds for %s: %v", pattern, err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		add(raw)
		add(raw[:len(raw)/2])
	}
}

func fuzz(f *testing.F, pattern, as string, means ...string) {
	f.Helper()
	seedFiles(f, pattern, func(raw []byte) { f.Add(raw, uint16(len(raw)/3)) })
	f.Fuzz(func(t *testing.T, text []byte, cut uint16) {
		hold(t, text, as, "", cut)
		for _, m := range means {
			hold(t, text, as, m, cut)
		}
	})
}

func FuzzOPA(f *testing.F)          { fuzz(f, "*-opa*.json", opaEval, allow, deny) }
func FuzzConftest(f *testing.F)     { fuzz(f, "*-conftest.json", conftestJSON) }
func FuzzConftestText(f *testing.F) { fuzz(f, "*-conftest.txt", conftestText) }
func FuzzCheckov(f *testing.F)      { fuzz(f, "*-checkov.json", checkovJSON) }
func FuzzReport(f *testing.F)       { fuzz(f, "*-kyverno.*", policyReport) }
func FuzzSentinel(f *testing.F)     { fuzz(f, "*-sentinel.json", sentinelJSON) }
func FuzzSentinelText(f *testing.F) { fuzz(f, "*-sentinel.txt", sentinelText) }
func FuzzSARIF(f *testing.F)        { fuzz(f, "*-sarif.json", sarifLog) }
func FuzzJUnit(f *testing.F)        { fuzz(f, "*-junit.xml", junitXML) }
func FuzzAnyFormat(f *testing.F)    { fuzz(f, "*-*", "", allow, deny) } // told from the content

// FuzzExceptions: an exception that holds has all that it must have, and one for another rule or scope never counts.
func FuzzExceptions(f *testing.F) {
	f.Add([]byte(complete), "iam.no-admin-wildcard", "aws_iam_role.break_glass")
	f.Add([]byte(`[{"id":1,"rule":"r","scope":"a.*","owner":"o","expires":"2026-12-31","reason":"x","compensatingControls":["c"]}]`), "r", "a.b")
	f.Add([]byte("exceptions:\n  - {id: a, rule: r, scope: '*', expires: never}\n"), "r", "a")
	f.Fuzz(func(t *testing.T, text []byte, rule, scope string) {
		list, err := readExceptions(t.Context(), text, noon)
		if err != nil {
			return
		}
		facts := steps.NewFacts(exceptionFacts())
		facts.Set("digest", steps.IdentOf(""))
		obs := steps.Observation{}
		tellExceptions(list, rule, scope, noon, time.Hour, func(s string) string { return s }, facts, &obs)
		all := facts.Rest("the exception does not say")
		if err := stepstest.Declared(exceptionFacts(), all); err != nil || obs.Summary == "" {
			t.Fatal(err, obs.Summary)
		}
		if in(all, "exception") != valid {
			return
		}
		e := match(list, rule, scope)[0]
		if len(e.lacks) > 0 || !e.ends.After(noon) || e.Owner == "" || !hasControls(e.Controls) || string(bytes.TrimSpace([]byte(e.Rule))) != rule {
			t.Fatalf("valid: %+v", e)
		}
	})
}
