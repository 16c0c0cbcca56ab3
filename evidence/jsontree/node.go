package jsontree

// Node is a JSON value.
type Node struct {
	Kind    Kind
	Text    string // of a string, decoded; of a number, true, false and null, as written
	Members []Member
	At, End int // where a scalar stands
}

// Member is an element of an array or a member of an object.
type Member struct {
	Key   string // empty in arrays
	Value *Node
}

// Kind is what a Node is.
type Kind uint8

const (
	Literal Kind = iota // number, true, false, null
	String
	Object
	Array
)

// KeyRule says what becomes of a repeated key.
type KeyRule bool

const (
	StrictKeys KeyRule = true  // a repeated key is an error
	LooseKeys  KeyRule = false // repeated keys are all kept
)

// Get returns the value of key, or nil. Nil nodes have no keys.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Str returns the text of a string member, or "".
func (n *Node) Str(key string) string {
	if v := n.Get(key); v != nil && v.Kind == String {
		return v.Text
	}
	return ""
}

// IsTrue reports whether n is the literal true.
func (n *Node) IsTrue() bool { return n != nil && n.Kind == Literal && n.Text == "true" }

// Each calls f with every string under n and the name of the field that it stands in.
func (n *Node) Each(key string, f func(key, value string)) {
	if n.Kind == String {
		f(key, n.Text)
		return
	}
	for _, m := range n.Members {
		k := key
		if n.Kind == Object {
			k = m.Key
		}
		m.Value.Each(k, f)
	}
}
