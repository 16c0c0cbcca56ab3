package change

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/stuck"
	"handrail/steps/kube/weaken"
)

// wantUnmet holds floors to what they must refuse, in order, and to a cure for
// each; none for a gate that stays open.
func wantUnmet(t *testing.T, hold func(floors), parts ...string) {
	t.Helper()
	var need []steps.Need
	hold(floors{&need})
	if len(need) != len(parts) {
		t.Errorf("unmet = %q, want %q", need, parts)
		return
	}
	for i, part := range parts {
		if !strings.Contains(need[i].Why, part) || strings.Contains(need[i].Why, "%!") || need[i].Cure == "" {
			t.Errorf("unmet = %q (%s), want %q and a cure", need[i].Why, need[i].Cure, part)
		}
	}
	if f := (floors{&need}); f.clear() != (len(parts) == 0) {
		t.Errorf("clear() = %v with %d needs", f.clear(), len(parts))
	}
}

// about is a subject with this content and metadata.
func about(r cluster.Resource, text string) *subject {
	o := map[string]any{}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	meta, _ := o["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		o["metadata"] = meta
	}
	for key, v := range map[string]any{"name": "x", "uid": "u-1", "resourceVersion": "7"} {
		if _, is := meta[key]; !is {
			meta[key] = v
		}
	}
	return &subject{c: &cluster.Client{}, t: cluster.Target{Resource: r, Namespace: "n", Name: "x"},
		o: cluster.Object{Unstructured: &unstructured.Unstructured{Object: o}, Raw: []byte(text)}}
}

var (
	configMaps  = cluster.Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}
	namespaces  = cluster.Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace"}
	jobs        = cluster.Resource{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true}
	deployments = cluster.Resource{Group: "apps", Version: "v1", Plural: "deployments", Kind: "Deployment", Namespaced: true}
	validating  = cluster.Resource{Group: "admissionregistration.k8s.io", Version: "v1", Plural: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"}
)

