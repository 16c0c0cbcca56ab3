package act

// The keys of what a preview shows. Act works from them.
const (
	KeyServer     = "server"
	KeyCluster    = "cluster UID"
	KeyObject     = "object"
	KeyPath       = "resource"
	KeyUID        = "UID"
	KeyFinalizers = "finalizers"
	KeyFinalizer  = "to remove"
	KeyDeletion   = "deletion"
	KeyVersion    = "version"
	KeyAlike      = "look-alike"
	KeyAudit      = "audit id"
	KeyTyped      = "the command"
	// TypedTests is what a person who types the command goes without.
	TypedTests = "holds the object to its UID, but not to its version as the request does"
)
