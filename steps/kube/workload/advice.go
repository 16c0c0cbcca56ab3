package workload

import (
	"fmt"

	"handrail/steps"
	"handrail/steps/kube/loglayer"
	"handrail/steps/kube/podstate"
)

// layerMove is the next safe look, by what a log complains about.
var layerMove = map[loglayer.Layer]string{
	loglayer.Timeout:  "No answer came: a wrong address, or a NetworkPolicy that drops. Compare the address with the Service (kube/endpoints) and look at the way out (kube/egress).",
	loglayer.DNS:      "The name did not resolve: look whether a Service of that name exists (kube/endpoints), and whether DNS is open on its way out (kube/egress).",
	loglayer.Refused:  "Something answered and nothing listens on that port: look at the Service and its backends (kube/endpoints).",
	loglayer.TLS:      "The connection stands and its certificate is not accepted: look at its dates, its names and who signed it, and at the mode the client asks for.",
	loglayer.Auth:     "The other side answered and does not accept the credentials: look whether a Secret changed after the container started (kube/rotation).",
	loglayer.NotFound: "The other side accepted the connection and does not have what was asked for: a vhost, a database, a table or a path. Credentials are not the matter.",
	loglayer.Config:   "The program misses or does not understand its own configuration: look at the keys that it takes from ConfigMaps and Secrets.",
}

// refusedMove is the next safe move, by who refuses Pods.
var refusedMove = map[string]string{
	podstate.ByQuota:     "See kube/quota. A quota is repaired to what the namespace needs, never deleted: until then every Pod that a repair needs is refused too.",
	podstate.ByPolicy:    "See which rule refuses it, and make the Pod fit; an exception is for the owner of the policy to give.",
	podstate.ByWebhook:   "See who keeps the webhook and whether it answers; while it does not, everything that it matches is refused.",
	podstate.ByAccount:   "The account of the Pod is not there, or its controller may not make Pods. See kube/may.",
	podstate.ByLimits:    "A LimitRange of the namespace refuses what the Pod asks for.",
	podstate.ByNamespace: "The namespace is being deleted, and nothing can be made in it. See the runbook stuck-finalizer.",
}

// advice says what was found about the Pod, and the next safe move.
func (r *workloadRun) advice(k podstate.Trouble) {
	pod := r.pick.pod.Metadata.Name
	what := steps.Clip(k.Reason, 100)
	if k.Message != "" {
		what += ": " + steps.OneLine(k.Message, 600)
	}
	switch k.Stage {
	case podstate.None:
	case podstate.Unsaid:
		r.Obs.Say(steps.Info, "Pod %s: %s. Read again in a moment.", pod, k.Why)
	case podstate.Scheduling:
		r.Obs.Say(steps.Critical, "Pod %s is on no node (%s). Claims, quota and room on the nodes come before anything inside of it.", pod, what)
	case podstate.Image:
		r.Obs.Say(steps.Critical, "Pod %s: the image of container %s cannot be had (%s).", pod, k.Container, what)
	case podstate.Config:
		r.Obs.Say(steps.Critical, "Pod %s: container %s cannot be made (%s). A Secret, ConfigMap, key or volume that it names is missing or cannot be mounted.", pod, k.Container, what)
	case podstate.Init:
		r.Obs.Say(steps.Critical, "Pod %s stands at Init:%d/%d: container %s (%s). Init containers run one after another, so the ones behind it have not said anything yet: test what they need on its own.", pod, k.InitDone, k.InitTotal, k.Container, what)
	case podstate.Crash:
		r.Obs.Say(steps.Critical, "Pod %s: container %s %s.", pod, k.Container, crashWords(k))
	case podstate.Probe:
		r.Obs.Say(steps.Warning, "Pod %s runs and is not ready: container %s (%s). Look at its readiness probe and at what it waits for.", pod, k.Container, what)
	}
	if r.pick.leaving > 0 {
		r.Obs.Say(steps.Info, "%d of its Pods are being deleted.", r.pick.leaving)
	}
	if k.Reason == "Evicted" {
		r.Obs.Say(steps.Warning, "It was evicted: the node ran out of something. Deleting the Pod loses that trace.")
	}
}

func crashWords(k podstate.Trouble) string {
	if k.Message == "" {
		return "does not stay up (" + steps.Clip(k.Reason, 100) + ")"
	}
	return steps.OneLine(k.Message, 600) + " (" + steps.Clip(k.Reason, 100) + ")"
}

// summary is the line for the call.
func (r *workloadRun) summary(p podstate.Progress) {
	head := fmt.Sprintf("%s has %d of %d ready", r.t, p.Ready, p.Wanted)
	if p.Rollout != podstate.Unclear && p.Rollout != podstate.Complete {
		head += ", " + string(p.Rollout)
	}
	stage := r.facts.Got("stage")
	switch {
	case !stage.Known() && p.Rollout == podstate.Failed:
		head += " (" + steps.Clip(r.facts.Got("reason").Text(), 100) + ")"
	case !stage.Known():
		head += "; what holds it is not known"
	case stage.Text() == string(podstate.None):
	case stage.Text() == string(podstate.Refused):
		head += "; its Pods are refused by " + r.facts.Got("refused_by").Text()
	case stage.Text() == string(podstate.Init):
		head += fmt.Sprintf("; Init:%d/%d at %s", r.pick.trouble.InitDone, r.pick.trouble.InitTotal, r.pick.trouble.Container)
	default:
		head += "; stands at " + stage.Text()
		if k := r.pick.trouble.Container; k != "" {
			head += ", container " + k
		}
	}
	if at := r.facts.Got("layer"); at.Known() && at.Text() != string(loglayer.None) && at.Text() != string(loglayer.Other) {
		head += " (" + at.Text() + ")"
	}
	r.Obs.Summary = head + "."
}
