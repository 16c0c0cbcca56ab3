package weaken

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// special judges what a kind of the control plane means, where that says more
// than which values are there.
func (j *judge) special(before, after map[string]any) {
	switch j.kind {
	case Kind{"networking.k8s.io", "NetworkPolicy"}:
		j.network(asMap(before["spec"]), asMap(after["spec"]))
	case Kind{"", "ResourceQuota"}:
		j.quota(asMap(asMap(before["spec"])["hard"]), asMap(asMap(after["spec"])["hard"]))
	case Kind{"", "LimitRange"}:
		if !j.made && !reflect.DeepEqual(asMap(before["spec"])["limits"], asMap(after["spec"])["limits"]) {
			j.say(Widens, []string{"spec", "limits"}, "it limits what one Pod may take")
		}
	case Kind{"policy", "PodDisruptionBudget"}:
		j.disruption(asMap(before["spec"]), asMap(after["spec"]))
	}
	if j.kind.Group == "rbac.authorization.k8s.io" {
		j.access(before, after)
	}
}

// quota: a raise is one, and a great one is the end of the limit.
func (j *judge) quota(before, after map[string]any) {
	if j.made {
		return
	}
	for _, name := range keys(before, after) {
		b, was := before[name]
		a, is := after[name]
		path := []string{"spec", "hard", name}
		switch {
		case !was || !is || reflect.DeepEqual(a, b): // what is gone the walk tells
		case beyond(b, a):
			j.say(Removes, path, fmt.Sprintf("it is raised from %v to %v, tenfold and more: that is no limit", b, a))
		case raised(b, a):
			j.say(Widens, path, fmt.Sprintf("it is raised from %v to %v", b, a))
		}
	}
}

func (j *judge) disruption(before, after map[string]any) {
	for _, field := range []string{"minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy"} {
		b, was := before[field]
		a, is := after[field]
		if j.made || reflect.DeepEqual(a, b) || !was && !is {
			continue
		}
		x, unitX := share(b)
		y, unitY := share(a)
		stricter := was && is && unitX != "" && unitX == unitY && (field == "minAvailable" && y > x || field == "maxUnavailable" && y < x)
		if !stricter {
			j.say(Widens, []string{"spec", field}, "more Pods may be evicted at once")
		}
	}
}

// share reads a number of Pods or a percentage of them, and says which; "" for
// neither.
func share(v any) (n float64, unit string) {
	if isNumber(v) {
		return number(v), "Pods"
	}
	text, _ := v.(string)
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !percent {
		return 0, ""
	}
	return n, "%"
}

// access judges roles and bindings by what they grant.
func (j *judge) access(before, after map[string]any) {
	if b, a := before["roleRef"], after["roleRef"]; !reflect.DeepEqual(a, b) {
		was, is := asMap(b), asMap(a)
		path := []string{"roleRef"}
		name, _ := is["name"].(string)
		switch {
		case is["kind"] != was["kind"] && !j.made, name == "cluster-admin", name == "admin", strings.HasPrefix(name, "system:"):
			j.never(Widens, path, fmt.Sprintf("%v %s gives far more than one object", is["kind"], name))
		default:
			j.say(Widens, path, "who is bound may do something else")
		}
	}
	j.subjects(asList(before["subjects"]), asList(after["subjects"]))
	j.rules(asList(before["rules"]), asList(after["rules"]))
	if b, a := before["aggregationRule"], after["aggregationRule"]; !reflect.DeepEqual(a, b) {
		j.say(Widens, []string{"aggregationRule"}, "other roles are counted in")
	}
}

func (j *judge) subjects(before, after []any) {
	for i, a := range after {
		if slices.ContainsFunc(before, func(b any) bool { return reflect.DeepEqual(a, b) }) {
			continue
		}
		path := []string{"subjects", strconv.Itoa(i)}
		name, _ := asMap(a)["name"].(string)
		if strings.HasPrefix(name, "system:") && asMap(a)["kind"] != "ServiceAccount" {
			j.never(Widens, path, fmt.Sprintf("%s are many, or all", name))
			continue
		}
		j.say(Widens, path, fmt.Sprintf("%v %s gets the rights", asMap(a)["kind"], name))
	}
	for i, b := range before {
		if !slices.ContainsFunc(after, func(a any) bool { return reflect.DeepEqual(a, b) }) {
			j.say(Removes, []string{"subjects", strconv.Itoa(i)}, fmt.Sprintf("%v %v loses the rights", asMap(b)["kind"], asMap(b)["name"]))
		}
	}
}

