package keycloak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/drills/bucket"
	"handrail/drills/keycloak"
	"handrail/evidence/redact"
	"handrail/steps"
	"handrail/steps/gitops/app"
	"handrail/steps/stepstest"
	"handrail/steps/transport"
)

const (
	live = `{"realm":"primary","clients":[
{"id":"c-1","clientId":"auth-service","secret":"live-secret-of-auth","fullScopeAllowed":true,"protocolMappers":[],"defaultClientScopes":["roles"],"optionalClientScopes":[]},
{"id":"c-2","clientId":"gateway","secret":"live-secret-of-gate","fullScopeAllowed":false,"defaultClientScopes":["roles"],"optionalClientScopes":[]},
{"id":"c-3","clientId":"account","protocolMappers":[{"name":"own","protocol":"openid-connect","protocolMapper":"x","config":{}}]}],
"clientScopes":[{"name":"roles","protocolMappers":[]}]}`
	groups = `{"name":"groups","protocol":"openid-connect","protocolMapper":"oidc-group-membership-mapper","config":{"claim.name":"groups","access.token.claim":"true"}}`
	before = `{"realm":"primary","clients":[
{"clientId":"auth-service","secret":"old-secret-of-auth","protocolMappers":[` + groups + `],"defaultClientScopes":["roles","verified"],"optionalClientScopes":[]}]}`
	stale = `{"realm":"primary","clients":[
{"clientId":"auth-service","secret":"**********","protocolMappers":[],"defaultClientScopes":["roles"],"optionalClientScopes":[]},
{"clientId":"gateway","defaultClientScopes":["roles"],"optionalClientScopes":[]}],
"scopeMappings":[{"client":"gateway","roles":["reader"]}]}`
)

func doc(t *testing.T, text string) *document {
	t.Helper()
	d, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// TestSides: what is lost, since when, and what the next import would take away.
func TestSides(t *testing.T) {
	t.Parallel()
	mended := strings.Replace(live, `"protocolMappers":[],"defaultClientScopes":["roles"]`, `"protocolMappers":[`+groups+`],"defaultClientScopes":["roles","verified"]`, 1)
	for _, tc := range []struct {
		name                              string
		live, git, before                 string
		drift, earlier, uncommitted, next string
		same                              string
	}{
		{name: "all three", live: live, git: stale, before: before, next: "auth-service/groups/groups/verified//", same: "false",
			drift:       `{"auth-service":"missing-mapper groups; missing-scope verified; other secret","gateway":"missing-role reader"}`,
			earlier:     "gateway: role reader",
			uncommitted: "auth-service: mapper groups, auth-service: scope verified"},
		{name: "without an export what the import lacks is not missed", live: live, git: stale, drift: `{"gateway":"missing-role reader"}`, earlier: "gateway: role reader", next: "gateway/////reader", same: "false"},
		{name: "mended, and Git still stale", live: mended, git: stale, before: before, drift: `{"auth-service":"other secret","gateway":"missing-role reader"}`, earlier: "gateway: role reader",
			uncommitted: "auth-service: mapper groups, auth-service: scope verified", next: "gateway/////reader", same: "false"},
		{name: "the import is the live realm", live: live, git: live, drift: `{}`, next: "/////", same: "true"},
		{name: "without an import", live: live, before: before, drift: `{"auth-service":"missing-mapper groups; missing-scope verified; other secret"}`, next: "auth-service/groups/groups/verified//", same: "unknown"},
		{name: "a role of a client, and a client that is gone", live: live, git: `{"realm":"primary","clients":[{"clientId":"aaa-gone","protocolMappers":[` + groups + `]},{"clientId":"gateway","secret":"live-secret-of-gate","fullScopeAllowed":false}],"clientScopeMappings":{"timeline":[{"client":"gateway","roles":["writer"]}]}}`,
			drift: `{"aaa-gone":"missing-mapper groups","gateway":"missing-role timeline/writer"}`, earlier: "aaa-gone: mapper groups, gateway: role timeline/writer",
			uncommitted: "auth-service: scope roles, auth-service: setting fullScopeAllowed, auth-service: setting secret", next: "gateway////timeline/writer", same: "false"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := sides{live: *doc(t, tc.live)}
			if tc.git != "" {
				s.git = doc(t, tc.git)
			}
			if tc.before != "" {
				s.before = doc(t, tc.before)
			}
			f := steps.NewFacts(realmFacts())
			var obs steps.Observation
			s.tell([]string{"auth-service"}, f, &obs)
			facts := f.Rest("not read")
			if err := stepstest.Declared(realmFacts(), facts); err != nil {
				t.Error(err)
			}
			drift, err := json.Marshal(facts["drift"].Table())
			if err != nil {
				t.Fatal(err)
			}
			same := "unknown"
			if facts["same"].Known() {
				same = facts["same"].Text()
			}
			for what, got := range map[string][2]string{
				"drift": {string(drift), tc.drift}, "earlier": {strings.Join(facts["earlier"].Strings(), ", "), tc.earlier},
				"uncommitted": {strings.Join(facts["uncommitted"].Strings(), ", "), tc.uncommitted}, "same": {same, tc.same},
				"next": {strings.Join([]string{facts["next_client"].Text(), facts["next_mapper"].Text(), facts["next_claim"].Text(), facts["next_scope"].Text(), facts["next_role_of"].Text(), facts["next_role"].Text()}, "/"), tc.next},
			} {
				if got[0] != got[1] {
					t.Errorf("%s is %s, want %s", what, got[0], got[1])
				}
			}
		})
	}
}

