package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"handrail/steps"
	"handrail/steps/stepstest"
)

func look(t *testing.T, in steps.Params, out steps.Sink) (steps.Observation, error) {
	t.Helper()
	k := Kinds()[0]
	return stepstest.Observe(t.Context(), k.Reads(steps.Env{Dir: "testdata"}), k.Facts, in, out)
}

// in is the text of a fact, "" where it is unknown.
func in(facts map[string]steps.Value, name string) string { return steps.Params(facts).Text(name) }

func outputs(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "README.md" && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestOutputs holds each output to the verdict of its name, and to what it tells.
func TestOutputs(t *testing.T) {
	t.Parallel()
	type row struct {
		format, engine string
		counts         string // failed warned skipped passed excused
		rules, denied  string
		first          string
	}
	want := map[string]row{
		"deny-opa.json":         {opaEval, "opa", "2 0 0 0 0", "iam.no-admin-wildcard data.terraform.deny", "aws_iam_role.ci", "aws_iam_role.ci allows iam:* on *"},
		"deny-opa-allow.json":   {opaEval, "opa", "1 0 0 0 0", "data.terraform.analysis.allow", "", "data.terraform.analysis.allow is false"},
		"allow-opa.json":        {opaEval, "opa", "0 0 0 1 0", "", "", ""},
		"allow-opa-deny.json":   {opaEval, "opa", "0 0 0 1 0", "", "", ""},
		"deny-conftest.json":    {conftestJSON, "conftest", "2 1 2 4 1", "net.no-open-ingress data.main.deny", "aws_security_group.web plan.json", "aws_security_group.web is open to 0.0.0.0/0"},
		"allow-conftest.json":   {conftestJSON, "conftest", "0 1 0 3 0", "", "", ""},
		"deny-conftest.txt":     {conftestText, "conftest", "2 1 1 2 1", "main iam", "plan.json", "aws_security_group.web is open to 0.0.0.0/0"},
		"allow-conftest.txt":    {conftestText, "conftest", "0 1 0 3 0", "", "", ""},
		"deny-checkov.json":     {checkovJSON, "checkov", "1 0 1 1 1", "CKV_AWS_24", "module.net.aws_security_group.web", "Ensure no security groups allow ingress from 0.0.0.0:0 to port 22"},
		"allow-checkov.json":    {checkovJSON, "checkov", "0 0 0 12 0", "", "", ""},
		"deny-kyverno.yaml":     {policyReport, "kyverno", "1 0 1 1 1", "require-run-as-nonroot/run-as-non-root", "Pod/shop/web", "validation error: Running as root is not allowed. rule run-as-non-root failed at path /spec/securityContext/"},
		"allow-kyverno.yaml":    {policyReport, "kyverno", "0 0 0 1 0", "", "", ""},
		"deny-kyverno.json":     {policyReport, "kyverno", "1 0 0 1 0", "restrict-registries/validate-registries", "Deployment/shop/web", "validation error: the image is of another registry"},
		"deny-sentinel.json":    {sentinelJSON, "sentinel", "1 1 0 1 0", "limit-cost", "", "proposed cost of 1200 is above 1000"},
		"allow-sentinel.json":   {sentinelJSON, "sentinel", "0 1 0 1 0", "", "", ""},
		"deny-sentinel.txt":     {sentinelText, "sentinel", "1 0 0 1 0", "networking/limit-cost", "", "proposed cost of 1200 is above 1000"},
		"allow-sentinel.txt":    {sentinelText, "sentinel", "0 0 0 1 0", "", "", ""},
		"deny-sarif.json":       {sarifLog, "conftest", "1 1 1 0 1", "main/deny", "aws_security_group.web", "aws_security_group.web is open to 0.0.0.0/0"},
		"allow-sarif.json":      {sarifLog, "tfsec", "0 0 0 1 0", "", "", ""},
		"deny-junit.xml":        {junitXML, "checkov", "1 0 1 1 0", "CKV_AWS_24", "/plan.json.module.net.aws_security_group.web", "ingress is open & wide"},
		"allow-junit.xml":       {junitXML, "conftest", "0 0 0 2 0", "", "", ""},
		"error-opa.json":        {opaEval, "opa", "0 0 0 0 0", "", "", `eval_builtin_error: http.send: Get "https://bundles.example.com/exceptions": dial tcp 10.0.0.7:443: connect: connection refused`},
		"error-conftest.txt":    {failureText, "", "0 0 0 0 0", "", "", "Error: running test: load: loading policies: download policy: oci://registry.example.com/policy: dial tcp 10.0.0.7:443: i/o timeout"},
		"error-checkov.json":    {checkovJSON, "checkov", "0 0 0 0 0", "", "", "not parsed, so not checked: /modules/net/main.tf"},
		"error-kyverno.json":    {policyReport, "kyverno", "0 0 0 0 0", "", "", `failed to fetch image: Get "https://ghcr.io/v2/": context deadline exceeded`},
		"error-sarif.json":      {sarifLog, "opa-runner", "0 0 0 0 0", "", "", `Post "http://opa.policy.svc:8181/v1/data": dial tcp: connection refused`},
		"error-junit.xml":       {junitXML, "junit", "0 0 0 0 0", "", "", `Post "http://opa:8181/v1/data": dial tcp: lookup opa: no such host`},
		"unknown-opa.json":      {opaEval, "opa", "", "", "", ""},
		"unknown-conftest.json": {conftestJSON, "conftest", "0 0 0 0 0", "", "", ""},
		"unknown-conftest.txt":  {conftestText, "conftest", "0 0 0 0 0", "", "", ""},
		"unknown-checkov.json":  {checkovJSON, "checkov", "0 0 0 0 0", "", "", ""},
		"unknown-kyverno.yaml":  {policyReport, "kyverno", "0 0 0 1 0", "", "", ""},
		"unknown-sarif.json":    {sarifLog, "checkov", "0 0 0 0 0", "", "", ""},
		"unknown-junit.xml":     {junitXML, "conftest", "0 0 0 0 0", "", "", ""},
	}
	for _, name := range outputs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ok := want[name]
			if !ok {
				t.Fatal("no row holds it")
			}
			out := stepstest.NewSink()
			obs, err := look(t, steps.Params{"file": steps.PathOf(name)}, out)
			if err != nil {
				t.Fatal(err)
			}
			f := obs.Facts
			verdict, _, _ := strings.Cut(name, "-")
			switch {
			case verdict == "unknown" && (f["verdict"].Known() || len(obs.Gaps) == 0):
				t.Errorf("verdict %q, gaps %q: want unknown", f["verdict"].Text(), obs.Gaps)
			case verdict != "unknown" && f["verdict"].Text() != verdict:
				t.Errorf("verdict %q, gaps %q", f["verdict"].Text(), obs.Gaps)
			}
			counts := ""
			if f["failed"].Known() {
				counts = fmt.Sprint(f["failed"].Int(), f["warned"].Int(), f["skipped"].Int(), f["passed"].Int(), f["excused"].Int())
			}
			got := row{in(f, "format"), in(f, "engine"), counts, strings.Join(f["rules"].Strings(), " "), strings.Join(f["denied"].Strings(), " "), in(f, "first")}
			if got != w {
				t.Errorf("got  %+v\nwant %+v", got, w)
			}
			raw, _ := os.ReadFile(filepath.Join("testdata", name))
			if sum := sha256.Sum256(raw); f["digest"].Text() != hex.EncodeToString(sum[:]) {
				t.Errorf("digest %s", f["digest"].Text())
			}
			if !bytes.Equal(out.Artifacts["result"].Bytes(), raw) {
				t.Error("the artifact is not the file")
			}
			if up := f["engine_up"]; verdict == "error" && name != "error-checkov.json" && (!up.Known() || up.Bool()) || (verdict == "deny" || verdict == "allow") && !up.Bool() {
				t.Errorf("engine_up %v", up)
			}
		})
	}
}

