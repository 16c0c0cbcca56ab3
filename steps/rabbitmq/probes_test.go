package rabbitmq

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
)

func TestVhosts(t *testing.T) {
	t.Parallel()
	w := brokerOf(t)
	for _, tc := range []struct {
		name, user, word, wanted string
		facts                    map[string]string
		denied                   string
		finding                  string
	}{
		{name: "there", user: viewer, word: viewerWord, wanted: "/platform", facts: map[string]string{"wanted": "/platform", "present": "true", "whole": "true"}},
		{name: "there, by a URI", user: viewer, word: viewerWord, wanted: "amqp://parcels:s3cret-of-parcels@broker:5672/%2Fplatform?heartbeat=5", facts: map[string]string{"wanted": "/platform", "present": "true", "whole": "true"}},
		{name: "another of almost that name", user: viewer, word: viewerWord, wanted: "/staging", facts: map[string]string{"wanted": "/staging", "present": "true", "whole": "true"}, finding: `Not "Staging/": another virtual host`},
		{name: "the default one", user: viewer, word: viewerWord, wanted: "amqp://broker", facts: map[string]string{"wanted": "/", "present": "true", "whole": "true"}},
		{name: "not there", user: viewer, word: viewerWord, wanted: "/parcels-internal", facts: map[string]string{"wanted": "/parcels-internal", "present": "false", "whole": "true"}, finding: "a new password does not help"},
		{name: "without its slash", user: viewer, word: viewerWord, wanted: "amqp://broker/Platform", facts: map[string]string{"wanted": "Platform", "present": "false", "whole": "true"}, finding: `one called "/platform"`},
		{name: "none asked for", user: viewer, word: viewerWord, facts: map[string]string{"wanted": "unknown", "present": "unknown", "whole": "true"}},
		{name: "a narrow account sees it", user: narrow, word: narrowWord, wanted: "/platform", facts: map[string]string{"wanted": "/platform", "present": "true", "whole": "false", "vhosts": "unknown"}},
		{name: "a narrow account does not see it", user: narrow, word: narrowWord, wanted: "closed", facts: map[string]string{"wanted": "closed", "present": "unknown", "whole": "false", "vhosts": "unknown"}},
		{name: "no account of the management", user: outsider, word: outsiderWord, wanted: "/", denied: "lacks the tag monitoring"},
		{name: "another password", user: viewer, word: "wrong-password", wanted: "/", denied: "its password is another one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			obs, out, err := probe(t, operator(t, w.URL, tc.user, tc.word), "rabbitmq/vhosts", map[string]string{"url": w.URL, "wanted": tc.wanted})
			if !slices.Contains(out.secrets, tc.word) {
				t.Errorf("the password was not told: %q", out.secrets)
			}
			if strings.Contains(tc.wanted, "s3cret") && !slices.Contains(out.secrets, "s3cret-of-parcels") {
				t.Errorf("the password of the URI was not told: %q", out.secrets)
			}
			if tc.denied != "" {
				if !errors.Is(err, steps.ErrDenied) || !strings.Contains(err.Error(), tc.denied) || strings.Contains(err.Error(), tc.word) {
					t.Errorf("%v, want it denied with %q", err, tc.denied)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := facts(obs)
			if tc.facts["vhosts"] == "" {
				delete(got, "vhosts") // other tests make some beside
				if there := obs.Facts["vhosts"].Strings(); !slices.Contains(there, "/platform") || !slices.Contains(there, "/") {
					t.Errorf("vhosts %q", there)
				}
			}
			if diff := cmp.Diff(tc.facts, got); diff != "" {
				t.Error(diff)
			}
			if said := fmt.Sprint(obs.Findings); tc.finding != "" && !strings.Contains(said, tc.finding) || tc.finding == "" && len(obs.Findings) > 0 {
				t.Errorf("findings %s, want %q", said, tc.finding)
			}
			var kept []string
			if err := json.Unmarshal([]byte(out.artifacts["vhosts"]), &kept); err != nil || len(kept) == 0 {
				t.Errorf("artifact %q: %v", out.artifacts["vhosts"], err)
			}
		})
	}
}

// declaredParcels are five bindings of which the broker has three.
const declaredParcels = `
- {source: parcels, destination: parcels.new, routing_key: parcel.new}
- {source: parcels, destination: parcels.lost, routing_key: parcel.lost}
- {source: parcels, destination: audit, destination_type: exchange, routing_key: parcel.lost}
- {source: audit, destination: parcels.all, routing_key: "", arguments: {grade: 3, kind: lost, x-match: all}}
- {source: returns, destination: parcels.back, routing_key: parcel.back}
`

func TestBindings(t *testing.T) {
	t.Parallel()
	w := brokerOf(t)
	env := operator(t, w.URL, viewer, viewerWord)
	write(t, env.Dir+"/topology.yaml", declaredParcels)
	want := map[string]string{
		"exists": "true", "declared": "5", "present": "3", "text": "3 of 5",
		"missing": `["parcels -> parcels.lost (parcel.lost)" "returns -> parcels.back (parcel.back)"]`,
		"extra":   `["parcels -> parcels.all (parcel.#)"]`,
		"absent":  `["exchange returns" "queue parcels.back"]`,
	}
	for _, in := range []map[string]string{
		{"url": w.URL, "vhost": "/platform", "declared": declaredParcels},
		{"url": w.URL + "/", "vhost": "amqp://parcels@broker/%2fplatform", "file": "topology.yaml"},
	} {
		obs, out, err := probe(t, env, "rabbitmq/bindings", in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, facts(obs)); diff != "" {
			t.Error(diff)
		}
		// What has the same names elsewhere is not this; what cannot be seen is said.
		if said := fmt.Sprint(obs.Findings); !strings.Contains(said, `Not the virtual host "Staging/": it has the same names (queue parcels.new)`) || !strings.Contains(fmt.Sprint(obs.Gaps), `may not look into: "/", "/staging", "closed"`) {
			t.Errorf("findings %s, gaps %q", said, obs.Gaps)
		}
		var kept []binding
		if err := json.Unmarshal([]byte(out.artifacts["bindings"]), &kept); err != nil || len(kept) != 7 {
			t.Errorf("the artifact has %d bindings, %v: %s", len(kept), err, out.artifacts["bindings"])
		}
	}
	// A runbook may have no broker, or nothing declared: then nothing is known.
	for _, in := range []map[string]string{{"declared": declaredParcels}, {"url": w.URL}} {
		in["vhost"] = "/platform"
		obs, _, err := probe(t, env, "rabbitmq/bindings", in)
		for name, v := range obs.Facts {
			if v.Known() || err != nil || len(obs.Gaps) == 0 {
				t.Errorf("%v: %s is %s, %v", in, name, v.Text(), err)
			}
		}
	}
	// With another value of one argument it is another binding.
	other := strings.ReplaceAll(declaredParcels, "grade: 3", "grade: 4")
	if obs, _, err := probe(t, env, "rabbitmq/bindings", map[string]string{"url": w.URL, "vhost": "/platform", "declared": other}); err != nil || obs.Facts["text"].Text() != "2 of 5" {
		t.Errorf("other arguments: %v %v", facts(obs), err)
	}
	obs, _, err := probe(t, env, "rabbitmq/bindings", map[string]string{"url": w.URL, "vhost": "/parcels-internal", "declared": declaredParcels})
	if err != nil || obs.Facts["exists"].Text() != "false" || obs.Facts["declared"].Int() != 5 || obs.Facts["present"].Known() || obs.Facts["missing"].Known() {
		t.Errorf("no such virtual host: %v %v", facts(obs), err)
	}
	if _, _, err := probe(t, env, "rabbitmq/bindings", map[string]string{"url": w.URL, "vhost": "closed", "declared": declaredParcels}); !errors.Is(err, steps.ErrDenied) || !strings.Contains(err.Error(), "set_permissions") {
		t.Errorf("a virtual host that the account may not enter: %v", err)
	}
}

// A list of more than one page is read to its end.
func TestPages(t *testing.T) {
	t.Parallel()
	w := brokerOf(t)
	type made struct {
		Name       string         `json:"name"`
		Vhost      string         `json:"vhost"`
		Type       string         `json:"type"`
		Durable    bool           `json:"durable"`
		AutoDelete bool           `json:"auto_delete"`
		Internal   bool           `json:"internal"`
		Arguments  map[string]any `json:"arguments"`
	}
	var all []made
	var text strings.Builder
	const n = 1203
	for i := range n {
		name := fmt.Sprintf("e%04d", i)
		all = append(all, made{Name: name, Vhost: "many", Type: "fanout", Arguments: map[string]any{}})
		fmt.Fprintf(&text, "- {source: %s, destination: e0000, destination_type: exchange}\n", name)
	}
	text.WriteString("- {source: e9999, destination: e0000, destination_type: exchange}\n")
	for _, req := range []struct {
		method, path string
		body         any
	}{
		{"PUT", "/api/vhosts/many", nil},
		{"PUT", "/api/permissions/many/" + viewer, map[string]string{"configure": "^$", "write": "^$", "read": "^$"}},
		{"POST", "/api/definitions/many", map[string]any{"exchanges": all, "queues": []int{}, "bindings": []int{}, "policies": []int{}, "parameters": []int{}}},
	} {
		if err := w.admin(t.Context(), req.method, req.path, req.body); err != nil {
			t.Fatal(err)
		}
	}
	obs, _, err := probe(t, operator(t, w.URL, viewer, viewerWord), "rabbitmq/bindings", map[string]string{"url": w.URL, "vhost": "many", "declared": text.String()})
	if err != nil {
		t.Fatal(err)
	}
	if got := facts(obs); got["text"] != fmt.Sprintf("0 of %d", n+1) || got["absent"] != `["exchange e9999"]` || obs.Facts["missing"].Known() {
		t.Errorf("%s %s, missing %v", got["text"], got["absent"], obs.Facts["missing"].Known())
	}
}
