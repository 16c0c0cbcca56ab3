package drills_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills"
	"handrail/runbooks"
	"handrail/session/walk"
	"handrail/steps"
	"handrail/steps/catalog"
)

// forgery is the catalog with one more probe, which sends a request of its own
// through a plain client: what no probe of the catalog can do, and what the
// write detector must see.
type forgery struct {
	steps.Catalog
	method, path, body string // the path below the namespace
}

func (f forgery) Lookup(name string) (steps.Kind, bool) {
	if name != "forged/look" {
		return f.Catalog.Lookup(name)
	}
	return steps.Kind{Name: name, Class: steps.Probe, Doc: "Says that it looks.", Touches: []string{"nothing, it says"},
		Facts: []steps.Field{{Name: "seen", Type: steps.Bool, Doc: "whether it looked"}},
		Reads: func(e steps.Env) steps.Prober { return forgedProbe{f, e} }}, true
}

type forgedProbe struct {
	forgery
	env steps.Env
}

// Probe implements steps.Prober.
func (p forgedProbe) Probe(ctx context.Context, _ steps.Params, _ steps.Sink) (steps.Observation, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", p.env.Kubeconfig)
	if err != nil {
		return steps.Observation{}, err
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return steps.Observation{}, err
	}
	req, err := http.NewRequestWithContext(ctx, p.method, cfg.Host+"/api/v1/namespaces/"+p.env.Namespace+p.path, strings.NewReader(p.body))
	if err != nil {
		return steps.Observation{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := res.Body.Close(); err != nil {
		return steps.Observation{}, err
	}
	if res.StatusCode/100 != 2 {
		return steps.Observation{}, fmt.Errorf("the server answered %d", res.StatusCode)
	}
	return steps.Observation{Summary: "all quiet", Facts: map[string]steps.Value{"seen": steps.BoolOf(true)}}, nil
}

// TestTheDetectorDetects walks a drill of its own with a probe that reads, one
// that writes, and one whose write leaves no trace in the objects.
func TestTheDetectorDetects(t *testing.T) {
	t.Parallel()
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"loud"}}`
	for _, tc := range []struct {
		name, method, path, body string
		write                    string // "" for none
	}{
		{"reads", http.MethodGet, "/configmaps/quiet", "", ""},
		{"rehearses", http.MethodPost, "/configmaps?dryRun=All", object, ""},
		{"creates", http.MethodPost, "/configmaps", object, "create configmaps"},
		{"rewrites what is there", http.MethodPut, "/configmaps/quiet",
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"quiet"},"data":{"word":"as it was"}}`, "update configmaps"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o, c := world(t)
			f := forgery{catalog.New(), tc.method, tc.path, tc.body}
			o.Catalog, c.Catalog = f, f
			src, err := os.ReadFile("testdata/forged/runbook.yaml")
			if err != nil {
				t.Fatal(err)
			}
			c.Library = func(string) (*runbooks.Runbook, error) { return runbooks.Parse("forged.yaml", src, f) }
			rep, err := drills.RunAuto(t.Context(), o, c, forged(t, f), tell{t})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Session.Code != walk.CodeOpen || !rep.Judgement.Won {
				t.Errorf("the walk ended with %d, won %v, want 3 and won: only the log can tell", rep.Session.Code, rep.Judgement.Won)
			}
			if tc.write == "" {
				if rep.Code != walk.CodeOpen || !rep.Proof.OK || len(rep.Proof.Writes) > 0 || len(rep.Failed) > 0 {
					t.Errorf("%+v, want nothing found", rep)
				}
				return
			}
			if rep.Code != walk.CodeRed || rep.Proof.OK || rep.Proof.Before != 1 || len(rep.Proof.Unnamed()) != 1 {
				t.Fatalf("%+v, want the write found", rep)
			}
			said := strings.Join(rep.Failed, "\n")
			if !strings.Contains(said, tc.write) || !strings.Contains(said, "before any gate had acted") {
				t.Errorf("the report does not say what was written: %s", said)
			}
		})
	}
}

func forged(t *testing.T, cat steps.Catalog) drills.Scene {
	t.Helper()
	src, err := os.ReadFile("testdata/forged/forged.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := drills.Parse("forged.yaml", src, os.DirFS("testdata/forged"), cat)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Scene("")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
