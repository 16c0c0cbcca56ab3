package redact

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"handrail/evidence/jsontree"
)

// bigState is a raw state with a marked, a provider's and an unmarked secret in each resource, and what it hides.
func bigState(resources int) (string, []string) {
	var b strings.Builder
	var secrets []string
	rnd := rand.New(rand.NewPCG(9, 9))
	secret := func() string {
		_, s := plant(rnd, "{A24}")
		secrets = append(secrets, s[0])
		return s[0]
	}
	fmt.Fprintf(&b, "{\n  \"version\": 4,\n  \"terraform_version\": \"1.12.6\",\n  \"serial\": 42,\n  \"lineage\": \"9d3a1f6e-2b4c-8d7e-a0b1-c2d3e4f5a6b7\",\n")
	fmt.Fprintf(&b, "  \"outputs\": {\"o\": {\"value\": %q, \"type\": \"string\", \"sensitive\": true}},\n  \"resources\": [\n", secret())
	for i := range resources {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `    {
      "mode": "managed",
      "type": "%s",
      "name": "r%d",
      "provider": "provider[\"registry.opentofu.org/hashicorp/random\"]",
      "instances": [
        {
          "schema_version": 3,
          "attributes": {"id": "i-%d", "result": %q, "conf": %q, "user": "robin", "tags": ["a", "b"]},
          "sensitive_attributes": [[{"type": "get_attr", "value": "conf"}]],
          "private": %q
        }
      ]
    }`, []string{"random_password", "example_thing"}[i%2], i, i, map[bool]string{true: secret(), false: "kept-result"}[i%2 == 0], secret(), secret())
	}
	b.WriteString("\n  ],\n  \"check_results\": null\n}\n")
	return b.String(), secrets
}

// inUnits redacts JSON that is larger than a unit.
func inUnits(r *Redactor, tree func(*Redactor, *jsontree.Node, Counts), unit int, chunks ...string) string {
	var out bytes.Buffer
	s := &jsonStream{r: r, out: &out, n: Counts{}, shape: tree, unit: unit}
	for _, c := range chunks {
		_, _ = s.Write([]byte(c)) // a bytes.Buffer takes all
	}
	_ = s.finish()
	return out.String()
}

func TestStateLargerThanAUnit(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	r := testRedactor()
	state, secrets := bigState(3)
	whole, _ := stream(r, MediaTFState, []byte(state))
	for _, unit := range []int{32, 64, 200, 900, 1 << 20} {
		out := inUnits(r, terraformTree, unit, state)
		if l := leak(out, secrets); l != "" {
			t.Fatalf("unit %d: %q survives in %s", unit, l, out)
		}
		if _, err := jsontree.Parse([]byte(out), jsontree.StrictKeys); err != nil {
			t.Fatalf("unit %d: %v in %s", unit, err, out)
		}
		if unit >= 900 && out != whole {
			t.Errorf("unit %d: parts give another text than the whole:\n%s\nwant\n%s", unit, out, whole)
		}
		for i := range state {
			if got := inUnits(r, terraformTree, unit, state[:i], state[i:]); got != out {
				t.Fatalf("unit %d, split at %d:\n%s\nwant\n%s", unit, i, got, out)
			}
		}
	}
}

func TestBrokenState(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	r := testRedactor()
	state, secrets := bigState(3)
	planted := allSlices12(secrets)
	check := func(what, in string) string {
		t.Helper()
		if _, err := jsontree.Parse([]byte(in), jsontree.LooseKeys); err == nil {
			return "" // another document, and whole
		}
		out, rules := stream(r, MediaTFState, []byte(in))
		if l := leakOf(out, planted); l != "" {
			t.Fatalf("%s: %q survives in\n%s", what, l, out)
		}
		if !slices.Contains(rules, Unparsed) {
			t.Fatalf("%s: no rule says that it is broken", what)
		}
		return out
	}
	for i := range state {
		check(fmt.Sprintf("cut at %d", i), state[:i])
		if i%2 == 0 {
			check(fmt.Sprintf("without byte %d", i), state[:i]+state[i+1:])
			check(fmt.Sprintf("begun at %d", i), state[i:])
		}
		for _, c := range []string{`"`, "\n", "}", "{", ",", `\`, "\x00", `":"`}[i%4*2:][:2] {
			check(fmt.Sprintf("%q put in at %d", c, i), state[:i]+c+state[i:])
		}
	}
	out := check("a comma lost", strings.Replace(state, `"name": "r1",`, `"name": "r1"`, 1))
	for _, want := range []string{`"serial": 42`, `"lineage": "9d3a1f6e-2b4c-8d7e-a0b1-c2d3e4f5a6b7"`, `"name": "r0"`, `"name": "r2"`, `"type": "example_thing"`, `"user": `, `"i-0"`} {
		if !strings.Contains(out, want) {
			t.Errorf("a broken state does not show %s:\n%s", want, out)
		}
	}
	out = check("merge conflict", strings.Replace(state, `  "serial": 42`, "<<<<<<< HEAD\n  \"serial\": 42", 1))
	if !strings.Contains(out, `"serial": 42`) {
		t.Errorf("a state with a conflict does not show its serial:\n%s", out)
	}
}

func TestKubernetesLargerThanAUnit(t *testing.T) {
	t.Parallel()
	r := testRedactor()
	enc := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, in := range map[string]string{
		"list":       `{"apiVersion":"v1","items":[{"kind":"Secret","metadata":{"name":"kept1"},"data":{"user":"` + enc("gone-gone-gone-1") + `"}},{"kind":"ConfigMap","metadata":{"name":"kept2"},"data":{"a":"kept3"}}],"kind":"List"}`,
		"typed list": `{"apiVersion":"v1","items":[{"metadata":{"name":"kept1"},"data":{"user":"` + enc("gone-gone-gone-1") + `"}}],"kind":"SecretList","metadata":{"x":"kept2","y":"kept3"}}`,
		"table":      `{"apiVersion":"meta.k8s.io/v1","kind":"Table","columnDefinitions":[{"name":"kept1"}],"rows":[{"cells":["kept2",3],"object":{"kind":"Secret","metadata":{"name":"kept3"},"data":{"u":"` + enc("gone-gone-gone-1") + `"}}}]}`,
		"one secret": `{"apiVersion":"v1","metadata":{"name":"kept1","labels":{"x":"kept2","z":"kept3"}},"data":{"user":"` + enc("gone-gone-gone-1") + `"},"kind":"Secret"}`,
		"helm":       `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"kept1.kept2.kept3"},"type":"helm.sh/release.v1","data":{"release":"` + enc(enc("gone-gone-gone-1")) + `"}}`,
	} {
		for _, unit := range []int{16, 40, 120, 1 << 20} {
			out := inUnits(r, kubernetesTree, unit, in)
			for _, gone := range []string{"gone-gone", enc("gone-gone-gone-1"), enc(enc("gone-gone-gone-1"))} {
				if strings.Contains(out, gone) {
					t.Errorf("%s, unit %d: %q survives in %s", name, unit, gone, out)
				}
			}
			if unit > 100 && name != "table" && !(strings.Contains(out, "kept1") && strings.Contains(out, "kept2") && strings.Contains(out, "kept3")) {
				t.Errorf("%s, unit %d: metadata is gone from %s", name, unit, out)
			}
		}
	}
}
