package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// The answers to why a Service has the backends that it has.
const (
	endpointOK         = "ok"
	endpointNoPods     = "no_pods"
	endpointNotReady   = "not_ready"
	endpointPort       = "port"
	endpointNoSelector = "no_selector"
	endpointAbsent     = "absent"
)

func endpointFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the Service is there"},
		{Name: "ready", Type: steps.Int, Doc: "how many backends take traffic, each address once"},
		{Name: "why", Type: steps.Enum, Values: []string{endpointOK, endpointNoPods, endpointNotReady, endpointPort, endpointNoSelector, endpointAbsent},
			Doc: "ok, or why there is none: no Pod fits the selector, none is ready, none has the named port, it has no selector and nothing fills it in, or there is no such Service"},
		{Name: "pods", Type: steps.Int, Doc: "how many Pods fit its selector"},
		{Name: "backends", Type: steps.Strings, Doc: "the backends that take traffic, as ADDRESS or ADDRESS POD, at most 500"},
		{Name: "cluster_ip", Type: steps.String, Doc: "its address in the cluster: None for a headless one, empty for a name that stands for another"},
		{Name: "ports", Type: steps.Strings, Doc: "its ports, as NAME PORT/PROTOCOL to TARGET"},
	}
}

// service is what is read of a Service.
type service struct {
	Metadata podstate.Metadata `json:"metadata"`
	Spec     struct {
		Type                     string            `json:"type"`
		ClusterIP                string            `json:"clusterIP"`
		ExternalName             string            `json:"externalName"`
		Selector                 map[string]string `json:"selector"`
		PublishNotReadyAddresses bool              `json:"publishNotReadyAddresses"`
		Ports                    []servicePort     `json:"ports"`
	} `json:"spec"`
}

type servicePort struct {
	Name       string          `json:"name"`
	Port       int64           `json:"port"`
	Protocol   string          `json:"protocol"`
	TargetPort json.RawMessage `json:"targetPort"`
}

// target is the port of the Pods: a number, or a name.
func (p servicePort) target() (number int64, name string) {
	var s string
	if json.Unmarshal(p.TargetPort, &s) == nil && s != "" {
		if n, err := strconv.ParseInt(s, 10, 32); err == nil {
			return n, ""
		}
		return 0, s
	}
	var n int64
	if json.Unmarshal(p.TargetPort, &n) == nil && n != 0 {
		return n, ""
	}
	return p.Port, ""
}

// endpointSlice is what is read of an EndpointSlice.
type endpointSlice struct {
	Metadata  podstate.Metadata `json:"metadata"`
	Endpoints []struct {
		Addresses  []string `json:"addresses"`
		Conditions struct {
			Ready *bool `json:"ready"`
		} `json:"conditions"`
		TargetRef struct {
			Kind, Namespace, Name, UID string
		} `json:"targetRef"`
	} `json:"endpoints"`
	Ports []struct {
		Name     string `json:"name"`
		Port     int64  `json:"port"`
		Protocol string `json:"protocol"`
	} `json:"ports"`
}

func endpointSlices() cluster.Resource {
	return cluster.Resource{Group: "discovery.k8s.io", Version: "v1", Plural: "endpointslices", Kind: "EndpointSlice", Namespaced: true}
}

// readService reads one Service.
func readService(ctx context.Context, c *cluster.Client, ns, name string) (service, error) {
	o, err := c.Get(ctx, cluster.Services(), ns, name)
	if err != nil {
		return service{}, err
	}
	var s service
	if err := json.Unmarshal(o.Raw, &s); err != nil {
		return service{}, fmt.Errorf("service %s/%s cannot be read: %w", ns, name, err)
	}
	return s, nil
}

// slicesOf reads the EndpointSlices of a Service.
func slicesOf(ctx context.Context, c *cluster.Client, ns, name string) ([]endpointSlice, error) {
	var all []endpointSlice
	query := url.Values{"labelSelector": {"kubernetes.io/service-name=" + name}}
	err := cluster.Each(ctx, c, endpointSlices().Path(ns, ""), query, func(s endpointSlice) { all = append(all, s) })
	return all, err
}

