// Package order says in which order faults are repaired that hold each other up.
// It is pure: the faults are given by name, the edges stand in one table with
// their reasons, and what a team knows besides may be added.
package order

// Fault is one thing that is broken, by the name under which runbooks speak of it.
type Fault struct {
	Name string
	What string // in a few words
}

// Edge says that one fault is repaired before another, and why.
type Edge struct {
	Before, After string
	Why           string
	Own           bool // a team added it
}

// Known are the faults that the table is about. Those that nothing holds up are
// repaired in this order.
func Known() []Fault {
	return []Fault{
		{"writer", "something writes repairs back"},
		{"api_service", "an API group does not answer"},
		{"webhook", "a webhook refuses or rewrites requests"},
		{"policy", "a policy refuses Pods"},
		{"quota", "a quota refuses Pods"},
		{"limits", "a LimitRange refuses Pods"},
		{"account", "the account of the Pods does not exist"},
		{"rbac", "an account lacks a right"},
		{"pvc", "a claim is not bound"},
		{"nodes", "no node takes the Pods"},
		{"egress_dns", "policies block DNS"},
		{"egress_db", "policies block the database"},
		{"egress_api", "policies block the API server"},
		{"image", "an image cannot be had"},
		{"secret", "a Secret is missing or old"},
		{"config", "a setting is wrong"},
		{"endpoints", "a Service has no backend"},
		{"lock", "a lock is held, and its holder is gone"},
		{"finalizer", "a finalizer holds an object"},
		{"orphan_hook", "a hook without a keeper is in the way"},
		{"namespace", "a namespace does not go"},
		{"script", "a script hides its errors"},
		{"migration", "a migration is not complete"},
		{"schema", "the declared schema is not the one that is there"},
		{"init", "an init container does not get through"},
		{"crash", "a container does not stay up"},
		{"sync", "a sync does not go on"},
		{"reconciler", "a reconciler reports what is not so"},
	}
}

// pods are the faults that show inside of Pods: whatever keeps Pods from being
// made or placed comes before them.
var pods = []string{"migration", "init", "crash"}

// Table are the edges that handrail knows.
func Table() []Edge {
	var t []Edge
	add := func(before, why string, after ...string) {
		for _, a := range after {
			t = append(t, Edge{Before: before, After: a, Why: why})
		}
	}
	for _, f := range Known()[1:] {
		add("writer", "while it writes, whatever is repaired is undone, and the repair proves nothing", f.Name)
	}
	add("api_service", "a deletion asks every API group first, and waits for the dead one", "finalizer", "orphan_hook", "namespace")
	add("webhook", "every repair is a request, and the webhook refuses it or changes it on its way", "quota", "limits", "rbac", "account", "pvc", "egress_dns", "egress_db", "egress_api", "config", "secret", "finalizer", "orphan_hook")
	for _, by := range []string{"policy", "quota", "limits", "account"} {
		add(by, "the Pods that the repair needs are not made until then", pods...)
	}
	add("nodes", "the Pods that the repair needs are placed nowhere until then", pods...)
	add("pvc", "a Pod waits for its claims before its first container starts", pods...)
	add("image", "a container starts only when its image is there", pods...)
	add("rbac", "the Job works with the rights of its account, and fails halfway without them", "migration")
	add("rbac", "it reads what it reports on with its own rights", "reconciler")
	add("egress_dns", "databases and Services are called by name: without DNS every other way out looks closed too", "egress_db", "migration", "init", "crash")
	add("egress_db", "the migration and whatever checks the schema speak to the database", "migration", "schema", "init")
	add("egress_api", "it speaks to the API server from inside of a Pod", "migration", "reconciler")
	add("secret", "containers take it when they start, and a missing one keeps them from being made", pods...)
	add("config", "containers take it when they start", "migration", "init", "crash")
	add("endpoints", "an init container waits for the Service to answer", "init")
	add("lock", "while it is held, no other run is let in", "migration", "sync", "reconciler")
	add("finalizer", "the object goes when its finalizer is gone", "orphan_hook", "namespace")
	add("orphan_hook", "the next sync waits until the hook is gone", "sync", "reconciler")
	add("script", "run again as it is, it would say success whatever happens", "migration")
	add("migration", "what is declared is read off what is there afterwards, never off what was meant", "schema")
	add("schema", "the init container compares it and does not let go", "init")
	add("init", "the other containers start after the last init container", "crash")
	add("init", "it reports what the Pods report", "sync", "reconciler")
	add("crash", "it reports what the Pods report", "sync", "reconciler")
	add("schema", "it compares what is declared", "reconciler")
	add("sync", "it reports what the sync left", "reconciler")
	return t
}
