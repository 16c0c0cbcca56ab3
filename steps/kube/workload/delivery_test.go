package workload

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
)

func at(minute int) time.Time { return time.Date(2026, 3, 4, 2, minute, 0, 0, time.UTC) }

// TestDeliveryJudge: four statuses, each by what tells it from its neighbours.
func TestDeliveryJudge(t *testing.T) {
	t.Parallel()
	good := func(change func(*deliveryState)) deliveryState {
		d := deliveryState{exists: true, by: byExternal, carrier: "externalsecret/prod/db", ready: "True", says: "SecretSynced",
			stores: []storeState{{label: "secretstore vault", ready: "True"}}, refreshed: at(30), interval: 10 * time.Minute, now: at(35), written: at(14)}
		if change != nil {
			change(&d)
		}
		return d
	}
	failing := func(event string) func(*deliveryState) {
		return func(d *deliveryState) {
			d.ready, d.says, d.event = "False", "SecretSyncedError: could not get secret data from provider", event
		}
	}
	for name, tc := range map[string]struct {
		d                    deliveryState
		status, fault, words string
	}{
		"it came": {good(nil), deliveryDone, faultNone, "brought what its source had"},
		"the store is not ready": {good(func(d *deliveryState) {
			d.stores[0] = storeState{label: "secretstore vault", ready: "False", says: "401"}
		}), deliveryDenied, faultIdentity, "vault is not ready: 401"},
		"no such store":       {good(func(d *deliveryState) { d.stores[0] = storeState{label: "secretstore vault", absent: true} }), deliveryWrong, faultReference, "does not exist"},
		"forbidden":           {good(failing(`secrets "db" is forbidden: User "system:serviceaccount:eso:reader" cannot get resource`)), deliveryDenied, faultIdentity, "is refused"},
		"access denied":       {good(failing("AccessDeniedException: User is not authorized to perform secretsmanager:GetSecretValue")), deliveryDenied, faultIdentity, "is refused"},
		"no such path":        {good(failing("error retrieving secret at .data[0], key: /db/nope, err: Secret does not exist")), deliveryWrong, faultReference, "/db/nope"},
		"not found":           {good(failing(`secrets "db" not found`)), deliveryWrong, faultReference, "not found"},
		"it does not say why": {good(failing("")), "", "", "does not say whether"},
		"another failure":     {good(failing("context deadline exceeded")), "", "", "does not say whether"},
		// A policy that denies what is not there must not pass for a wrong reference.
		"both words":                      {good(failing("denied: it does not exist or you may not see it")), deliveryDenied, faultIdentity, ""},
		"two of them":                     {good(func(d *deliveryState) { d.rivals = []string{"externalsecret/prod/db2"} }), deliveryWrong, faultTwo, "db2"},
		"by hand":                         {good(func(d *deliveryState) { d.beside = "key password was written by kubectl-edit" }), deliveryWrong, faultHand, "kubectl-edit"},
		"no login":                        {good(func(d *deliveryState) { d.unlisted = []string{"registry.example.com"} }), deliveryWrong, faultKeys, "no login for registry.example.com"},
		"a key lacks":                     {good(func(d *deliveryState) { d.missing = []string{"user"} }), deliveryWrong, faultKeys, "user"},
		"asked before the rotation":       {good(func(d *deliveryState) { d.rotated = at(31) }), deliveryLate, faultSync, "before the rotation"},
		"asked in the very moment":        {good(func(d *deliveryState) { d.rotated = at(30) }), deliveryLate, faultSync, "before the rotation"},
		"asked after it, old value":       {good(func(d *deliveryState) { d.rotated = at(20) }), deliveryWrong, faultVersion, "gave what it had before"},
		"asked after it, new value":       {good(func(d *deliveryState) { d.rotated = at(13) }), deliveryDone, faultNone, ""},
		"asked after it, time not known":  {good(func(d *deliveryState) { d.rotated, d.written = at(20), time.Time{} }), deliveryDone, faultNone, ""},
		"twice the interval":              {good(func(d *deliveryState) { d.now = at(50) }), deliveryDone, faultNone, ""},
		"more than twice the interval":    {good(func(d *deliveryState) { d.now = at(51) }), deliveryLate, faultSync, "may not run"},
		"it is not asked again":           {good(func(d *deliveryState) { d.interval, d.held, d.now = 0, "once", at(59) }), deliveryDone, faultNone, "once"},
		"the clock is not known":          {good(func(d *deliveryState) { d.now = time.Time{} }), "", "", "time of the server"},
		"told, and deaf":                  {good(func(d *deliveryState) { d.told = toldToAsk{note: "x", at: at(33), wrote: at(30)} }), deliveryLate, faultSync, "and did not"},
		"a newer spec":                    {good(func(d *deliveryState) { d.behind = true }), deliveryLate, faultSync, "newer than"},
		"not there yet":                   {good(func(d *deliveryState) { d.exists, d.written = false, time.Time{} }), deliveryLate, faultSync, "not there yet"},
		"no condition":                    {good(func(d *deliveryState) { d.ready, d.says = "", "" }), "", "", "no condition"},
		"unknown":                         {good(func(d *deliveryState) { d.ready = "Unknown" }), "", "", "does not know yet"},
		"its owner is gone":               {deliveryState{exists: true, by: byOther, carrier: "widget db", gone: true}, deliveryWrong, faultAbsent, "does not exist"},
		"nothing delivers it":             {deliveryState{by: byHand}, deliveryWrong, faultAbsent, "nothing that could be read"},
		"a person made it":                {deliveryState{exists: true, by: byHand, written: at(14)}, deliveryDone, faultNone, "no controller"},
		"a person made it before":         {deliveryState{exists: true, by: byHand, written: at(14), rotated: at(15)}, deliveryLate, faultSync, "before the rotation"},
		"sops":                            {deliveryState{exists: true, by: byFlux, carrier: "kustomization/x/y", ready: "False", says: "BuildFailed: decryption failed for 'Secret.v1./prod/db': cannot get sops data key"}, deliveryDenied, faultIdentity, "sops data key"},
		"a sealed one":                    {deliveryState{exists: true, by: bySealed, carrier: "sealedsecret/x/y", ready: "False", says: "no key could decrypt secret (password)"}, deliveryDenied, faultIdentity, "no key"},
		"a Kustomization fails elsewhere": {deliveryState{exists: true, by: byFlux, carrier: "kustomization/x/y", ready: "False", says: "HealthCheckFailed: timeout"}, "", "", "does not say"},
	} {
		status, fault, why := tc.d.judge()
		if status != tc.status || fault != tc.fault || !strings.Contains(why, tc.words) {
			t.Errorf("%s: judge() = %q, %q, %q, want %q, %q, %q", name, status, fault, why, tc.status, tc.fault, tc.words)
		}
	}
}

