package watchdog

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
)

// Textfile writes the report in the text format of Prometheus (exposition format 0.0.4), as the textfile collector of
// node_exporter reads it. Each watch has its state, and each fact of a watch or probe that is a number, a bool, a span or a time, the last two
// in seconds. What is unknown has no sample: an alert asks for `handrail_check_state` or `absent()`.
func (r Report) Textfile(w io.Writer) error {
	of := func(c Reading, more ...string) string {
		return labels(append([]string{"runbook", r.Runbook, "check", c.ID, "severity", r.Severity}, more...)...)
	}
	var b strings.Builder
	b.WriteString("# HELP handrail_check_state State of a watch, 1 for the one that it has.\n# TYPE handrail_check_state gauge\n")
	for _, c := range r.Checks {
		for _, s := range []State{Green, Red, Unknown} {
			fmt.Fprintf(&b, "handrail_check_state%s %d\n", of(c.Reading, "state", string(s)), bit(c.State == s))
		}
	}
	b.WriteString("# HELP handrail_check_fact A fact that a watch read; spans and times in seconds.\n# TYPE handrail_check_fact gauge\n")
	for _, c := range r.readings() {
		for _, name := range slices.Sorted(maps.Keys(c.Facts)) {
			if n, ok := number(c.Facts[name]); ok {
				fmt.Fprintf(&b, "handrail_check_fact%s %s\n", of(c, "fact", name), n)
			}
		}
	}
	b.WriteString("# HELP handrail_check_duration_seconds How long the read of a watch took.\n# TYPE handrail_check_duration_seconds gauge\n")
	for _, c := range r.readings() {
		fmt.Fprintf(&b, "handrail_check_duration_seconds%s %s\n", of(c), seconds(c.Took))
	}
	fmt.Fprintf(&b, "# HELP handrail_check_timestamp_seconds When the watches of a runbook were read.\n# TYPE handrail_check_timestamp_seconds gauge\nhandrail_check_timestamp_seconds%s %d\n",
		labels("runbook", r.Runbook), r.At.Unix())
	_, err := io.WriteString(w, b.String())
	return err
}

// readings are all that was read, the probes first.
func (r Report) readings() []Reading {
	out := slices.Clone(r.Reads)
	for _, c := range r.Checks {
		out = append(out, c.Reading)
	}
	return out
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func number(v steps.Value) (string, bool) {
	if !v.Known() {
		return "", false
	}
	switch v.Type() {
	case steps.Int:
		return strconv.FormatInt(v.Int(), 10), true
	case steps.Bool:
		return strconv.Itoa(bit(v.Bool())), true
	case steps.Duration:
		return strconv.FormatFloat(v.Duration().Seconds(), 'f', -1, 64), true
	case steps.Time:
		return strconv.FormatInt(v.Time().Unix(), 10), true
	}
	return "", false
}

// labels are pairs of a name and a value, escaped as the format wants it.
func labels(pairs ...string) string {
	esc := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, pairs[i]+`="`+esc.Replace(pairs[i+1])+`"`)
	}
	return "{" + strings.Join(out, ",") + "}"
}
