package egress

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func policies(t *testing.T, raws ...string) []Policy {
	t.Helper()
	var out []Policy
	for _, raw := range raws {
		p, err := Parse([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func policy(name, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop"},"spec":%s}`, name, spec)
}

// TestHardening is the way of an incident: a namespace that denies all, and what
// is allowed again, one rule at a time.
func TestHardening(t *testing.T) {
	t.Parallel()
	shop := Labels{Known: map[string]string{"kubernetes.io/metadata.name": "shop"}, Partial: true}
	system := Labels{Known: map[string]string{"kubernetes.io/metadata.name": "kube-system"}, Partial: true}
	app := Place{Kind: Pod, Namespace: "shop", NamespaceLabels: shop, Labels: Labels{Known: map[string]string{"app": "shop"}}}
	db := Place{Kind: Pod, Namespace: "shop", NamespaceLabels: shop, Labels: Labels{Known: map[string]string{"app": "db"}, Partial: true}, Ports: map[string]int64{"pg/TCP": 5432}}
	dns := Place{Kind: Pod, Namespace: "kube-system", NamespaceLabels: system, Labels: Labels{Known: map[string]string{"k8s-app": "kube-dns"}, Partial: true}}
	api := Place{Kind: Host}
	outside := Place{Kind: Host, Address: "192.0.2.7"}
	deny := policy("deny", `{"podSelector":{},"policyTypes":["Egress"]}`)
	dnsUDP := policy("dns", `{"podSelector":{},"policyTypes":["Egress"],"egress":[{"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}}],"ports":[{"protocol":"UDP","port":53}]}]}`)
	same := policy("same", `{"podSelector":{"matchLabels":{"app":"shop"}},"policyTypes":["Egress"],"egress":[{"to":[{"podSelector":{"matchLabels":{"app":"db"}}}],"ports":[{"port":"pg"}]}]}`)
	block := policy("block", `{"podSelector":{},"policyTypes":["Egress"],"egress":[{"to":[{"ipBlock":{"cidr":"192.0.2.0/24","except":["192.0.2.128/25"]}}]}]}`)
	others := policy("others", `{"podSelector":{"matchLabels":{"app":"other"}},"policyTypes":["Egress"]}`)
	ingress := policy("ingress", `{"podSelector":{},"ingress":[]}`)
	andNot := policy("or", `{"podSelector":{},"policyTypes":["Egress"],"egress":[{"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"other"}}}]}]}`)
	udp, tcp, pg := Port{53, "UDP"}, Port{53, "TCP"}, Port{5432, "TCP"}
	for name, tc := range map[string]struct {
		policies []Policy
		to       Place
		port     Port
		want     Answer
	}{
		"no policy":                   {nil, dns, udp, Yes},
		"policies of others":          {policies(t, others, ingress), dns, udp, Yes},
		"all denied":                  {policies(t, deny), dns, udp, No},
		"dns is let out":              {policies(t, deny, dnsUDP), dns, udp, Yes},
		"but only over udp":           {policies(t, deny, dnsUDP), dns, tcp, No},
		"and nothing else":            {policies(t, deny, dnsUDP), db, pg, No},
		"a named port":                {policies(t, deny, same), db, pg, Yes},
		"another port":                {policies(t, deny, same), db, Port{5433, "TCP"}, No},
		"the same name elsewhere":     {policies(t, deny, same), dns, pg, No},
		"both selectors are to fit":   {policies(t, andNot), dns, udp, No},
		"a block":                     {policies(t, deny, block), outside, pg, Yes},
		"outside of it":               {policies(t, deny, block), Place{Kind: Host, Address: "192.0.2.200"}, pg, No},
		"an address that is not read": {policies(t, deny, block), api, pg, Maybe},
		"a block over a Pod":          {policies(t, deny, block), Place{Kind: Pod, Namespace: "x", Address: "192.0.2.7"}, pg, Maybe},
		"who knows whose address":     {policies(t, deny, same), Place{Address: "10.0.0.7"}, pg, Maybe},
		"the server is no Pod":        {policies(t, deny, dnsUDP, same), api, Port{6443, "TCP"}, No},
	} {
		if got := Out(tc.policies, app, tc.to, tc.port); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	if got := In(policies(t, ingress), app, db, pg); got != No {
		t.Errorf("into a Pod that takes nothing: %s", got)
	}
	if got := In(policies(t, ingress), app, api, pg); got != Yes {
		t.Errorf("into a host: %s", got)
	}
	if got := Selecting(policies(t, deny, others, ingress), app, "Egress"); !slices.Equal(got, []string{"deny"}) {
		t.Errorf("selecting %q", got)
	}
	if _, err := Parse([]byte(policy("x", `{"podSelector":{"matchExpressions":[{"key":"a","operator":"Sometimes"}]}}`))); err == nil {
		t.Error("an operator that nobody knows was taken")
	}
}

// The property tests draw small worlds, in which everything may meet everything.
var (
	keys       = []string{"a", "b"}
	values     = []string{"1", "2"}
	namespaces = []string{"n1", "n2"}
	addresses  = []string{"10.0.0.1", "10.0.0.129", "10.0.1.1"}
	blocks     = []string{"10.0.0.0/24", "10.0.0.128/25", "0.0.0.0/0", "10.0.1.1/32"}
	portNames  = []string{"web", "db"}
)

func drawLabels(t *rapid.T, label string) map[string]string {
	return rapid.MapOfN(rapid.SampledFrom(keys), rapid.SampledFrom(values), 0, 2).Draw(t, label)
}

func drawSelector(t *rapid.T, label string) Selector {
	s := Selector{MatchLabels: rapid.MapOfN(rapid.SampledFrom(keys), rapid.SampledFrom(values), 0, 1).Draw(t, label+" labels")}
	for range rapid.IntRange(0, 2).Draw(t, label+" expressions") {
		s.MatchExpressions = append(s.MatchExpressions, Requirement{
			Key:      rapid.SampledFrom(keys).Draw(t, label+" key"),
			Operator: rapid.SampledFrom([]string{"In", "NotIn", "Exists", "DoesNotExist"}).Draw(t, label+" operator"),
			Values:   rapid.SliceOfN(rapid.SampledFrom(values), 0, 2).Draw(t, label+" values")})
	}
	return s
}

func drawRule(t *rapid.T) Rule {
	var r Rule
	for range rapid.IntRange(0, 2).Draw(t, "peers") {
		var p Peer
		switch rapid.IntRange(0, 3).Draw(t, "peer") {
		case 0:
			p.IPBlock = &IPBlock{CIDR: rapid.SampledFrom(blocks).Draw(t, "block"), Except: rapid.SliceOfN(rapid.SampledFrom(blocks), 0, 1).Draw(t, "except")}
		case 1:
			s := drawSelector(t, "pods")
			p.PodSelector = &s
		case 2:
			s := drawSelector(t, "namespaces")
			p.NamespaceSelector = &s
		case 3:
			a, b := drawSelector(t, "pods"), drawSelector(t, "namespaces")
			p.PodSelector, p.NamespaceSelector = &a, &b
		}
		r.To = append(r.To, p)
	}
	r.From = r.To
	for range rapid.IntRange(0, 2).Draw(t, "ports") {
		p := PolicyPort{Protocol: rapid.SampledFrom([]string{"", "TCP", "UDP"}).Draw(t, "protocol")}
		switch rapid.IntRange(0, 2).Draw(t, "port") {
		case 0:
			p.Port, _ = json.Marshal(rapid.SampledFrom(portNames).Draw(t, "name"))
		case 1:
			p.Port, _ = json.Marshal(rapid.IntRange(1, 4).Draw(t, "number"))
			p.EndPort = int64(rapid.SampledFrom([]int{0, 4}).Draw(t, "end"))
		}
		r.Ports = append(r.Ports, p)
	}
	return r
}

func drawPolicy(t *rapid.T) Policy {
	var p Policy
	p.Metadata.Namespace = rapid.SampledFrom(namespaces).Draw(t, "of")
	p.Spec.PodSelector = drawSelector(t, "selects")
	p.Spec.PolicyTypes = rapid.SampledFrom([][]string{nil, {"Egress"}, {"Ingress"}, {"Ingress", "Egress"}}).Draw(t, "types")
	for range rapid.IntRange(0, 2).Draw(t, "egress") {
		p.Spec.Egress = append(p.Spec.Egress, drawRule(t))
	}
	for range rapid.IntRange(0, 2).Draw(t, "ingress") {
		p.Spec.Ingress = append(p.Spec.Ingress, drawRule(t))
	}
	return p
}

// drawPlace is a place of which all is known.
func drawPlace(t *rapid.T, label string, kinds ...PlaceKind) Place {
	p := Place{Kind: rapid.SampledFrom(kinds).Draw(t, label+" kind"), Address: rapid.SampledFrom(addresses).Draw(t, label+" address")}
	if p.Kind == Host {
		return p
	}
	p.Namespace = rapid.SampledFrom(namespaces).Draw(t, label+" namespace")
	p.NamespaceLabels.Known = map[string]string{"a": p.Namespace[1:]}
	p.Labels.Known = drawLabels(t, label+" labels")
	p.Ports = map[string]int64{}
	for _, name := range portNames {
		if rapid.Bool().Draw(t, label+" port "+name) {
			p.Ports[name+"/TCP"] = int64(rapid.IntRange(1, 4).Draw(t, label+" number of "+name))
		}
	}
	return p
}

// naive answers by the words of the API reference alone, with yes and no. blocks
// says whether address blocks hold Pods, which the API leaves open.
func naive(all []Policy, direction string, pod, peer, listens Place, port Port, blocksHoldPods bool) bool {
	fits := func(s *Selector, labels map[string]string) bool {
		for k, v := range s.MatchLabels {
			if labels[k] != v || !slices.Contains(slices.Collect(maps.Keys(labels)), k) {
				return false
			}
		}
		for _, r := range s.MatchExpressions {
			v, there := labels[r.Key]
			in := there && slices.Contains(r.Values, v)
			ok := map[string]bool{"In": in, "NotIn": !in, "Exists": there, "DoesNotExist": !there}[r.Operator]
			if !ok {
				return false
			}
		}
		return true
	}
	var selecting []Policy
	for _, p := range all {
		egress := slices.Contains(p.Spec.PolicyTypes, "Egress") || p.Spec.PolicyTypes == nil && len(p.Spec.Egress) > 0
		ingress := slices.Contains(p.Spec.PolicyTypes, "Ingress") || p.Spec.PolicyTypes == nil
		about := direction == "Egress" && egress || direction == "Ingress" && ingress
		if about && p.Metadata.Namespace == pod.Namespace && fits(&p.Spec.PodSelector, pod.Labels.Known) {
			selecting = append(selecting, p)
		}
	}
	if len(selecting) == 0 {
		return true
	}
	for _, p := range selecting {
		rules := map[string][]Rule{"Egress": p.Spec.Egress, "Ingress": p.Spec.Ingress}[direction]
		for _, r := range rules {
			peerOK := len(r.To) == 0
			for _, q := range r.To {
				if q.IPBlock != nil {
					in := netip.MustParsePrefix(q.IPBlock.CIDR).Contains(netip.MustParseAddr(peer.Address))
					for _, e := range q.IPBlock.Except {
						if netip.MustParsePrefix(e).Contains(netip.MustParseAddr(peer.Address)) {
							in = false
						}
					}
					if in && (peer.Kind == Host || blocksHoldPods) {
						peerOK = true
					}
					continue
				}
				if peer.Kind == Host {
					continue
				}
				ok := peer.Namespace == p.Metadata.Namespace
				if q.NamespaceSelector != nil {
					ok = fits(q.NamespaceSelector, peer.NamespaceLabels.Known)
				}
				if q.PodSelector != nil {
					ok = ok && fits(q.PodSelector, peer.Labels.Known)
				}
				peerOK = peerOK || ok
			}
			portOK := len(r.Ports) == 0
			for _, q := range r.Ports {
				proto := q.Protocol
				if proto == "" {
					proto = "TCP"
				}
				if proto != port.Protocol {
					continue
				}
				var v any
				_ = json.Unmarshal(q.Port, &v)
				switch v := v.(type) {
				case nil:
					portOK = true
				case float64:
					last := max(int64(v), q.EndPort)
					portOK = portOK || port.Number >= int64(v) && port.Number <= last
				case string:
					n, there := listens.Ports[v+"/"+proto]
					portOK = portOK || listens.Kind != Host && there && n == port.Number
				}
			}
			if peerOK && portOK {
				return true
			}
		}
	}
	return false
}

func drawWorld(t *rapid.T) (all []Policy, from, to Place, port Port) {
	for range rapid.IntRange(0, 3).Draw(t, "policies") {
		all = append(all, drawPolicy(t))
	}
	from = drawPlace(t, "from", Pod)
	to = drawPlace(t, "to", Pod, Host)
	port = Port{Number: int64(rapid.IntRange(1, 4).Draw(t, "port")), Protocol: rapid.SampledFrom([]string{"TCP", "UDP"}).Draw(t, "protocol")}
	return all, from, to, port
}

// both are the answers of the model where blocks hold Pods and where they do not.
func both(all []Policy, direction string, pod, peer, listens Place, port Port) Answer {
	a := naive(all, direction, pod, peer, listens, port, true)
	if b := naive(all, direction, pod, peer, listens, port, false); a != b {
		return Maybe
	}
	return is(a)
}

// TestAsTheModel: where all is known, the answer is that of the model, and Maybe
// exactly where network plugins differ.
func TestAsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all, from, to, port := drawWorld(t)
		if got, want := Out(all, from, to, port), both(all, "Egress", from, to, to, port); got != want {
			t.Fatalf("out: %s, want %s", got, want)
		}
		if to.Kind == Pod {
			if got, want := In(all, from, to, port), both(all, "Ingress", to, from, to, port); got != want {
				t.Fatalf("in: %s, want %s", got, want)
			}
		}
	})
}

// TestIgnoranceIsNoAnswer: who knows less never says more, and what he says is
// right.
func TestIgnoranceIsNoAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all, from, to, port := drawWorld(t)
		less := to
		less.Labels = forget(t, to.Labels)
		less.NamespaceLabels = forget(t, to.NamespaceLabels)
		if rapid.Bool().Draw(t, "forget the address") {
			less.Address = ""
		}
		if rapid.Bool().Draw(t, "forget the ports") {
			less.Ports, less.PortsUnread = nil, true
		}
		if rapid.Bool().Draw(t, "forget whose it is") {
			less = Place{Kind: Unknown, Address: less.Address, Labels: Labels{Partial: true}, NamespaceLabels: Labels{Partial: true}, PortsUnread: true}
		}
		if got, whole := Out(all, from, less, port), Out(all, from, to, port); got != Maybe && got != whole {
			t.Fatalf("out: %s with less known, %s with all", got, whole)
		}
		if got, whole := In(all, from, less, port), In(all, from, to, port); got != Maybe && got != whole && less.Kind != Unknown {
			t.Fatalf("in: %s with less known, %s with all", got, whole)
		}
	})
}

func forget(t *rapid.T, l Labels) Labels {
	if !rapid.Bool().Draw(t, "forget labels") {
		return l
	}
	out := Labels{Known: map[string]string{}, Partial: true}
	for k, v := range l.Known {
		if rapid.Bool().Draw(t, "keep "+k) {
			out.Known[k] = v
		}
	}
	return out
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(policy("a", `{"podSelector":{},"policyTypes":["Egress"],"egress":[{"to":[{"ipBlock":{"cidr":"x","except":["y"]}}],"ports":[{"port":{}}]}]}`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Parse(raw)
		if err != nil {
			return
		}
		pod := Place{Kind: Pod, Namespace: p.Metadata.Namespace, Address: "10.0.0.1"}
		for _, at := range []Place{pod, {Kind: Host, Address: "192.0.2.1"}, {}} {
			Out([]Policy{p}, pod, at, Port{53, "UDP"})
			In([]Policy{p}, at, pod, Port{53, "UDP"})
		}
	})
}
