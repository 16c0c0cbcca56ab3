package report

import (
	"testing"

	"handrail/triage"
)

// TestServerOfABackendIsNoCluster: a bucket is where an incident was, and is called a cluster
// by no report.
func TestServerOfABackendIsNoCluster(t *testing.T) {
	t.Parallel()
	shown := func(server, cluster string) triage.State {
		g := triage.GateState{ShownSeq: 1, Shown: triage.GateShown{Target: []triage.KV{{Key: "server", Value: server}}, Where: []triage.KV{{Key: "cluster", Value: cluster}}}}
		return triage.State{Gates: map[string]triage.GateState{"a": g}}
	}
	for name, tc := range map[string]struct {
		st            triage.State
		context, want string
	}{
		"a bucket":                         {shown("http://127.0.0.1:1", "none"), "", "server http://127.0.0.1:1"},
		"a cluster":                        {shown("https://10.0.0.1", "prod"), "", "cluster prod (https://10.0.0.1)"},
		"a cluster that names its server":  {shown("https://10.0.0.1", "prod (https://10.0.0.1)"), "", "cluster prod (https://10.0.0.1)"},
		"the context that was asked for":   {shown("https://10.0.0.1", ""), "staging", "cluster staging (https://10.0.0.1)"},
		"a context, and a gate of nothing": {triage.State{}, "staging", "cluster staging"},
	} {
		if got := place(tc.st, tc.context).words(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