// TestKeepsNoSecret: what is kept of each side has no secret of a client in it, by its name alone.
func TestKeepsNoSecret(t *testing.T) {
	t.Parallel()
	r, err := redact.New(bytes.Repeat([]byte{7}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := stepstest.NewSink()
	var obs steps.Observation
	sides{live: *doc(t, live), git: doc(t, stale), before: doc(t, before)}.keep(out, &obs)
	for _, role := range []string{"live", "import", "export"} {
		var kept bytes.Buffer
		a := r.Artifact(out.Media[role], &kept)
		_, err := a.Write(out.Artifacts[role].Bytes())
		_, closed := a.Close()
		err = errors.Join(err, closed)
		if text := kept.String(); err != nil || !strings.Contains(text, "auth-service") || strings.Contains(text, "-secret-of-") {
			t.Errorf("%s: %v: %s", role, err, text)
		}
	}
	if got := doc(t, before).secrets(); !slices.Equal(got, []string{"old-secret-of-auth"}) {
		t.Errorf("secrets are %q", got)
	}
	if got := doc(t, stale).secrets(); got != nil {
		t.Errorf("what an export masks is no secret: %q", got)
	}
}

func TestStrategies(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ spec, want, unknown string }{
		{`{}`, strategyNot, ""},
		{`{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"KEYCLOAK_IMPORT_STRATEGY","value":"OVERWRITE"}]}]}}}`, overwrites, ""},
		{`{"template":{"spec":{"initContainers":[{"name":"a","env":[{"name":"KC_SPI_IMPORT_SINGLE_FILE_STRATEGY","value":"OVERWRITE_EXISTING"}]}]}}}`, overwrites, ""},
		{`{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"KC_SPI_IMPORT_SINGLE_FILE_STRATEGY","value":"IGNORE_EXISTING"}]}]}}}`, ignores, ""},
		{`{"template":{"spec":{"containers":[{"name":"a","args":["import","--override","false"]}]}}}`, ignores, ""},
		{`{"realmImport":{"strategy":"OVERWRITE_EXISTING"}}`, overwrites, ""},
		{`{"realmImport":{"strategy":"IGNORE_EXISTING"},"template":{"spec":{"containers":[{"name":"a","args":["--spi-import-single-file-strategy=OVERWRITE"]}]}}}`, "", "different things"},
		{`{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"KEYCLOAK_IMPORT_STRATEGY","value":"MERGE"}]}]}}}`, "", "form that is not known"},
		{`{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"KEYCLOAK_IMPORT_STRATEGY","valueFrom":{"configMapKeyRef":{"name":"s","key":"k"}}}]}]}}}`, ignores, ""},
		{`{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"KEYCLOAK_IMPORT_STRATEGY","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}]}}}`, "", "elsewhere"},
	} {
		var d deployed
		if err := json.Unmarshal([]byte(`{"spec":`+tc.spec+`}`), &d); err != nil {
			t.Fatal(err)
		}
		var w workload
		w.strategies(d, func(v variable) (string, error) {
			if v.ValueFrom.ConfigMapKeyRef == nil {
				return "", errors.New("it comes from elsewhere")
			}
			return "IGNORE_EXISTING", nil
		})
		if w.strategy != tc.want || !strings.Contains(w.unknown, tc.unknown) || (tc.unknown == "") != (w.unknown == "") {
			t.Errorf("%s: %q (%q), want %q (%q)", tc.spec, w.strategy, w.unknown, tc.want, tc.unknown)
		}
	}
}

func TestAtRest(t *testing.T) {
	t.Parallel()
	const rests = `"replicas":2,"readyReplicas":2,"updatedReplicas":2,"observedGeneration":3`
	for _, tc := range []struct{ update, status, want string }{
		{"", rests, ""},
		{"", strings.Replace(rests, `eration":3`, `eration":2`, 1), "has not been rolled out"},
		{"", strings.Replace(rests, `"updatedReplicas":2`, `"updatedReplicas":1`, 1), "1 of 2 Pods have"},
		{"OnDelete", strings.Replace(rests, `"updatedReplicas":2`, `"updatedReplicas":1`, 1), ""},
		{"", strings.Replace(rests, `"readyReplicas":2`, `"readyReplicas":1`, 1), "1 of 2 Pods are ready"},
		{"", strings.Replace(rests, `"replicas":2`, `"replicas":3`, 1), "3 are there"},
		{"", `"observedGeneration":3`, "0 of 2"},
	} {
		var d deployed
		if err := json.Unmarshal([]byte(`{"metadata":{"generation":3},"spec":{"replicas":2,"updateStrategy":{"type":"`+tc.update+`"}},"status":{`+tc.status+`}}`), &d); err != nil {
			t.Fatal(err)
		}
		var w workload
		w.rest(d)
		if !strings.Contains(w.restarting, tc.want) || (tc.want == "") != (w.restarting == "") {
			t.Errorf("%s: %q, want %q", tc.status, w.restarting, tc.want)
		}
	}
}

// TestMapperFloors: one condition of the gate after the other does not hold.
func TestMapperFloors(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://keycloak.example")
	if err != nil {
		t.Fatal(err)
	}
	in := steps.Params{"realm": steps.StringOf("primary"), "client": steps.StringOf("auth-service"), "mapper": steps.StringOf("groups")}
	whole := func() scene {
		return scene{base: base, user: "admin", c: doc(t, live).Clients[0], there: true, sides: sides{git: doc(t, stale), before: doc(t, before)},
			app: app.App{Controller: app.ArgoCD, Kind: "Application", Name: "keycloak", AutoSync: true, Suspension: &app.Suspension{}}, runs: &workload{}}
	}
	with := func(config string) *document {
		return doc(t, strings.Replace(before, `{"claim.name":"groups","access.token.claim":"true"}`, config, 1))
	}
	for name, tc := range map[string]struct {
		change func(*scene)
		want   string
	}{
		"all holds":                      {func(*scene) {}, ""},
		"auto-sync was never on":         {func(s *scene) { s.app.AutoSync, s.app.Suspension = false, nil }, ""},
		"the import alone has it":        {func(s *scene) { s.sides.git, s.sides.before = s.sides.before, nil }, ""},
		"both have the same":             {func(s *scene) { s.sides.git = s.sides.before }, ""},
		"auto-sync is on":                {func(s *scene) { s.app.Suspension = nil }, "syncs by itself"},
		"an operation runs":              {func(s *scene) { s.app.Operation.Phase = app.Running }, "is running"},
		"an operation is ended":          {func(s *scene) { s.app.Operation.Phase = app.Terminating }, "is terminating"},
		"Pods restart":                   {func(s *scene) { s.runs.restarting = "1 of 2 Pods are ready" }, "not at rest"},
		"what runs it is not known":      {func(s *scene) { s.runs = nil }, "was not named"},
		"the client is gone":             {func(s *scene) { s.c, s.there = client{}, false }, "has no client"},
		"its id is no part of a path":    {func(s *scene) { s.c.ID = "../x" }, "no path takes"},
		"it is there":                    {func(s *scene) { s.c.Mappers = s.sides.before.Clients[0].Mappers }, "already"},
		"another one is there":           {func(s *scene) { s.c.Mappers = []mapper{{Name: "groups"}} }, "another mapper"},
		"no side has it":                 {func(s *scene) { s.sides.before = nil }, "what it was is not known"},
		"two sides have it, differently": {func(s *scene) { s.sides.git = with(`{"claim.name":"group"}`) }, "not the same"},
		"it names no claim":              {func(s *scene) { s.sides.before = with(`{}`) }, "names no claim"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := whole()
			tc.change(&s)
			p := s.preview(aMapper(), in)
			switch {
			case tc.want == "" && len(p.Unmet) > 0:
				t.Errorf("refused: %v", p.Unmet)
			case tc.want != "" && (len(p.Unmet) != 1 || !strings.Contains(p.Unmet[0].Why, tc.want)):
				t.Errorf("%v, want one need with %q", p.Unmet, tc.want)
			}
			if p.Phrase != "write realm auth-service/groups" {
				t.Errorf("the phrase is %q", p.Phrase)
			}
		})
	}
}

