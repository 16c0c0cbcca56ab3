package weaken

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	quantity "k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"handrail/steps/kube/patch"
	"handrail/steps/kube/rbac"
)

// values are what people and attackers write into objects.
var values = []string{
	`""`, `"1"`, `"4"`, `"8"`, `"999999"`, `0`, `1`, `2`, `80`, `true`, `false`, `"true"`, `"exit 0"`, `"x"`, `"*"`, `["*"]`, `[]`, `{}`, `[{}]`, `{"a": "b"}`, `["get"]`, `["get", "list"]`, `"Ingress"`, `["Ingress"]`,
	`{"to": [{"podSelector": {}}], "ports": [{"port": 5432}]}`, `{"from": [{"ipBlock": {"cidr": "10.9.0.0/24"}}], "ports": [{"port": 80}]}`, `{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}`,
	`{"ports": [{"port": 9999}]}`, `{"to": [{"ipBlock": {"cidr": "203.0.113.0/24"}}], "ports": [{"port": 1, "endPort": 65000}]}`, `{"from": [{"namespaceSelector": {}}], "ports": [{"port": 80}]}`,
	`{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}`, `{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}`, `{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}`,
	`{"kind": "User", "name": "mallory"}`, `{"name": "side", "image": "s"}`, `{"name": "side", "image": "s", "securityContext": {"privileged": true}}`, `"cluster-admin"`, `"#!/bin/sh\nset -e\nflyway migrate\npsql -f after.sql\ncurl -fs http://x/done\n"`, `"LoadBalancer"`, `"Ignore"`,
}

// places are the paths of an object, and those beside them where something can
// be added.
func places(v any, at string) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			path := at + patch.Join([]string{key})
			out = append(append(out, path), places(v[key], path)...)
		}
		for _, key := range []string{"added", "privileged", "hostNetwork", "limits"} {
			out = append(out, at+"/"+key)
		}
	case []any:
		for i, item := range v {
			path := at + "/" + strconv.Itoa(i)
			out = append(append(out, path), places(item, path)...)
		}
		out = append(out, at+"/-")
	}
	return out
}

// TestNothingWeakerPasses writes random patches over objects that limit, bind or
// run something. What a judge of its own sees emptied or opened must have been
// said.
func TestNothingWeakerPasses(t *testing.T) {
	t.Parallel()
	all := kinds()
	names := slices.Sorted(maps.Keys(all))
	silent, said := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		of := rapid.SampledFrom(names).Draw(rt, "object")
		k := all[of]
		before := doc(t, k.yaml)
		after := before
		for range rapid.IntRange(1, 3).Draw(rt, "operations") {
			var mine []string
			for _, p := range places(after, "") {
				if p != "/kind" && p != "/apiVersion" && p != "/spec" && strings.Count(p, "/") > 0 {
					mine = append(mine, p)
				}
			}
			path := rapid.SampledFrom(mine).Draw(rt, "path")
			op := fmt.Sprintf(`[{"op": "remove", "path": %q}]`, path)
			if verb := rapid.SampledFrom([]string{"add", "replace", "remove"}).Draw(rt, "op"); verb != "remove" {
				op = fmt.Sprintf(`[{"op": %q, "path": %q, "value": %s}]`, verb, path, rapid.SampledFrom(values).Draw(rt, "value"))
			}
			list, err := patch.Parse(op)
			if err != nil {
				continue
			}
			resolved, _, err := patch.Resolve(after, list)
			if err != nil {
				continue
			}
			next, err := patch.Apply(after, resolved)
			if err != nil {
				continue
			}
			raw, err := json.Marshal(next)
			if err != nil {
				rt.Fatal(err)
			}
			if after, err = patch.Decode(raw); err != nil {
				rt.Fatal(err)
			}
		}
		found := Judge(k.Kind, before, after)
		if len(found) > 0 {
			said++
			return
		}
		silent++
		if why := weaker(of, before, after); why != "" {
			rt.Fatalf("%s: %s, and nothing is said of it\nbefore %v\nafter %v", of, why, before, after)
		}
	})
	if silent == 0 || said == 0 {
		t.Errorf("silent %d, said %d: the patches are all of one sort", silent, said)
	}
}