func TestIdentityFloors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, uid string
		edit      func(*subject)
		unmet     []string
	}{
		"the object that was read":  {`{}`, "u-1", nil, nil},
		"absent":                    {`{}`, "u-1", func(s *subject) { s.absent = true }, []string{"is not there"}},
		"no UID":                    {`{}`, "", nil, []string{`The UID "" is not valid`}},
		"a redacted UID":            {`{}`, "<redacted>", nil, []string{"or it was redacted"}},
		"another object":            {`{}`, "u-2", nil, []string{"its UID is u-1, not u-2"}},
		"a version that is no test": {`{"metadata":{"resourceVersion":"a/b"}}`, "u-1", nil, []string{"cannot be tested against"}},
		"protected":                 {`{}`, "u-1", func(s *subject) { s.marked = []string{"it bears a", "its owner bears b"} }, []string{"protected: it bears a", "its owner bears b"}},
		"protected, and absent":     {`{}`, "u-1", func(s *subject) { s.absent, s.marked = true, []string{"n bears a"} }, []string{"n bears a", "is not there"}},
		"marks unread": {`{}`, "u-1", func(s *subject) {
			s.unseen = []unreadObject{{of: cluster.Target{Resource: namespaces, Name: "n"}, err: errors.New("timeout")}}
		}, []string{"the marks of namespace/n could not be read: timeout"}},
	} {
		s := about(configMaps, tc.text)
		if tc.edit != nil {
			tc.edit(s)
		}
		wantUnmet(t, func(f floors) { f.identity(s, tc.uid) }, tc.unmet...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestManagedNeedsBothMarks: the policy of a tool or a label of an owner alone
// closes nothing.
func TestManagedNeedsBothMarks(t *testing.T) {
	t.Parallel()
	const policy, label = `"annotations":{"argocd.argoproj.io/hook-delete-policy":"HookSucceeded"}`, `"labels":{"example.com/owner":"team-b"}`
	wantUnmet(t, func(f floors) { f.managed(about(jobs, `{}`)) })
	wantUnmet(t, func(f floors) { f.managed(about(jobs, `{"metadata":{`+policy+`}}`)) })
	wantUnmet(t, func(f floors) { f.managed(about(jobs, `{"metadata":{`+label+`}}`)) })
	wantUnmet(t, func(f floors) { f.managed(about(jobs, `{"metadata":{`+policy+`,`+label+`}}`)) }, " is managed: ")
}

func TestFinalizerFloors(t *testing.T) {
	t.Parallel()
	with := func(r cluster.Resource, list string) *subject {
		return about(r, `{"metadata":{"finalizers":[`+list+`]}}`)
	}
	wantUnmet(t, func(f floors) { f.finalizer(with(jobs, `"a/b","a/c"`), "a/b") })
	wantUnmet(t, func(f floors) { f.finalizer(with(jobs, `"a/c"`), "a/b") }, `no finalizer "a/b"; it has a/c`)
	wantUnmet(t, func(f floors) { f.finalizer(with(jobs, ``), "a/b") }, "it has none")
	wantUnmet(t, func(f floors) { f.finalizer(with(jobs, `"a/b","a/c","a/b"`), "a/b") }, "2 times")
	wantUnmet(t, func(f floors) { f.finalizer(with(namespaces, `"a/b"`), "a/b") }, "never stripped")
	ofAGroup := namespaces
	ofAGroup.Group = "example.com"
	wantUnmet(t, func(f floors) { f.finalizer(with(ofAGroup, `"a/b"`), "a/b") })
	wantUnmet(t, func(f floors) { f.finalizer(with(configMaps, `"a/b"`), "a/b") })
}

// TestKeeperFloors: only a keeper that is proven dead opens.
func TestKeeperFloors(t *testing.T) {
	t.Parallel()
	s := about(jobs, `{}`)
	wantUnmet(t, func(f floors) { f.keeper(s, "a/b", stuck.Keeper{Alive: stuck.Dead}, nil) })
	wantUnmet(t, func(f floors) { f.keeper(s, "a/b", stuck.Keeper{Alive: stuck.Dead}, errors.New("forbidden")) }, "could not be read: forbidden.")
	wantUnmet(t, func(f floors) { f.keeper(s, "a/b", stuck.Keeper{Alive: stuck.Dead, Builtin: true, Name: "gc"}, nil) }, "own, kept by gc")
	wantUnmet(t, func(f floors) { f.keeper(s, "a/b", stuck.Keeper{Alive: stuck.Alive, Why: "1 of 1 ready"}, nil) }, "is alive: 1 of 1 ready.")
	wantUnmet(t, func(f floors) { f.keeper(s, "a/b", stuck.Keeper{Alive: stuck.Unknown, Why: "no name"}, nil) }, "not known: no name.")
	wantUnmet(t, func(f floors) { f.keeper(s, "a/b", stuck.Keeper{}, nil) }, "not known")
	var need []steps.Need
	floors{&need}.keeper(s, "a/b", stuck.Keeper{Leads: "deployment/n/k"}, nil)
	floors{&need}.keeper(s, "a/b", stuck.Keeper{}, nil)
	if !strings.Contains(need[0].Cure, "evidence points to deployment/n/k") || strings.Contains(need[1].Cure, "evidence") {
		t.Errorf("cures = %q", need)
	}
}

// TestCureOfAnUnreadMark: a right that lacks is named as the rule that gives it.
func TestCureOfAnUnreadMark(t *testing.T) {
	t.Parallel()
	forbidden := fmt.Errorf("x: %w", steps.ErrDenied)
	c := &cluster.Client{}
	for _, tc := range []struct {
		name   string
		u      unreadObject
		has    []string
		hasNot string
	}{
		{"no kind", unreadObject{err: forbidden}, []string{"ownerReferences yourself"}, "rule"},
		{"not for a right", unreadObject{of: cluster.Target{Resource: jobs, Name: "x"}, err: errors.New("timeout")}, []string{"look why"}, "rule"},
		{"in the cluster", unreadObject{of: cluster.Target{Resource: validating, Name: "x"}, err: forbidden}, []string{"in a ClusterRole, the rule", `apiGroups: ["admissionregistration.k8s.io"]`, `resourceNames: ["x"]`}, "Role of the namespace"},
		{"in a namespace", unreadObject{of: cluster.Target{Resource: jobs, Namespace: "n", Name: "x"}, rule: "n", err: forbidden}, []string{"Role of the namespace n", "resources: [jobs]"}, "built-in"},
		{"the namespace itself", unreadObject{of: cluster.Target{Resource: namespaces, Name: "n"}, rule: "n", err: forbidden}, []string{"Role of the namespace n", "built-in roles view"}, "ClusterRole"},
		{"another kind of the core", unreadObject{of: cluster.Target{Resource: configMaps, Namespace: "n", Name: "x"}, rule: "n", err: forbidden}, []string{"Role of the namespace n"}, "built-in"},
		{"a kind of that name in a group", unreadObject{of: cluster.Target{Resource: cluster.Resource{Group: "e.com", Plural: "namespaces"}, Name: "n"}, rule: "n", err: forbidden}, []string{"Role of"}, "built-in"},
	} {
		got := tc.u.cure(c)
		for _, part := range tc.has {
			if !strings.Contains(got, part) {
				t.Errorf("%s: cure() = %q, want %q", tc.name, got, part)
			}
		}
		if strings.Contains(got, tc.hasNot) {
			t.Errorf("%s: cure() = %q, without %q", tc.name, got, tc.hasNot)
		}
	}
}

func TestDeleteFloors(t *testing.T) {
	t.Parallel()
	crds := cluster.Resource{Group: "apiextensions.k8s.io", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition"}
	api := cluster.APIServices()
	available := func(status string) string {
		return `{"status":{"conditions":[{"type":"Available","status":"` + status + `"}]}}`
	}
	other := func(r cluster.Resource) cluster.Resource { r.Group = "example.com"; return r }
	plural := func(r cluster.Resource) cluster.Resource { r.Plural = "others"; return r }
	for _, tc := range []struct {
		r     cluster.Resource
		text  string
		unmet []string
	}{
		{configMaps, `{}`, nil},
		{configMaps, `{"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"}}`, []string{"being deleted already, since 2026-01-02"}},
		{namespaces, `{}`, []string{"takes everything inside"}},
		{other(namespaces), `{}`, nil},
		{crds, `{}`, []string{"takes every object of its kind"}},
		{other(crds), `{}`, nil},
		{plural(crds), `{}`, nil},
		{api, available("True"), []string{"Available is True"}},
		{api, `{}`, []string{"Available is unknown"}},
		{api, available("False"), nil},
		{other(api), available("True"), nil},
		{plural(api), available("True"), nil},
	} {
		wantUnmet(t, func(f floors) { f.deletable(about(tc.r, tc.text)) }, tc.unmet...)
	}
	wantUnmet(t, func(f floors) { f.oneObject(about(configMaps, `{}`), nil) })
	wantUnmet(t, func(f floors) { f.oneObject(about(validating, `{}`), nil) }, "decides over requests")
	mutating, elsewhere := validating, validating
	mutating.Kind, elsewhere.Group = "MutatingWebhookConfiguration", "example.com"
	policy := validating
	policy.Kind = "ValidatingAdmissionPolicy"
	for r, want := range map[cluster.Resource]bool{validating: true, mutating: true, elsewhere: false, policy: false} {
		var ok bool
		var parts []string
		if !want {
			parts = []string{"is not a webhook configuration"}
		}
		wantUnmet(t, func(f floors) { ok = f.webhooks(about(r, `{}`)) }, parts...)
		if ok != want {
			t.Errorf("webhooks(%s) = %v", r, ok)
		}
	}
	claims := cluster.Resource{Plural: "persistentvolumeclaims"}
	for r, want := range map[cluster.Resource]bool{claims: true, {Plural: "persistentvolumes"}: true, other(claims): false, configMaps: false} {
		if got := about(r, `{}`).takesAlong(); (got != "") != want {
			t.Errorf("takesAlong(%s) = %q", r, got)
		}
	}
}

// TestVanishes: an object goes with its last finalizer once it is being deleted
// and no node must let go of it.
func TestVanishes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"metadata":{"finalizers":["a/b"],"deletionTimestamp":"2026-01-02T03:04:05Z"}}`:                                true,
		`{"metadata":{"finalizers":["a/b"],"deletionTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":0}}`: true,
		`{"metadata":{"finalizers":["a/b"],"deletionTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":1}}`: false,
		`{"metadata":{"finalizers":["a/b"]}}`:                                                  false,
		`{"metadata":{"finalizers":["a/b","a/c"],"deletionTimestamp":"2026-01-02T03:04:05Z"}}`: false,
		`{"metadata":{"finalizers":["a/c"],"deletionTimestamp":"2026-01-02T03:04:05Z"}}`:       false,
		`{"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"}}`:                            false,
	} {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		s := about(jobs, text)
		if n, is := m["metadata"].(map[string]any)["deletionGracePeriodSeconds"].(float64); is {
			s.o.SetDeletionGracePeriodSeconds(new(int64(n)))
		}
		if got := s.vanishes("a/b"); got != want {
			t.Errorf("vanishes() = %v of %s", got, text)
		}
	}
}

// TestHoldsTo: only what the runbook declares passes, and nothing of what no gate
// does.
func TestHoldsToFloors(t *testing.T) {
	t.Parallel()
	takes := weaken.Change{Sort: weaken.Removes, Path: "/spec/hard/pods", Why: "a limit goes"}
	opens := weaken.Change{Sort: weaken.Widens, Path: "/roleRef", Why: "it may more"}
	never := weaken.Change{Sort: weaken.Widens, Path: "/roleRef", Why: "it may all", Never: true}
	declared := func(sort weaken.Sort, places ...string) steps.Params {
		return steps.Params{string(sort): steps.StringsOf(places)}
	}
	for name, tc := range map[string]struct {
		in      steps.Params
		changes []weaken.Change
		shown   string
		unmet   []string
	}{
		"nothing":          {nil, nil, "", nil},
		"takes away":       {nil, []weaken.Change{takes}, "", []string{"takes away /spec/hard/pods of configmap/n/x: a limit goes."}},
		"opens":            {nil, []weaken.Change{opens}, "", []string{"opens /roleRef"}},
		"declared":         {declared(weaken.Removes, " /spec/hard/pods "), []weaken.Change{takes}, "what it takes away", nil},
		"declared to open": {declared(weaken.Widens, "/x", "/roleRef"), []weaken.Change{opens}, "what it opens", nil},
		"the other sort":   {declared(weaken.Widens, "/spec/hard/pods"), []weaken.Change{takes}, "", []string{"takes away"}},
		"another place":    {declared(weaken.Removes, "/spec/hard/cpu"), []weaken.Change{takes}, "", []string{"takes away"}},
		"never":            {declared(weaken.Widens, "/roleRef"), []weaken.Change{never}, "", []string{"opens /roleRef"}},
		"one of two":       {declared(weaken.Removes, "/spec/hard/pods"), []weaken.Change{takes, opens}, "what it takes away", []string{"opens"}},
	} {
		var p steps.Preview
		wantUnmet(t, func(f floors) {
			f.holdsTo(&p, tc.in, cluster.Target{Resource: configMaps, Namespace: "n", Name: "x"}, tc.changes)
		}, tc.unmet...)
		if (len(p.Shown) == 1) != (tc.shown != "") || tc.shown != "" && p.Shown[0].Key != tc.shown {
			t.Errorf("%s: shown = %v", name, p.Shown)
		}
	}
	var many []weaken.Change
	for i := range mostWeak {
		many = append(many, weaken.Change{Sort: weaken.Widens, Path: fmt.Sprintf("/p%d", i), Why: "w"})
	}
	count := func(changes []weaken.Change) []steps.Need {
		var need []steps.Need
		floors{&need}.holdsTo(&steps.Preview{}, nil, cluster.Target{}, changes)
		return need
	}
	if got := count(many); len(got) != 8 {
		t.Errorf("%d of 8 changes are refused one by one", len(got))
	}
	if got := count(append(many, opens, takes)); len(got) != 9 || !strings.Contains(got[8].Why, "2 more places") {
		t.Errorf("unmet = %q", got)
	}
	var need []steps.Need
	floors{&need}.holdsTo(&steps.Preview{}, nil, cluster.Target{}, []weaken.Change{never, opens})
	if !strings.Contains(need[0].Cure, "no gate does it") || !strings.Contains(need[1].Cure, "widens: [/roleRef]") {
		t.Errorf("cures = %q", need)
	}
}

func TestManifestFloors(t *testing.T) {
	t.Parallel()
	for text, unmet := range map[string][]string{
		`{"metadata":{"name":"x","namespace":"n","labels":{"a":"b"},"annotations":{"a":"b"}},"data":{"a":"b"}}`: nil,
		`{"metadata":{"finalizers":["a/b"]}}`:        {"makes what cannot be deleted again"},
		`{"metadata":{"ownerReferences":[]}}`:        {"garbage collector"},
		`{"metadata":{"uid":"u-1"}}`:                 {"metadata.uid is the server's"},
		`{"metadata":{"name":"x"},"status":{}}`:      {"A status is for its controller"},
		`{"metadata":{"name":"x"},"password":"abc"}`: {"looks like a secret"},
	} {
		m := manifest{}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		wantUnmet(t, func(f floors) { f.makeable(about(configMaps, `{}`), m) }, unmet...)
	}
	secrets := cluster.Resource{Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true}
	wantUnmet(t, func(f floors) { f.makeable(about(secrets, `{}`), manifest{}) }, "looks like a secret")
}

// TestSecretsInAManifest: by what a member or a variable is called, however deep.
func TestSecretsInAManifest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"password":"a"}`:                           true,
		`{"password":""}`:                            false,
		`{"password":{"from":"x"}}`:                  false,
		`{"secretName":"a"}`:                         false,
		`{"secretRef":"a"}`:                          false,
		`{"name":"api_token"}`:                       false,
		`{"env":[{"name":"API_TOKEN","value":"a"}]}`: true,
		`{"env":[{"name":"API_TOKEN","value":""}]}`:  false,
		`{"env":[{"name":"MODE","value":"a"}]}`:      false,
		`{"a":{"b":[{"c":{"DB_PASSWORD":"a"}}]}}`:    true,
		`{"a":{"b":[{"c":{"mode":"a"}}]}}`:           false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := holdsSecret(v, 0); got != want {
			t.Errorf("holdsSecret(%s) = %v", text, got)
		}
	}
	deep := func(n int) any {
		var v any = "x"
		for range n {
			v = []any{v}
		}
		return v
	}
	nested := func(n int) any {
		var v any = "x"
		for range n {
			v = map[string]any{"a": v}
		}
		return v
	}
	if holdsSecret(nested(64), 0) || !holdsSecret(nested(65), 0) {
		t.Error("what is nested over 64 deep in objects must count as a secret, and no less")
	}
	wantUnmet(t, func(f floors) { f.makeable(about(configMaps, `{}`), manifest{"a": deep(63)}) })
	wantUnmet(t, func(f floors) { f.makeable(about(configMaps, `{}`), manifest{"a": deep(64)}) }, "looks like a secret")
	for n, want := range map[int]bool{64: false, 65: true} {
		if got := tellsSecret(nil, patch.Op{Op: patch.Add, Path: "/a", Value: deep(n)}); got != want {
			t.Errorf("tellsSecret() of what is nested %d deep = %v", n, got)
		}
	}
	if holdsSecret(deep(64), 0) || !holdsSecret(deep(65), 0) {
		t.Error("what is nested over 64 deep must count as a secret, and no less")
	}
	doc := map[string]any{"spec": map[string]any{"env": []any{map[string]any{"name": "API_TOKEN"}, map[string]any{"name": "MODE"}}}}
	for _, tc := range []struct {
		path  string
		value any
		want  bool
	}{
		{"/spec/env/0/value", "a", true}, {"/spec/env/0/value", "", false}, {"/spec/env/1/value", "a", false}, {"/spec/env/1/name", "a", false}, {"/spec/env/0/note", "a", false},
		{"/data/password", "a", true}, {"/data/password", "", false}, {"/data/mode", "a", false}, {"/data", map[string]any{"password": "a"}, true}, {"no pointer", "a", true},
	} {
		if got := tellsSecret(doc, patch.Op{Op: patch.Add, Path: tc.path, Value: tc.value}); got != tc.want {
			t.Errorf("tellsSecret(%s = %v) = %v", tc.path, tc.value, got)
		}
	}
}

