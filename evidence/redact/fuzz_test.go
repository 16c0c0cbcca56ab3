package redact

import (
	"bytes"
	"testing"

	"handrail/evidence/corpus"
)

// FuzzStructures feeds each structure parser: nothing panics, a known value never survives, and where the input was cut does
// not matter.
func FuzzStructures(f *testing.F) {
	corpus.Seed(f)
	state, _ := bigState(2)
	f.Add([]byte(state), 100, uint8(0))
	f.Add([]byte(state[:400]), 20, uint8(1))
	f.Add([]byte(`{"kind":"Secret","apiVersion":"v1","data":{"a":"a25vd24tdmFsdWUtMQ=="}}`), 7, uint8(2))
	f.Add([]byte("apiVersion: v1\nclusters:\n- name: c\nusers:\n- name: u\n  user:\n    token: known-value-1\n"), 9, uint8(3))
	f.Add([]byte("A=known-value-1\nexport B=c\nmore\n"), 4, uint8(4))
	f.Add([]byte(`{"format_version":"1","resource_changes":[{"change":{"after":{"a":"b"},"after_sensitive":{"a":true}}}]}`), 30, uint8(5))
	r := testRedactor()
	r.Secret("known-value-1")
	media := []string{MediaTFState, MediaJSON, MediaKubernetes, MediaKubeconfig, MediaEnv, MediaTFPlan}
	f.Fuzz(func(t *testing.T, in []byte, cut int, which uint8) {
		m := media[int(which)%len(media)]
		whole, _ := stream(r, m, in)
		if bytes.Contains([]byte(whole), []byte("known-value-1")) {
			t.Fatalf("%s: a known value survives in %q", m, whole)
		}
		if cut < 0 || cut > len(in) {
			cut = len(in) / 2
		}
		if got, _ := stream(r, m, in[:cut], in[cut:]); got != whole {
			t.Fatalf("%s: in two parts %q, at once %q", m, got, whole)
		}
		unit := 8 + int(which)
		small := inUnits(r, anyTree, unit, string(in))
		if got := inUnits(r, anyTree, unit, string(in[:cut]), string(in[cut:])); got != small {
			t.Fatalf("units of %d: in two parts %q, at once %q", unit, got, small)
		}
		if bytes.Contains([]byte(small), []byte("known-value-1")) {
			t.Fatalf("units of %d: a known value survives in %q", unit, small)
		}
	})
}

// FuzzTeamRule holds any rule that is taken to what is promised of all: it is deterministic at every split and never panics.
func FuzzTeamRule(f *testing.F) {
	corpus.Seed(f)
	f.Add("acme", "acme_", `acme_[a-z]{10,}`, []byte("an acme_abcdefghijkl here"))
	f.Add("badge", "badge no ", `(?i)badge no ([0-9]+)`, []byte("Badge no 1234\n"))
	f.Fuzz(func(t *testing.T, kind, literal, expr string, in []byte) {
		rule := TeamRule{kind, literal, expr}
		if rule.Check() != nil {
			return
		}
		r := testRedactor(rule)
		once := r.Bytes(in, nil)
		if got, _ := stream(r, "", in[:len(in)/2], in[len(in)/2:]); got != string(once) {
			t.Fatalf("%+v: in two parts %q, at once %q", rule, got, once)
		}
	})
}
