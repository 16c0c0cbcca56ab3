// Package tfstate reads states of OpenTofu and Terraform as a stream: what they
// record, whether the tools would take them, and how two of them differ. It
// reads nothing but the reader that it is given, and its memory grows with the
// number of instances (some tens of bytes each), never with what they hold.
//
// Vocabulary: an instance is one recorded object of a resource; a deposed one
// waits to be destroyed after its replacement was made; the content of a state
// is what it records, without the layout of the file.
package tfstate

// Condition says in one word what state a state is in.
type Condition string

// Conditions. Sound and Encrypted are whole files; the tools take OldFormat too.
const (
	Sound        Condition = "sound"
	Encrypted    Condition = "encrypted"     // by tofu: serial and lineage can be read, nothing else
	Empty        Condition = "empty"         // 0 bytes: the tools take it for no state at all
	Truncated    Condition = "truncated"     // ends in the middle
	NotJSON      Condition = "not-json"      // breaks off somewhere
	Marked       Condition = "byte-order"    // begins with a byte order mark
	Conflict     Condition = "merge-markers" // of an unfinished merge
	Zeroed       Condition = "zero-bytes"    // the file system lost its content
	Gzip         Condition = "gzip"          // left packed
	Archive      Condition = "archive"       // a ZIP: a saved plan
	HTML         Condition = "html"          // an error page of a proxy or a store
	Trailing     Condition = "trailing"      // a second document or other bytes follow
	Foreign      Condition = "foreign-json"  // whole JSON that is no state
	OldFormat    Condition = "old-format"
	FutureFormat Condition = "future-format"
	Duplicate    Condition = "duplicate-instance"
	Invalid      Condition = "invalid-field"
	Mismatch     Condition = "digest-mismatch"
)

// Conditions returns every condition, in order.
func Conditions() []string {
	out := []string{}
	for _, c := range []Condition{Sound, Encrypted, Empty, Truncated, NotJSON, Marked, Conflict, Zeroed, Gzip, Archive, HTML, Trailing,
		Foreign, OldFormat, FutureFormat, Duplicate, Invalid, Mismatch} {
		out = append(out, string(c))
	}
	return out
}

// Fault is one thing that is wrong with a state.
type Fault struct {
	Condition Condition
	Say       string
}

// Doc is what a state says of itself. Whole says that it was JSON to its end,
// Counted that its instances could be told apart, so that the counts mean
// something.
type Doc struct {
	Serial    int64
	HasSerial bool
	// BeyondSerial is a serial that the tools take and that is too large to count
	// with here; HasSerial is false then.
	BeyondSerial string
	Lineage      string
	Tool         string // version of the tool that wrote it
	Version      int64  // of the format
	HasVersion   bool
	Encrypted    bool
	Whole        bool
	Counted      bool
	Faults       []Fault
	Size         int64

	Managed   int // current instances of managed resources
	Data      int
	Tainted   int
	Deposed   int
	Outputs   int
	Sensitive int // sensitive values: of outputs, and paths of attributes
	Hollow    int // resources without instances, which the tools drop without a word

	Addresses []string // of Managed, the first 5,000, in the order of the file
	Marks     []string // tainted and deposed ones, "tainted ADDRESS" or "deposed ADDRESS (key)", the first 500
	Paths     []string // sensitive ones, as ADDRESS.attribute, the first 500
	Types     map[string]int
	Providers map[string]int // source address, as registry.opentofu.org/hashicorp/null

	OutputSum Sum  // of the outputs, where sums were asked for
	Content   Sum  // of the instances in any order, where sums were asked for
	Unread    int  // instances too large to look for their sensitive values
	resources bool // the key was there
	other     map[string]bool
}

// Sum is the start of a SHA-256 over content without its layout.
type Sum [16]byte

// Condition is the first thing that is wrong, or sound or encrypted.
func (d *Doc) Condition() Condition {
	switch {
	case len(d.Faults) > 0:
		return d.Faults[0].Condition
	case d.Encrypted:
		return Encrypted
	}
	return Sound
}

// Torn says whether it ends in the middle, or holds what no program wrote as a state.
func (d *Doc) Torn() bool {
	switch d.Condition() {
	case Empty, Truncated, NotJSON, Marked, Conflict, Zeroed, Gzip, Archive, HTML, Trailing, Foreign:
		return true
	}
	return false
}

// Usable says whether the counts and addresses can be relied on.
func (d *Doc) Usable() bool { return d.Whole && d.Counted && !d.Encrypted }

// Instance is one recorded instance. Attributes are as the file has them, nil
// where they were over the limit; they are valid during the visit alone.
type Instance struct {
	Address    string // with the key
	Module     string
	Mode       string // managed or data
	Type       string
	Name       string
	Provider   string // source address
	Status     string
	Deposed    string
	Attributes []byte
	Cut        bool     // the attributes were too large to keep
	Sum        Sum      // of what it is: attributes and status
	Rest       Sum      // of the bookkeeping: private data, dependencies, schema version
	paths      []string // of sensitive attributes, after the address
}

// Options of Read. The zero value counts and nothing more.
type Options struct {
	Secret func(string)          // told each sensitive value
	Visit  func(*Instance) error // called for each instance, deposed ones too
	Sums   bool                  // fill the sums
	Digest string                // hex MD5 that the backend keeps of the stored bytes

	seen map[short]struct{} // room for the addresses, from an earlier pass
}

func (d *Doc) fault(c Condition, say string) { d.Faults = append(d.Faults, Fault{c, say}) }
