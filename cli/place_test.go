package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/session/policy"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui"
)

// ruledBy is a program of a home and a machine with these files.
func ruledBy(t *testing.T, files map[string]string) *process.Program {
	t.Helper()
	root := t.TempDir()
	p := &process.Program{Environ: []string{"HOME=" + root, "XDG_CONFIG_HOME=" + filepath.Join(root, "user")}, Machine: filepath.Join(root, "machine")}
	if err := writeKey(filepath.Join(root, "grace")); err != nil {
		t.Fatal(err)
	}
	pub, err := os.ReadFile(filepath.Join(root, "grace.pub"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"user/handrail", "machine"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(root, dir), 0o700),
			os.WriteFile(filepath.Join(root, dir, "approvers"), []byte(dir[:4]+"@example.com "+string(pub)), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, strings.Replace(name, "user/", "user/handrail/", 1)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

const policyHead = "apiVersion: handrail/v1\nkind: Policy\napprovers: approvers\n"

func placesFile(pattern string) string {
	return "apiVersion: handrail/v1\nkind: Interface\nplaces:\n- {label: production, pattern: '" + pattern + "'}\n"
}

func kv(key, value string) steps.KV { return steps.KV{Key: key, Value: value} }

// TestPolicyLooksAtTheTarget: what the kubeconfig says proves nothing of a target that
// lies elsewhere, and a target that tells nothing may be anywhere.
func TestPolicyLooksAtTheTarget(t *testing.T) {
	t.Parallel()
	p := ruledBy(t, map[string]string{"user/" + settings.PolicyFile: policyHead + "secondPerson: [{gates: ['*'], place: production}]\n"})
	none, staging := []steps.KV{kv("cluster", "none"), kv("host", "prod-bastion")}, []steps.KV{kv("cluster", "staging (https://10.0.0.1)")}
	for name, tc := range map[string]struct {
		header, target []steps.KV
		two            bool
	}{
		"a directory":               {none, []steps.KV{kv("directory", "/infra/live/production"), kv("workspace", "default")}, true},
		"a workspace":               {none, []steps.KV{kv("directory", "/infra/app"), kv("workspace", "production")}, true},
		"a state object":            {none, []steps.KV{kv("directory", "/infra/app"), kv("state object", "s3://tf/prod/app.tfstate")}, true},
		"a lock object":             {none, []steps.KV{kv("directory", "/infra/app"), kv("lock object", "Lease kube-system/lock-tfstate-prod-app")}, true},
		"a server":                  {staging, []steps.KV{kv("server", "https://api.prod.example.com")}, true},
		"another context":           {staging, []steps.KV{kv("server", "https://10.0.0.2"), kv("context", "prod-eu")}, true},
		"a namespace":               {staging, []steps.KV{kv("server", "https://10.0.0.1"), kv("namespace", "live")}, true},
		"the header":                {[]steps.KV{kv("cluster", "prod-eu")}, []steps.KV{kv("directory", "/infra/app")}, true},
		"a header that is not told": {[]steps.KV{kv("cluster", "unknown: no such context")}, []steps.KV{kv("directory", "/infra/app")}, true},
		"a line that is not told":   {staging, []steps.KV{kv("server", "unknown: it does not answer")}, true},
		"nothing is told":           {staging, nil, true},
		"elsewhere":                 {staging, []steps.KV{kv("directory", "/infra/dev"), kv("workspace", "default"), kv("server", "https://10.0.0.1")}, false},
		"the machine's own name":    {none, []steps.KV{kv("directory", "/infra/dev")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := policy.Question{Kind: "terraform/apply-plan", Class: triage.Rerun, Severity: triage.Sev3, Header: tc.header, Target: tc.target}
			pair, err := settings.SecondPerson(context.Background(), p, q)
			if err != nil || (pair != nil) != tc.two {
				t.Errorf("second person %+v, %v, want %v", pair, err, tc.two)
			}
			q.Drill = true
			if pair, err := settings.SecondPerson(context.Background(), p, q); pair != nil || err != nil {
				t.Errorf("practice asks for a second person: %+v, %v", pair, err)
			}
		})
	}
}

// TestPolicyOfTheMachineIsOnlyTightened: whatever stands in the user's own folder.
func TestPolicyOfTheMachineIsOnlyTightened(t *testing.T) {
	t.Parallel()
	machine := policyHead + "secondPerson: [{gates: [repair], place: production}]\n"
	prod := policy.Question{Kind: "kube/patch", Class: triage.Repair, Severity: triage.Sev3, Target: []steps.KV{kv("server", "https://api.prod.example.com")}}
	dev := prod
	dev.Target = []steps.KV{kv("server", "https://api.dev.example.com")}
	release := prod
	release.Class, release.Kind = triage.Release, "terraform/force-unlock"
	for name, tc := range map[string]struct {
		files              map[string]string
		prod, dev, release bool
		by                 string
		fails              bool
	}{
		"alone":            {files: nil, prod: true, by: "mach@"},
		"no rules":         {files: map[string]string{"user/" + settings.PolicyFile: policyHead + "secondPerson: []\n"}, prod: true, by: "mach@"},
		"rules of others":  {files: map[string]string{"user/" + settings.PolicyFile: policyHead + "secondPerson: [{gates: [release]}]\n"}, prod: true, release: true, by: "mach@"},
		"tighter":          {files: map[string]string{"user/" + settings.PolicyFile: policyHead + "secondPerson: [{gates: ['*']}]\n"}, prod: true, dev: true, release: true, by: "mach@"},
		"other places":     {files: map[string]string{"user/" + settings.InterfaceFile: placesFile("^nowhere$")}, prod: true, by: "mach@"},
		"broken":           {files: map[string]string{"user/" + settings.PolicyFile: "kind: Policy\n"}, fails: true},
		"broken interface": {files: map[string]string{"machine/" + settings.InterfaceFile: "kind: what\n"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"machine/" + settings.PolicyFile: machine}
			for k, v := range tc.files {
				files[k] = v
			}
			p := ruledBy(t, files)
			for what, x := range map[string]struct {
				q    policy.Question
				want bool
			}{"production": {prod, tc.prod}, "development": {dev, tc.dev}, "a release": {release, tc.release}} {
				pair, err := settings.SecondPerson(context.Background(), p, x.q)
				if tc.fails {
					if err == nil {
						t.Errorf("%s: no error", what)
					}
					continue
				}
				if err != nil || (pair != nil) != x.want {
					t.Errorf("%s: %+v, %v, want %v", what, pair, err, x.want)
				}
				if what == "production" && pair != nil && !strings.HasPrefix(strings.Join(pair.Signers.Approvers(5), ";"), tc.by) {
					t.Errorf("%s is approved by %v", what, pair.Signers.Approvers(5))
				}
			}
		})
	}
}

// TestPlacesOfTheMachineAreDrawn beside those of the user.
func TestPlacesOfTheMachineAreDrawn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		prod  bool // production.example.com is named
		here  bool // nowhere is
	}{
		"nothing said":  {nil, true, false},
		"the user's":    {map[string]string{"user/" + settings.InterfaceFile: placesFile("^nowhere$")}, false, true},
		"the machine's": {map[string]string{"machine/" + settings.InterfaceFile: placesFile("^nowhere$")}, true, true},
		"both":          {map[string]string{"user/" + settings.InterfaceFile: placesFile("^x$"), "machine/" + settings.InterfaceFile: placesFile("^nowhere$")}, false, true},
	} {
		c, err := settings.ScreenConfig(ruledBy(t, tc.files), tui.Config{})
		if err != nil {
			t.Fatal(err)
		}
		is := func(value string) bool {
			return slices.ContainsFunc(settings.UsualOr(c.Places), func(p tui.Place) bool { return p.Holds([]steps.KV{kv("cluster", value)}) })
		}
		if is("production.example.com") != tc.prod || is("nowhere") != tc.here {
			t.Errorf("%s: %v", name, c.Places)
		}
	}
}