// selectorQuery selects by labels that must all be worn.
func selectorQuery(labels map[string]string) url.Values {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, k+"="+labels[k])
	}
	return url.Values{"labelSelector": {strings.Join(parts, ",")}}
}

type endpointProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p endpointProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	ns, name := c.NamespaceOf(in), in.Text("service")
	var s report.Report
	s.Obs.Command = c.Kubectl(ns, "get", "endpointslices", "-l", "kubernetes.io/service-name="+name, "-o", "wide")
	f := steps.NewFacts(endpointFacts())
	svc, err := readService(inner, c, ns, name)
	if errors.Is(err, cluster.ErrAbsent) {
		f.Set("exists", steps.BoolOf(false))
		f.Set("ready", steps.IntOf(0))
		f.Set("why", steps.EnumOf(endpointAbsent))
		s.Obs.Summary = fmt.Sprintf("There is no Service %s in namespace %s.", name, ns)
		s.Obs.Findings, s.Obs.Facts = c.Warnings(), f.Rest("there is no such Service")
		return s.Obs, nil
	}
	if err != nil {
		return steps.Observation{}, err
	}
	f.Set("exists", steps.BoolOf(true))
	f.Set("cluster_ip", steps.StringOf(svc.Spec.ClusterIP))
	all, err := slicesOf(inner, c, ns, name)
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	t := endpointReport{Report: &s, facts: f, svc: svc, of: "Service " + ns + "/" + name}
	t.backends(all)
	t.ports()
	if len(svc.Spec.Selector) > 0 {
		err := cluster.Each(inner, c, cluster.Pods().Path(ns, ""), selectorQuery(svc.Spec.Selector), t.see)
		if turned() != nil {
			return steps.Observation{}, turned()
		}
		if err != nil {
			t.unread = "the Pods that its selector fits could not be read: " + report.Why(err)
			s.Gap("%s", t.unread)
		}
	}
	t.verdict()
	s.Obs.Findings = append(s.Obs.Findings, c.Warnings()...)
	s.Obs.Facts = f.Rest("it has no selector")
	return s.Obs, nil
}

// endpointReport says why a Service has the backends that it has.
type endpointReport struct {
	*report.Report
	facts  steps.Facts
	svc    service
	of     string
	unread string

	ready         map[string]string // address to the Pod behind it
	pods          int
	podsReady     int
	podsLeaving   int
	portless      map[string]int // named port to how many Pods lack it
	undeclared    map[int64]int  // number to how many Pods do not declare it
	notReadyExamp string
}

func (t *endpointReport) backends(all []endpointSlice) {
	t.ready = map[string]string{}
	served := map[string]bool{} // ports by name that a backend takes
	for _, slice := range all {
		// Pods that lack every port of the Service stand in a slice without ports.
		if len(t.svc.Spec.Ports) > 0 && len(slice.Ports) == 0 {
			continue
		}
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			for _, address := range e.Addresses {
				t.ready[address] = e.TargetRef.Name
			}
			for _, port := range slice.Ports {
				served[port.Name] = true
			}
		}
	}
	for _, port := range t.svc.Spec.Ports {
		if len(t.ready) > 0 && !served[port.Name] {
			t.Obs.Say(steps.Warning, "%s: no backend takes its port %s.", t.of, strings.TrimSpace(port.Name+" "+strconv.FormatInt(port.Port, 10)))
		}
	}
	var list []string
	for _, address := range slices.Sorted(maps.Keys(t.ready)) {
		list = append(list, strings.TrimSpace(address+" "+t.ready[address]))
	}
	t.facts.Set("ready", steps.IntOf(int64(len(list))))
	if len(list) > report.MostNames {
		t.facts.Unknown(fmt.Sprintf("more than %d", report.MostNames), "backends")
		return
	}
	t.facts.Set("backends", steps.StringsOf(list))
}

