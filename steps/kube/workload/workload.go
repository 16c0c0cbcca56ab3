package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/loglayer"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

func workloadFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "wanted", Type: steps.Int, Doc: "how many Pods are wanted; of a Job, how many are to succeed"},
		{Name: "ready", Type: steps.Int, Doc: "how many are ready; of a Job, ready or succeeded"},
		{Name: "rollout", Type: steps.Enum, Values: podstate.Rollouts(), Doc: "how far it is: stalled where its controller gave up or is refused, failed for a Job or Pod that failed"},
		{Name: "stage", Type: steps.Enum, Values: podstate.Stages(), Doc: "where the Pod that says most stands; refused where Pods are not even made"},
		{Name: "pod", Type: steps.String, Doc: "that Pod, empty where there is none"},
		{Name: "failing", Type: steps.String, Doc: "the container of that Pod that blocks, empty where none does"},
		{Name: "reason", Type: steps.String, Doc: "as the kubelet, the scheduler or the controller names it"},
		{Name: "message", Type: steps.String, Doc: "what they say of it"},
		{Name: "layer", Type: steps.Enum, Values: loglayer.Layers(), Doc: "which layer the last lines of that container complain about; none where no log is of interest at this stage"},
		{Name: "line", Type: steps.String, Doc: "the line that says so, empty where none does"},
		{Name: "init_done", Type: steps.Int, Doc: "init containers of that Pod that are done, sidecars that have started among them"},
		{Name: "init_total", Type: steps.Int, Doc: "init containers of that Pod, sidecars among them"},
		{Name: "restarts", Type: steps.Int, Doc: "restarts of all containers of that Pod"},
		{Name: "progress_deadline", Type: steps.Duration, Doc: "after how long without progress its rollout counts as failed; 0 where its kind has no such limit"},
		{Name: "deadline", Type: steps.Duration, Doc: "activeDeadlineSeconds of a Job or Pod, after which it is ended; 0 for none"},
		{Name: "unprobed", Type: steps.Strings, Doc: "containers without a readiness probe: they count as ready as soon as they run"},
		{Name: "refused_by", Type: steps.String, Doc: "who refuses its Pods: quota, policy, webhook, account, limits, namespace or other; empty where none does"},
		{Name: "refusal", Type: steps.String, Doc: "the words of the refusal, empty where there is none"},
	}
}

type workloadProbe struct{ env steps.Env }

// workloadRun is one run of the probe.
type workloadRun struct {
	report.Report
	c      *cluster.Client
	t      cluster.Target
	o      cluster.Object
	w      podstate.Workload
	pod    podstate.Pod // where the workload is one Pod
	facts  steps.Facts
	out    steps.Sink
	family workloadFamily
	pick   podPick
	events []event
	unread []string // what could not be read of it
}

