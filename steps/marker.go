package steps

// Marker is a label or an annotation by which a team says that no gate may
// change an object.
type Marker struct {
	Key   string // of a label or an annotation; */NAME stands for any prefix, or none
	Value string // "" stands for any value
}