func TestFieldFloors(t *testing.T) {
	t.Parallel()
	claims := cluster.Resource{Version: "v1", Plural: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true}
	secrets := cluster.Resource{Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true}
	const full = `{"spec":{"replicas":1},"metadata":{"labels":{"a":"b"}}}`
	for _, tc := range []struct {
		r     cluster.Resource
		doc   string
		op    patch.Op
		unmet []string
	}{
		{deployments, full, patch.Op{Op: patch.Add, Path: "/spec/replicas"}, nil},
		{deployments, full, patch.Op{Op: patch.Add, Path: "spec"}, []string{"spec"}},
		{deployments, full, patch.Op{Op: patch.Add, Path: "/spec"}, []string{"all of the object"}},
		{deployments, full, patch.Op{Op: patch.Add, Path: "/apiVersion"}, []string{"what the object is"}},
		{deployments, full, patch.Op{Op: patch.Add, Path: "/kind"}, []string{"what the object is"}},
		{deployments, full, patch.Op{Op: patch.Add, Path: "/status/x"}, []string{"a controller reports"}},
		{deployments, full, patch.Op{Op: patch.Add, Path: "/roleRef/name"}, []string{"never be given another role"}},
		{deployments, full, patch.Op{Op: patch.Add, Path: "/spec/selector/matchLabels"}, []string{"can never be changed"}},
		{deployments, full, patch.Op{Op: patch.Add, Path: "/spec/selectors"}, nil},
		{claims, full, patch.Op{Op: patch.Add, Path: "/spec/storageClassName"}, []string{"can never be changed"}},
		{claims, full, patch.Op{Op: patch.Add, Path: "/spec/resources/requests"}, nil},
		{jobs, full, patch.Op{Op: patch.Add, Path: "/spec/template/spec/containers/0/image"}, []string{"can never be changed"}},
		{jobs, full, patch.Op{Op: patch.Add, Path: "/spec/template/spec/containers/0/name"}, nil},
		{jobs, full, patch.Op{Op: patch.Add, Path: "/spec/template/spec"}, nil},
		{secrets, full, patch.Op{Op: patch.Add, Path: "/data/a"}, []string{"value of a Secret"}},
		{secrets, full, patch.Op{Op: patch.Add, Path: "/stringData/a"}, []string{"value of a Secret"}},
		{secrets, full, patch.Op{Op: patch.Add, Path: "/immutable"}, nil},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/data/a"}, nil},
		{validating, full, patch.Op{Op: patch.Add, Path: "/webhooks/0/failurePolicy"}, []string{"requests of the whole cluster"}},
		{validating, full, patch.Op{Op: patch.Add, Path: "/other"}, nil},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/webhooks/0"}, nil},
		{configMaps, `{"immutable":true}`, patch.Op{Op: patch.Add, Path: "/data/a"}, []string{"is immutable"}},
		{configMaps, `{"immutable":true}`, patch.Op{Op: patch.Add, Path: "/binaryData/a"}, []string{"is immutable"}},
		{configMaps, `{"immutable":true}`, patch.Op{Op: patch.Add, Path: "/metadata/labels/a"}, nil},
		{configMaps, `{"immutable":false}`, patch.Op{Op: patch.Add, Path: "/data/a"}, nil},
		{configMaps, `{}`, patch.Op{Op: patch.Add, Path: "/data/a"}, []string{"holds nothing"}},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata/labels/a"}, nil},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata/labels"}, []string{"is all labels of the object"}},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata/annotations"}, nil},
		{configMaps, full, patch.Op{Op: patch.Remove, Path: "/metadata/annotations"}, []string{"is all annotations"}},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"}, []string{"kubectl's own copy"}},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata/finalizers/-"}, []string{"still has to clean up"}},
		{configMaps, full, patch.Op{Op: patch.Remove, Path: "/metadata/finalizers"}, []string{"still has to clean up"}},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/spec/selector"}, nil},
		{deployments, full, patch.Op{Op: patch.Add, Path: "/spec/serviceName"}, nil},
		{cluster.Resource{Group: "example.com", Kind: "Deployment"}, full, patch.Op{Op: patch.Add, Path: "/spec/selector"}, nil},
		{cluster.Resource{Kind: "Deployment"}, full, patch.Op{Op: patch.Add, Path: "/spec/selector"}, nil},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata/managedFields"}, []string{"who wrote what"}},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata/ownerReferences"}, []string{"garbage collector"}},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata/name"}, []string{"which object this is"}},
		{configMaps, full, patch.Op{Op: patch.Add, Path: "/metadata"}, []string{"which object this is"}},
	} {
		s := about(tc.r, `{}`)
		doc := map[string]any{}
		if err := json.Unmarshal([]byte(tc.doc), &doc); err != nil {
			t.Fatal(err)
		}
		wantUnmet(t, func(f floors) { (&alterPlan{subject: s, floors: f, doc: doc}).changeable([]patch.Op{tc.op}) }, tc.unmet...)
		if t.Failed() {
			t.Fatalf("%s of %s", tc.op.Path, tc.r)
		}
	}
}

