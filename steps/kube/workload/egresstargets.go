package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/egress"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// name asks for the DNS of the cluster, over both protocols.
func (r *egressRun) name(ctx context.Context, dns string) {
	var places []egress.Place
	switch {
	case r.spec.DNSPolicy == "None" && len(r.spec.DNSConfig.Nameservers) > 0:
		for _, ip := range r.spec.DNSConfig.Nameservers {
			places = append(places, egress.Place{Kind: egress.Unknown, Address: ip, PortsUnread: true})
		}
	case r.spec.DNSPolicy == "Default":
		places = []egress.Place{{Kind: egress.Host}}
		r.Gap("it asks the name servers of its node, whose addresses are not known here")
	default:
		places = r.resolvers(ctx, dns)
	}
	for fact, protocol := range map[string]string{"dns_udp": "UDP", "dns_tcp": "TCP"} {
		var ends []egressEnd
		for _, p := range places {
			ends = append(ends, egressEnd{p, egress.Port{Number: 53, Protocol: protocol}, strings.TrimSpace(p.Namespace + " " + p.Address)})
		}
		r.settle(fact, "DNS over "+protocol, ends, r.out, "it depends on what was not read of the DNS Pods (their labels or addresses)")
	}
}

// resolvers are the DNS Pods, as they are, or as every installation has them
// where they cannot be seen.
func (r *egressRun) resolvers(ctx context.Context, dns string) []egress.Place {
	if dns == "" {
		dns = egressDNS
	}
	ns, label, _ := strings.Cut(dns, "/")
	key, value, _ := strings.Cut(label, "=")
	space := egressSpace(ctx, r.c, ns)
	labels := map[string]string{key: value}
	var places []egress.Place
	err := cluster.Each(ctx, r.c, cluster.Pods().Path(ns, ""), selectorQuery(labels), func(p podstate.Pod) {
		if p.Metadata.DeletionTimestamp == nil {
			places = append(places, egressPod(p, space))
		}
	})
	if err == nil && len(places) > 0 {
		return places
	}
	why := "no Pod there bears that label"
	if err != nil {
		why = report.Why(err)
	}
	r.Gap("the DNS Pods were not seen (%s); they are taken to be those of %s, name others with the parameter dns", why, dns)
	return []egress.Place{{Kind: egress.Pod, Namespace: ns, NamespaceLabels: space, Labels: egress.Labels{Known: labels, Partial: true}, PortsUnread: true}}
}

// egressPod is a Pod as one end of a connection.
func egressPod(p podstate.Pod, space egress.Labels) egress.Place {
	at := egress.Place{Kind: egress.Pod, Namespace: p.Metadata.Namespace, NamespaceLabels: space,
		Labels: egress.Labels{Known: p.Metadata.Labels}, Address: p.Status.PodIP, Ports: map[string]int64{}}
	if p.Spec.HostNetwork {
		at = egress.Place{Kind: egress.Host, Address: p.Status.PodIP}
	}
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		for _, port := range c.Ports {
			protocol := port.Protocol
			if protocol == "" {
				protocol = "TCP"
			}
			if at.Ports != nil && port.Name != "" {
				at.Ports[port.Name+"/"+protocol] = port.ContainerPort
			}
		}
	}
	return at
}

// server asks for the API server, which is no Pod. Most plugins look at a
// connection after the address of the Service was turned into its own.
func (r *egressRun) server(ctx context.Context) {
	var ends []egressEnd
	all, err := slicesOf(ctx, r.c, "default", "kubernetes")
	for _, s := range all {
		for _, e := range s.Endpoints {
			for _, ip := range e.Addresses {
				for _, p := range s.Ports {
					ends = append(ends, egressEnd{egress.Place{Kind: egress.Host, Address: ip}, egress.Port{Number: p.Port, Protocol: "TCP"}, net.JoinHostPort(ip, strconv.FormatInt(p.Port, 10))})
				}
			}
		}
	}
	if err != nil || len(ends) == 0 {
		for _, port := range []int64{443, 6443} {
			ends = append(ends, egressEnd{egress.Place{Kind: egress.Host}, egress.Port{Number: port, Protocol: "TCP"}, "port " + strconv.FormatInt(port, 10)})
		}
		why := "they are not known"
		if err != nil {
			why = report.Why(err)
		}
		r.Gap("the addresses of the API server were not seen: %s", why)
	}
	r.settle("api_server", "the API server", ends, r.out, "it depends on the address of the API server, which could not be read")
}