// TestNoHomeIsNoPolicy: an unknown place of the policy opens nothing.
func TestNoHomeIsNoPolicy(t *testing.T) {
	t.Parallel()
	for _, environ := range [][]string{nil, {"HOME=relative"}, {"HOME=", "XDG_CONFIG_HOME=relative"}} {
		p := &process.Program{Environ: environ, Machine: t.TempDir()}
		if pair, err := settings.SecondPerson(context.Background(), p, policy.Question{Class: triage.Repair}); err == nil {
			t.Errorf("%v: %+v, want an error", environ, pair)
		}
		if markers, err := settings.ProtectedMarkers(p); err == nil {
			t.Errorf("%v: markers %v, want an error", environ, markers)
		}
		if _, err := settings.SecondPerson(t.Context(), p, policy.Question{Severity: triage.Sev1, To: triage.Sev3}); err == nil {
			t.Errorf("%v: the severity is lowered", environ)
		}
		if c := checkPolicy(p); c.State != "bad" {
			t.Errorf("%v: doctor says %+v", environ, c)
		}
	}
}

// TestRulesAreRecorded: each file that rules gates, by digest, or that there is none.
func TestRulesAreRecorded(t *testing.T) {
	t.Parallel()
	p := ruledBy(t, map[string]string{"machine/" + settings.ProtectedFile: "apiVersion: handrail/v1\nkind: Protected\nmarkers: [{key: ledger}]\n",
		"user/" + settings.PolicyFile: policyHead + "secondPerson: [{gates: ['*']}]\n"})
	before := settings.Rules(p)
	for key, want := range map[string]string{"policy.yaml of the machine": "none", "protected.yaml of the machine": "sha256:", "policy.yaml of the user": "sha256:",
		"protected.yaml of the user": "none", "interface.yaml of the user": "none"} {
		if got := steps.Find(before, key); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %s", key, got, want)
		}
	}
	if n := len(before); n != 11 || !strings.HasPrefix(before[10].Value, "sha256:") {
		t.Errorf("rules %v, want the approvers last", before)
	}
	if markers, err := settings.ProtectedMarkers(p); err != nil || len(markers) != 1 {
		t.Errorf("markers of the machine: %v, %v", markers, err)
	}
	if got := settings.Rules((&process.Program{Machine: t.TempDir()})); !strings.HasPrefix(steps.Find(got, "policy.yaml of the user"), "unknown: ") {
		t.Errorf("without a home: %v", got)
	}
}

// TestSeverityIsNotLoweredAlone where a rule holds at the worst severity and would not
// at the new one.
func TestSeverityIsNotLoweredAlone(t *testing.T) {
	t.Parallel()
	p := ruledBy(t, map[string]string{"user/" + settings.PolicyFile: policyHead + "secondPerson: [{gates: ['*'], severity: SEV-2}]\n"})
	for _, tc := range []struct {
		worst, to triage.Severity
		drill, no bool
	}{
		{"SEV-1", "SEV-2", false, false}, {"SEV-1", "SEV-3", false, true}, {"SEV-2", "SEV-4", false, true}, {"SEV-3", "SEV-4", false, false}, {"SEV-1", "SEV-4", true, false},
	} {
		if pair, err := settings.SecondPerson(t.Context(), p, policy.Question{Severity: tc.worst, To: tc.to, Drill: tc.drill}); err != nil || (pair != nil) != tc.no {
			t.Errorf("%+v: %v, %v", tc, pair, err)
		}
	}
	if pair, err := settings.SecondPerson(t.Context(), ruledBy(t, nil), policy.Question{Severity: "SEV-1", To: "SEV-4"}); pair != nil || err != nil {
		t.Errorf("without a policy: %v, %v", pair, err)
	}
}
