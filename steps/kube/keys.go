package kube

// The keys of what a preview shows. Act works from them.
const (
	keyServer     = "server"
	keyCluster    = "cluster UID"
	keyObject     = "object"
	keyPath       = "resource"
	keyUID        = "UID"
	keyFinalizers = "finalizers"
	keyFinalizer  = "to remove"
	keyDeletion   = "deletion"
	keyVersion    = "version"
	keyAlike      = "look-alike"
	keyAudit      = "audit id"
	keyTyped      = "the command"
	// typedTests is what a person who types the command goes without.
	typedTests = "holds the object to its UID, but not to its version as the request does"
)