// target asks for what was named, there and back: its own policies may refuse.
func (r *egressRun) target(ctx context.Context, to string) {
	if to == "" {
		r.facts.Unknown("no target was named", "target", "peer_policies")
		return
	}
	ends, err := r.ends(ctx, to)
	if err != nil {
		r.facts.Unknown(report.Why(err), "target", "peer_policies")
		r.Gap("%s: %s", to, report.Why(err))
		return
	}
	policies := map[string][]egress.Policy{r.from.Namespace: r.policies}
	var unread string
	var selecting []string
	for _, e := range ends {
		ns := e.place.Namespace
		if _, read := policies[ns]; !read && e.place.Kind == egress.Pod {
			list, err := egressPolicies(ctx, r.c, ns)
			if err != nil {
				unread = fmt.Sprintf("the policies of namespace %s could not be read: %s", ns, report.Why(err))
				r.Gap("%s", unread)
			}
			policies[ns] = list
		}
		selecting = append(selecting, egress.Selecting(policies[ns], e.place, "Ingress")...)
	}
	slices.Sort(selecting)
	if unread != "" {
		r.facts.Unknown(unread, "peer_policies")
	} else {
		r.facts.Set("peer_policies", steps.StringsOf(slices.Compact(selecting)))
	}
	unsure := "it depends on what was not read: whose address it is, its labels, or whether an address block of a policy holds the addresses of Pods here"
	if unread != "" {
		unsure = unread
	}
	r.settle("target", to, ends, func(e egressEnd) egress.Answer {
		in := egress.Maybe
		if unread == "" || e.place.Namespace == r.from.Namespace {
			in = egress.In(policies[e.place.Namespace], r.from, e.place, e.port)
		}
		return min(r.out(e), in)
	}, unsure)
}

var errEgressPort = errors.New("it has several ports: say which with :PORT")

// ends resolves what was named as a Pod of this namespace would.
func (r *egressRun) ends(ctx context.Context, to string) ([]egressEnd, error) {
	if rest, ok := strings.CutPrefix(to, "service/"); ok {
		name, port, _ := strings.Cut(rest, ":")
		ns := r.from.Namespace
		if a, b, ok := strings.Cut(name, "/"); ok {
			ns, name = a, b
		}
		return r.serviceEnds(ctx, ns, name, port)
	}
	host, text, err := net.SplitHostPort(to)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", steps.Clip(to, 300), err)
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil || number < 1 || number > 65535 {
		return nil, fmt.Errorf("target %q: %q is no port", steps.Clip(to, 300), text)
	}
	port := egress.Port{Number: number, Protocol: "TCP"}
	if ip, err := netip.ParseAddr(host); err == nil {
		return r.addressEnds(ctx, ip, port)
	}
	if ns, name, ok := egressServiceName(host, r.from.Namespace); ok {
		ends, err := r.serviceEnds(ctx, ns, name, text)
		if err == nil || !errors.Is(err, cluster.ErrAbsent) || !strings.Contains(host, ".") {
			return ends, err
		}
	}
	r.Gap("%s is a name outside of the cluster: its addresses are not looked up from here, a Pod may get others", steps.Clip(host, 253))
	return []egressEnd{{egress.Place{Kind: egress.Host}, port, to}}, nil
}

// egressServiceName reads a host name as the DNS of a cluster does: name,
// name.namespace or name.namespace.svc and what follows.
func egressServiceName(host, namespace string) (ns, name string, ok bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	switch {
	case len(parts) == 1:
		return namespace, parts[0], true
	case len(parts) == 2, parts[2] == "svc":
		return parts[1], parts[0], true
	}
	return "", "", false
}

// addressEnds finds out whose address it is.
func (r *egressRun) addressEnds(ctx context.Context, ip netip.Addr, port egress.Port) ([]egressEnd, error) {
	at := egressEnd{egress.Place{Kind: egress.Unknown, Address: ip.String(), PortsUnread: true}, port, ip.String()}
	found := ""
	err := cluster.Each(ctx, r.c, cluster.Services().Path(r.from.Namespace, ""), nil, func(s service) {
		if s.Spec.ClusterIP == ip.String() {
			found = s.Metadata.Name
		}
	})
	if err == nil && found != "" {
		return r.serviceEnds(ctx, r.from.Namespace, found, strconv.FormatInt(port.Number, 10))
	}
	var pod *podstate.Pod
	query := map[string][]string{"fieldSelector": {"status.podIP=" + ip.String()}}
	perr := cluster.Each(ctx, r.c, cluster.Pods().Path("", ""), query, func(p podstate.Pod) { pod = &p })
	if perr != nil {
		_ = cluster.Each(ctx, r.c, cluster.Pods().Path(r.from.Namespace, ""), query, func(p podstate.Pod) { pod = &p })
		r.Gap("the Pods of other namespaces could not be searched for %s", ip)
	} else if pod == nil && !ip.IsPrivate() && !ip.IsLinkLocalUnicast() {
		at.place = egress.Place{Kind: egress.Host, Address: ip.String()}
	}
	if pod != nil {
		at.place, at.label = egressPod(*pod, egressSpace(ctx, r.c, pod.Metadata.Namespace)), pod.Metadata.Name
	}
	return []egressEnd{at}, report.Cause(ctx.Err(), nil)
}

