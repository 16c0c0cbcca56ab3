package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/loglayer"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// mostLogLines bounds the lines in a fact; the artifact has all that were read.
const mostLogLines = 20

func logFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
		{Name: "pod", Type: steps.String, Doc: "the Pod whose log it is"},
		{Name: "container", Type: steps.String, Doc: "the container whose log it is"},
		{Name: "count", Type: steps.Int, Doc: "how many lines were read"},
		{Name: "cut", Type: steps.Bool, Doc: "whether the server stopped before the end, at 1 MB"},
		{Name: "last", Type: steps.Strings, Doc: "the last twenty lines, the newest last"},
		{Name: "layer", Type: steps.Enum, Values: loglayer.Layers(), Doc: "which layer the last telling line complains about"},
		{Name: "line", Type: steps.String, Doc: "that line"},
	}
}

type logProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p logProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, t, err := reachWorkload(inner, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	lines := in.Int("lines")
	if _, given := in["lines"]; !given {
		lines = logLines
	}
	if lines < 1 || lines > mostLog {
		return steps.Observation{}, fmt.Errorf("lines is %d, want 1 to %d", lines, mostLog)
	}
	var s report.Report
	f := steps.NewFacts(logFacts())
	s.Obs.Command = c.Kubectl(t.Namespace, "logs", t.Plural+"/"+t.Name)
	o, err := c.Get(inner, t.Resource, t.Namespace, t.Name)
	switch {
	case errors.Is(err, cluster.ErrAbsent):
		return report.Absent(t, s.Obs.Command, f, c.Warnings()), nil
	case err != nil:
		return steps.Observation{}, err
	}
	f.Set("exists", steps.BoolOf(true))
	var pick podPick
	if err := workloadPods(inner, c, t, o, &workloadFamily{}, pick.see); err != nil {
		return steps.Observation{}, errors.Join(turned(), err)
	}
	if !pick.found {
		s.Obs.Summary = fmt.Sprintf("%s has no Pod, so it has no log.", t)
		s.Obs.Facts = f.Rest("it has no Pod")
		return s.Obs, nil
	}
	container, previous := logChoice(in, pick)
	if container == "" {
		return steps.Observation{}, fmt.Errorf("pod %s has no container %q", pick.pod.Metadata.Name, in.Text("container"))
	}
	meta := pick.pod.Metadata
	s.Obs.Command = logCommand(c, meta.Namespace, meta.Name, container, previous, lines)
	tail, err := logOf(inner, c, meta.Namespace, meta.Name, container, previous, lines)
	if err != nil {
		return steps.Observation{}, errors.Join(turned(), err)
	}
	f.Set("pod", steps.StringOf(meta.Name))
	f.Set("container", steps.StringOf(container))
	logTell(&s, f, tail, out)
	s.Obs.Summary = fmt.Sprintf("%d lines of container %s of pod %s.", len(tail.lines), container, meta.Name)
	if previous {
		s.Obs.Summary = fmt.Sprintf("%d lines of the instance of container %s of pod %s that ended before.", len(tail.lines), container, meta.Name)
	}
	s.Obs.Findings = append(s.Obs.Findings, c.Warnings()...)
	s.Obs.Facts = f.Rest("the log is empty")
	return s.Obs, nil
}

// logChoice is the container that was named, else the one that blocks.
func logChoice(in steps.Params, pick podPick) (container string, previous bool) {
	var all []string
	for _, c := range slices.Concat(pick.pod.Spec.Containers, pick.pod.Spec.InitContainers) {
		all = append(all, c.Name)
	}
	previous = in.Bool("previous")
	switch name := in.Text("container"); {
	case name != "" && slices.Contains(all, name):
		return name, previous
	case name != "" || len(all) == 0:
		return "", previous
	case pick.trouble.Container != "" && pick.trouble.Stage != podstate.None:
		return pick.trouble.Container, previous
	}
	return all[0], previous
}

func logTell(s *report.Report, f steps.Facts, tail logTail, out steps.Sink) {
	f.Set("count", steps.IntOf(int64(len(tail.lines))))
	f.Set("cut", steps.BoolOf(tail.cut))
	var last []string
	for _, line := range tail.lines[max(0, len(tail.lines)-mostLogLines):] {
		last = append(last, steps.Clip(line, 600))
	}
	f.Set("last", steps.StringsOf(last))
	if tail.cut {
		s.Gap("the server stopped at %d kB: the newest lines may be missing, ask for fewer", logBytes>>10)
	}
	at, line := loglayer.Of(tail.untimed())
	if at != "" {
		f.Set("layer", steps.EnumOf(string(at)))
		f.Set("line", steps.StringOf(steps.Clip(line, 600)))
		s.Obs.Say(steps.Info, "The last telling line: %s", steps.Clip(line, 300))
	}
	if len(tail.lines) > 0 {
		if gap := tail.keep(out); gap != "" {
			s.Gap("%s", gap)
		}
	}
}
