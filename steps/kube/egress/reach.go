package egress

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
)

// Out says whether the policies of the namespace of from let it reach port at to.
func Out(policies []Policy, from, to Place, port Port) Answer {
	return decide(policies, "Egress", from, to, to, port)
}

// In says whether the policies of the namespace of to let from reach port there.
// Policies are about Pods: a place that is none takes everything.
func In(policies []Policy, from, to Place, port Port) Answer {
	switch to.Kind {
	case Host:
		return Yes
	case Unknown:
		return max(Maybe, decide(policies, "Ingress", to, from, to, port))
	}
	return decide(policies, "Ingress", to, from, to, port)
}

// Selecting names the policies that may concern a Pod in one direction, "Egress"
// or "Ingress".
func Selecting(policies []Policy, pod Place, direction string) []string {
	var out []string
	for _, p := range policies {
		if p.selects(pod, direction) != No {
			out = append(out, p.Metadata.Name)
		}
	}
	slices.Sort(out)
	return out
}

func (p Policy) selects(pod Place, direction string) Answer {
	if p.Metadata.Namespace != pod.Namespace || !p.concerns(direction) {
		return No
	}
	return p.Spec.PodSelector.fits(pod.Labels)
}

// decide is open where no policy selects the Pod, or one that does allows it.
// listens is the end whose named ports count.
func decide(policies []Policy, direction string, pod, peer, listens Place, port Port) Answer {
	isolated, allowed := No, No
	for _, p := range policies {
		selects := p.selects(pod, direction)
		isolated = max(isolated, selects)
		rules := p.Spec.Egress
		if direction == "Ingress" {
			rules = p.Spec.Ingress
		}
		for _, r := range rules {
			peers := r.To
			if direction == "Ingress" {
				peers = r.From
			}
			allows := min(anyPeer(peers, p.Metadata.Namespace, peer), anyPort(r.Ports, listens, port))
			allowed = max(allowed, min(selects, allows))
		}
	}
	return max(isolated.not(), allowed)
}

func anyPeer(peers []Peer, namespace string, at Place) Answer {
	if len(peers) == 0 {
		return Yes
	}
	a := No
	for _, p := range peers {
		a = max(a, p.fits(namespace, at))
	}
	return a
}

func (p Peer) fits(namespace string, at Place) Answer {
	if p.IPBlock != nil {
		return p.IPBlock.holds(at)
	}
	if at.Kind == Host {
		return No
	}
	if at.Kind == Unknown {
		at.Labels.Partial, at.NamespaceLabels.Partial = true, true
	}
	a := Yes
	switch {
	case p.NamespaceSelector != nil:
		a = p.NamespaceSelector.fits(at.NamespaceLabels)
	case at.Namespace != "":
		a = is(at.Namespace == namespace)
	default:
		a = Maybe
	}
	if p.PodSelector != nil {
		a = min(a, p.PodSelector.fits(at.Labels))
	}
	if at.Kind == Unknown {
		a = min(a, Maybe)
	}
	return a
}

// holds says whether a block holds an address. Of the address of a Pod the API
// leaves it to the network plugin whether a block can hold it.
func (b IPBlock) holds(at Place) Answer {
	a := Maybe
	if at.Address != "" {
		address, err := netip.ParseAddr(at.Address)
		block, berr := netip.ParsePrefix(b.CIDR)
		if err == nil && berr == nil {
			in := block.Contains(address.Unmap())
			for _, e := range b.Except {
				except, err := netip.ParsePrefix(e)
				if err != nil {
					return Maybe
				}
				in = in && !except.Contains(address.Unmap())
			}
			a = is(in)
		}
	}
	if at.Kind != Host {
		a = min(a, Maybe)
	}
	return a
}

func anyPort(ports []PolicyPort, at Place, want Port) Answer {
	if len(ports) == 0 {
		return Yes
	}
	a := No
	for _, p := range ports {
		a = max(a, p.fits(at, want))
	}
	return a
}

func (p PolicyPort) fits(at Place, want Port) Answer {
	protocol := p.Protocol
	if protocol == "" {
		protocol = "TCP"
	}
	if protocol != want.Protocol {
		return No
	}
	var number int64
	var name string
	raw := strings.TrimSpace(string(p.Port))
	switch {
	case raw == "" || raw == "null":
		return Yes
	case json.Unmarshal(p.Port, &number) == nil:
		return is(want.Number == number || p.EndPort != 0 && want.Number >= number && want.Number <= p.EndPort)
	case json.Unmarshal(p.Port, &name) != nil:
		return Maybe
	case at.Kind == Host:
		return No
	}
	if n, there := at.Ports[name+"/"+protocol]; there {
		return is(n == want.Number)
	}
	if at.PortsUnread || at.Kind == Unknown {
		return Maybe
	}
	return No
}

// fits says whether a selector fits labels that may be known in part.
func (s Selector) fits(l Labels) Answer {
	a := Yes
	for key, value := range s.MatchLabels {
		a = min(a, Requirement{Key: key, Operator: "In", Values: []string{value}}.fits(l))
	}
	for _, r := range s.MatchExpressions {
		a = min(a, r.fits(l))
	}
	return a
}

func (r Requirement) fits(l Labels) Answer {
	value, there := l.Known[r.Key]
	if !there && l.Partial {
		return Maybe
	}
	switch r.Operator {
	case "In":
		return is(there && slices.Contains(r.Values, value))
	case "NotIn":
		return is(!there || !slices.Contains(r.Values, value))
	case "Exists":
		return is(there)
	case "DoesNotExist":
		return is(!there)
	}
	return Maybe
}