// right is one thing that a rule allows.
type right struct{ verb, group, resource, name, url string }

func rights(rule map[string]any) []right {
	all := func(key string) []string {
		var out []string
		for _, v := range asList(rule[key]) {
			s, _ := v.(string)
			out = append(out, s)
		}
		return out
	}
	names := all("resourceNames")
	if len(names) == 0 {
		names = []string{""}
	}
	var out []right
	for _, verb := range all("verbs") {
		for _, url := range all("nonResourceURLs") {
			out = append(out, right{verb: verb, url: url})
		}
		for _, group := range all("apiGroups") {
			for _, resource := range all("resources") {
				for _, name := range names {
					out = append(out, right{verb: verb, group: group, resource: resource, name: name})
				}
			}
		}
	}
	return out
}

// grants reports whether one right holds another within it.
func (r right) grants(o right) bool {
	holds := func(mine, its string) bool { return mine == its || mine == "*" }
	if o.url != "" || r.url != "" {
		prefix, star := strings.CutSuffix(r.url, "*")
		return holds(r.verb, o.verb) && (r.url == o.url || star && o.url != "" && strings.HasPrefix(o.url, prefix))
	}
	sub, star := strings.CutPrefix(r.resource, "*/")
	resource := holds(r.resource, o.resource) || star && strings.HasSuffix(o.resource, "/"+sub)
	return holds(r.verb, o.verb) && holds(r.group, o.group) && resource && (r.name == "" || r.name == o.name)
}

func (j *judge) rules(before, after []any) {
	every := func(rules []any) []right {
		var out []right
		for _, rule := range rules {
			out = append(out, rights(asMap(rule))...)
		}
		return out
	}
	was, is := every(before), every(after)
	path := []string{"rules"}
	if !reflect.DeepEqual(before, after) && slices.ContainsFunc(after, func(v any) bool { return !readable(v) }) {
		j.never(Widens, path, "they cannot be read")
		return
	}
	if len(was) > mostRights || len(is) > mostRights {
		if !reflect.DeepEqual(before, after) {
			j.never(Widens, path, "it grants more than can be compared")
		}
		return
	}
	told := map[bool]bool{}
	for _, r := range is {
		if slices.ContainsFunc(was, func(b right) bool { return b.grants(r) }) {
			continue
		}
		wide := slices.Contains([]string{r.verb, r.group, r.resource}, "*") || strings.HasPrefix(r.resource, "*/") || strings.HasSuffix(r.url, "*") ||
			slices.Contains([]string{"escalate", "bind", "impersonate"}, r.verb)
		why := fmt.Sprintf("it grants %s of %s", r.verb, strings.TrimPrefix(r.resource+"."+r.group+r.url, "."))
		if told[wide] {
			continue
		}
		if told[wide] = true; wide {
			j.never(Widens, path, why)
		} else {
			j.say(Widens, path, why)
		}
	}
	for _, r := range was {
		if !slices.ContainsFunc(is, func(a right) bool { return a.grants(r) }) {
			j.say(Removes, path, fmt.Sprintf("it does not grant %s of %s any more", r.verb, strings.TrimPrefix(r.resource+"."+r.group+r.url, ".")))
			return
		}
	}
}

// readable reports whether a rule is made of lists of words alone.
func readable(rule any) bool {
	if !isMap(rule) {
		return false
	}
	for _, v := range asMap(rule) {
		list, is := v.([]any)
		if !is || slices.ContainsFunc(list, func(w any) bool { _, text := w.(string); return !text }) {
			return false
		}
	}
	return true
}

// mostRights bounds the comparison of rules, which takes its square.
const mostRights = 4000

