package stuck

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

// deadAPI is an API service that the server cannot reach, or that is silent: it counts as available and does
// not say what it serves.
type deadAPI struct {
	name, service, reason, message string

	silent bool
}

// deadAPIOf tells whether an API service is not known to be available.
func deadAPIOf(o cluster.Object) (d deadAPI, dead bool) {
	a, said := Conditions(o)["Available"]
	ns, _, _ := unstructured.NestedString(o.Object, "spec", "service", "namespace")
	name, _, _ := unstructured.NestedString(o.Object, "spec", "service", "name")
	d = deadAPI{name: steps.Clip(o.GetName(), 253), reason: steps.Clip(a.reason, 100), message: steps.Clip(a.message, 300)}
	if name != "" {
		d.service = steps.Clip(ns, 63) + "/" + steps.Clip(name, 63)
	}
	itself := name == "" && !said // served by the API server
	return d, !itself && (!said || a.Status != "True")
}

// dead finds the API services that stop the deletion of every namespace. A server that is up and answers its
// discovery wrongly, as an adapter without metrics may, stops it as one that is down does.
func (s *namespaceRun) dead(ctx context.Context) error {
	silent := map[string]bool{} // by the name of the API service
	for _, of := range s.Silent() {
		if group, version, named := strings.Cut(of, "/"); named {
			silent[version+"."+group] = true
		}
	}
	err := s.List(ctx, cluster.APIServices().Path("", ""), cluster.AsJSON, nil, func(o cluster.Object) {
		d, is := deadAPIOf(o)
		d.silent = !is && silent[d.name]
		if is || d.silent {
			s.apis = append(s.apis, d)
		}
	})
	if err != nil {
		s.apisWhy = err.Error()
	}
	slices.SortFunc(s.apis, func(a, b deadAPI) int { return strings.Compare(a.name, b.name) })
	return nil
}

func (s *namespaceRun) apiNames() string {
	var out []string
	for _, a := range s.apis {
		out = append(out, a.name)
	}
	return steps.Clip(strings.Join(out, ", "), 300)
}

func (s *namespaceRun) tellAPIs() {
	if s.apisWhy != "" {
		s.facts.Unknown(s.apisWhy, "dead_apis")
		s.obs.Gaps = append(s.obs.Gaps, "API services: "+s.apisWhy)
	} else {
		var names []string
		for _, a := range s.apis {
			names = append(names, a.name)
		}
		s.facts.Set("dead_apis", steps.StringsOf(names))
	}
	for _, a := range s.apis {
		at := ""
		if a.service != "" {
			at = ", served by service " + a.service
		}
		if a.silent {
			s.obs.Say(steps.Critical, "API service %s%s counts as available and does not say what it serves: its discovery fails. No namespace can be deleted until that answers again.", a.name, at)
			continue
		}
		s.obs.Say(steps.Critical, "API service %s%s is not available (%s: %s). No namespace can be deleted until it answers again or its APIService is deleted: what it served is then not served at all, but nothing that it stored is lost.", a.name, at, report.OrNothing(a.reason), report.OrNothing(a.message))
	}
}

// refusal is a webhook or a policy that refused a deletion, as the namespace
// controller tells it.
type refusal struct {
	policy  bool
	name    string // of the webhook or the policy
	binding string
	called  bool   // it answered, and said no
	why     string // why it could not be called, or what it said

	where  []string // configurations that have it
	unread string   // why it is not known which
}

