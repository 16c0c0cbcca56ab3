package drills

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"handrail/steps"
)

// brokerLogKind is a probe that only drills have: what the broker of the drill
// wrote down of an account, by itself.
func brokerLogKind() steps.Kind {
	return steps.Kind{
		Name: "drill/broker-log", Doc: "Counts what an account asked of the broker of the drill, by the broker's own log.", Class: steps.Probe,
		Params: []steps.Field{{Name: "account", Type: steps.String, Required: true, Doc: "name of the account"}},
		Facts: []steps.Field{
			{Name: "gets", Type: steps.Int, Doc: "requests with GET"},
			{Name: "others", Type: steps.Strings, Doc: "all other requests"},
		},
		Reads: func(e steps.Env) steps.Prober { return brokerLogProbe{e} },
	}
}

type brokerLogProbe struct{ env steps.Env }

// brokerLine is a line of the log: address, account, time, request.
var brokerLine = regexp.MustCompile(`^\S+ \S+ (\S+) \[[^\]]*\] "(\S+) ([^"]*)"`)

// Probe implements steps.Prober.
func (p brokerLogProbe) Probe(_ context.Context, in steps.Params, _ steps.Sink) (steps.Observation, error) {
	files, err := filepath.Glob(filepath.Join(p.env.Dir, "broker", "http", "*"))
	if err != nil || len(files) == 0 {
		return steps.Observation{}, fmt.Errorf("the broker of the drill has no log (%v)", err)
	}
	gets, others := int64(0), []string{}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return steps.Observation{}, err
		}
		for line := range strings.Lines(string(raw)) {
			m := brokerLine.FindStringSubmatch(line)
			switch {
			case m == nil:
				return steps.Observation{}, fmt.Errorf("a line of the broker's log cannot be read: %q", line)
			case m[1] != in.Text("account"):
			case m[2] == "GET":
				gets++
			default:
				others = append(others, m[2]+" "+m[3])
			}
		}
	}
	return steps.Observation{Facts: map[string]steps.Value{"gets": steps.IntOf(gets), "others": steps.StringsOf(others)}}, nil
}