// network judges a policy by what it lets through.
func (j *judge) network(before, after map[string]any) {
	path := func(segs ...string) []string { return append([]string{"spec"}, segs...) }
	if len(before) > 0 && !reflect.DeepEqual(asMap(before["podSelector"]), asMap(after["podSelector"])) {
		j.say(Removes, path("podSelector"), "it holds other Pods: those that it held are free")
	}
	for _, side := range []struct{ kind, rules, peers string }{{"Ingress", "ingress", "from"}, {"Egress", "egress", "to"}} {
		was, is := isolates(before, side.kind), isolates(after, side.kind)
		b, a := asList(before[side.rules]), asList(after[side.rules])
		if was && !is {
			j.say(Removes, path("policyTypes"), fmt.Sprintf("it says nothing of %s any more, which lets everything pass", side.rules))
			continue
		}
		for i, rule := range a {
			if !was && len(before) > 0 { // nothing was shut here
				break
			}
			if slices.ContainsFunc(b, func(v any) bool { return admits(asMap(v), asMap(rule), side.peers) }) {
				continue
			}
			if why := wide(asMap(rule), side.peers); why != "" {
				j.say(Widens, path(side.rules, strconv.Itoa(i)), why)
			}
		}
		for i, rule := range b {
			if is && !slices.ContainsFunc(a, func(v any) bool { return admits(asMap(v), asMap(rule), side.peers) }) {
				j.say(Removes, path(side.rules, strconv.Itoa(i)), "the rule is gone, or lets less through: what needs it is cut off")
			}
		}
	}
}

// isolates reports whether a policy says anything of one direction.
func isolates(spec map[string]any, kind string) bool {
	types := asList(spec["policyTypes"])
	if len(types) == 0 {
		return len(spec) > 0 && (kind == "Ingress" || len(asList(spec["egress"])) > 0)
	}
	return slices.Contains(types, any(kind))
}

// admits reports whether one rule lets through all that another does.
func admits(rule, other map[string]any, peers string) bool {
	part := func(key string) bool {
		mine, its := asList(rule[key]), asList(other[key])
		if len(mine) == 0 {
			return true
		}
		return len(its) > 0 && !slices.ContainsFunc(its, func(v any) bool {
			return !slices.ContainsFunc(mine, func(m any) bool { return reflect.DeepEqual(m, v) })
		})
	}
	return part(peers) && part("ports")
}

// wide says why a rule lets more through than a repair needs: a place and a port.
func wide(rule map[string]any, peers string) string {
	if len(asList(rule[peers])) == 0 {
		return "it names no peer, which stands for the whole world"
	}
	if len(asList(rule["ports"])) == 0 {
		return "it names no port, which stands for all of them"
	}
	for _, p := range asList(rule[peers]) {
		if why := widePeer(asMap(p)); why != "" {
			return why
		}
	}
	for _, p := range asList(rule["ports"]) {
		port, there := asMap(p)["port"]
		if !there {
			return "it names no port, which stands for all of them"
		}
		if end, there := asMap(p)["endPort"]; there && !(isNumber(port) && number(end)-number(port) < 100) {
			return "it names a hundred ports and more"
		}
	}
	return ""
}

func widePeer(p map[string]any) string {
	if len(p) == 0 {
		return "it names no peer, which stands for the whole world"
	}
	if block, is := p["ipBlock"].(map[string]any); is {
		cidr, _ := block["cidr"].(string)
		net, err := netip.ParsePrefix(cidr)
		if err != nil || net.Addr().Is4() && net.Bits() <= 8 || !net.Addr().Is4() && net.Bits() <= 32 {
			return fmt.Sprintf("%s is a large part of the world", cidr)
		}
	}
	s, is := p["namespaceSelector"]
	if !is {
		return ""
	}
	labels, terms := asMap(asMap(s)["matchLabels"]), asList(asMap(s)["matchExpressions"])
	names := slices.ContainsFunc(terms, func(t any) bool { return asMap(t)["operator"] == "In" })
	if len(labels) == 0 && !names {
		return "it names no namespace, which stands for all of them"
	}
	return ""
}