// TestCureOfAllLabels names one of them.
func TestCureOfAllLabels(t *testing.T) {
	t.Parallel()
	var need []steps.Need
	pl := &alterPlan{subject: about(configMaps, `{}`), floors: floors{&need}, doc: map[string]any{"a": "b"}}
	if pl.changeable([]patch.Op{{Op: patch.Remove, Path: "/metadata/labels"}}); len(need) != 1 || need[0].Cure != "name the one label" {
		t.Errorf("unmet = %q", need)
	}
}

// TestPlanFloors: what each kind of gate does not do, and that it plans nothing
// then.
func TestPlanFloors(t *testing.T) {
	t.Parallel()
	app := cluster.Resource{Group: "argoproj.io", Version: "v1alpha1", Plural: "applications", Kind: "Application", Namespaced: true}
	cron := cluster.Resource{Group: "batch", Version: "v1", Plural: "cronjobs", Kind: "CronJob", Namespaced: true}
	flux := cluster.Resource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Plural: "kustomizations", Kind: "Kustomization", Namespaced: true}
	other := func(r cluster.Resource) cluster.Resource { r.Group = "example.com"; return r }
	pause := func(on bool) func(*alterPlan) error { return func(pl *alterPlan) error { return planPause(pl, on) } }
	restart := func(pl *alterPlan) error { return planRestart(t.Context(), pl) }
	stop := func(pl *alterPlan) error { return planStop(t.Context(), pl) }
	secret := cluster.Resource{Group: "external-secrets.io", Version: "v1", Plural: "externalsecrets", Kind: "ExternalSecret", Namespaced: true}
	sync := func(automated string) string { return `{"spec":{"syncPolicy":{"automated":` + automated + `}}}` }
	for _, tc := range []struct {
		name  string
		plan  func(*alterPlan) error
		r     cluster.Resource
		text  string
		ops   int
		unmet []string
	}{
		{"pause a CronJob", pause(true), cron, `{}`, 1, nil},
		{"pause a Job", pause(true), jobs, `{}`, 1, nil},
		{"pause Flux", pause(true), flux, `{}`, 1, nil},
		{"pause again", pause(true), cron, `{"spec":{"suspend":true}}`, 0, []string{"is paused already"}},
		{"resume", pause(false), cron, `{"spec":{"suspend":true}}`, 1, nil},
		{"resume what goes on", pause(false), cron, `{}`, 0, []string{"is not paused"}},
		{"pause a Deployment", pause(true), deployments, `{}`, 0, []string{"cannot be paused"}},
		{"pause a Job of another group", pause(true), other(jobs), `{}`, 0, []string{"cannot be paused"}},
		{"pause another kind of batch", pause(true), cluster.Resource{Group: "batch", Kind: "Other"}, `{}`, 0, []string{"cannot be paused"}},
		{"pause Argo CD", pause(true), app, sync(`{}`), 1, nil},
		{"pause Argo CD that says on", pause(true), app, sync(`{"enabled":true}`), 1, nil},
		{"pause Argo CD that is off", pause(true), app, sync(`{"enabled":false}`), 0, []string{"is off already"}},
		{"pause Argo CD without auto-sync", pause(true), app, `{}`, 0, []string{"has no auto-sync"}},
		{"resume Argo CD", pause(false), app, sync(`{"enabled":false}`), 1, nil},
		{"resume Argo CD that is on", pause(false), app, sync(`{}`), 0, []string{"is on."}},
		{"pause Argo CD in a sync", pause(true), app, `{"operation":{},"spec":{"syncPolicy":{"automated":{}}}}`, 1, []string{"is under way"}},
		{"resume Argo CD in a sync", pause(false), app, `{"operation":{},"spec":{"syncPolicy":{"automated":{"enabled":false}}}}`, 1, nil},
		{"pause an Application of another group", pause(true), other(app), sync(`{}`), 0, []string{"cannot be paused"}},
		{"restart", restart, deployments, `{}`, 1, nil},
		{"restart a Job", restart, jobs, `{}`, 0, []string{"no Pods that it could replace"}},
		{"restart a Deployment of another group", restart, other(deployments), `{}`, 0, []string{"no Pods"}},
		{"restart what is paused", restart, deployments, `{"spec":{"paused":true}}`, 1, []string{"are paused"}},
		{"restart a ReplicaSet", restart, cluster.Resource{Group: "apps", Kind: "ReplicaSet"}, `{}`, 0, []string{"no Pods"}},
		{"pause another kind of Argo CD", pause(true), cluster.Resource{Group: "argoproj.io", Kind: "AppProject"}, sync(`{}`), 0, []string{"cannot be paused"}},
		{"restart OnDelete", restart, deployments, `{"spec":{"updateStrategy":{"type":"OnDelete"}}}`, 1, []string{"OnDelete"}},
		{"stop a Job", stop, jobs, `{}`, 0, []string{"no number of Pods"}},
		{"stop a Deployment of another group", stop, other(deployments), `{}`, 0, []string{"no number of Pods"}},
		{"pause an ExternalSecret", pause(true), secret, `{"spec":{"target":{"creationPolicy":"Merge"}}}`, 1, nil},
		{"pause an ExternalSecret of another group", pause(true), other(secret), `{}`, 0, []string{"cannot be paused"}},
		{"resume an ExternalSecret", pause(false), secret, `{"spec":{"target":{"creationPolicy":"None"}}}`, 0, []string{"does not say which creationPolicy"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pl := &alterPlan{subject: about(tc.r, tc.text), p: &steps.Preview{}}
			wantUnmet(t, func(f floors) {
				pl.floors = f
				if err := tc.plan(pl); err != nil {
					t.Error(err)
				}
			}, tc.unmet...)
			if len(pl.ops) != tc.ops {
				t.Errorf("ops = %v, want %d", pl.ops, tc.ops)
			}
		})
	}
}

