package weaken

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"handrail/steps/kube/document"
	"handrail/steps/kube/patch"
)

// doc reads an object as a server sends it.
func doc(tb testing.TB, yaml string) map[string]any {
	tb.Helper()
	v, err := document.Parse([]byte(yaml))
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := patch.Decode(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func patched(tb testing.TB, before map[string]any, ops string) map[string]any {
	tb.Helper()
	list, err := patch.Parse(ops)
	if err != nil {
		tb.Fatal(err)
	}
	resolved, _, err := patch.Resolve(before, list)
	if err != nil {
		tb.Fatal(err)
	}
	after, err := patch.Apply(before, resolved)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := json.Marshal(after)
	if err != nil {
		tb.Fatal(err)
	}
	m, err := patch.Decode(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

const (
	quotaYAML  = `{apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: "4", requests.memory: 2Gi}, scopes: [NotTerminating]}}`
	policyYAML = `{kind: NetworkPolicy, spec: {podSelector: {matchLabels: {app: ledger}}, policyTypes: [Ingress, Egress], ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}],
  egress: [{to: [{ipBlock: {cidr: 10.1.0.0/16}}], ports: [{protocol: TCP, port: 443}]}]}}`
	bindingYAML = `{kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: v1}, subjects: [{kind: ServiceAccount, name: migrate, namespace: a}]}`
	roleYAML    = `{kind: Role, rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list]}]}`
	mapYAML     = `{kind: ConfigMap, metadata: {labels: {app: x}, annotations: {note: keep}}, data: {mode: "on", options: "psql --quiet || exit 0", script: "#!/bin/sh\nset -e\nflyway migrate\npsql -f after.sql\ncurl -fs http://x/done\n"}}`
	budgetYAML  = `{kind: PodDisruptionBudget, spec: {minAvailable: 2, selector: {matchLabels: {app: a}}}}`
	webYAML     = `{kind: Deployment, metadata: {labels: {app: web}}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: web,
  containers: [{name: log, image: "log:1"}, {name: app, image: "app:1", command: [serve], args: [--port, "80"], env: [{name: HOST, value: db}], resources: {limits: {memory: 1Gi}}, livenessProbe: {httpGet: {path: /, port: 80}},
  securityContext: {runAsNonRoot: true, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}}}`
	vapYAML     = `{kind: ValidatingAdmissionPolicy, spec: {failurePolicy: Fail, validations: [{expression: "object.a == 1"}], matchConstraints: {resourceRules: [{apiGroups: [""], resources: [pods], operations: [CREATE]}]}}}`
	spaceYAML   = `{kind: Namespace, metadata: {labels: {team: a, pod-security.kubernetes.io/enforce: restricted}}, spec: {}}`
	serviceYAML = `{kind: Service, spec: {type: ClusterIP, selector: {app: web}, ports: [{name: http, port: 80}]}}`
)

func kinds() map[string]struct {
	Kind
	yaml string
} {
	type row = struct {
		Kind
		yaml string
	}
	return map[string]row{
		"quota":   {Kind{"", "ResourceQuota"}, quotaYAML},
		"policy":  {Kind{"networking.k8s.io", "NetworkPolicy"}, policyYAML},
		"binding": {Kind{"rbac.authorization.k8s.io", "RoleBinding"}, bindingYAML},
		"role":    {Kind{"rbac.authorization.k8s.io", "Role"}, roleYAML},
		"map":     {Kind{"", "ConfigMap"}, mapYAML},
		"budget":  {Kind{"policy", "PodDisruptionBudget"}, budgetYAML},
		"web":     {Kind{"apps", "Deployment"}, webYAML},
		"vap":     {Kind{"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"}, vapYAML},
		"service": {Kind{"", "Service"}, serviceYAML},
		"space":   {Kind{"", "Namespace"}, spaceYAML},
	}
}

// TestWeakerIsSaid holds each way of emptying or opening an object to what is
// said of it.
func TestWeakerIsSaid(t *testing.T) {
	t.Parallel()
	all := kinds()
	for _, tc := range []struct {
		of, ops string
		want    string // SORT PATH, ! where nothing may declare it
	}{
		{"quota", `[{op: remove, path: /spec/hard/pods}]`, "removes /spec/hard/pods"},
		{"quota", `[{op: replace, path: /spec/hard, value: {}}]`, "removes /spec/hard/pods"},
		{"quota", `[{op: remove, path: /spec/hard}]`, "removes /spec/hard"},
		{"quota", `[{op: replace, path: /spec/hard/pods, value: "8"}]`, "widens /spec/hard/pods"},
		{"quota", `[{op: replace, path: /spec/hard/pods, value: "1000"}]`, "removes /spec/hard/pods"},
		{"quota", `[{op: replace, path: /spec/hard/requests.memory, value: 2Ti}]`, "removes /spec/hard/requests.memory"},
		{"quota", `[{op: replace, path: /spec/scopes, value: [BestEffort]}]`, "removes /spec/scopes"},
		{"policy", `[{op: add, path: /spec/egress/-, value: {}}]`, "widens /spec/egress/1"},
		{"policy", `[{op: replace, path: /spec/egress, value: [{}]}]`, "widens /spec/egress/0"},
		{"policy", `[{op: add, path: /spec/egress/-, value: {ports: [{port: 53}]}}]`, "widens /spec/egress/1"},
		{"policy", `[{op: add, path: /spec/egress/-, value: {to: [{podSelector: {}}]}}]`, "widens /spec/egress/1"},
		{"policy", `[{op: add, path: /spec/egress/-, value: {to: [{ipBlock: {cidr: 0.0.0.0/0}}], ports: [{port: 443}]}}]`, "widens /spec/egress/1"},
		{"policy", `[{op: add, path: /spec/egress/-, value: {to: [{ipBlock: {cidr: 128.0.0.0/1}}], ports: [{port: 443}]}}]`, "widens /spec/egress/1"},
		{"policy", `[{op: add, path: /spec/ingress/-, value: {from: [{namespaceSelector: {}}], ports: [{port: 443}]}}]`, "widens /spec/ingress/1"},
		{"policy", `[{op: add, path: /spec/ingress/-, value: {from: [{namespaceSelector: {matchExpressions: [{key: x, operator: DoesNotExist}]}}], ports: [{port: 443}]}}]`, "widens /spec/ingress/1"},
		{"policy", `[{op: add, path: /spec/egress/-, value: {to: [{podSelector: {}}], ports: [{port: 1, endPort: 65535}]}}]`, "widens /spec/egress/1"},
		{"policy", `[{op: replace, path: /spec/egress/0/ports, value: []}]`, "widens /spec/egress/0"},
		{"policy", `[{op: remove, path: /spec/egress/0}]`, "removes /spec/egress/0"},
		{"policy", `[{op: replace, path: /spec/policyTypes, value: [Ingress]}]`, "removes /spec/policyTypes"},
		{"policy", `[{op: replace, path: /spec/podSelector/matchLabels/app, value: nobody}]`, "removes /spec/podSelector"},
		{"binding", `[{op: replace, path: /roleRef/name, value: v2}]`, "widens /roleRef"},
		{"binding", `[{op: replace, path: /roleRef/name, value: cluster-admin}]`, "widens /roleRef!"},
		{"binding", `[{op: replace, path: /roleRef/kind, value: ClusterRole}]`, "widens /roleRef!"},
		{"binding", `[{op: replace, path: /subjects/0/name, value: mallory}]`, "widens /subjects/0"},
		{"binding", `[{op: add, path: /subjects/-, value: {kind: Group, name: "system:authenticated"}}]`, "widens /subjects/1!"},
		{"binding", `[{op: remove, path: /subjects}]`, "removes /subjects/0"},
		{"role", `[{op: add, path: /rules/0/verbs/-, value: delete}]`, "widens /rules"},
		{"role", `[{op: replace, path: /rules/0/verbs, value: ["*"]}]`, "widens /rules!"},
		{"role", `[{op: add, path: /rules/-, value: {apiGroups: [""], resources: [pods], verbs: [get]}}]`, "widens /rules"},
		{"role", `[{op: remove, path: /rules}]`, "removes /rules"},
		{"map", `[{op: replace, path: /data/script, value: ""}]`, "removes /data/script"},
		{"map", `[{op: replace, path: /data/script, value: "#!/bin/sh\nexit 0\n"}]`, "removes /data/script"},
		{"map", `[{op: replace, path: /data/script, value: "exit 0\nset -e\nflyway migrate\npsql -f after.sql\ncurl -fs http://x/done\n"}]`, "removes /data/script"},
		{"map", `[{op: replace, path: /data/script, value: "#!/bin/sh\n# flyway migrate\n# psql -f after.sql\n"}]`, "removes /data/script"},
		{"map", `[{op: replace, path: /data/script, value: "#!/bin/sh\nset -e\necho done\n"}]`, "removes /data/script"},
		{"map", `[{op: replace, path: /data/options, value: "true"}]`, "removes /data/options"},
		{"map", `[{op: replace, path: /data/options, value: "echo fine"}]`, "removes /data/options"},
		{"map", `[{op: remove, path: /data/mode}]`, "removes /data/mode"},
		{"map", `[{op: replace, path: /data, value: {mode: "off"}}]`, "removes /data/options"},
		{"map", `[{op: remove, path: /metadata/labels/app}]`, "removes /metadata/labels/app"},
		{"map", `[{op: remove, path: /metadata/annotations/note}]`, "removes /metadata/annotations/note"},
		{"budget", `[{op: replace, path: /spec/minAvailable, value: 1}]`, "widens /spec/minAvailable"},
		{"budget", `[{op: replace, path: /spec/minAvailable, value: 0}]`, "widens /spec/minAvailable"},
		{"budget", `[{op: replace, path: /spec/minAvailable, value: "10%"}]`, "widens /spec/minAvailable"},
		{"budget", `[{op: replace, path: /spec/selector/matchLabels/app, value: b}]`, "removes /spec/selector"},
		{"web", `[{op: remove, path: "/spec/template/spec/containers/[name=app]/resources/limits"}]`, "removes /spec/template/spec/containers/1/resources/limits"},
		{"web", `[{op: replace, path: "/spec/template/spec/containers/[name=app]/resources/limits/memory", value: 1Ti}]`, "removes /spec/template/spec/containers/1/resources/limits/memory"},
		{"web", `[{op: remove, path: "/spec/template/spec/containers/[name=log]"}]`, "removes /spec/template/spec/containers/0"},
		{"web", `[{op: remove, path: "/spec/template/spec/containers/[name=app]/livenessProbe"}]`, "removes /spec/template/spec/containers/1/livenessProbe"},
		{"web", `[{op: replace, path: "/spec/template/spec/containers/[name=app]/command", value: ["true"]}]`, "removes /spec/template/spec/containers/1/command/0"},
		{"web", `[{op: add, path: "/spec/template/spec/containers/[name=app]/securityContext/privileged", value: true}]`, "widens /spec/template/spec/containers/1/securityContext/privileged"},
		{"web", `[{op: replace, path: "/spec/template/spec/containers/[name=app]/securityContext/runAsNonRoot", value: false}]`, "widens /spec/template/spec/containers/1/securityContext/runAsNonRoot"},
		{"web", `[{op: remove, path: "/spec/template/spec/containers/[name=app]/securityContext"}]`, "removes /spec/template/spec/containers/1/securityContext"},
		{"web", `[{op: remove, path: "/spec/template/spec/containers/[name=app]/securityContext/allowPrivilegeEscalation"}]`, "widens /spec/template/spec/containers/1/securityContext/allowPrivilegeEscalation"},
		{"web", `[{op: add, path: "/spec/template/spec/containers/[name=app]/securityContext/capabilities/add", value: [SYS_ADMIN]}]`, "widens /spec/template/spec/containers/1/securityContext/capabilities/add/0"},
		{"web", `[{op: add, path: /spec/template/spec/hostNetwork, value: true}]`, "widens /spec/template/spec/hostNetwork"},
		{"web", `[{op: add, path: /spec/template/spec/volumes, value: [{name: x, hostPath: {path: /}}]}]`, "widens /spec/template/spec/volumes/0/hostPath"},
		{"web", `[{op: replace, path: /spec/template/spec/serviceAccountName, value: admin}]`, "widens /spec/template/spec/serviceAccountName"},
		{"web", `[{op: add, path: /spec/template/spec/containers/-, value: {name: z, image: z, securityContext: {privileged: true}}}]`, "widens /spec/template/spec/containers/2/securityContext/privileged"},
		{"web", `[{op: replace, path: /spec/template/metadata/labels/app, value: other}]`, "removes /spec/template/metadata/labels/app"},
		{"web", `[{op: replace, path: /spec/replicas, value: 0}]`, "removes /spec/replicas"},
		{"vap", `[{op: replace, path: /spec/failurePolicy, value: Ignore}]`, "widens /spec/failurePolicy"},
		{"vap", `[{op: replace, path: /spec/validations/0/expression, value: "true"}]`, "widens /spec/validations/0/expression"},
		{"vap", `[{op: add, path: /spec/matchConditions, value: [{name: x, expression: "false"}]}]`, "widens /spec/matchConditions/0/expression"},
		{"service", `[{op: replace, path: /spec/type, value: LoadBalancer}]`, "widens /spec/type"},
		{"service", `[{op: replace, path: /spec/selector/app, value: other}]`, "removes /spec/selector"},
		{"service", `[{op: add, path: /spec/externalIPs, value: [10.0.0.9]}]`, "widens /spec/externalIPs"},
		{"space", `[{op: replace, path: /metadata/labels/pod-security.kubernetes.io~1enforce, value: privileged}]`, "widens /metadata/labels/pod-security.kubernetes.io~1enforce"},
		{"space", `[{op: remove, path: /metadata/labels/pod-security.kubernetes.io~1enforce}]`, "widens /metadata/labels/pod-security.kubernetes.io~1enforce"},
		{"space", `[{op: add, path: /metadata/labels/access, value: database}]`, "widens /metadata/labels/access"},
		{"map", `[{op: add, path: /data/mapRoles, value: "- groups: [system:masters]"}]`, "widens /data/mapRoles"},

		// Small and additive repairs say nothing.
		{"quota", `[{op: replace, path: /spec/hard/pods, value: "3"}, {op: add, path: /spec/hard/services, value: "2"}]`, ""},
		{"policy", `[{op: add, path: /spec/egress/-, value: {to: [{podSelector: {}}], ports: [{protocol: TCP, port: 5432}]}}]`, ""},
		{"policy", `[{op: add, path: /spec/egress/-, value: {to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}}], ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]}}]`, ""},
		{"policy", `[{op: add, path: /spec/egress/0, value: {to: [{podSelector: {}}], ports: [{port: 1}]}}]`, ""},
		{"role", `[{op: add, path: /rules/-, value: {apiGroups: [""], resources: [configmaps], verbs: [get]}}]`, ""},
		{"map", `[{op: replace, path: /data/options, value: "set -euo pipefail; psql --quiet --set ON_ERROR_STOP=1"}]`, ""},
		{"map", `[{op: replace, path: /data/mode, value: "off"}, {op: add, path: /data/more, value: "*"}]`, ""},
		{"map", `[{op: replace, path: /data/script, value: "#!/bin/sh\nset -eu\nflyway migrate -x\npsql -v ON_ERROR_STOP=1 -f after.sql\ncurl -fs http://x/done\n"}]`, ""},
		{"map", `[{op: add, path: /metadata/labels/b, value: c}, {op: replace, path: /metadata/annotations/note, value: z}]`, ""},
		{"budget", `[{op: replace, path: /spec/minAvailable, value: 3}]`, ""},
		{"web", `[{op: replace, path: "/spec/template/spec/containers/[name=app]/image", value: "app:2"}, {op: replace, path: "/spec/template/spec/containers/[name=app]/env/[name=HOST]/value", value: db2}]`, ""},
		{"web", `[{op: replace, path: "/spec/template/spec/containers/[name=app]/resources/limits/memory", value: 2Gi}, {op: replace, path: /spec/replicas, value: 3}]`, ""},
		{"web", `[{op: replace, path: "/spec/template/spec/containers/[name=app]/args", value: [--port, "81", --verbose]}]`, ""},
		{"service", `[{op: replace, path: /spec/ports/0/port, value: 81}]`, ""},
	} {
		t.Run(tc.of+" "+tc.ops, func(t *testing.T) {
			t.Parallel()
			k := all[tc.of]
			before := doc(t, k.yaml)
			var said []string
			for _, c := range Judge(k.Kind, before, patched(t, before, tc.ops)) {
				text := string(c.Sort) + " " + c.Path
				if c.Never {
					text += "!"
				}
				said = append(said, text)
				if c.Why == "" || !strings.HasPrefix(c.Path, "/") {
					t.Errorf("%+v does not say what and why", c)
				}
			}
			if tc.want == "" && len(said) > 0 || tc.want != "" && !slices.Contains(said, tc.want) {
				t.Errorf("Judge() = %q, want %q among it", said, tc.want)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		declared string
		change   Change
		want     bool
	}{
		{"/spec/hard/pods", Change{Path: "/spec/hard/pods"}, true},
		{"/spec/hard/*", Change{Path: "/spec/hard/pods"}, true},
		{"/roleRef", Change{Path: "/roleRef/name"}, true},
		{"/roleRef", Change{Path: "/roleRef", Never: true}, false},
		{"/roleRef", Change{Path: "/subjects/0"}, false},
		{"/spec/hard/pods", Change{Path: "/spec/hard"}, false},
		{"/spec/hard/pod", Change{Path: "/spec/hard/pods"}, false},
		{"/", Change{Path: "/spec"}, false},
		{"/", Change{Path: "/"}, true},
		{"", Change{Path: "/spec"}, false},
		{"spec", Change{Path: "/spec"}, false},
	} {
		if got := Covers(tc.declared, tc.change); got != tc.want {
			t.Errorf("Covers(%q, %+v) = %v, want %v", tc.declared, tc.change, got, tc.want)
		}
	}
}

// TestMadeOpens: what is new can open what others shut.
func TestMadeOpens(t *testing.T) {
	t.Parallel()
	all := kinds()
	for of, want := range map[string]int{"binding": 2, "role": 1, "map": 0, "web": 0, "policy": 0, "service": 0, "quota": 0, "budget": 0} {
		if got := Made(all[of].Kind, doc(t, all[of].yaml)); len(got) != want {
			t.Errorf("Made(%s) = %+v, want %d", of, got, want)
		}
	}
	open := doc(t, `{kind: NetworkPolicy, spec: {podSelector: {}, egress: [{}], policyTypes: [Egress]}}`)
	if got := Made(all["policy"].Kind, open); len(got) != 1 || got[0].Path != "/spec/egress/0" {
		t.Errorf("Made() = %+v", got)
	}
}