// TestScopeFloors: one condition of the gate of a client scope after the other does not hold.
func TestScopeFloors(t *testing.T) {
	t.Parallel()
	in := steps.Params{"realm": steps.StringOf("primary"), "client": steps.StringOf("auth-service"), "scope": steps.StringOf("verified")}
	optional := func() *document {
		return doc(t, strings.Replace(before, `["roles","verified"],"optionalClientScopes":[]`, `["roles"],"optionalClientScopes":["verified"]`, 1))
	}
	whole := func(t *testing.T) scene {
		s := calmScene(t)
		s.scope = &scope{ID: "s-1", Name: "verified", Mappers: []mapper{{Name: "email verified", Config: map[string]any{"claim.name": "email_verified"}}}}
		return s
	}
	floors(t, aScope(), in, "write realm auth-service/verified", whole, map[string]floor{
		"all holds":                     {func(*scene) {}, "", "PUT https://keycloak.example/admin/realms/primary/clients/c-1/default-client-scopes/s-1", "as default"},
		"the export has it as optional": {func(s *scene) { s.sides.before = optional() }, "", "PUT https://keycloak.example/admin/realms/primary/clients/c-1/optional-client-scopes/s-1", "scope=verified"},
		"the import alone has it":       {func(s *scene) { s.sides.git, s.sides.before = s.sides.before, nil }, "", "", ""},
		"one mapper of two tells":       {func(s *scene) { s.scope.Mappers = append(s.scope.Mappers, mapper{Name: "x"}) }, "", "", "have the claim email_verified"},
		"one claim of several": {func(s *scene) {
			s.scope.Mappers = append(s.scope.Mappers, mapper{Config: map[string]any{"claim.name": "email"}})
		}, "", "", "one of email, email_verified"},
		"auto-sync is on":              {func(s *scene) { s.app.Suspension = nil }, "syncs by itself", "", ""},
		"Pods restart":                 {func(s *scene) { s.runs.restarting = "1 of 2 Pods are ready" }, "not at rest", "", ""},
		"the client is gone":           {func(s *scene) { s.c, s.there = client{}, false }, "has no client", "", ""},
		"its id is no part of a path":  {func(s *scene) { s.c.ID = "../x" }, "The id of the client is", "", ""},
		"no side has it":               {func(s *scene) { s.sides.before = nil }, "what it was is not known", "", ""},
		"two sides have it, otherwise": {func(s *scene) { s.sides.git = optional() }, "in one it is default, in the other optional", "", ""},
		"the realm has none":           {func(s *scene) { s.scope = nil }, "no client scope verified, and none is created here", "", ""},
		"the id of the scope":          {func(s *scene) { s.scope.ID = "" }, "The id of the client scope", "", ""},
		"it is of another protocol":    {func(s *scene) { s.scope.Protocol = "saml" }, "attaches nothing", "", ""},
		"it lost its mappers":          {func(s *scene) { s.scope.Mappers = nil }, "no mapper with a claim", "", ""},
		"its claim goes elsewhere":     {func(s *scene) { s.scope.Mappers[0].Config["access.token.claim"] = "false" }, "no mapper with a claim", "", ""},
		"it is there":                  {func(s *scene) { s.c.DefaultScopes = []string{"verified"} }, "has the scope verified already", "", ""},
		"it is there as optional":      {func(s *scene) { s.c.OptionalScopes = []string{"verified"} }, "as optional already, and the export has it as default", "", ""},
		"it is there as default":       {func(s *scene) { s.c.DefaultScopes, s.sides.before = []string{"verified"}, optional() }, "as default already, and the export has it as optional", "", ""},
	})
}