// Probe implements steps.Prober.
func (p workloadProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, t, err := reachWorkload(inner, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r := &workloadRun{c: c, t: t, facts: steps.NewFacts(workloadFacts()), out: out}
	r.Obs.Command = c.Kubectl(t.Namespace, "describe", t.Resource.String(), t.Name)
	r.o, err = c.Get(inner, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return report.Absent(t, r.Obs.Command, r.facts, c.Warnings()), nil
	case err != nil:
		return steps.Observation{}, err
	}
	if t.Kind == "Pod" {
		r.pod, err = podstate.ParsePod(r.o.Raw)
		r.w.Status.Conditions = r.pod.Status.Conditions
	} else {
		r.w, err = podstate.ParseWorkload(r.o.Raw)
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s cannot be read: %w", t, err)
	}
	r.facts.Set("exists", steps.BoolOf(true))
	r.limits()
	r.read(inner)
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	return r.Obs, nil
}

// read looks at the Pods, the events and the log, and keeps what it got when a
// part of that cannot be read.
func (r *workloadRun) read(ctx context.Context) {
	progress := r.progress()
	r.pick.ends = r.t.Kind == "Job"
	r.pick.newest = func(p podstate.Pod) bool { return r.family.newest == "" || p.Metadata.ControlledBy(r.family.newest) }
	podsUnread := ""
	if r.t.Kind == "Pod" {
		r.pick.see(r.pod)
	} else if err := workloadPods(ctx, r.c, r.t, r.o, &r.family, r.pick.see); err != nil {
		podsUnread = "its Pods could not be read: " + report.Why(err)
		r.unread = append(r.unread, podsUnread)
	}
	eventsUnread := r.readEvents(ctx)
	told := r.events
	if eventsUnread != "" {
		r.events = nil // half of them can tell another story than all
	}
	switch refusal := r.refusal(progress); {
	case refusal != "":
		r.refused(refusal)
	case podsUnread != "":
		r.facts.Unknown(podsUnread, "stage", "pod", "failing", "reason", "message", "layer", "line", "init_done", "init_total", "restarts", "refused_by", "refusal")
	case !r.pick.found:
		r.empty(progress, eventsUnread)
	case eventsUnread != "" && r.tellsByEvents(progress):
		r.unheard(eventsUnread)
	default:
		r.settled(progress)
		r.diagnosed(ctx, eventsUnread)
	}
	r.keepConditions()
	if gap := eventKeep(r.out, told); gap != "" {
		r.Gap("%s", gap)
	}
	r.summary(progress)
	for _, why := range r.unread {
		r.Gap("%s", why)
	}
	r.Obs.Findings = append(r.Obs.Findings, r.c.Warnings()...)
	r.Obs.Facts = r.facts.Rest("its Pod does not say")
}

// progress fills in how far the workload is by its own status.
func (r *workloadRun) progress() podstate.Progress {
	p := podstate.Progress{Wanted: 1}
	if r.t.Kind == "Pod" {
		p = podProgress(r.pod)
	} else {
		p = r.w.Progress(r.t.Kind)
	}
	r.facts.Set("wanted", steps.IntOf(p.Wanted))
	r.facts.Set("ready", steps.IntOf(p.Ready))
	if p.Rollout == podstate.Unclear {
		r.facts.Unknown(p.Why, "rollout")
		r.Obs.Say(steps.Warning, "%s: %s.", r.t, p.Why)
	} else {
		r.facts.Set("rollout", steps.EnumOf(string(p.Rollout)))
	}
	return p
}

func podProgress(p podstate.Pod) podstate.Progress {
	out := podstate.Progress{Wanted: 1, Rollout: podstate.Progressing, Why: "it is not ready"}
	switch {
	case p.Status.Phase == "Succeeded":
		out.Ready, out.Rollout = 1, podstate.Complete
	case p.Status.Phase == "Failed":
		out.Rollout, out.Why = podstate.Failed, p.Status.Reason
	case p.Status.Condition("Ready").Status == "True":
		out.Ready, out.Rollout = 1, podstate.Complete
	}
	return out
}

// diagnosed fills in what the Pod that says most says.
func (r *workloadRun) diagnosed(ctx context.Context, eventsUnread string) {
	k := &r.pick.trouble
	r.byEvents(k)
	f := r.facts
	f.Set("pod", steps.StringOf(r.pick.pod.Metadata.Name))
	f.Set("init_done", steps.IntOf(int64(k.InitDone)))
	f.Set("init_total", steps.IntOf(int64(k.InitTotal)))
	f.Set("restarts", steps.IntOf(k.Restarts))
	f.Set("refused_by", steps.StringOf(""))
	f.Set("refusal", steps.StringOf(""))
	if k.Stage == podstate.Unsaid {
		f.Unknown(k.Why, "stage", "layer", "line")
	} else {
		f.Set("stage", steps.EnumOf(string(k.Stage)))
	}
	f.Set("failing", steps.StringOf(k.Container))
	if k.Stage == podstate.None {
		f.Set("failing", steps.StringOf(""))
	}
	f.Set("reason", steps.StringOf(steps.Clip(k.Reason, 200)))
	f.Set("message", steps.StringOf(steps.OneLine(k.Message, 600)))
	r.advice(*k)
	r.layer(ctx, *k)
	if eventsUnread != "" && saidByEvents(*k) {
		why := "its Pod does not say, and " + eventsUnread
		if f.Unknown(why, "reason", "message"); k.Stage != podstate.Scheduling {
			f.Unknown(why, "stage", "layer", "line")
		}
	}
}

// settled keeps the troubles of a Pod from being those of a workload that has all
// that it wants: a Job that succeeded at its second try is done.
func (r *workloadRun) settled(p podstate.Progress) {
	k := &r.pick.trouble
	if r.t.Kind == "Pod" || p.Rollout != podstate.Complete || k.Stage == podstate.None {
		return
	}
	if k.Reason != "" {
		r.Obs.Say(steps.Info, "Pod %s is not well (%s), and %s has all that it wants all the same.", r.pick.pod.Metadata.Name, steps.Clip(k.Reason, 100), r.t)
	}
	*k = podstate.Trouble{Stage: podstate.None, InitDone: k.InitDone, InitTotal: k.InitTotal, Restarts: k.Restarts}
}

// byEvents takes from the events of the Pod what its status does not say.
func (r *workloadRun) byEvents(k *podstate.Trouble) {
	for _, e := range slices.Backward(r.events) {
		if e.InvolvedObject.UID != r.pick.pod.Metadata.UID {
			continue
		}
		if !saidByEvents(*k) {
			return
		}
		held := slices.Contains([]string{"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "NetworkNotReady"}, e.Reason)
		switch {
		case held && k.Stage != podstate.Scheduling:
			k.Stage, k.Reason, k.Message = podstate.Config, e.Reason, e.Message
			return
		case k.Stage == podstate.Scheduling && e.Reason == "FailedScheduling":
			k.Reason, k.Message = e.Reason, e.Message
			return
		}
	}
}

// saidByEvents reports whether the status of a Pod leaves it to its events to say
// what holds it.
func saidByEvents(k podstate.Trouble) bool {
	switch k.Stage {
	case podstate.Unsaid:
		return true
	case podstate.Init:
		return k.Reason == "PodInitializing"
	case podstate.Scheduling:
		return k.Reason == "NotScheduled"
	}
	return false
}

// short reports whether there are fewer Pods than are wanted.
func (r *workloadRun) short() bool {
	return int64(r.pick.live) < r.facts.Got("wanted").Int()
}

// layer reads the log of the container that blocks, the instance before where
// that is the one that ended.
func (r *workloadRun) layer(ctx context.Context, k podstate.Trouble) {
	f := r.facts
	if !slices.Contains([]podstate.Stage{podstate.Init, podstate.Crash, podstate.Probe}, k.Stage) {
		if k.Stage != podstate.Unsaid {
			f.Set("layer", steps.EnumOf(string(loglayer.None)))
			f.Set("line", steps.StringOf(""))
		}
		return
	}
	if k.Container == "" || !k.Ran {
		f.Unknown("the container has not run yet, so it has no log", "layer", "line")
		return
	}
	meta := r.pick.pod.Metadata
	tail, err := logOf(ctx, r.c, meta.Namespace, meta.Name, k.Container, k.Previous, logLines)
	if k.Previous && errors.Is(err, cluster.ErrBadRequest) { // no such instance is kept, and the one of now is all there is
		tail, err = logOf(ctx, r.c, meta.Namespace, meta.Name, k.Container, false, logLines)
	}
	lines := tail.untimed()
	switch {
	case err != nil && k.Last != "":
		lines = strings.Split(k.Last, "\n")
		r.Gap("%s; its termination message was read instead", report.Why(err))
	case err != nil:
		r.unread = append(r.unread, report.Why(err))
		f.Unknown(report.Why(err), "layer", "line")
		return
	case len(lines) > 0:
		if gap := tail.keep(r.out); gap != "" {
			r.Gap("%s", gap)
		}
	}
	if tail.cut {
		r.Gap("the log is longer than %d kB in its last %d lines, so its newest lines may be missing", logBytes>>10, logLines)
	}
	at, line := loglayer.Of(lines)
	if at == "" {
		f.Unknown("the log of the container is empty", "layer", "line")
		return
	}
	f.Set("layer", steps.EnumOf(string(at)))
	f.Set("line", steps.StringOf(steps.Clip(line, 600)))
	r.Obs.Say(steps.Warning, "The last telling line of container %s: %s", k.Container, steps.Clip(line, 300))
	if move := layerMove[at]; move != "" {
		r.Obs.Say(steps.Info, "%s", move)
	}
}
