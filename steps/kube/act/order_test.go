package act

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
)

func TestAnAlterationIsWhatWasShown(t *testing.T) {
	t.Parallel()
	o := Order{Path: "/api/v1/namespaces/a/configmaps/b", UID: "u-1", Version: "7"}
	a := Alteration{Ops: []patch.Op{{Op: patch.Replace, Path: "/data/a", Value: "b"}}, Tests: []patch.Op{{Op: patch.Test, Path: "/data/a", Value: "c"}}}
	r, err := a.Request(o.Path, o.UID, Later, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	said, err := patch.Encode(a.Ops)
	if err != nil {
		t.Fatal(err)
	}
	p := steps.Preview{Target: []steps.KV{{Key: KeyPatch, Value: said}}, Request: r.Text()}
	// As Send does.
	sends := func(a Alteration, p steps.Preview, o Order) bool {
		sent, shown, err := a.Approved(p, o, time.Now())
		return err == nil && shown.Text() == p.Request && strings.Contains(string(sent.Body), `"`+o.Version+`"`)
	}
	if !sends(a, p, o) {
		t.Fatal("what was approved is not sent")
	}
	for name, edit := range map[string]func(*steps.Preview, *Order, *Alteration){
		"another path": func(_ *steps.Preview, o *Order, _ *Alteration) { o.Path = "/api/v1/namespaces/a/configmaps/c" },
		"another UID":  func(_ *steps.Preview, o *Order, _ *Alteration) { o.UID = "u-2" },
		"another method": func(p *steps.Preview, _ *Order, _ *Alteration) {
			p.Request = strings.Replace(p.Request, "PATCH", "PUT", 1)
		},
		"no version": func(p *steps.Preview, _ *Order, _ *Alteration) { p.Request = strings.Replace(p.Request, Later, "8", 1) },
		"another value": func(p *steps.Preview, _ *Order, _ *Alteration) {
			p.Request = strings.Replace(p.Request, `"value":"b"`, `"value":"x"`, 1)
		},
		"another patch": func(p *steps.Preview, _ *Order, _ *Alteration) { p.Target[0].Value = "[]" },
		"no JSON":       func(p *steps.Preview, _ *Order, _ *Alteration) { p.Request = p.Request[:len(p.Request)-1] },
		"a second subresource": func(p *steps.Preview, _ *Order, _ *Alteration) {
			p.Request = strings.Replace(p.Request, "/b?", "/b/status?", 1)
		},
		"other arguments": func(_ *steps.Preview, _ *Order, a *Alteration) {
			a.Ops = []patch.Op{{Op: patch.Replace, Path: "/data/a", Value: "x"}}
		},
		"another place": func(_ *steps.Preview, _ *Order, a *Alteration) { a.Sub = "/status" },
		"no tests":      func(_ *steps.Preview, _ *Order, a *Alteration) { a.Tests = nil },
		"no arguments":  func(_ *steps.Preview, _ *Order, a *Alteration) { *a = Alteration{} },
		"redacted": func(p *steps.Preview, _ *Order, _ *Alteration) {
			p.Request = strings.Replace(p.Request, `"b"`, `"<redacted:known:0123>"`, 1)
		},
	} {
		q, oo, aa := p, o, a
		q.Target = slices.Clone(p.Target)
		edit(&q, &oo, &aa)
		if sends(aa, q, oo) {
			t.Errorf("%s: it is sent", name)
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
		for _, build := range []func() (Request, Request, error){o.Strip, o.Delete} {
			sent, _, err := build()
			if err != nil {
				continue
			}
			var body any
			if err := json.Unmarshal(sent.Body, &body); err != nil {
				t.Fatalf("%s: %v", sent.Body, err)
			}
			if strings.ContainsAny(sent.Path, "%?#\\ <>\"\n") || strings.Contains(sent.Path, "/../") || strings.Contains(sent.Path, "//") {
				t.Fatalf("path %q", sent.Path)
			}
			if ops, ok := body.([]any); ok && len(ops) != 4 {
				t.Fatalf("%s has %d operations, want 4", sent.Body, len(ops))
			}
			if !strings.Contains(string(sent.Body), `"`+uid+`"`) || !strings.Contains(string(sent.Body), `"`+version+`"`) {
				t.Fatalf("%s does not hold the conditions", sent.Body)
			}
		}
	})
}

func shownOrder(path, uid, version, finalizer, all string) []steps.KV {
	return []steps.KV{{Key: KeyPath, Value: path}, {Key: KeyUID, Value: uid}, {Key: KeyVersion, Value: version},
		{Key: KeyFinalizer, Value: finalizer}, {Key: KeyFinalizers, Value: all}, {Key: KeyDeletion, Value: report.Nothing}}
}

// FuzzAnswer holds what reads the server's answers to never panic.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"metadata":{"uid":"a","finalizers":["a","b"]}}`)
	f.Add(`{"kind":"Status","status":"Failure","message":"no","code":422}`)
	f.Fuzz(func(t *testing.T, old string) {
		a := Answer{Code: 422, Body: []byte(old)}
		_, _, _ = a.Object()
		_ = answersOrder(a, Order{UID: "a"})
		if len(a.Said()) > 700 {
			t.Fatalf("said %d bytes", len(a.Said()))
		}
	})
}