// TestRoleFloors: one condition of the gate of a role after the other does not hold.
func TestRoleFloors(t *testing.T) {
	t.Parallel()
	in := steps.Params{"realm": steps.StringOf("primary"), "client": steps.StringOf("gateway"), "role": steps.StringOf("reader")}
	whole := func(t *testing.T) scene {
		s := calmScene(t)
		s.c, s.role = doc(t, live).Clients[1], &role{ID: "r-1", Name: "reader", Container: "primary"}
		return s
	}
	floors(t, aRole(), in, "write realm gateway/reader", whole, map[string]floor{
		"all holds": {func(*scene) {}, "", "POST https://keycloak.example/admin/realms/primary/clients/c-2/scope-mappings/realm\n" +
			`[{"id":"r-1","name":"reader","composite":false,"clientRole":false,"containerId":"primary"}]`, "have the claim realm_access with that role, for each account that has it"},
		"the export alone has it":     {func(s *scene) { s.sides.git, s.sides.before = nil, s.sides.git }, "", "", ""},
		"it is composed":              {func(s *scene) { s.role.Composite = true }, "", "", "the roles that it is composed of"},
		"auto-sync is on":             {func(s *scene) { s.app.Suspension = nil }, "syncs by itself", "", ""},
		"Pods restart":                {func(s *scene) { s.runs.restarting = "1 of 2 Pods are ready" }, "not at rest", "", ""},
		"the client is gone":          {func(s *scene) { s.c, s.there = client{}, false }, "has no client", "", ""},
		"its id is no part of a path": {func(s *scene) { s.c.ID = "../x" }, "The id of the client is", "", ""},
		"no side has it":              {func(s *scene) { s.sides.git = nil }, "what it was is not known", "", ""},
		"the realm has none":          {func(s *scene) { s.role = nil }, "no role reader, and none is created here", "", ""},
		"it is there":                 {func(s *scene) { s.has = true }, "has the role reader already", "", ""},
		"the client has every role":   {func(s *scene) { s.c.FullScope = nil }, "every role in its scope", "", ""},
	})
	in = steps.Params{"realm": steps.StringOf("primary"), "client": steps.StringOf("gateway"), "role": steps.StringOf("reader"), "role_of": steps.StringOf("timeline")}
	of := func(t *testing.T) scene {
		s := whole(t)
		s.owner, s.sides.git = &client{ID: "c-9"}, nil
		s.sides.before = doc(t, strings.Replace(stale, `"scopeMappings":[{"client":"gateway","roles":["reader"]}]`, `"clientScopeMappings":{"timeline":[{"client":"gateway","roles":["reader"]}]}`, 1))
		return s
	}
	floors(t, aRole(), in, "write realm gateway/timeline/reader", of, map[string]floor{
		"all of a client's holds":              {func(*scene) {}, "", "POST https://keycloak.example/admin/realms/primary/clients/c-2/scope-mappings/clients/c-9\n", "resource_access"},
		"the realm's is another one":           {func(s *scene) { s.sides.before = doc(t, stale) }, "what it was is not known", "", ""},
		"the client whose role it is, is gone": {func(s *scene) { s.owner, s.role = nil, nil }, "no client timeline, whose role it is", "", ""},
		"the client has none":                  {func(s *scene) { s.role = nil }, "no role timeline/reader", "", ""},
	})
}

