package steps

// Right is one thing that a kind asks of a cluster, as RBAC grants it. What every account
// may do, discovery and the reviews of oneself, is none.
type Right struct {
	Group    string // of the API, "" for the core, "*" for all
	Resource string // plural, with its subresource behind a slash; "*" for all; "" where only the run tells
	Verbs    []string
	Name     string // of the one object, "" for any
	Wide     bool   // of an object of the cluster, or across namespaces
	For      string // what it is asked for, where not every run asks; "" for every run
}
