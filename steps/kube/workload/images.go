package workload

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// What the containers of one image run, taken together.
const (
	runsExpected = "expected"
	runsOther    = "other"
	runsWaiting  = "waiting"
	runsNone     = "none"
)

func imageFacts() []steps.Field {
	return []steps.Field{
		{Name: "running", Type: steps.Enum, Values: []string{runsExpected, runsOther, runsWaiting, runsNone},
			Doc: "expected: each container of a Pod that has not ended runs the expected digest; other: one runs another; waiting: none does, and one has not started yet; none: no such container. Unknown where no digest is expected, or where a node does not say which digest it runs"},
		{Name: "digests", Type: steps.Strings, Doc: "the digests that run, or ran in Pods that have ended and are still there"},
		{Name: "others", Type: steps.Strings, Doc: "containers that run another digest than the expected one, as POD/CONTAINER DIGEST, the first 100"},
		{Name: "ended", Type: steps.Strings, Doc: "those of Pods that have ended, which ran another one, the first 100"},
		{Name: "unsaid", Type: steps.Strings, Doc: "containers that started and of which the node reports no digest of a manifest, the first 100"},
		{Name: "waiting", Type: steps.Strings, Doc: "containers that have not started, with the reason, the first 100"},
		{Name: "containers", Type: steps.Int, Doc: "containers of the image in Pods that have not ended"},
		{Name: "references", Type: steps.Strings, Doc: "references of the image in the Pods that have not ended, as written"},
		{Name: "by_tag", Type: steps.Strings, Doc: "those of them that name no digest, so that a node may find another image under them"},
	}
}

const (
	mostImageLines = 100
	digestGrammar  = `sha256:[0-9a-f]{64}`
)

var digestWhole = regexp.MustCompile(`^` + digestGrammar + `$`)

// repositoryOf is an image reference without tag and digest, with the host that a node adds where it names none.
func repositoryOf(ref string) string {
	if _, rest, found := strings.Cut(ref, "://"); found { // of the runtime: docker-pullable://
		ref = rest
	}
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		ref = ref[:i]
	}
	host, _, slash := strings.Cut(ref, "/")
	switch {
	case !slash:
		return "docker.io/library/" + ref
	case !strings.ContainsAny(host, ".:[") && host != "localhost":
		return "docker.io/" + ref
	case host == "index.docker.io" || host == "registry-1.docker.io":
		return "docker.io" + strings.TrimPrefix(ref, host)
	}
	return ref
}

// reported is the digest of the manifest in what a node reports, "" where that is none: without a repository it is the
// digest of the configuration of the image, which no registry knows as the image.
func reported(imageID string) string {
	_, digest, found := strings.Cut(imageID, "@")
	if !found || !digestWhole.MatchString(digest) {
		return ""
	}
	return digest
}

type imageProbe struct{ env steps.Env }

// imageRun is one run of the probe.
type imageRun struct {
	report.Report
	repository, expected string

	containers                     int64
	digests, references, byTag     []string
	others, ended, unsaid, waiting []string
	oldUnsaid                      []string // of Pods that have ended
	lines                          []string
}

// Probe implements steps.Prober.
func (p imageProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	ns := c.NamespaceOf(in)
	r := imageRun{repository: repositoryOf(in.Text("image")), expected: in.Text("expected")}
	if r.expected != "" && !digestWhole.MatchString(r.expected) {
		return steps.Observation{}, fmt.Errorf("expected %q is not a digest: write sha256: with 64 hexadecimal digits", steps.Clip(r.expected, 100))
	}
	r.Obs.Command = c.Kubectl(ns, "get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[*].imageID}")
	if err := cluster.Each(inner, c, cluster.Pods().Path(ns, ""), nil, r.see); err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	r.tell(ns)
	if gap := r.keep(out); gap != "" {
		r.Gap("%s", gap)
	}
	r.Obs.Findings = append(r.Obs.Findings, c.Warnings()...)
	return r.Obs, nil
}

// see takes what one Pod says of the image.
func (r *imageRun) see(p podstate.Pod) {
	over := p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
	statuses := slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses)
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		i := slices.IndexFunc(statuses, func(s podstate.ContainerStatus) bool { return s.Name == c.Name })
		var s podstate.ContainerStatus
		if i >= 0 {
			s = statuses[i]
		}
		// Where the reference was changed in place, the one that runs may be of the repository still.
		if repositoryOf(c.Image) != r.repository && (s.ImageID == "" || repositoryOf(s.ImageID) != r.repository) {
			continue
		}
		r.one(p.Metadata.Name+"/"+c.Name, c.Image, s, over)
	}
}