// floor is what changes of a scene in which all holds, why the gate refuses then, and parts of its request and effect.
type floor struct {
	change         func(*scene)
	want           string
	sends, effects string
}

// calmScene is one in which nothing is about to write over what is written.
func calmScene(t *testing.T) scene {
	t.Helper()
	base, err := url.Parse("https://keycloak.example")
	if err != nil {
		t.Fatal(err)
	}
	return scene{base: base, user: "admin", c: doc(t, live).Clients[0], there: true, sides: sides{git: doc(t, stale), before: doc(t, before)},
		app: app.App{Controller: app.ArgoCD, Kind: "Application", Name: "keycloak", AutoSync: true, Suspension: &app.Suspension{}}, runs: &workload{}}
}

func floors(t *testing.T, of thing, in steps.Params, phrase string, whole func(*testing.T) scene, cases map[string]floor) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := whole(t)
			tc.change(&s)
			p := s.preview(of, in)
			switch {
			case tc.want == "" && len(p.Unmet) > 0:
				t.Errorf("refused: %v", p.Unmet)
			case tc.want != "" && (len(p.Unmet) != 1 || !strings.Contains(p.Unmet[0].Why, tc.want)):
				t.Errorf("%v, want one need with %q", p.Unmet, tc.want)
			}
			if p.Phrase != phrase || !strings.HasPrefix(p.Request, tc.sends) || !strings.Contains(p.Effect, tc.effects) {
				t.Errorf("%q, %q, %q", p.Phrase, p.Request, p.Effect)
			}
		})
	}
}