// serviceEnds are the Pods behind a Service: those of its selector, ready or
// not, else the addresses that were filled in by hand.
func (r *egressRun) serviceEnds(ctx context.Context, ns, name, port string) ([]egressEnd, error) {
	svc, err := readService(ctx, r.c, ns, name)
	if err != nil {
		return nil, fmt.Errorf("service %s/%s: %w", ns, name, err)
	}
	var chosen *servicePort
	for i, p := range svc.Spec.Ports {
		if port == "" && len(svc.Spec.Ports) == 1 || p.Name == port && port != "" || strconv.FormatInt(p.Port, 10) == port {
			chosen = &svc.Spec.Ports[i]
		}
	}
	switch {
	case chosen == nil && port == "":
		return nil, fmt.Errorf("service %s/%s: %w", ns, name, errEgressPort)
	case chosen == nil:
		return nil, fmt.Errorf("service %s/%s has no port %q", ns, name, steps.Clip(port, 63))
	case svc.Spec.Type == "ExternalName":
		return []egressEnd{{egress.Place{Kind: egress.Host}, egress.Port{Number: chosen.Port, Protocol: egressProtocol(*chosen)}, svc.Spec.ExternalName}}, nil
	}
	if len(svc.Spec.Selector) == 0 {
		return r.filledIn(ctx, ns, name, *chosen)
	}
	number, named := chosen.target()
	space := egressSpace(ctx, r.c, ns)
	var ends []egressEnd
	var portless error
	err = cluster.Each(ctx, r.c, cluster.Pods().Path(ns, ""), selectorQuery(svc.Spec.Selector), func(p podstate.Pod) {
		if p.Metadata.DeletionTimestamp != nil || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
			return
		}
		at := egressPod(p, space)
		n := number
		if named != "" {
			if n = at.Ports[named+"/"+egressProtocol(*chosen)]; n == 0 {
				portless = fmt.Errorf("pod %s/%s has no port named %q, which service %s sends to", ns, p.Metadata.Name, steps.Clip(named, 63), name)
			}
		}
		ends = append(ends, egressEnd{at, egress.Port{Number: n, Protocol: egressProtocol(*chosen)}, p.Metadata.Name})
	})
	if err == nil && len(ends) > 0 {
		return ends, portless
	}
	if named != "" {
		return nil, fmt.Errorf("service %s/%s has no Pod that says which number its port %q has", ns, name, steps.Clip(named, 63))
	}
	r.Gap("service %s/%s has no Pod that can be seen; a Pod with the labels of its selector was taken instead", ns, name)
	at := egress.Place{Kind: egress.Pod, Namespace: ns, NamespaceLabels: space, Labels: egress.Labels{Known: svc.Spec.Selector, Partial: true}, PortsUnread: true}
	return []egressEnd{{at, egress.Port{Number: number, Protocol: egressProtocol(*chosen)}, "service/" + name}}, nil
}

func egressProtocol(p servicePort) string {
	if p.Protocol == "" {
		return "TCP"
	}
	return p.Protocol
}

// filledIn are the addresses of a Service without a selector.
func (r *egressRun) filledIn(ctx context.Context, ns, name string, port servicePort) ([]egressEnd, error) {
	all, err := slicesOf(ctx, r.c, ns, name)
	if err != nil {
		return nil, err
	}
	var ends []egressEnd
	for _, s := range all {
		for _, p := range s.Ports {
			if p.Name != port.Name {
				continue
			}
			for _, e := range s.Endpoints {
				for _, ip := range e.Addresses {
					ends = append(ends, egressEnd{egress.Place{Kind: egress.Unknown, Address: ip, PortsUnread: true}, egress.Port{Number: p.Port, Protocol: egressProtocol(port)}, ip})
				}
			}
		}
	}
	if len(ends) == 0 {
		return nil, fmt.Errorf("service %s/%s has no selector, and no address was filled in", ns, name)
	}
	return ends, nil
}

func egressKeep(out steps.Sink, policies []egress.Policy) string {
	if len(policies) == 0 {
		return ""
	}
	return steps.Keep(out, "policies", steps.MediaJSON, func(w io.Writer) error {
		raw, err := json.MarshalIndent(policies, "", "  ")
		if err == nil {
			_, err = w.Write(raw)
		}
		return err
	})
}
