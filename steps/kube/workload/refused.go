package workload

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// readEvents reads the events of the workload, of its newest ReplicaSet and of
// the Pod that says most; the answer is why not all of them were read.
func (r *workloadRun) readEvents(ctx context.Context) string {
	abouts := []string{eventsAbout(r.t.Kind, r.t.Name)}
	if len(r.family.sets) > 0 {
		abouts = append(abouts, eventsAbout("ReplicaSet", r.family.sets[0].Metadata.Name))
	}
	if r.pick.found && r.t.Kind != "Pod" {
		abouts = append(abouts, eventsAbout("Pod", r.pick.pod.Metadata.Name))
	}
	all := &eventHeap{}
	for _, about := range abouts {
		h, err := eventsIn(ctx, r.c, r.t.Namespace, about)
		for _, e := range h.events() {
			all.add(e)
		}
		if err != nil {
			r.events = all.events()
			why := "its events could not be read: " + report.Why(err)
			r.unread = append(r.unread, why)
			return why
		}
	}
	r.events = all.events()
	if len(r.events) == 0 {
		r.Gap("no event is left about %s; %s", r.t, eventKept)
	}
	return ""
}

// refusal is what refuses to let Pods be made, in the words of the API server.
// A Deployment hides it in its ReplicaSet; the others say it in events alone.
func (r *workloadRun) refusal(p podstate.Progress) string {
	if !r.lacking(p) {
		return ""
	}
	own := []podstate.Workload{r.w}
	if len(r.family.sets) > 0 {
		own = append(own, r.family.sets[0])
	}
	for _, w := range own {
		if c := w.Condition("ReplicaFailure"); c.Status == "True" {
			return c.Message
		}
	}
	if !r.tellsByEvents(p) {
		return ""
	}
	for _, e := range slices.Backward(r.events) {
		if e.InvolvedObject.UID != string(r.o.GetUID()) {
			continue
		}
		switch e.Reason {
		case "FailedCreate":
			return e.Message
		case "SuccessfulCreate": // a Pod was made after whatever was refused before
			return ""
		}
	}
	return ""
}

// lacking reports whether Pods that are wanted are not even made.
func (r *workloadRun) lacking(p podstate.Progress) bool {
	return r.t.Kind != "Pod" && p.Rollout != podstate.Complete && p.Rollout != podstate.Paused && r.short()
}

// tellsByEvents reports whether nothing but events can say who refuses its Pods.
func (r *workloadRun) tellsByEvents(p podstate.Progress) bool {
	return r.lacking(p) && r.t.Kind != "Deployment" && r.t.Kind != "ReplicaSet"
}

// unheard is a workload with fewer Pods than it wants whose events were not read:
// what its Pods say may not be what holds it.
func (r *workloadRun) unheard(eventsUnread string) {
	r.facts.Unknown("it has fewer Pods than it wants, and "+eventsUnread,
		"stage", "pod", "failing", "reason", "message", "layer", "line", "init_done", "init_total", "restarts", "refused_by", "refusal")
	if k := r.pick.trouble; k.Stage != podstate.None && k.Stage != podstate.Unsaid {
		r.Obs.Say(steps.Warning, "Pod %s stands at %s (%s). Whether more of them are refused is not known.", r.pick.pod.Metadata.Name, k.Stage, steps.Clip(k.Reason, 100))
	}
}

func (r *workloadRun) refused(message string) {
	by, name := podstate.RefusedBy(message)
	f := r.facts
	f.Set("stage", steps.EnumOf(string(podstate.Refused)))
	f.Set("refused_by", steps.StringOf(by))
	f.Set("refusal", steps.StringOf(steps.OneLine(message, 600)))
	f.Set("reason", steps.StringOf("FailedCreate"))
	f.Set("message", steps.StringOf(steps.OneLine(message, 600)))
	f.Set("layer", steps.EnumOf("none"))
	f.Set("line", steps.StringOf(""))
	f.Set("failing", steps.StringOf(""))
	f.Set("pod", steps.StringOf(""))
	f.Unknown("its Pods are not made", "init_done", "init_total", "restarts")
	of := by
	if name != "" {
		of += " " + steps.Clip(name, 200)
	}
	r.Obs.Say(steps.Critical, "Its Pods are not made, refused by %s: %s", of, steps.OneLine(message, 600))
	if move := refusedMove[by]; move != "" {
		r.Obs.Say(steps.Info, "%s", move)
	}
	if k := r.pick.trouble; r.pick.found && k.Stage != podstate.None && k.Stage != podstate.Unsaid {
		r.Obs.Say(steps.Warning, "Besides, Pod %s stands at %s (%s).", r.pick.pod.Metadata.Name, k.Stage, steps.Clip(k.Reason, 100))
	}
}