// late is an expression that is built once there is a text to read: a bound such as {1,253} makes a large one.
func late(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var (
	uncalledText = late(`failed calling webhook "([^"\s]{1,253})"(?:: (?:failed to call webhook: )?([^\n]{0,400}))?`)
	deniedText   = late(`admission webhook "([^"\s]{1,253})" denied the request(?:: ([^\n]{0,400}))?`)
	policyText   = late(`ValidatingAdmissionPolicy '([^'\s]{1,253})' with binding '([^'\s]{1,253})' denied request(?:: ([^\n]{0,400}))?`)
)

// saidRefusals reads who refused a deletion from what the namespace controller
// says of it. An error of several objects names each.
func saidRefusals(message string) []refusal {
	var out []refusal
	add := func(r refusal) {
		if !slices.ContainsFunc(out, func(o refusal) bool { return o.policy == r.policy && o.name == r.name && o.binding == r.binding }) {
			out = append(out, r)
		}
	}
	const most = 20
	for _, m := range uncalledText().FindAllStringSubmatch(message, most) {
		add(refusal{name: m[1], why: m[2]})
	}
	for _, m := range deniedText().FindAllStringSubmatch(message, most) {
		add(refusal{name: m[1], called: true, why: m[2]})
	}
	for _, m := range policyText().FindAllStringSubmatch(message, most) {
		add(refusal{policy: true, name: m[1], binding: m[2], called: true, why: m[3]})
	}
	return out
}

// cause says why a webhook could not be called, and the smallest repair.
func (r refusal) cause() string {
	has := func(part string) bool { return strings.Contains(r.why, part) }
	switch {
	case r.called:
		return "it was asked and said no: " + report.OrNothing(r.why) + "; change what it wants, or ask its owner"
	case has("no endpoints available"):
		return "its service has no Pod that is ready: bring its Pods back; look whether it refuses its own Pods"
	case has("not found") && has("service"):
		return "its service is not there: it was uninstalled and its configuration was left behind"
	case has("could not find the requested resource"):
		return "its server does not know the path: it is of another version than its configuration"
	case has("x509"):
		return "its certificate is not accepted: it has expired, or the caBundle of the configuration is of another one"
	case has("connection refused"):
		return "nothing listens where it should: its process is gone"
	case has("deadline exceeded"), has("timeout"):
		return "it does not answer in time: it hangs, or the network is closed to it, and each write waits for it"
	}
	return "it could not be called: " + report.OrNothing(r.why)
}

func (r refusal) String() string {
	if r.policy {
		return fmt.Sprintf("validatingadmissionpolicy/%s (binding %s)", r.name, r.binding)
	}
	switch {
	case len(r.where) > 0:
		return fmt.Sprintf("%s (webhook %s)", strings.Join(r.where, ", "), r.name)
	case r.unread != "":
		return "webhook " + r.name + " (of a configuration that could not be read)"
	}
	return "webhook " + r.name + " (no configuration has it any more)"
}

// refusals reads who refuses, where the namespace controller says that something
// does.
func (s *namespaceRun) refusals(ctx context.Context) error {
	if s.absent {
		return nil
	}
	failed := Conditions(s.o)["NamespaceDeletionContentFailure"]
	if failed.Status != "True" {
		return nil
	}
	s.hooks = saidRefusals(failed.message)
	for _, plural := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		r := cluster.Resource{Group: "admissionregistration.k8s.io", Version: "v1", Plural: plural}
		err := s.List(ctx, r.Path("", ""), cluster.AsJSON, nil, func(o cluster.Object) {
			hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
			for _, h := range hooks {
				m, _ := h.(map[string]any)
				name, _ := m["name"].(string)
				for i := range s.hooks {
					if !s.hooks[i].policy && s.hooks[i].name == name {
						s.hooks[i].where = append(s.hooks[i].where, strings.TrimSuffix(plural, "s")+"/"+o.GetName())
					}
				}
			}
		})
		if err == nil {
			continue
		}
		for i := range s.hooks {
			if !s.hooks[i].policy {
				s.hooks[i].unread = err.Error()
			}
		}
		s.obs.Gaps = append(s.obs.Gaps, plural+": "+err.Error())
	}
	return nil
}

// healed says that each webhook that refused is proven gone.
func (s *namespaceRun) healed() bool {
	return len(s.hooks) > 0 && !slices.ContainsFunc(s.hooks, func(r refusal) bool {
		return r.policy || len(r.where) > 0 || r.unread != ""
	})
}

func (s *namespaceRun) hookNames() string {
	var out []string
	for _, r := range s.hooks {
		out = append(out, r.String())
	}
	return steps.Clip(strings.Join(out, ", "), 500)
}

func (s *namespaceRun) tellRefusals() {
	var names []string
	unread := ""
	for _, r := range s.hooks {
		names = append(names, r.String())
		if unread == "" {
			unread = r.unread
		}
		s.obs.Say(steps.Critical, "%s refuses the deletion of what is left: %s.", r, report.Ended(steps.Clip(r.cause(), 500)))
	}
	if s.o.GetDeletionTimestamp() != nil && len(Conditions(s.o)) == 0 {
		s.facts.Unknown("the namespace controller has not said yet what it met", "webhooks")
		return
	}
	if unread != "" {
		s.facts.Unknown(fmt.Sprintf("%s refuses, and not every configuration could be read: %s", s.hookNames(), unread), "webhooks")
		return
	}
	s.facts.Set("webhooks", steps.StringsOf(names))
}
