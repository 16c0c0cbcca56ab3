package workload

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

func claimFacts() []steps.Field {
	return []steps.Field{
		{Name: "count", Type: steps.Int, Doc: "how many claims the namespace has"},
		{Name: "pending", Type: steps.Strings, Doc: "claims that are Pending and not merely waiting for a Pod: each of them holds whatever mounts it"},
		{Name: "missing_class", Type: steps.Strings, Doc: "those whose StorageClass does not exist"},
		{Name: "no_class", Type: steps.Strings, Doc: "those that name no class where the cluster has no default, or ask for a volume that is made by hand"},
		{Name: "provisioning", Type: steps.Strings, Doc: "those whose class exists and whose provisioner has not made a volume"},
		{Name: "lost", Type: steps.Strings, Doc: "claims whose volume is gone"},
		{Name: "waiting", Type: steps.Strings, Doc: "claims that wait for the first Pod that uses them: no fault of theirs"},
		{Name: "classes", Type: steps.Strings, Doc: "the StorageClasses of the cluster, the default one marked"},
	}
}

// claim is what is read of a PersistentVolumeClaim.
type claim struct {
	Metadata podstate.Metadata `json:"metadata"`
	Spec     struct {
		StorageClassName *string `json:"storageClassName"`
		VolumeName       string  `json:"volumeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// claimClass is what is read of a StorageClass.
type claimClass struct {
	Metadata          podstate.Metadata `json:"metadata"`
	Provisioner       string            `json:"provisioner"`
	VolumeBindingMode string            `json:"volumeBindingMode"`
}

func (k claimClass) isDefault() bool {
	return k.Metadata.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
}

const claimNode = "volume.kubernetes.io/selected-node"

// claimVerdict is why a claim is Pending.
type claimVerdict string

const (
	claimMissing      claimVerdict = "missing_class"
	claimNoClass      claimVerdict = "no_class"
	claimProvisioning claimVerdict = "provisioning"
	claimWaiting      claimVerdict = "waiting"
	claimUnsaid       claimVerdict = ""
)

// claimWhy says why a claim is Pending, by its class where the classes could be
// read, else by what the controller said of it in events: half of these are
// Normal.
func claimWhy(p claim, classes map[string]claimClass, read bool, said []event) (claimVerdict, string) {
	switch name := p.Spec.StorageClassName; {
	case name != nil && *name == "":
		return claimNoClass, "it asks for no class, so a volume must be made for it by hand"
	case !read:
		return claimBySaid(said)
	case name == nil:
		if slices.ContainsFunc(mapValues(classes), claimClass.isDefault) {
			return claimProvisioning, "it names no class; it gets the default one at its controller's next look"
		}
		return claimNoClass, "it names no class, and the cluster has no default"
	default:
		class, there := classes[*name]
		switch {
		case !there:
			return claimMissing, fmt.Sprintf("its class %q does not exist", *name)
		case class.VolumeBindingMode == "WaitForFirstConsumer" && p.Metadata.Annotations[claimNode] == "":
			return claimWaiting, "it is bound when the first Pod that uses it gets a node"
		}
		return claimProvisioning, fmt.Sprintf("provisioner %s has not made its volume", steps.Clip(class.Provisioner, 200))
	}
}

func mapValues(m map[string]claimClass) []claimClass {
	out := make([]claimClass, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

func claimBySaid(said []event) (claimVerdict, string) {
	for _, e := range slices.Backward(said) {
		text := steps.OneLine(e.Message, 600)
		switch {
		case e.Reason == "ProvisioningFailed" && strings.Contains(e.Message, "storageclass") && strings.Contains(e.Message, "not found"):
			return claimMissing, text
		case e.Reason == "WaitForFirstConsumer", e.Reason == "WaitForPodScheduled":
			return claimWaiting, text
		case e.Reason == "FailedBinding" && strings.Contains(e.Message, "no storage class is set"):
			return claimNoClass, text
		case e.Reason == "ExternalProvisioning", e.Reason == "Provisioning", e.Reason == "ProvisioningFailed":
			return claimProvisioning, text
		}
	}
	return claimUnsaid, ""
}

type claimProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p claimProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	ns := c.NamespaceOf(in)
	var s report.Report
	s.Obs.Command = c.Kubectl(ns, "get", "persistentvolumeclaims")
	var all []claim
	r := cluster.Resource{Version: "v1", Plural: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Namespaced: true}
	if err := cluster.Each(inner, c, r.Path(ns, ""), nil, func(p claim) { all = append(all, p) }); err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	f := steps.NewFacts(claimFacts())
	f.Set("count", steps.IntOf(int64(len(all))))
	classes, unread := claimClasses(inner, c, f)
	events, eventsUnread := &eventHeap{}, ""
	if slices.ContainsFunc(all, func(p claim) bool { return p.Status.Phase == "Pending" }) {
		if events, err = eventsIn(inner, c, ns, "involvedObject.kind=PersistentVolumeClaim"); err != nil {
			eventsUnread = report.Why(err)
			s.Gap("events of the claims were not read: %s", eventsUnread)
		}
	}
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	if unread != "" {
		s.Gap("%s", unread)
	}
	if gap := eventKeep(out, events.events()); gap != "" {
		s.Gap("%s", gap)
	}
	claimTell(&s, f, all, classes, unread, events.events())
	s.Obs.Summary = claimSummary(f, ns, len(all))
	s.Obs.Findings = append(s.Obs.Findings, c.Warnings()...)
	s.Obs.Facts = f.Rest("not read")
	return s.Obs, nil
}

// claimClasses reads the classes of the cluster, which not every account may see.
func claimClasses(ctx context.Context, c *cluster.Client, f steps.Facts) (map[string]claimClass, string) {
	classes, names := map[string]claimClass{}, []string{}
	r := cluster.Resource{Group: "storage.k8s.io", Version: "v1", Plural: "storageclasses", Kind: "StorageClass"}
	err := cluster.Each(ctx, c, r.Path("", ""), url.Values{}, func(k claimClass) {
		classes[k.Metadata.Name] = k
		name := k.Metadata.Name
		if k.isDefault() {
			name += " (default)"
		}
		names = append(names, name)
	})
	if err != nil {
		why := "the StorageClasses could not be read, so events alone say why a claim is Pending: " + report.Why(err)
		if errors.Is(err, context.Canceled) {
			why = "the StorageClasses were not read"
		}
		f.Unknown(why, "classes")
		return nil, why
	}
	slices.Sort(names)
	f.Set("classes", steps.StringsOf(names))
	return classes, ""
}

func claimTell(s *report.Report, f steps.Facts, all []claim, classes map[string]claimClass, unread string, events []event) {
	lists := map[claimVerdict][]string{}
	var pending, lost, unsaid []string
	for _, p := range all {
		name := p.Metadata.Name
		switch p.Status.Phase {
		case "Lost":
			lost = append(lost, name)
			s.Obs.Say(steps.Critical, "Claim %s has lost its volume %s. Do not delete it: what it held may still be on the volume's other end.", name, steps.Clip(p.Spec.VolumeName, 253))
		case "Pending":
			var said []event
			for _, e := range events {
				if e.InvolvedObject.UID == p.Metadata.UID {
					said = append(said, e)
				}
			}
			why, text := claimWhy(p, classes, unread == "", said)
			lists[why] = append(lists[why], name)
			switch why {
			case claimWaiting:
				s.Obs.Say(steps.Info, "Claim %s: %s. Look at that Pod, not at the claim.", name, text)
			case claimUnsaid:
				unsaid = append(unsaid, name)
			default:
				pending = append(pending, name)
				s.Obs.Say(steps.Critical, "Claim %s is Pending: %s.", name, text)
			}
		}
	}
	f.Set("lost", steps.StringsOf(lost))
	if len(unsaid) > 0 {
		why := fmt.Sprintf("why claim %s is Pending is not known: %s", steps.Clip(strings.Join(unsaid, ", "), 300), unread)
		f.Unknown(why, "pending", "missing_class", "no_class", "provisioning", "waiting")
		s.Obs.Say(steps.Warning, "%s.", why)
		return
	}
	f.Set("pending", steps.StringsOf(pending))
	f.Set("missing_class", steps.StringsOf(lists[claimMissing]))
	f.Set("no_class", steps.StringsOf(lists[claimNoClass]))
	f.Set("provisioning", steps.StringsOf(lists[claimProvisioning]))
	f.Set("waiting", steps.StringsOf(lists[claimWaiting]))
	if len(lists[claimMissing])+len(lists[claimNoClass]) > 0 {
		s.Obs.Say(steps.Info, "The class of a claim cannot be changed: it is created again under its name, and only while it was never bound.")
	}
}

func claimSummary(f steps.Facts, ns string, count int) string {
	switch pending, lost := f.Got("pending"), f.Got("lost").Strings(); {
	case count == 0:
		return fmt.Sprintf("Namespace %s has no claim.", ns)
	case len(lost) > 0:
		return fmt.Sprintf("Claims of namespace %s that lost their volume: %s.", ns, steps.Clip(strings.Join(lost, ", "), 300))
	case !pending.Known():
		return fmt.Sprintf("Namespace %s has %d claims; why some are Pending is not known.", ns, count)
	case len(pending.Strings()) > 0:
		return fmt.Sprintf("Claims of namespace %s that are Pending: %s.", ns, steps.Clip(strings.Join(pending.Strings(), ", "), 300))
	case len(f.Got("waiting").Strings()) > 0:
		return fmt.Sprintf("Namespace %s has %d claims; those that are Pending wait for their first Pod, which is no fault.", ns, count)
	}
	return fmt.Sprintf("All %d claims of namespace %s are bound.", count, ns)
}