// TestAsking: a controller that was told to ask its source is waited for until it did, or failed for long enough; by
// the clock of the server alone.
func TestAsking(t *testing.T) {
	t.Parallel()
	told := at(30)
	state := func(ready string, wrote, now time.Duration) deliveryState {
		d := deliveryState{by: byExternal, ready: ready, told: toldToAsk{note: "handrail-7", at: told}, now: told.Add(now)}
		d.told.wrote = told.Add(wrote)
		return d
	}
	flux := func(took string, now time.Duration) deliveryState {
		return deliveryState{by: byFlux, ready: "False", told: toldToAsk{note: "handrail-7", at: told, took: took}, now: told.Add(now)}
	}
	held := state("True", -time.Minute, time.Second)
	held.held = "it writes nothing now"
	for name, tc := range map[string]struct {
		d      deliveryState
		asking bool
		deaf   bool
		unsure string
	}{
		"never told":                 {d: deliveryState{by: byExternal, ready: "True", now: told}},
		"told, nothing since":        {d: state("True", -time.Second, time.Minute), asking: true},
		"nothing for longer":         {d: state("True", -time.Second, time.Minute+time.Second), deaf: true},
		"it came in the same second": {d: state("True", 0, 0), asking: true},
		"and that second is over":    {d: state("True", 0, time.Second)},
		"it came later":              {d: state("True", 5*time.Second, 6*time.Second)},
		"it fails":                   {d: state("False", 0, 10*time.Second), asking: true},
		"it fails for long":          {d: state("False", 0, 11*time.Second)},
		"it writes nothing":          {d: held},
		"Flux has not taken it":      {d: flux("handrail-6", time.Minute), asking: true},
		"Flux has taken it":          {d: flux("handrail-7", 0)},
		"Flux does not":              {d: flux("", time.Minute+time.Second)},
		"the clock is not known":     {d: deliveryState{by: byExternal, ready: "True", told: toldToAsk{note: "x", at: told}}, unsure: "time of the server"},
		"the books do not tell":      {d: deliveryState{by: byExternal, ready: "True", told: toldToAsk{note: "x"}, now: told}, unsure: "managedFields"},
	} {
		asking, unsure := tc.d.asking()
		if asking != tc.asking || (unsure != "") != (tc.unsure != "") || !strings.Contains(unsure, tc.unsure) || tc.d.deaf() != tc.deaf {
			t.Errorf("%s: asking() = %v, %q, deaf() = %v", name, asking, unsure, tc.d.deaf())
		}
	}
	var md metav1.ObjectMeta
	if err := json.Unmarshal([]byte(`{"annotations":{"force-sync":"handrail-7"},"managedFields":[
		{"manager":"other","time":"2026-03-04T02:20:00Z","fieldsV1":{"f:metadata":{"f:annotations":{"f:force-sync":{}}}}},
		{"manager":"handrail","time":"2026-03-04T02:30:00Z","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:force-sync":{}}}}},
		{"manager":"someone","time":"2026-03-04T02:40:00Z","fieldsV1":{"f:metadata":{"f:annotations":{"f:note":{}}}}},
		{"manager":"external-secrets","subresource":"status","time":"2026-03-04T02:31:00Z","fieldsV1":{"f:status":{"f:refreshTime":{}}}}]}`), &md); err != nil {
		t.Fatal(err)
	}
	if got := toldOf("force-sync", md); got.note != "handrail-7" || !got.at.Equal(at(30)) || !got.wrote.Equal(at(31)) {
		t.Errorf("toldOf() = %+v", got)
	}
}