// TestUnreadablePlans: a field of another type than its kind has is an error, and
// nothing is planned.
func TestUnreadablePlans(t *testing.T) {
	t.Parallel()
	for text, plan := range map[string]func(*alterPlan) error{
		`{"spec":{"suspend":"yes"}}`:                  func(pl *alterPlan) error { return planPause(pl, true) },
		`{"spec":{"syncPolicy":{"automated":"yes"}}}`: func(pl *alterPlan) error { return planArgoPause(pl, true) },
		`{"spec":{"template":{"metadata":{"annotations":{"a":1}}}}}`: func(pl *alterPlan) error {
			pl.t.Resource = deployments
			return planRestart(t.Context(), pl)
		},
	} {
		var need []steps.Need
		pl := &alterPlan{subject: about(jobs, text), floors: floors{&need}, p: &steps.Preview{}}
		if err := plan(pl); err == nil || len(pl.ops) > 0 {
			t.Errorf("%s: ops = %v, %v, want an error", text, pl.ops, err)
		}
	}
}

// TestPlansSayWhatTheyDo: effect, debt and undo of what is paused or restarted.
func TestPlansSayWhatTheyDo(t *testing.T) {
	t.Parallel()
	app := cluster.Resource{Group: "argoproj.io", Version: "v1alpha1", Plural: "applications", Kind: "Application", Namespaced: true}
	plan := func(r cluster.Resource, text string, do func(*alterPlan) error) *alterPlan {
		var need []steps.Need
		pl := &alterPlan{subject: about(r, text), floors: floors{&need}, p: &steps.Preview{}}
		if err := do(pl); err != nil || len(need) > 0 || len(pl.ops) != 1 {
			t.Errorf("%s: %v, %q, %v", text, err, need, pl.ops)
		}
		return pl
	}
	for _, tc := range []struct {
		r      cluster.Resource
		text   string
		pause  bool
		effect string
		owes   int
	}{
		{jobs, `{}`, true, "stop job", 1},
		{jobs, `{"spec":{"suspend":true}}`, false, "let job", 0},
		{app, `{"spec":{"syncPolicy":{"automated":{}}}}`, true, "switch off the auto-sync", 1},
		{app, `{"spec":{"syncPolicy":{"automated":{"enabled":false}}}}`, false, "switch on the auto-sync", 0},
	} {
		pl := plan(tc.r, tc.text, func(pl *alterPlan) error { return planPause(pl, tc.pause) })
		if !strings.HasPrefix(pl.p.Effect, tc.effect) || len(pl.p.Owes) != tc.owes {
			t.Errorf("effect = %q, owes = %v, want %q and %d", pl.p.Effect, pl.p.Owes, tc.effect, tc.owes)
		}
	}
	restart := func(pl *alterPlan) error { return planRestart(t.Context(), pl) }
	for text, path := range map[string]string{
		`{}`: "/spec/template/metadata/annotations",
		`{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`: "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt",
	} {
		pl := plan(deployments, text, restart)
		if pl.ops[0].Path != path || !pl.oneWay || !strings.HasPrefix(pl.p.Effect, "replace all Pods") || !strings.HasPrefix(pl.p.Undo, "Cannot be undone") || steps.Find(pl.p.Target, keyRestarted) == "" {
			t.Errorf("%s: %v, %+v", text, pl.ops, pl.p)
		}
	}
	if leakOf(stuck.Keeper{}) != "it is not known what" || leakOf(stuck.Keeper{Leak: "a volume"}) != "a volume" {
		t.Errorf("leakOf() = %q, %q", leakOf(stuck.Keeper{}), leakOf(stuck.Keeper{Leak: "a volume"}))
	}
}

