package keycloak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/drills/keycloak"
	"handrail/evidence/redact"
	"handrail/steps"
	"handrail/steps/gitops/app"
	"handrail/steps/stepstest"
)

const (
	live = `{"realm":"primary","clients":[
{"id":"c-1","clientId":"auth-service","secret":"live-secret-of-auth","fullScopeAllowed":true,"protocolMappers":[],"defaultClientScopes":["roles"],"optionalClientScopes":[]},
{"id":"c-2","clientId":"gateway","fullScopeAllowed":false,"defaultClientScopes":["roles"],"optionalClientScopes":[]},
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
		{name: "all three", live: live, git: stale, before: before, next: "auth-service/groups/groups", same: "false",
			drift:       `{"auth-service":"missing-mapper groups; missing-scope verified; other secret","gateway":"missing-role reader"}`,
			earlier:     "gateway: role reader",
			uncommitted: "auth-service: mapper groups, auth-service: scope verified"},
		{name: "without an export what the import lacks is not missed", live: live, git: stale, drift: `{"gateway":"missing-role reader"}`, earlier: "gateway: role reader", next: "//", same: "false"},
		{name: "mended, and Git still stale", live: mended, git: stale, before: before, drift: `{"auth-service":"other secret","gateway":"missing-role reader"}`, earlier: "gateway: role reader",
			uncommitted: "auth-service: mapper groups, auth-service: scope verified", next: "//", same: "false"},
		{name: "the import is the live realm", live: live, git: live, drift: `{}`, next: "//", same: "true"},
		{name: "without an import", live: live, before: before, drift: `{"auth-service":"missing-mapper groups; missing-scope verified; other secret"}`, next: "auth-service/groups/groups", same: "unknown"},
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
				"next": {facts["next_client"].Text() + "/" + facts["next_mapper"].Text() + "/" + facts["next_claim"].Text(), tc.next},
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
			p := s.preview(in)
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
		if addr, err = keycloak.Address(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
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
	if status, said, err := s.post(ctx, "stand-in/start", []byte(`{"strategy":"OVERWRITE","sessions":8000,"realm":`+stale+`}`)); err != nil || status != 204 {
		t.Fatalf("%d %s: %v", status, said, err)
	}
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
	if status, said, err := s.post(ctx, at, m.body()); err != nil || status != 201 || !strings.Contains(said, at) {
		t.Errorf("%d %s: %v", status, said, err)
	}
	if status, _, err := s.post(ctx, at, m.body()); err != nil || status != 409 {
		t.Errorf("a mapper that is there was written again: %d, %v", status, err)
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
	if status, said, err := s.post(t.Context(), "stand-in/start", []byte(`{"strategy":"OVERWRITE","sessions":12,"realm":`+live+`}`)); err != nil || status != 204 {
		t.Fatalf("%d %s: %v", status, said, err)
	}
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
	// {"alg":"HS256"} {"azp":"auth-service","aud":["account","timeline"],"iat":1767225600,"groups":["/operations"]}
	const token = "eyJhbGciOiJIUzI1NiJ9.eyJhenAiOiJhdXRoLXNlcnZpY2UiLCJhdWQiOlsiYWNjb3VudCIsInRpbWVsaW5lIl0sImlhdCI6MTc2NzIyNTYwMCwiZ3JvdXBzIjpbIi9vcGVyYXRpb25zIl19.c2lnbmF0dXJlLW9mLWl0"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("token: "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		client, want, audience string
		complete               bool
		missing                string
	}{
		{"auth-service", "groups", "timeline", true, ""},
		{"", "", "", true, ""},
		{"auth-service", "email_verified", "", false, "email_verified"},
		{"auth-service", "groups", "profile", false, "aud profile"},
		{"profile", "groups", "", false, ""},
	} {
		in := steps.Params{"file": steps.PathOf("token"), "client": steps.StringOf(tc.client), "required": steps.StringsOf([]string{tc.want}), "audience": steps.StringOf(tc.audience)}
		out := stepstest.NewSink()
		obs, err := stepstest.Observe(t.Context(), claimsProbe{steps.Env{Dir: dir}}, claimsFacts(), in, out)
		if err != nil {
			t.Fatal(err)
		}
		if got := obs.Facts; got["complete"].Bool() != tc.complete || strings.Join(got["missing"].Strings(), ", ") != tc.missing || !got["issued"].Time().Equal(time.Unix(1767225600, 0)) || got["issued_to"].Text() != "auth-service" {
			t.Errorf("%+v: %v", tc, got)
		}
		raw, err := json.Marshal(obs)
		if err != nil || strings.Contains(string(raw), "operations") || !slices.Contains(out.Secrets, token) || len(out.Artifacts) > 0 {
			t.Errorf("%v: the token was kept, or not told: %s", err, raw)
		}
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
