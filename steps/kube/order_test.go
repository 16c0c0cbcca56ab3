package kube

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/kube/patch"
)

func TestAlteredReadsOnlyWhatWasShown(t *testing.T) {
	t.Parallel()
	o := order{path: "/api/v1/namespaces/a/configmaps/b", uid: "u-1", version: "7"}
	a := alteration{ops: []patch.Op{{Op: patch.Replace, Path: "/data/a", Value: "b"}}, tests: []patch.Op{{Op: patch.Test, Path: "/data/a", Value: "c"}}}
	r, err := a.request(o.path, o.uid, later, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	said, err := patch.Encode(a.ops)
	if err != nil {
		t.Fatal(err)
	}
	p := steps.Preview{Target: []steps.KV{{Key: keyPatch, Value: said}}, Request: r.text()}
	got, err := altered(p, o, "")
	if err != nil || !slices.EqualFunc(got.ops, a.ops, func(x, y patch.Op) bool { return x == y }) {
		t.Fatalf("altered() = %+v, %v", got, err)
	}
	for name, edit := range map[string]func(*steps.Preview, *order){
		"another path":   func(_ *steps.Preview, o *order) { o.path = "/api/v1/namespaces/a/configmaps/c" },
		"another UID":    func(_ *steps.Preview, o *order) { o.uid = "u-2" },
		"another method": func(p *steps.Preview, _ *order) { p.Request = strings.Replace(p.Request, "PATCH", "PUT", 1) },
		"no version":     func(p *steps.Preview, _ *order) { p.Request = strings.Replace(p.Request, later, "8", 1) },
		"another value": func(p *steps.Preview, _ *order) {
			p.Request = strings.Replace(p.Request, `"value":"b"`, `"value":"x"`, 1)
		},
		"another patch": func(p *steps.Preview, _ *order) { p.Target[0].Value = "[]" },
		"no JSON":       func(p *steps.Preview, _ *order) { p.Request = p.Request[:len(p.Request)-1] },
		"an unknown member": func(p *steps.Preview, _ *order) {
			p.Request = strings.Replace(p.Request, `"op"`, `"from":"/a","op"`, 1)
		},
		"a second subresource": func(p *steps.Preview, _ *order) { p.Request = strings.Replace(p.Request, "/b?", "/b/status?", 1) },
	} {
		q, oo := p, o
		q.Target = slices.Clone(p.Target)
		edit(&q, &oo)
		if got, err := altered(q, oo, ""); err == nil {
			t.Errorf("%s: altered() = %+v, want an error", name, got)
		}
	}
}

// FuzzOrder holds what a changed or redacted preview can make of a request: only
// a plain path of the API, and a body that is JSON with the four operations.
func FuzzOrder(f *testing.F) {
	f.Add("/api/v1/namespaces/a/pods/b", "5e1c9a", "17", "example.com/a", "example.com/a, b")
	f.Add("/api/v1/namespaces/a/pods/../c", "<redacted:token:0123>", "", "", "none")
	f.Fuzz(func(t *testing.T, path, uid, version, finalizer, all string) {
		o, err := orderOf(shownOrder(path, uid, version, finalizer, all))
		if err != nil {
			return
		}
		for _, build := range []func() (request, request, error){o.strip, o.delete} {
			sent, _, err := build()
			if err != nil {
				continue
			}
			var body any
			if err := json.Unmarshal(sent.body, &body); err != nil {
				t.Fatalf("%s: %v", sent.body, err)
			}
			if strings.ContainsAny(sent.path, "%?#\\ <>\"\n") || strings.Contains(sent.path, "/../") || strings.Contains(sent.path, "//") {
				t.Fatalf("path %q", sent.path)
			}
			if ops, ok := body.([]any); ok && len(ops) != 4 {
				t.Fatalf("%s has %d operations, want 4", sent.body, len(ops))
			}
			if !strings.Contains(string(sent.body), `"`+uid+`"`) || !strings.Contains(string(sent.body), `"`+version+`"`) {
				t.Fatalf("%s does not hold the conditions", sent.body)
			}
		}
	})
}

func shownOrder(path, uid, version, finalizer, all string) []steps.KV {
	return []steps.KV{{Key: keyPath, Value: path}, {Key: keyUID, Value: uid}, {Key: keyVersion, Value: version},
		{Key: keyFinalizer, Value: finalizer}, {Key: keyFinalizers, Value: all}, {Key: keyDeletion, Value: nothing}}
}
