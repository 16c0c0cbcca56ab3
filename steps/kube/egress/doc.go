// Package egress computes what the NetworkPolicies of a cluster let a Pod reach.
// It is pure. Nothing in the status of an object or in an event tells that a
// policy drops packets, so the answer can only be computed.
//
// Policies are a union of what they allow: a Pod that no policy selects reaches
// everything, one that some select reaches what any of them allows. An answer is
// Yes, No or Maybe; it is Maybe where it depends on what was not read (labels, an
// address, whether an address is a Pod's) or on what the API leaves to the network
// plugin, and never a guess.
package egress

// Answer is one of three values, in the order in which "and" takes the lesser
// and "or" the greater.
type Answer int

// The answers.
const (
	No Answer = iota
	Maybe
	Yes
)

// String names an answer.
func (a Answer) String() string { return [...]string{"no", "maybe", "yes"}[a] }

func (a Answer) not() Answer { return Yes - a }

func is(b bool) Answer {
	if b {
		return Yes
	}
	return No
}

// Labels are those of a Pod or a namespace, as far as they are known.
type Labels struct {
	Known   map[string]string
	Partial bool // there may be others
}

// PlaceKind says what an address belongs to.
type PlaceKind int

// The kinds of places. Unknown is an address that may be a Pod's or not.
const (
	Unknown PlaceKind = iota
	Pod
	Host
)

// Place is one end of a connection.
type Place struct {
	Kind            PlaceKind
	Namespace       string
	NamespaceLabels Labels
	Labels          Labels
	Address         string           // "" where it is not known
	Ports           map[string]int64 // named ports of a Pod, by name and protocol as name/TCP
	PortsUnread     bool             // there may be others
}

// Port is what is asked for at a place.
type Port struct {
	Number   int64
	Protocol string // TCP, UDP or SCTP
}