// TestGatesAct: each gate is previewed, confirmed and sent to the stand-in, read again, and finds nothing left to do.
// What it wrote is taken away again as its undo says, and the later look tells that.
func TestGatesAct(t *testing.T) {
	t.Parallel()
	const lost = `{"realm":"primary","roles":{"realm":[{"name":"reader"}],"client":{"timeline":[{"name":"writer"}]}},"clients":[
{"clientId":"gateway","fullScopeAllowed":false,"secret":"live-secret-of-gate","protocolMappers":[],"defaultClientScopes":["roles"],"optionalClientScopes":[]},
{"clientId":"timeline","fullScopeAllowed":true}],
"clientScopes":[{"name":"roles"},{"name":"verified","protocolMappers":[` + groups + `]},{"name":"extra","protocolMappers":[` + groups + `]}]}`
	const had = `{"realm":"primary","clients":[{"clientId":"gateway","protocolMappers":[` + groups + `],"defaultClientScopes":["roles","verified"],"optionalClientScopes":["extra"]}],
"scopeMappings":[{"client":"gateway","roles":["reader"]}],"clientScopeMappings":{"timeline":[{"client":"gateway","roles":["writer"]}]}}`
	for name, tc := range map[string]struct {
		of         thing
		params     map[string]string
		undo, body string // below the client; ID is what the act made, OWNER the client of the role
	}{
		"a mapper":                 {aMapper(), map[string]string{"mapper": "groups"}, "protocol-mappers/models/ID", ""},
		"a default scope":          {aScope(), map[string]string{"scope": "verified"}, "default-client-scopes/ID", ""},
		"an optional scope":        {aScope(), map[string]string{"scope": "extra"}, "optional-client-scopes/ID", ""},
		"a role of the realm":      {aRole(), map[string]string{"role": "reader"}, "scope-mappings/realm", "same"},
		"a role of another client": {aRole(), map[string]string{"role": "writer", "role_of": "timeline"}, "scope-mappings/clients/OWNER", "same"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			env, out := standIn(t)
			s, err := signIn(ctx, env, nil, out)
			if err != nil {
				t.Fatal(err)
			}
			defer s.done()
			started(t, s, 1, lost)
			in := steps.Params{"realm": steps.StringOf("primary"), "client": steps.StringOf("gateway")}
			for k, v := range tc.params {
				in[k] = steps.StringOf(v)
			}
			look := func() steps.Preview {
				of := calmScene(t)
				of.base, of.sides = s.base, sides{before: doc(t, had)}
				if of.c, of.there, err = s.clientOf(ctx, "primary", "gateway"); err == nil {
					err = tc.of.read(ctx, s, &of, in)
				}
				if err != nil {
					t.Fatal(err)
				}
				return of.preview(tc.of, in)
			}
			p := look()
			a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
			if err != nil {
				t.Fatal(err)
			}
			g := giveGate{thing: tc.of, env: env}
			o, err := g.Act(ctx, a, out)
			if err != nil || o.Result != steps.Done || steps.Find(o.After, tc.of.kind+" now") != asWant {
				t.Fatalf("%+v: %v", o, err)
			}
			if o, err := g.Again(ctx, p.Target, in, out); err != nil || o.Result != steps.Done {
				t.Errorf("%+v: %v", o, err)
			}
			if again := look(); len(again.Unmet) != 1 || !strings.Contains(again.Unmet[0].Why, "already") {
				t.Errorf("it may be written twice: %v", again.Unmet)
			}
			id := steps.Find(o.After, keyMade) + steps.Find(p.Target, keyScopeID)
			undo := strings.NewReplacer("ID", id, "OWNER", steps.Find(p.Target, keyOwnerID)).Replace(tc.undo)
			body := ""
			if tc.body != "" {
				_, body, _ = strings.Cut(p.Request, "\n")
			}
			if !strings.Contains(strings.Replace(p.Undo, "/ID", "/"+id, 1), undo) {
				t.Errorf("the undo is %q, not of %s", p.Undo, undo)
			}
			if status, said := asRobot(t, s, "DELETE", "admin/realms/primary/clients/"+steps.Find(p.Target, keyID)+"/"+undo, body); status != 204 {
				t.Fatalf("%d %s", status, said)
			}
			if o, err := g.Again(ctx, p.Target, in, out); err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, absent) {
				t.Errorf("%+v: %v", o, err)
			}
			if last := look(); len(last.Unmet) != 0 || last.Digest("i", "s") != p.Digest("i", "s") {
				t.Errorf("the undo left something: %v", last.Unmet)
			}
			started(t, s, 1, strings.Replace(lost, `"clientId":"gateway"`, `"clientId":"gate"`, 1))
			if o, err := g.Find(ctx, p.Target, in, out); err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, "the client is gone") {
				t.Errorf("%+v: %v", o, err)
			}
		})
	}
}

// TestAnotherType: what the server answers with 204 and does not do is a failed act, not a done one.
func TestAnotherType(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	env, out := standIn(t)
	s, err := signIn(ctx, env, nil, out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.done()
	started(t, s, 1, `{"realm":"primary","clients":[{"id":"c-1","clientId":"auth-service","defaultClientScopes":["roles"],"optionalClientScopes":[]}],"clientScopes":[{"id":"s-1","name":"verified","protocolMappers":[`+groups+`]}]}`)
	of := calmScene(t)
	of.base = s.base
	in := steps.Params{"realm": steps.StringOf("primary"), "client": steps.StringOf("auth-service"), "scope": steps.StringOf("verified")}
	if err := aScope().read(ctx, s, &of, in); err != nil {
		t.Fatal(err)
	}
	p := of.preview(aScope(), in)
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		t.Fatal(err)
	}
	if status, said := asRobot(t, s, "PUT", "admin/realms/primary/clients/c-1/optional-client-scopes/s-1", ""); status != 204 {
		t.Fatalf("%d %s", status, said)
	}
	o, err := giveGate{thing: aScope(), env: env}.Act(ctx, a, out)
	if err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, "204; read again: it is there, as optional") {
		t.Errorf("%+v: %v", o, err)
	}
}