// TestSecretUses: what a Pod takes of one Secret, what is frozen, and which keys it wants.
func TestSecretUses(t *testing.T) {
	t.Parallel()
	p, err := podstate.ParsePod([]byte(`{"metadata":{"name":"shop-1","labels":{"pod-template-hash":"5c9"},"ownerReferences":[{"kind":"ReplicaSet","name":"shop-5c9","uid":"u","controller":true}]},
		"spec":{"imagePullSecrets":[{"name":"login"}],
		"volumes":[{"name":"a","secret":{"secretName":"db","items":[{"key":"ca","path":"ca.pem"}]}},{"name":"b","projected":{"sources":[{"secret":{"name":"db","items":[{"key":"user","path":"u"}]}}]}}],
		"containers":[
		{"name":"app","env":[{"name":"P","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}},{"name":"O","valueFrom":{"secretKeyRef":{"name":"db","key":"perhaps","optional":true}}}],"volumeMounts":[{"name":"a","mountPath":"/a"}]},
		{"name":"side","volumeMounts":[{"name":"b","mountPath":"/b","subPath":"u"}]},
		{"name":"none","env":[{"name":"P","valueFrom":{"secretKeyRef":{"name":"other","key":"password"}}}]}]},
		"status":{"containerStatuses":[{"name":"app","state":{"running":{"startedAt":"2026-03-04T02:10:00Z"}}},{"name":"side","state":{"waiting":{"reason":"CrashLoopBackOff"}},"restartCount":3,"lastState":{"terminated":{"startedAt":"2026-03-04T02:12:00Z"}}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	uses, pulls := secretUses(p, "db")
	if _, yes := secretUses(p, "login"); pulls || !yes {
		t.Error("the pull secret is not told from the others")
	}
	if got := keysWanted(uses, []string{"password"}); !slices.Equal(got, []string{"ca", "user"}) {
		t.Errorf("keysWanted() = %q", got)
	}
	if got := keysWanted(uses, []string{"password", "ca", "user"}); len(got) != 0 {
		t.Errorf("keysWanted() of all = %q", got)
	}
	old := map[string]bool{}
	for _, u := range uses {
		if u.has(at(11), at(1)) {
			old[u.container+" "+u.how] = true
		}
	}
	if len(old) != 1 || !old["app as a variable"] {
		t.Errorf("%v have what was there before 02:11", old)
	}
	side := uses[slices.IndexFunc(uses, func(u secretUse) bool { return u.container == "side" })]
	if !side.kept || !side.has(at(13), at(1)) || side.has(at(11), at(1)) {
		t.Errorf("a file by subPath counts as %+v", side)
	}
	if topOf(p) != "deployment/shop" {
		t.Errorf("topOf() = %q", topOf(p))
	}
	if got := troubled(p, uses, false); len(got) != 1 || !strings.Contains(got[0], "side of pod shop-1: CrashLoopBackOff, 3 restarts") {
		t.Errorf("troubled() = %q", got)
	}
}

// TestSecretUseBounds: the books count seconds.
func TestSecretUseBounds(t *testing.T) {
	t.Parallel()
	u := secretUse{kept: true, started: at(10)}
	for name, tc := range map[string]struct {
		u                secretUse
		written, created time.Time
		want             bool
	}{
		"before":               {u, at(11), at(1), true},
		"after":                {u, at(9), at(1), false},
		"in the same second":   {u, at(10), at(1), true},
		"it was made then":     {u, at(10), at(10), false},
		"it never started":     {secretUse{kept: true}, at(11), at(1), false},
		"as files":             {secretUse{started: at(10)}, at(11), at(1), false},
		"when is not known":    {u, time.Time{}, at(1), false},
		"made after its start": {u, at(11), at(11), true},
	} {
		if got := tc.u.has(tc.written, tc.created); got != tc.want {
			t.Errorf("%s: has() = %v", name, got)
		}
	}
}

// TestBookKeys: names of keys come from the books, and nothing else does.
func TestBookKeys(t *testing.T) {
	t.Parallel()
	book := func(fields string) rotationBooks {
		o, err := cluster.ParseObject([]byte(`{"metadata":{"name":"db","managedFields":[{"manager":"m","operation":"Update","time":"2026-03-04T02:10:00Z","fieldsType":"FieldsV1","fieldsV1":` + fields + `}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return rotationBooks{Object: o}
	}
	got, why := book(`{"f:data":{".":{},"f:user":{},"f:password":{}},"f:metadata":{"f:labels":{"f:app":{}}},"f:type":{}}`).keys()
	if why != "" || !slices.Equal(got, []string{"password", "user"}) {
		t.Errorf("keys() = %q, %q", got, why)
	}
	o, err := cluster.ParseObject([]byte(`{"metadata":{"name":"db"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, why := (rotationBooks{Object: o}).keys(); why == "" {
		t.Error("books that were forgotten say that there is no key")
	}
	if _, why := book(`{"f:data":7}`).keys(); why == "" {
		t.Error("books that cannot be read say that there is no key")
	}
}

// TestExternalSecret: where it writes, how often it asks, and what of it is not delivered.
func TestExternalSecret(t *testing.T) {
	t.Parallel()
	read := func(text string) (e externalSecret) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := read(`{"metadata":{"name":"db","generation":3},"spec":{"secretStoreRef":{"name":"vault"},"data":[{"secretKey":"a","sourceRef":{"storeRef":{"name":"other","kind":"ClusterSecretStore"}}},{"secretKey":"b","sourceRef":{"storeRef":{"name":"vault","kind":"SecretStore"}}}],
		"target":{"template":{"data":{"a":"never-kept"}}}},"status":{"syncedResourceVersion":"2-4f1c"}}`)
	if e.target() != "db" || !e.writes() || !e.behind() {
		t.Errorf("target %q, writes %v, behind %v", e.target(), e.writes(), e.behind())
	}
	if got := e.stores(); !slices.Equal(got, []storeRef{{"vault", "SecretStore"}, {"other", "ClusterSecretStore"}}) {
		t.Errorf("stores() = %v", got)
	}
	raw, err := json.Marshal(e)
	if err != nil || strings.Contains(string(raw), "never-kept") {
		t.Errorf("what a template holds is kept: %v", err)
	}
	for text, want := range map[string]struct {
		every time.Duration
		held  bool
	}{
		`{}`:                                  {time.Hour, false},
		`{"spec":{"refreshInterval":"15m"}}`:  {15 * time.Minute, false},
		`{"spec":{"refreshInterval":"0"}}`:    {0, true},
		`{"spec":{"refreshInterval":"soon"}}`: {0, true},
		`{"spec":{"refreshInterval":"1h","refreshPolicy":"CreatedOnce"}}`:      {time.Hour, true},
		`{"spec":{"refreshInterval":"1h","target":{"creationPolicy":"None"}}}`: {time.Hour, true},
	} {
		if every, held := read(text).interval(); every != want.every || (held != "") != want.held {
			t.Errorf("%s: interval() = %s, %q", text, every, held)
		}
	}
	if now := read(`{"metadata":{"generation":2},"status":{"syncedResourceVersion":"2-4f1c"}}`); now.behind() {
		t.Error("what was synced at the newest generation is behind")
	}
}

func TestResync(t *testing.T) {
	t.Parallel()
	md := metav1.ObjectMeta{ResourceVersion: "7"}
	if got := resync("force-sync", md); got != `[{"op":"add","path":"/metadata/annotations","value":{"force-sync":"handrail-7"}}]` {
		t.Errorf("resync() = %s", got)
	}
	md.Annotations = map[string]string{"a": "b"}
	if got := resync("reconcile.fluxcd.io/requestedAt", md); got != `[{"op":"add","path":"/metadata/annotations/reconcile.fluxcd.io~1requestedAt","value":"handrail-7"}]` {
		t.Errorf("resync() = %s", got)
	}
}

// TestUnlisted: which registries a pull secret has no login for, and that its parts are named as secrets.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	secret := func(key, config string) []byte {
		return []byte(`{"kind":"Secret","data":{"` + key + `":"` + base64.StdEncoding.EncodeToString([]byte(config)) + `"}}`)
	}
	pod := func(image, reason string, pulls string) podstate.Pod {
		p, err := podstate.ParsePod([]byte(`{"metadata":{"name":"shop-1"},"spec":{"imagePullSecrets":[` + pulls + `],"containers":[{"name":"app","image":"` + image + `"}]},
			"status":{"containerStatuses":[{"name":"app","state":{"waiting":{"reason":"` + reason + `"}}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const mine, config = `{"name":"login"}`, `{"auths":{"https://registry.example.org/v2/":{"username":"shop","password":"open-sesame","auth":"c2hvcDpvcGVu"},"*.example.net":{},"https://index.docker.io/v1/":{}}}`
	told := &toldSink{}
	logins := loginsOf(secret(".dockerconfigjson", config), told)
	if !slices.Equal(logins, []string{"*.example.net", "docker.io", "registry.example.org"}) {
		t.Errorf("logins = %q", logins)
	}
	slices.Sort(told.secrets)
	if !slices.Equal(told.secrets, []string{"c2hvcDpvcGVu", "open-sesame"}) {
		t.Errorf("named as secrets: %q", told.secrets)
	}
	if got := loginsOf(secret(".dockercfg", `{"registry.example.org":{}}`), told); !slices.Equal(got, []string{"registry.example.org"}) {
		t.Errorf("logins of before = %q", got)
	}
	if got := loginsOf(secret("password", "x"), told); len(got) != 0 {
		t.Errorf("logins of another Secret = %q", got)
	}
	for name, tc := range map[string]struct {
		p    podstate.Pod
		want string
	}{
		"another registry":    {pod("registry.example.com/shop:4", "ImagePullBackOff", mine), "registry.example.com"},
		"another port":        {pod("registry.example.org:5000/shop:4", "ErrImagePull", mine), "registry.example.org:5000"},
		"that one":            {pod("registry.example.org/shop:4", "ErrImagePull", mine), ""},
		"by a star":           {pod("eu.example.net/shop:4", "ErrImagePull", mine), ""},
		"the public one":      {pod("shop/shop:4", "ErrImagePull", mine), ""},
		"without a path":      {pod("shop", "ErrImagePull", mine), ""},
		"another Secret, too": {pod("registry.example.com/shop:4", "ErrImagePull", mine+`,{"name":"more"}`), ""},
		"it crashes":          {pod("registry.example.com/shop:4", "CrashLoopBackOff", mine), ""},
	} {
		if got := strings.Join(unlisted(tc.p, logins), " "); got != tc.want {
			t.Errorf("%s: unlisted() = %q, want %q", name, got, tc.want)
		}
	}
}

// toldSink keeps what is named as a secret.
type toldSink struct {
	steps.Sink
	secrets []string
}

func (s *toldSink) Secret(value string) { s.secrets = append(s.secrets, value) }

// TestTokens: a value that was not hidden is never passed on.
func TestTokens(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"kind":"Secret","data":{"b":"<redacted:k8s-secret:0123456789abcdef>","a":""}}`: "a is empty, b k8s-secret:0123456789abcdef",
		`{"kind":"Secret"}`:                                                     "",
		`{"kind":"Secret","data":{"a":"cGxhaW4="}}`:                             "?",
		`{"kind":"Secret","data":{"a":"<redacted:k8s-secret:0123> and plain"}}`: "?",
		`{"kind":"Status","message":"no"}`:                                      "?",
		`{"kind":"Secret","data":{"a":7}}`:                                      "?",
	} {
		text, why := tokens([]byte(raw))
		if (why != "") != (want == "?") || why == "" && text != want || strings.Contains(text+why, "cGxhaW4") {
			t.Errorf("tokens(%s) = %q, %q", raw, text, why)
		}
	}
}