// weaker judges from what an object does, by other means than the package.
func weaker(of string, before, after map[string]any) string {
	get := func(m map[string]any, path string) any { v, _ := patch.Get(m, path); return v }
	for path, v := range leaves(before, "", false) {
		if at, still := leaves(after, "", false)[path]; !still || at == "" && v != "" {
			if of != "policy" && of != "role" && of != "binding" {
				return path + " is gone"
			}
		}
	}
	switch of {
	case "quota":
		for name, v := range asMap(get(before, "/spec/hard")) {
			b, a := quantity.MustParse(fmt.Sprint(v)), get(after, "/spec/hard/"+name)
			if q, err := quantity.ParseQuantity(fmt.Sprint(a)); err != nil || q.Cmp(b) > 0 {
				return name + " is raised"
			}
		}
	case "policy":
		for _, c := range connections() {
			was, is := passes(asMap(before["spec"]), c), passes(asMap(after["spec"]), c)
			if was && !is {
				return fmt.Sprintf("%+v is cut off", c)
			}
			if is && !was && c.wide {
				return fmt.Sprintf("%+v passes", c)
			}
		}
	case "role":
		for _, verb := range []string{"get", "list", "delete", "anything"} {
			for _, res := range []string{"configmaps", "secrets", "anything"} {
				o := rbac.Object{Resource: res, Namespace: "a", Name: "n"}
				if was, is := granted(before, verb, o), granted(after, verb, o); was != is {
					return fmt.Sprintf("%s of %s: %v, then %v", verb, res, was, is)
				}
			}
		}
	case "binding":
		for _, path := range []string{"/subjects/0/name", "/subjects/0/namespace", "/subjects/0/kind", "/roleRef/name", "/roleRef/kind"} {
			if get(before, path) != get(after, path) {
				return path + " is another"
			}
		}
		if len(asList(after["subjects"])) != 1 {
			return "other subjects"
		}
	case "web":
		raw, _ := json.Marshal(after["spec"])
		for _, word := range []string{`"privileged":true`, `"hostNetwork":true`, `"runAsNonRoot":false`, `"readOnlyRootFilesystem":false`, `"allowPrivilegeEscalation":true`} {
			if strings.Contains(string(raw), word) {
				return word
			}
		}
	case "budget":
		if n, ok := get(after, "/spec/minAvailable").(json.Number); !ok || number(n) < 2 {
			return "fewer must stay"
		}
	case "vap":
		if get(after, "/spec/failurePolicy") != "Fail" || get(after, "/spec/validations/0/expression") != "object.a == 1" {
			return "it checks something else"
		}
	}
	return ""
}

// leaves are the values of an object that hold something; items of lists are
// counted, not placed.
func leaves(v any, at string, listed bool) map[string]string {
	out := map[string]string{}
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			maps.Copy(out, leaves(below, at+"/"+key, false))
		}
	case []any:
		for i := range v {
			out[fmt.Sprintf("%s/#%d", at, i)] = "item"
		}
	default:
		out[at] = strings.TrimSpace(fmt.Sprint(v))
	}
	return out
}

func granted(role map[string]any, verb string, o rbac.Object) bool {
	raw, _ := json.Marshal(role["rules"])
	var rules []rbac.Rule
	if json.Unmarshal(raw, &rules) != nil {
		return false
	}
	return slices.ContainsFunc(rules, func(r rbac.Rule) bool { return r.Grants(verb, o) })
}

// connection is one that a policy lets through or not; a wide one is none that a
// small repair opens.
type connection struct {
	side, peers string
	ip          string // outside of the cluster
	elsewhere   bool   // a Pod of a namespace without labels
	port        int
	wide        bool
}

func connections() []connection {
	var out []connection
	for _, side := range [][2]string{{"Egress", "to"}, {"Ingress", "from"}} {
		for _, port := range []int{80, 443, 5432, 9999, 31000} {
			out = append(out,
				connection{side[0], side[1], "198.51.100.7", false, port, true},
				connection{side[0], side[1], "10.1.2.3", false, port, port == 31000},
				connection{side[0], side[1], "", true, port, true},
				connection{side[0], side[1], "", false, port, port == 31000})
		}
	}
	return out
}

// passes reads a policy as a network would, for a Pod that it was made for.
func passes(spec map[string]any, c connection) bool {
	if labels, _ := patch.Get(spec, "/podSelector/matchLabels/app"); labels != nil && labels != "ledger" {
		return true
	}
	types, rules := asList(spec["policyTypes"]), asList(spec[strings.ToLower(c.side)])
	if len(types) == 0 && c.side == "Egress" && len(rules) == 0 || len(types) > 0 && !slices.Contains(types, any(c.side)) {
		return true
	}
	for _, r := range rules {
		peers, ports := asList(asMap(r)[c.peers]), asList(asMap(r)["ports"])
		peer := len(peers) == 0 || slices.ContainsFunc(peers, func(p any) bool { return reaches(asMap(p), c) })
		port := len(ports) == 0 || slices.ContainsFunc(ports, func(p any) bool {
			n, there := asMap(p)["port"]
			end, ranged := asMap(p)["endPort"]
			return !there || number(n) == float64(c.port) || ranged && number(n) <= float64(c.port) && float64(c.port) <= number(end)
		})
		if peer && port {
			return true
		}
	}
	return false
}

func reaches(p map[string]any, c connection) bool {
	if block, is := p["ipBlock"].(map[string]any); is {
		net, err := netip.ParsePrefix(fmt.Sprint(block["cidr"]))
		return c.ip != "" && err == nil && net.Contains(netip.MustParseAddr(c.ip))
	}
	if c.ip != "" {
		return len(p) == 0
	}
	ns, named := p["namespaceSelector"]
	if c.elsewhere {
		return len(p) == 0 || named && len(asMap(ns)) == 0
	}
	_, pods := p["podSelector"]
	return len(p) == 0 || pods
}