// TestCutsNeverAllow: no output that is cut allows, wherever it is cut. Only the blanks at its end are none of it.
func TestCutsNeverAllow(t *testing.T) {
	t.Parallel()
	for _, name := range outputs(t) {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		whole := bytes.TrimRight(raw, "\n")
		for n := range whole {
			if is, _ := decide(t.Context(), whole[:n], "", "").verdict(); is == allow {
				t.Errorf("%s allows, cut at %d of %d", name, n, len(whole))
				break
			}
		}
	}
}

// TestVerdict: what speaks against a verdict that is near.
func TestVerdict(t *testing.T) {
	t.Parallel()
	const suite = `<testsuite name="a" tests="1"><testcase name="x"/></testsuite>`
	const run = `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x","rules":[{"id":"r"}]}},`
	for _, tc := range []struct {
		name, text, as, means string
		want, why             string // of an unknown verdict a part of why
	}{
		{"empty", " \n", "", "", "", "empty"},
		{"excused before it was evaluated", `{"check_type":"a","results":{"failed_checks":[],"skipped_checks":[{"check_id":"x"}]},"summary":{"passed":0,"failed":0,"skipped":1}}`, "", "", "", "no rule was evaluated"},
		{"evaluated and then excused", `[{"filename":"a","namespace":"m","successes":0,"exceptions":[{"msg":"x"}]}]`, "", "", allow, ""},
		{"a message with an error in it", "FAIL - a - m - it says\nError: x\n\n1 test, 0 passed, 0 warnings, 1 failure, 0 exceptions\n", "", "", deny, ""},
		{"a denial in the log of a job", "FAIL - a - m - x\n\n1 test, 0 passed, 0 warnings, 1 failure, 0 exceptions\nError: Process completed with exit code 1.\n", "", "", deny, ""},
		{"an allow in the log of a job", "2 tests, 2 passed, 0 warnings, 0 failures, 0 exceptions\nCleaning up\n", "", "", "", "something follows"},
		{"two outputs", "2 tests, 2 passed, 0 warnings, 0 failures\nFAIL - a - m - x\n1 test, 0 passed, 0 warnings, 1 failure\n", "", "", "", "a second output"},
		{"an error after a denial", "FAIL - a - m - x\nError: running test: connection refused\n", "", "", errored, ""},
		{"some text", "all is well\n", "", "", "", "not known"},
		{"some JSON", `{"ok":true}`, "", "", "", "not known"},
		{"a lone value", `true`, opaEval, allow, "", "no JSON"},
		{"two documents", `{"result":[{"expressions":[{"value":true,"text":"data.a.allow"}]}]}{}`, "", "", "", "follows"},
		{"a key twice", `{"result":[{"expressions":[{"value":false,"value":true,"text":"data.a.allow"}]}]}`, "", "", "", "twice"},
		{"a key twice in other case", `{"result":[{"expressions":[{"value":false,"VALUE":true,"text":"data.a.allow"}]}]}`, "", "", "", "twice"},
		{"keys of two formats", `{"runs":[],"errors":[]}`, "", "", "", "not known"},

		{"a query that says nothing", `{"result":[{"expressions":[{"value":true,"text":"data.a"}]}]}`, "", "", "", "query_means"},
		{"a query that is said to allow", `{"result":[{"expressions":[{"value":true,"text":"data.a"}]}]}`, "", allow, allow, ""},
		{"a query that is said to deny", `{"result":[{"expressions":[{"value":true,"text":"data.a"}]}]}`, "", deny, deny, ""},
		{"what is said goes before the text", `{"result":[{"expressions":[{"value":true,"text":"data.a.allow"}]}]}`, "", deny, deny, ""},
		{"a name that ends like it", `{"result":[{"expressions":[{"value":true,"text":"data.a.disallow"}]}]}`, "", "", "", "query_means"},
		{"undefined allow", `{}`, "", allow, deny, ""},
		{"undefined deny", `{}`, "", deny, "", "undefined"},
		{"a list that allows", `{"result":[{"expressions":[{"value":["x"],"text":"data.a.allow"}]}]}`, "", "", "", "neither"},
		{"one of two denies", `{"result":[{"expressions":[{"value":true,"text":"data.a.allow"},{"value":["no"],"text":"data.b.violation"}]}]}`, "", "", deny, ""},
		{"no expression", `{"result":[{"expressions":[]}]}`, "", "", "", "no rule was evaluated"},
		{"an error of OPA beside a result", `{"errors":[{"message":"rego_type_error"}],"result":[{"expressions":[{"value":true,"text":"data.a.allow"}]}]}`, "", "", errored, ""},

		{"no file for conftest", `[]`, "", "", "", "no rule was evaluated"},
		{"skipped alone", `[{"filename":"a","namespace":"m","successes":0,"skipped":[{"msg":"x"}]}]`, "", "", "", "no rule was evaluated"},
		{"a list of successes", `[{"filename":"a","namespace":"m","successes":[{"msg":""},{"msg":""}]}]`, "", "", allow, ""},
		{"negative successes", `[{"filename":"a","namespace":"m","successes":-1}]`, "", "", "", "no number"},
		{"a sum that says less", "FAIL - a - m - x\n\n1 test, 1 passed, 0 warnings, 0 failures, 0 exceptions\n", "", "", "", "agree"},
		{"a sum that says more", "\n2 tests, 1 passed, 0 warnings, 1 failure, 0 exceptions\n", "", "", "", "agree"},
		{"a sum in a message", "WARN - a - m - x\n1 test, 0 passed, 1 warning, 0 failures, 0 exceptions\nFAIL - a - m - y\n", "", "", "", "follows"},
		{"two sums", "\n1 test, 1 passed, 0 warnings, 0 failures, 0 exceptions\n\n1 test, 1 passed, 0 warnings, 0 failures, 0 exceptions\n", "", "", "", "follows"},
		{"colours", "\x1b[31mFAIL\x1b[0m - a - m - x\n\n\x1b[31m1 test, 0 passed, 0 warnings, 1 failure, 0 exceptions\x1b[0m\n", "", "", deny, ""},
		{"two formats", "1 test, 1 passed, 0 warnings, 0 failures, 0 exceptions\nSentinel Result: false\n", "", "", "", "more than one format"},
		{"refused by an API server", "error: failed calling webhook \"policy.example.com\": connection refused\n", "", "", errored, ""},

		{"checkov says more", `{"check_type":"a","results":{"failed_checks":[]},"summary":{"passed":1,"failed":1}}`, "", "", "", "agree"},
		{"checkov without its summary", `{"check_type":"a","results":{"failed_checks":[],"passed_checks":[{"check_id":"x"}]}}`, "", "", "", "no summary"},
		{"parsing errors of the sum alone", `{"check_type":"a","results":{"failed_checks":[]},"summary":{"passed":1,"failed":0,"parsing_errors":2}}`, "", "", errored, ""},

		{"a report without its summary", `{"apiVersion":"wgpolicyk8s.io/v1alpha2","kind":"PolicyReport","results":[{"policy":"p","result":"pass"}]}`, "", "", "", "summary"},
		{"a summary that differs", `{"apiVersion":"wgpolicyk8s.io/v1alpha2","kind":"PolicyReport","results":[{"policy":"p","result":"pass"}],"summary":{"pass":1,"fail":1,"error":0}}`, "", "", "", "agree"},
		{"a result that is not known", `{"apiVersion":"wgpolicyk8s.io/v1alpha2","kind":"PolicyReport","results":[{"policy":"p","result":"maybe"}],"summary":{"pass":1,"fail":0,"error":0}}`, "", "", "", "does not know"},
		{"a list with another kind", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod"}]}`, "", "", "", "no report"},

		{"sentinel cut", "Sentinel Result: true\n\n2 policies evaluated.\n\n## Policy 1: a (hard-mandatory)\n\nResult: true\n", "", "", "", "breaks off"},
		{"sentinel cut, denied", "Sentinel Result: false\n\n2 policies evaluated.\n", "", "", deny, ""},
		{"sentinel at odds", "Sentinel Result: true\n\n1 policies evaluated.\n\n## Policy 1: a (hard-mandatory)\n\nResult: false\n", "", "", "", "binds"},
		{"sentinel advises", "Sentinel Result: true\n\n1 policies evaluated.\n\n## Policy 1: a (advisory)\n\nResult: false\n", "", "", allow, ""},
		{"sentinel twice", "Sentinel Result: true\nSentinel Result: false\n1 policies evaluated.\n", "", "", "", "more than one"},
		{"sentinel without policies", `{"result":true,"policies":[]}`, "", "", "", "no rule was evaluated"},
		{"a policy without result", `{"result":true,"policies":[{"policy":"a"}]}`, "", "", "", "no result"},
		{"an error of a policy", `{"result":false,"policies":[{"policy":"a","result":false,"error":"import \"http\": i/o timeout"}]}`, "", "", errored, ""},

		{"a run that is not told to end", run + `"results":[]}]}`, "", "", "", "carried out"},
		{"a run without results", run + `"invocations":[{"executionSuccessful":true}]}]}`, "", "", errored, ""},
		{"warnings with exit code", run + `"invocations":[{"executionSuccessful":true,"exitCode":0}],"results":[{"ruleId":"r","message":{"text":"x"}}]}]}`, "", "", allow, ""},
		{"warnings without exit code", run + `"invocations":[{"executionSuccessful":true}],"results":[{"ruleId":"r","message":{"text":"x"}}]}]}`, "", "", "", "exitCode"},
		{"an exit code that speaks against it", run + `"invocations":[{"executionSuccessful":true,"exitCode":1}],"results":[]}]}`, "", "", "", "exit code 1"},
		{"a suppression under review", run + `"results":[{"ruleId":"r","level":"error","message":{"text":"x"},"suppressions":[{"status":"underReview"}]}]}]}`, "", "", deny, ""},
		{"of an earlier run", run + `"invocations":[{"executionSuccessful":true,"exitCode":0}],"results":[{"ruleId":"r","level":"error","baselineState":"absent"},{"ruleId":"r","kind":"pass"}]}]}`, "", "", allow, ""},
		{"a result under review", run + `"invocations":[{"executionSuccessful":true,"exitCode":0}],"results":[{"ruleId":"r","kind":"review"}]}]}`, "", "", "", "not decided"},
		{"an older SARIF", `{"version":"2.0.0","runs":[]}`, "", "", "", "2.1.0"},

		{"a test that passes", suite, "", "", allow, ""},
		{"a suite that promises more", strings.Replace(suite, `tests="1"`, `tests="2"`, 1), "", "", "", "more tests"},
		{"a suite that promises a failure", strings.Replace(suite, `tests="1"`, `failures="1"`, 1), "", "", "", "more failures"},
		{"tags that do not match", `<testsuite tests="1"><testcase name="x"></testsuite></testcase>`, "", "", "", "no XML"},
		{"an entity", `<!DOCTYPE a [<!ENTITY x "y">]><testsuite tests="1"><testcase name="&x;"/></testsuite>`, "", "", "", "document type"},
		{"an entity that is not declared", `<testsuite tests="1"><testcase name="&x;"/></testsuite>`, "", "", "", "no XML"},
		{"another root", `<html></html>`, "", "", "", "no report"},
		{"two roots", suite + suite, "", "", "", "no report"},
		{"text after it", suite + "exit status 1", "", "", "", "outside"},
		{"an error of the suite", `<testsuite tests="1"><testcase name="x"/><error message="connection refused"/></testsuite>`, "", "", errored, ""},
		{"failed and then skipped", `<testsuite><testcase name="x"><failure/><skipped/></testcase></testsuite>`, "", "", deny, ""},
		{"deep", strings.Repeat("<testsuite>", 70), "", "", "", "deep"},
		{"deep JSON", `{"result":` + strings.Repeat("[", 70), "", "", "", "deep"},
		{"format that it is not", `{"result":[]}`, conftestJSON, "", "", "no document"},
	} {
		d := decide(t.Context(), []byte(tc.text), tc.as, tc.means)
		if is, why := d.verdict(); is != tc.want || !strings.Contains(why, tc.why) || is == "" && why == "" {
			t.Errorf("%s: %q, %q; want %q, %q", tc.name, is, why, tc.want, tc.why)
		}
	}
}

// TestBounds: what goes beyond a bound allows nothing.
func TestBounds(t *testing.T) {
	t.Parallel()
	many := `<testsuite>` + strings.Repeat(`<testcase name="x"/>`, mostResults+1) + `</testsuite>`
	if is, why := decide(t.Context(), []byte(many), "", "").verdict(); is != "" || !strings.Contains(why, "more than") {
		t.Errorf("many results: %q %q", is, why)
	}
	list := `[` + strings.Repeat(`{},`, mostItems) + `{}]`
	if _, err := outline(t.Context(), []byte(list)); err == nil {
		t.Error("a list beyond the bound is read")
	}
	dir := t.TempDir()
	large := filepath.Join(dir, "large.json")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, mostFile+1); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{large: "64 MiB", pipe: "regular file", filepath.Join(dir, "none"): "no such file", dir: "regular file"} {
		if _, err := look(t, steps.Params{"file": steps.PathOf(name)}, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := look(t, steps.Params{}, stepstest.NewSink()); err == nil {
		t.Error("no file is named, and no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{`{"result":[{"expressions":[{"value":true,"text":"data.a.allow"}]}]}`, `<testsuite><testcase name="x"/></testsuite>`} {
		if is, _ := decide(ctx, []byte(text), "", "").verdict(); is != "" {
			t.Errorf("%s after its end: %s", is, text)
		}
	}
	for _, k := range Kinds() {
		if _, err := k.Reads(steps.Env{Dir: "testdata"}).Probe(ctx, steps.Params{"file": steps.PathOf("deny-opa.json")}, stepstest.NewSink()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after its end: %v", k.Name, err)
		}
	}
}

// censor is a sink that keeps one word from everything.
type censor struct{ *stepstest.Sink }

func (censor) Redacted(_ string, raw []byte) ([]byte, error) {
	return bytes.ReplaceAll(raw, []byte("hunter2hunter2"), []byte("[redacted]")), nil
}

// TestExcuses: an exception that the engine took is told by its id.
func TestExcuses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"deny-kyverno.yaml": "shop/old-web", "deny-sarif.json": "6f3c1a5e-0000-4000-8000-000000000017"} {
		obs, err := look(t, steps.Params{"file": steps.PathOf(name)}, stepstest.NewSink())
		if got := obs.Facts["exceptions"].Strings(); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestSecretsStayOut: what the bundle would not hold is in no fact, finding or summary.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "gate.json")
	text := `[{"filename":"hunter2hunter2","namespace":"m","successes":0,"failures":[{"msg":"password hunter2hunter2","metadata":{"id":"hunter2hunter2"}}],"exceptions":[{"msg":"x","metadata":{"exception":"hunter2hunter2"}}]}]`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	obs, err := look(t, steps.Params{"file": steps.PathOf(name)}, censor{stepstest.NewSink()})
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%+v", obs); strings.Contains(all, "hunter2hunter2") || !strings.Contains(all, "[redacted]") {
		t.Error(all)
	}
}

// TestWide: a shell of Windows saves in UTF-16.
func TestWide(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/deny-conftest.txt")
	if err != nil {
		t.Fatal(err)
	}
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(string(raw))) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	text, err := decoded(wide, mostFile)
	if err != nil || !bytes.Equal(text, raw) {
		t.Fatalf("%q, %v", text, err)
	}
}

// TestNames: the facts list a bounded number, and say so.
func TestNames(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range mostNames + 1 {
		fmt.Fprintf(&b, `<testcase name="r%d" classname="c"><failure/></testcase>`, i)
	}
	d := decide(t.Context(), []byte(`<testsuite>`+b.String()+`</testsuite>`), "", "")
	obs := steps.Observation{}
	d.tell("", func(s string) string { return s }, &obs)
	if rules := obs.Facts["rules"].Strings(); len(rules) != mostNames || len(obs.Gaps) != 1 || !slices.Equal(obs.Facts["denied"].Strings(), []string{"c"}) {
		t.Errorf("%d rules, gaps %q, denied %q", len(rules), obs.Gaps, obs.Facts["denied"].Strings())
	}
}
