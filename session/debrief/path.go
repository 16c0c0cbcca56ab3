// Package debrief says how an incident was walked: the path that was taken, how
// soon there was evidence, what unsafe thing was stopped, and, for a drill, all
// of it beside the reference. It reads the state of the incident and asks no one.
package debrief

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"handrail/triage"
)

// Stop is one station of a path: a step with what was done there first, and what
// it came to last.
type Stop struct {
	Do    string        `json:"do"`              // read, compare, watch, answer, prove, conclude, waive or act
	Step  string        `json:"step"`            // without its runbook; of a conclusion the topic
	Value string        `json:"value,omitempty"` // of an answer or a conclusion
	Entry int64         `json:"entry,omitempty"` // that it was first done in
	After time.Duration `json:"-"`               // since the opening
	Times int           `json:"times,omitempty"` // how often, where it was more than once
}

// String is the stop as a line of a path: "answer holder dead".
func (s Stop) String() string {
	return strings.TrimSpace(s.Do + " " + s.Step + " " + s.Value)
}

// dos are what may be done at a stop.
func dos() []string {
	return []string{"read", "compare", "watch", "answer", "prove", "conclude", "waive", "act"}
}

// ParsePath reads a path, one stop a line.
func ParsePath(text string) ([]Stop, error) {
	var out []Stop
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) < 2 || !slices.Contains(dos(), f[0]) {
			return nil, fmt.Errorf("%q is not a step of a path", strings.TrimSpace(line))
		}
		out = append(out, Stop{Do: f[0], Step: f[1], Value: strings.Join(f[2:], " ")})
	}
	return out, nil
}

// verdict is the value of a topic in the text of its moment.
var verdict = regexp.MustCompile(`^\w+`)

// Path lists where an incident went, in order; a step that was done again counts
// where it was done first. Whether the states agree is told as it was before the first act, which changes that.
func Path(st triage.State) []Stop {
	var out []Stop
	seen := map[string]int{}
	acted := false
	kinds := make(map[string]triage.Step, len(st.Steps))
	for _, s := range st.Steps {
		kinds[s.ID] = s
	}
	add := func(m triage.Moment, do, step, value string) {
		if i, again := seen[step]; again {
			out[i].Times = max(out[i].Times, 1) + 1
			return
		}
		seen[step] = len(out)
		out = append(out, Stop{Do: do, Step: step, Value: value, Entry: m.Seq, After: m.At.Sub(st.Opened)})
	}
	waived := map[int64]string{}
	for _, w := range st.Waivers {
		waived[w.Seq] = w.Subject
	}
	for _, m := range st.Timeline {
		step := kinds[m.Step]
		switch m.Type {
		case "probe.end":
			add(m, reading(step.Kind), bare(m.Step), "")
		case "answer":
			add(m, "answer", bare(m.Step), step.Answer)
		case "manual":
			add(m, "prove", bare(m.Step), "")
		case "conclude":
			topic, said, _ := strings.Cut(m.Text, " is ")
			if triage.Topic(topic) != triage.TopicConsistent {
				add(m, "conclude", topic, st.Topics[triage.Topic(topic)].Value)
				break
			}
			add(m, "conclude", topic, "")
			if i := seen[topic]; !acted || out[i].Value == "" {
				out[i].Value = verdict.FindString(said)
			}
		case "waive":
			add(m, "waive", bare(waived[m.Seq]), "")
		case "act.start":
			acted = true
			add(m, "act", bare(m.Step), "")
		}
	}
	return out
}

func reading(k triage.StepKind) string {
	switch k {
	case triage.CompareStep:
		return "compare"
	case triage.WatchStep:
		return "watch"
	}
	return "read"
}

// bare is the id of a step without that of its runbook.
func bare(step string) string { return step[strings.LastIndexByte(step, '/')+1:] }