func (t *endpointReport) ports() {
	var list []string
	for _, p := range t.svc.Spec.Ports {
		number, name := p.target()
		to := name
		if name == "" {
			to = strconv.FormatInt(number, 10)
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %d/%s to %s", p.Name, p.Port, p.Protocol, to)))
	}
	t.facts.Set("ports", steps.StringsOf(list))
}

// see looks at one Pod that fits the selector.
func (t *endpointReport) see(p podstate.Pod) {
	if p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
		return
	}
	t.pods++
	if p.Metadata.DeletionTimestamp != nil {
		t.podsLeaving++
	}
	if p.Status.Condition("Ready").Status == "True" {
		t.podsReady++
	} else if t.notReadyExamp == "" {
		t.notReadyExamp = p.Metadata.Name
	}
	for _, port := range t.svc.Spec.Ports {
		number, name := port.target()
		has := false
		for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			for _, q := range c.Ports {
				has = has || name != "" && q.Name == name || name == "" && q.ContainerPort == number
			}
		}
		if has {
			continue
		}
		if name != "" {
			if t.portless == nil {
				t.portless = map[string]int{}
			}
			t.portless[name]++
		} else {
			if t.undeclared == nil {
				t.undeclared = map[int64]int{}
			}
			t.undeclared[number]++
		}
	}
}

func (t *endpointReport) verdict() {
	f, n := t.facts, int64(len(t.ready))
	if len(t.svc.Spec.Selector) > 0 && t.unread == "" {
		f.Set("pods", steps.IntOf(int64(t.pods)))
	} else if t.unread != "" {
		f.Unknown(t.unread, "pods")
	}
	why, say := t.why()
	if why == "" {
		f.Unknown(t.unread, "why")
		t.Obs.Summary = fmt.Sprintf("%s has no backend, and why is not known.", t.of)
		return
	}
	f.Set("why", steps.EnumOf(why))
	t.Obs.Summary = fmt.Sprintf("%s has %d backends.", t.of, n)
	if why != endpointOK {
		t.Obs.Summary = fmt.Sprintf("%s has no backend: %s.", t.of, say)
		t.Obs.Say(steps.Critical, "%s: %s.", t.of, say)
	}
	for _, number := range sortedNumbers(t.undeclared) {
		if t.undeclared[number] == t.pods && t.pods > 0 {
			t.Obs.Say(steps.Info, "No container of its Pods declares port %d. That is no fault by itself, and a wrong targetPort looks like this.", number)
		}
	}
	if t.svc.Spec.PublishNotReadyAddresses {
		t.Obs.Say(steps.Info, "%s publishes backends that are not ready too.", t.of)
	}
}

func (t *endpointReport) why() (why, say string) {
	switch {
	case len(t.ready) > 0:
		return endpointOK, ""
	case t.svc.Spec.Type == "ExternalName":
		return endpointNoSelector, "it stands for the name " + strconv.Quote(steps.Clip(t.svc.Spec.ExternalName, 253)) + " outside"
	case len(t.svc.Spec.Selector) == 0:
		return endpointNoSelector, "it has no selector, and no EndpointSlice was filled in for it"
	case t.unread != "":
		return "", ""
	case t.pods == 0:
		return endpointNoPods, "no Pod fits its selector; compare it with the labels of the Pods"
	case t.podsReady == 0:
		return endpointNotReady, fmt.Sprintf("none of %d Pods is ready, such as %s", t.pods, t.notReadyExamp)
	}
	for _, name := range slices.Sorted(maps.Keys(t.portless)) {
		if t.portless[name] == t.pods {
			return endpointPort, fmt.Sprintf("none of its Pods has a port named %q", steps.Clip(name, 63))
		}
	}
	if t.podsLeaving == t.pods {
		return endpointNotReady, fmt.Sprintf("all of %d Pods are being deleted", t.pods)
	}
	return endpointNotReady, fmt.Sprintf("%d of %d Pods are ready, and its EndpointSlices do not have them yet: read again; where that stays so, their controller does not run", t.podsReady, t.pods)
}

func sortedNumbers(m map[int64]int) []int64 {
	out := make([]int64, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