// one takes what one container of the image says. over tells that its Pod has ended.
func (r *imageRun) one(name, ref string, s podstate.ContainerStatus, over bool) {
	digest := reported(s.ImageID)
	r.lines = append(r.lines, strings.Join([]string{name, ref, s.ImageID}, "\t"))
	if digest != "" {
		r.digests = append(r.digests, digest)
	}
	if !over {
		r.containers++
		r.references = append(r.references, ref)
		if !strings.Contains(ref, "@") {
			r.byTag = append(r.byTag, ref)
		}
	}
	started := s.State.Running != nil || s.State.Terminated != nil || s.LastState.Terminated != nil || s.RestartCount > 0
	switch {
	case digest == "" && !started && over:
	case digest == "" && !started:
		why := "no status yet"
		if s.State.Waiting != nil {
			why = s.State.Waiting.Reason
		}
		r.waiting = append(r.waiting, name+": "+steps.Clip(why, 100))
	case digest == "" && over:
		r.oldUnsaid = append(r.oldUnsaid, name)
	case digest == "":
		r.unsaid = append(r.unsaid, name)
	case r.expected == "" || digest == r.expected:
	case over:
		r.ended = append(r.ended, name+" "+digest)
	default:
		r.others = append(r.others, name+" "+digest)
	}
}

// tell turns what was seen into facts.
func (r *imageRun) tell(ns string) {
	f := steps.NewFacts(imageFacts())
	set := func(name string, list []string, most int) {
		slices.Sort(list)
		list = slices.Compact(list)
		if len(list) > most {
			r.Gap("%s has %d entries, and the first %d are told", name, len(list), most)
			list = list[:most]
		}
		f.Set(name, steps.StringsOf(append([]string{}, list...)))
	}
	for name, list := range map[string][]string{"digests": r.digests, "unsaid": r.unsaid, "waiting": r.waiting, "references": r.references, "by_tag": r.byTag} {
		set(name, list, mostImageLines)
	}
	f.Set("containers", steps.IntOf(r.containers))
	what := fmt.Sprintf("Of %s in namespace %s", r.repository, ns)
	switch unsaid := fmt.Sprintf("the node reports no digest of a manifest for %s", steps.Clip(strings.Join(slices.Concat(r.unsaid, r.oldUnsaid), ", "), 300)); {
	case r.expected == "":
		f.Unknown("no digest is expected: pass one", "running", "others", "ended")
		r.Obs.Summary = fmt.Sprintf("%s these digests are reported: %s.", what, report.OrNothing(strings.Join(slices.Compact(slices.Sorted(slices.Values(r.digests))), ", ")))
	case len(r.others) > 0:
		set("others", r.others, mostImageLines)
		set("ended", r.ended, mostImageLines)
		f.Set("running", steps.EnumOf(runsOther))
		r.Obs.Summary = fmt.Sprintf("%s %d of %d containers run another digest than %s.", what, len(r.others), r.containers, r.expected)
		r.Obs.Say(steps.Warning, "Another digest runs: %s", steps.Clip(strings.Join(r.others, ", "), 400))
	default:
		set("others", nil, mostImageLines)
		set("ended", r.ended, mostImageLines)
		now := runsExpected
		switch {
		case r.containers == 0:
			now = runsNone
			r.Obs.Say(steps.Warning, "No Pod of the namespace is to run it. Is it the right namespace, and the repository that the Pods name?")
		case len(r.waiting) > 0:
			now = runsWaiting
		}
		f.Set("running", steps.EnumOf(now))
		r.Obs.Summary = fmt.Sprintf("%s none of %d containers runs another digest than %s; %d have not started.", what, r.containers, r.expected, len(r.waiting))
		if len(r.unsaid) > 0 {
			f.Unknown(unsaid, "running", "others")
			r.Obs.Summary = what + ", " + unsaid + "."
		}
		if len(r.oldUnsaid) > 0 && len(r.ended) == 0 {
			f.Unknown(unsaid, "ended")
		}
	}
	if r.expected != "" && len(r.ended) > 0 {
		r.Obs.Say(steps.Warning, "Pods that have ended ran another digest: %s", steps.Clip(strings.Join(r.ended, ", "), 400))
	}
	r.Obs.Facts = f.Rest("not read")
}

// keep keeps the containers with reference and what their node reports.
func (r *imageRun) keep(out steps.Sink) string {
	if len(r.lines) == 0 {
		return ""
	}
	slices.Sort(r.lines)
	return steps.Keep(out, "images", steps.MediaText, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(r.lines, "\n")+"\n")
		return err
	})
}