// TestRolesThatWereNotRead: a client that has every role by itself has its mappings not read, and lacks none for that.
func TestRolesThatWereNotRead(t *testing.T) {
	t.Parallel()
	env, out := standIn(t)
	s, err := signIn(t.Context(), env, nil, out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.done()
	const of = `{"realm":"primary","clients":[{"clientId":"full","fullScopeAllowed":true},{"clientId":"account-console","fullScopeAllowed":false}],
"scopeMappings":[{"client":"full","roles":["reader"]}],"clientScopeMappings":{"full":[{"client":"account-console","roles":["manage-account"]}]}}`
	started(t, s, 1, of)
	got, _, err := s.readLive(t.Context(), "primary", "")
	if err != nil {
		t.Fatal(err)
	}
	if list := (sides{live: got, git: doc(t, of), before: doc(t, of)}).compare(nil); len(list) > 0 {
		t.Errorf("a realm differs from its own export: %v", list)
	}
}

// standIn serves a realm, and returns what an operator has in the environment.
func standIn(t *testing.T) (steps.Env, *stepstest.Sink) {
	t.Helper()
	dir := t.TempDir()
	words, err := keycloak.Prepare(dir, keycloak.Robot)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- keycloak.Serve(ctx, dir) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	addr := ""
	for addr == "" {
		if addr, err = bucket.AddressIn(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
	}
	env := steps.Env{Environ: []string{"KEYCLOAK_URL=http://" + addr, "KEYCLOAK_USER=" + keycloak.Robot, "KEYCLOAK_PASSWORD=" + words[keycloak.Robot]}, Now: time.Now}
	return env, stepstest.NewSink()
}

// started does what the start of a Pod does. No transport of a gate would send it.
func started(t *testing.T, s *server, sessions int, realm string) {
	t.Helper()
	if status, said := asRobot(t, s, "POST", "stand-in/start", fmt.Sprintf(`{"strategy":"OVERWRITE","sessions":%d,"realm":%s}`, sessions, realm)); status != 204 {
		t.Fatalf("%d %s", status, said)
	}
}

// asRobot sends what a person does in the console.
func asRobot(t *testing.T, s *server, method, path, body string) (status int, said string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.base.JoinPath(path).String(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	got, err := do(http.DefaultClient, req)
	if err != nil {
		t.Fatal(err)
	}
	return got.status, string(got.body)
}

// TestServer asks the stand-in as the probe and the gate do.
func TestServer(t *testing.T) {
	t.Parallel()
	env, out := standIn(t)
	ctx := t.Context()
	s, err := signIn(ctx, env, nil, out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.done()
	if !slices.Contains(out.Secrets, s.token) || !slices.Contains(out.Secrets, env.Getenv("KEYCLOAK_PASSWORD")) {
		t.Error("the password or the token was not told")
	}
	started(t, s, 8000, stale)
	got, gaps, err := s.readLive(ctx, "primary", "")
	if err != nil || len(gaps) > 0 || len(got.Clients) != 2 {
		t.Fatalf("%+v, %v: %v", got, gaps, err)
	}
	if n, err := s.sessions(ctx, "primary"); n != 8000 || err != nil {
		t.Errorf("%d sessions: %v", n, err)
	}
	if kids, err := s.keys(ctx, "primary"); len(kids) != 1 || err != nil {
		t.Errorf("keys %v: %v", kids, err)
	}
	at := "admin/realms/primary/clients/" + got.Clients[0].ID + "/protocol-mappers/models"
	m := doc(t, before).Clients[0].Mappers[0]
	if said, err := s.send(ctx, order{method: "POST", path: at, body: m.body()}); err != nil || !strings.HasPrefix(said, "201 ") || !strings.Contains(said, at) {
		t.Errorf("%s: %v", said, err)
	}
	if said, err := s.send(ctx, order{method: "POST", path: at, body: m.body()}); !errors.Is(err, transport.ErrNotTaken) || !strings.Contains(err.Error(), "409") {
		t.Errorf("a mapper that is there was written again: %s, %v", said, err)
	}
	if c, there, err := s.clientOf(ctx, "primary", "auth-service"); err != nil || !there || stands(c, "groups", m.body()) != asWant {
		t.Errorf("%+v: %v", c, err)
	}
	if _, _, err := s.readLive(ctx, "elsewhere", ""); !errors.Is(err, errAbsent) {
		t.Errorf("another realm: %v", err)
	}
	const wrong = "not-this-password"
	env.Environ = append(env.Environ, "KEYCLOAK_PASSWORD="+wrong)
	if _, err := signIn(ctx, env, nil, out); !errors.Is(err, steps.ErrDenied) || strings.Contains(err.Error(), wrong) {
		t.Errorf("another password: %v", err)
	}
	for _, address := range []string{"", "http://keycloak.example", "https://a:b@keycloak.example", "https://169.254.169.254", "https://keycloak.example/?x=1"} {
		env.Environ = append(env.Environ, "KEYCLOAK_URL="+address)
		if _, err := signIn(ctx, env, nil, out); err == nil || strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestExportThatIsNotThere: the live realm is kept without it, and nothing is said to be as before.
func TestExportThatIsNotThere(t *testing.T) {
	t.Parallel()
	env, out := standIn(t)
	s, err := signIn(t.Context(), env, nil, out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.done()
	started(t, s, 12, live)
	env.Dir = t.TempDir()
	obs, err := realmProbe{env: env}.Probe(t.Context(), steps.Params{"realm": steps.IdentOf("primary"), "export": steps.PathOf("gone.json")}, out)
	if err != nil {
		t.Fatal(err)
	}
	if out.Artifacts["live"] == nil || !strings.Contains(out.Artifacts["live"].String(), "auth-service") {
		t.Error("the live realm was not kept")
	}
	if f := obs.Facts; f["sessions"].Int() != 12 || f["clients"].Int() != 3 || len(f["kids"].Strings()) != 1 {
		t.Errorf("facts are %v", f)
	}
	for _, name := range []string{"drifted", "same", "uncommitted", "missing_mappers", "next_client"} {
		if v, declared := obs.Facts[name]; declared && (v.Known() || !strings.Contains(v.Why(), "gone.json")) {
			t.Errorf("%s is %v", name, v)
		}
	}
	if len(obs.Findings) != 1 || !strings.Contains(obs.Findings[0].Say, "Name another file, or none") {
		t.Errorf("findings are %v", obs.Findings)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	// {"alg":"HS256"} {"azp":"auth-service","aud":["account","timeline"],"iat":1767225600,"groups":["/operations"],"realm_access":{"roles":["reader"]},"resource_access":{"timeline":{"roles":["writer"]}}}
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJhenAiOiJhdXRoLXNlcnZpY2UiLCJhdWQiOlsiYWNjb3VudCIsInRpbWVsaW5lIl0sImlhdCI6MTc2NzIyNTYwMCwiZ3JvdXBzIjpbIi9vcGVyYXRpb25zIl0sInJlYWxtX2FjY2VzcyI6eyJyb2xlcyI6WyJyZWFkZXIiXX0sInJlc291cmNlX2FjY2VzcyI6eyJ0aW1lbGluZSI6eyJyb2xlcyI6WyJ3cml0ZXIiXX19fQ.c2lnbmF0dXJlLW9mLWl0"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("token: "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		client, want, audience string
		complete               bool
		missing                string
		oneOf                  []string
		role, roleOf           string
	}{
		{"auth-service", "groups", "timeline", true, "", nil, "", ""},
		{"", "", "", true, "", []string{}, "", ""},
		{"auth-service", "email_verified", "", false, "email_verified", nil, "", ""},
		{"auth-service", "groups", "profile", false, "aud profile", nil, "", ""},
		{"profile", "groups", "", false, "", nil, "", ""},
		{"auth-service", "", "", true, "", []string{"email_verified", "groups"}, "reader", ""},
		{"auth-service", "", "", true, "", []string{"groups"}, "writer", "timeline"},
		{"auth-service", "", "", false, "one of email, email_verified", []string{"email", "email_verified"}, "", ""},
		{"auth-service", "", "", false, "email, the role writer", []string{"email"}, "writer", ""},
		{"auth-service", "", "", false, "the role timeline/reader", nil, "reader", "timeline"},
	} {
		in := steps.Params{"file": steps.PathOf("token"), "client": steps.StringOf(tc.client), "required": steps.StringsOf([]string{tc.want}), "audience": steps.StringOf(tc.audience),
			"one_of": steps.StringsOf(tc.oneOf), "role": steps.StringOf(tc.role), "role_of": steps.StringOf(tc.roleOf)}
		out := stepstest.NewSink()
		obs, err := stepstest.Observe(t.Context(), claimsProbe{steps.Env{Dir: dir}}, claimsFacts(), in, out)
		if err != nil {
			t.Fatal(err)
		}
		if got := obs.Facts; got["complete"].Bool() != tc.complete || strings.Join(got["missing"].Strings(), ", ") != tc.missing || !got["issued"].Time().Equal(time.Unix(1767225600, 0)) || got["issued_to"].Text() != "auth-service" {
			t.Errorf("%+v: %v", tc, got)
		}
		raw, err := json.Marshal(obs)
		if err != nil || strings.Contains(string(raw), "operations") || strings.Contains(string(raw), `"writer"`) || !slices.Contains(out.Secrets, token) || len(out.Artifacts) > 0 {
			t.Errorf("%v: the token was kept, or not told: %s", err, raw)
		}
	}
}

// TestClaimOfAMapper: a token has the object that a dot leads into.
func TestClaimOfAMapper(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"groups": "groups", "realm_access.roles": "realm_access", "resource_access.${client_id}.roles": "resource_access", `https://example\.com/groups`: "https://example.com/groups", `a\.b.c`: "a.b", "": ""} {
		if got := (mapper{Config: map[string]any{"claim.name": name}}).claim(); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := (mapper{Type: "oidc-audience-mapper"}).claim(); got != "aud" {
		t.Errorf("an audience is %q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{live, before, stale, `{"clients":[{"clientId":"a"},{"clientId":"a"}]}`, `{"clients":null}`, `[]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parse([]byte(text))
		if err != nil {
			return
		}
		s := sides{live: d, git: &d, before: &d}
		for _, x := range s.compare(nil) {
			t.Errorf("a realm differs from itself: %s", x)
		}
	})
}
