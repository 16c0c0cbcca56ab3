package catch

import (
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// remarks say what the writes that were seen mean, and what to do next.
func (c *writeTracker) remarks(v verdict, t cluster.Target, what string, window time.Duration) (out []steps.Finding) {
	say := func(level steps.Level, format string, args ...any) {
		out = append(out, steps.Findingf(level, format, args...))
	}
	if v.derived {
		say(steps.Critical, "%s is derived state: %s writes it again within a minute. Change what it is made from, or stop the writer first.", what, steps.Clip(v.writer, 128))
	}
	switch {
	case v.recreated:
		say(steps.Warning, "%s was deleted and made again under another UID, as a replace does (Argo CD Replace or Force, `kubectl replace --force`, helm --force).", t)
	case v.gone:
		say(steps.Warning, "%s was deleted while it was watched. A deletion leaves no author: the audit log tells who asked for it.", t)
		if len(c.first.GetOwnerReferences()) > 0 {
			say(steps.Info, "%s names owners: the garbage collector deletes what has lost them. Look with kube/owners at what they are.", t)
		}
	case v.reverts != nil && *v.reverts && v.scale:
		say(steps.Warning, "The value came back through the scale subresource: an autoscaler, or a person with `kubectl scale`.")
	case v.reverts != nil && *v.reverts:
		say(steps.Warning, "The value came back in a write of its own, on the same object: a controller or a script. Find it with kube/writers, prove it by the audit log, and stop it before the next change.")
	}
	for _, w := range c.touching() {
		if !w.known && !w.gone {
			say(steps.Info, "At least one write has no author: a removal, or a write that took no field, leaves none in managedFields.")
			break
		}
	}
	if v.settled && !v.hole {
		say(steps.Info, "Nothing wrote within %s. A writer with a longer period is not excluded, and one that writes the value that is there already leaves no trace.", window.Round(time.Second))
		say(steps.Info, "If the answer to your own write lacked your value already, a webhook or a policy changed it in the same request: see kube/writers. If the value is right here and wrong in the process, it reads its settings at its start: restart it. If it changed in Git, look there.")
	}
	if v.again > 0 {
		say(steps.Warning, "%d writes by who holds %s left its value as it was. Such a writer may set it each time: a fix would not last.", v.again, what)
	}
	if v.status > 0 {
		say(steps.Info, "%d writes were of the status alone and do not count.", v.status)
	}
	if v.writes > 0 {
		say(steps.Info, "Writers are named as they name themselves: a lead. The audit log is the proof.")
	}
	return out
}
