package sweep

import (
	"time"

	"handrail/steps"
	"handrail/steps/kube/nodereport"
)

// Kinds returns the kinds that look for what writes unasked.
func Kinds() []steps.Kind {
	return []steps.Kind{
		{
			Name: "kube/persistence", Class: steps.Probe, Facts: facts(),
			Doc: "Lists everything in the cluster and on its nodes that may write unasked or keep a repair from holding, and asks of each whether the team can account for it. A category that is not read whole keeps the answer unknown.",
			Params: []steps.Field{
				{Name: "allow", Type: steps.Path, Doc: "allow-list: what the team accounts for, by content, person and date"},
				{Name: "nodes", Type: steps.Path, Doc: "folder or file of the reports that `handrail step script kube/node-report` printed on the nodes"},
				{Name: "expect_nodes", Type: steps.Strings, Doc: "nodes of which a report must be there, instead of those that the API names"},
				{Name: "reach", Type: steps.Strings, Doc: "only what can touch these namespaces, by RBAC and selectors: a weaker question, for clusters that many share"},
			},
			Touches: []string{"lists every resource of the cluster, its metadata or the part that matters", "gets Pods and ReplicaSets that no workload made", "reads the allow-list and the node reports"},
			Reads:   func(e steps.Env) steps.Prober { return persistenceProbe{e} },
			Takes:   func(steps.Params) time.Duration { return maxTime + besideTime },
		},
		{
			Name: "kube/node-report", Class: steps.Probe, Facts: nodeFacts(),
			Doc: "Reads what a script printed on a node: timers, cron, masked processes, files that cannot be changed, supervisors, static Pods and containers. `handrail step script kube/node-report` prints the script, which only reads.",
			Params: []steps.Field{
				{Name: "file", Type: steps.Path, Required: true, Doc: "what the script printed"},
			},
			Touches: []string{"reads the report"},
			Script:  nodereport.Script,
			Reads:   func(e steps.Env) steps.Prober { return nodeProbe{e} },
		},
	}
}