// TestIdentityOfAnObject: what is not there has no UID and nothing after it.
func TestIdentityOfAnObject(t *testing.T) {
	t.Parallel()
	s := about(configMaps, `{"metadata":{"finalizers":["a/b"]}}`)
	if got := s.identity(); steps.Find(got, act.KeyUID) != "u-1" || steps.Find(got, act.KeyFinalizers) != "a/b" || steps.Find(got, act.KeyObject) != "configmap/n/x" {
		t.Errorf("identity() = %v", got)
	}
	s.absent = true
	if got := s.identity(); steps.Find(got, act.KeyUID) != "none" || steps.Find(got, act.KeyFinalizers) != "" {
		t.Errorf("identity() of nothing = %v", got)
	}
}

// TestRecreatable: what is more than its object is not recreated.
func TestRecreatable(t *testing.T) {
	t.Parallel()
	for r, want := range map[cluster.Resource]bool{configMaps: true, jobs: true, deployments: false, namespaces: false, validating: false, {Plural: "jobs"}: false,
		{Plural: "persistentvolumeclaims"}: true, {Plural: "secrets"}: false} {
		if got := recreatable(r); got != want {
			t.Errorf("recreatable(%s) = %v", r, got)
		}
	}
}

// TestJudgements: what an act came to, by what there is now.
func TestJudgements(t *testing.T) {
	t.Parallel()
	o := act.Order{Object: "job/n/x", UID: "u-1", Version: "7", Finalizer: "a/b"}
	now := func(edit func(*act.Sighting)) act.Sighting {
		s := act.Sighting{ObjectMeta: metav1.ObjectMeta{UID: types.UID("u-1"), ResourceVersion: "7", Finalizers: []string{"a/b"}}}
		edit(&s)
		return s
	}
	deleted := metav1.Now()
	as := now(func(*act.Sighting) {})
	moved := now(func(s *act.Sighting) { s.ResourceVersion = "8" })
	absent := act.Sighting{Absent: true}
	other := act.Sighting{Other: "u-2"}
	held := now(func(s *act.Sighting) { s.DeletionTimestamp = &deleted })
	graced := now(func(s *act.Sighting) {
		s.DeletionTimestamp, s.Finalizers, s.DeletionGracePeriodSeconds = &deleted, nil, new(int64(30))
	})
	free := now(func(s *act.Sighting) {
		s.DeletionTimestamp, s.Finalizers, s.DeletionGracePeriodSeconds = &deleted, nil, new(int64(0))
	})
	soon := now(func(s *act.Sighting) {
		s.DeletionTimestamp, s.Finalizers, s.DeletionGracePeriodSeconds = &deleted, nil, new(int64(1))
	})
	bare := now(func(s *act.Sighting) { s.DeletionTimestamp, s.Finalizers = &deleted, nil })
	stripped := now(func(s *act.Sighting) { s.ResourceVersion, s.Finalizers = "8", []string{"a/c"} })
	for _, tc := range []struct {
		name   string
		judge  func(act.Order, act.Sighting) (string, string)
		now    act.Sighting
		result string
		said   string
	}{
		{"delete", judgeDelete, absent, steps.Done, "is gone by UID."},
		{"delete", judgeDelete, other, steps.Done, "UID u-2: it was created again"},
		{"delete", judgeDelete, held, steps.Done, "it waits for a/b"},
		{"delete", judgeDelete, graced, steps.Done, "its node has 30 s"},
		{"delete", judgeDelete, soon, steps.Done, "its node has 1 s"},
		{"delete", judgeDelete, free, steps.Done, "nothing holds it"},
		{"delete", judgeDelete, bare, steps.Done, "nothing holds it"},
		{"delete", judgeDelete, moved, steps.Failed, "not being deleted"},
		{"delete", judgeDelete, as, "", "as it was"},
		{"deleted, read again", standsDeleted, other, steps.Failed, "was created again: UID u-2"},
		{"deleted, read again", standsDeleted, absent, steps.Done, "is gone by UID."},
		{"strip", judgeStrip, absent, steps.Done, "is gone by UID."},
		{"strip", judgeStrip, other, steps.Done, "another object has its name, UID u-2"},
		{"strip", judgeStrip, stripped, steps.Done, "it has a/c"},
		{"strip", judgeStrip, moved, steps.Failed, "still has the finalizer a/b"},
		{"strip", judgeStrip, as, "", "as it was"},
	} {
		if result, said := tc.judge(o, tc.now); result != tc.result || !strings.Contains(said, tc.said) {
			t.Errorf("%s: %q, %q, want %q, %q", tc.name, result, said, tc.result, tc.said)
		}
	}
}