// empty is a workload without a Pod and without a known refusal.
func (r *workloadRun) empty(p podstate.Progress, eventsUnread string) {
	f := r.facts
	none := p.Wanted == 0 || p.Rollout == podstate.Paused || p.Rollout == podstate.Complete
	f.Set("pod", steps.StringOf(""))
	f.Unknown("it has no Pod", "init_done", "init_total", "restarts", "message")
	if none {
		f.Set("stage", steps.EnumOf(string(podstate.None)))
		f.Set("layer", steps.EnumOf("none"))
		for _, name := range []string{"failing", "reason", "line", "refused_by", "refusal"} {
			f.Set(name, steps.StringOf(""))
		}
		return
	}
	if p.Rollout == podstate.Failed {
		r.failedBefore()
		return
	}
	why := "it has no Pod and nothing says why: its controller may not run"
	if eventsUnread != "" {
		why = "it has no Pod, and " + eventsUnread
	}
	f.Unknown(why, "stage", "layer", "line", "failing", "reason", "refused_by", "refusal")
	r.Obs.Say(steps.Warning, "%s wants %d and has no Pod. Look whether the controller manager runs, and at its events.", r.t, p.Wanted)
}

// failedBefore is a Job that failed and whose Pods are gone: the Job itself still says why, and
// its controller makes no more of them.
func (r *workloadRun) failedBefore() {
	said := r.w.Condition("Failed")
	if said.Status != "True" {
		said = r.w.Condition("FailureTarget")
	}
	r.facts.Set("reason", steps.StringOf(said.Reason))
	r.facts.Set("message", steps.StringOf(steps.OneLine(said.Message, 600)))
	r.facts.Unknown("it failed, and its Pods are gone", "stage", "layer", "line", "failing", "refused_by", "refusal")
	r.Obs.Say(steps.Warning, "%s failed (%s: %s), and its Pods are gone with what they logged. Look where your logs are kept.", r.t, steps.Clip(said.Reason, 100), steps.OneLine(said.Message, 200))
}

// keepConditions stores what the workload and the Pod say of themselves.
func (r *workloadRun) keepConditions() {
	gap := steps.Keep(r.out, "conditions", steps.MediaText, func(w io.Writer) error {
		var b strings.Builder
		list := func(of string, all []podstate.Condition) {
			for _, c := range all {
				fmt.Fprintf(&b, "%s\t%s=%s\t%s\t%s\t%s\n", of, steps.Flat(c.Type), steps.Flat(c.Status), c.Since.UTC().Format("2006-01-02T15:04:05Z"), steps.Flat(c.Reason), steps.OneLine(c.Message, 600))
			}
		}
		list(r.t.String(), r.w.Status.Conditions)
		for _, set := range r.family.sets[:min(len(r.family.sets), 2)] {
			list(cluster.ReplicaSets().Label(set.Metadata.Namespace, set.Metadata.Name), set.Status.Conditions)
		}
		if r.pick.found {
			p := r.pick.pod
			of := cluster.Pods().Label(p.Metadata.Namespace, p.Metadata.Name)
			if r.t.Kind != "Pod" {
				list(of, p.Status.Conditions)
			}
			for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
				fmt.Fprintf(&b, "%s\tcontainer %s\tready=%v\trestarts=%d\t%s\n", of, steps.Flat(s.Name), s.Ready, s.RestartCount, workloadState(s))
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
	if gap != "" {
		r.Gap("%s", gap)
	}
}

// workloadState is the state of a container in a few words.
func workloadState(s podstate.ContainerStatus) string {
	one := func(st podstate.State) string {
		switch {
		case st.Waiting != nil:
			return "waiting " + steps.Flat(st.Waiting.Reason) + " " + steps.OneLine(st.Waiting.Message, 600)
		case st.Running != nil:
			return "running since " + st.Running.StartedAt.UTC().Format("2006-01-02T15:04:05Z")
		case st.Terminated != nil:
			return fmt.Sprintf("ended %s with %d %s", st.Terminated.FinishedAt.UTC().Format("2006-01-02T15:04:05Z"), st.Terminated.ExitCode, steps.Flat(st.Terminated.Reason))
		}
		return ""
	}
	now, last := one(s.State), one(s.LastState)
	if last != "" {
		return now + "; before: " + last
	}
	return now
}
