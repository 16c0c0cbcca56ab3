package state

import (
	"io"
	"slices"

	"handrail/steps/terraform/tfstate"
)

// tofuState is what handrail reads of a state, in the words of the probes.
type tofuState struct {
	*tfstate.Doc
	serial      int64
	hasSerial   bool
	lineage     string
	tool        string
	encrypted   bool
	addresses   []string // of managed, current instances
	objects     []string // the same, with what they stand for
	unnamed     int      // of them, those whose attributes could not be read
	count       int
	tainted     int
	deposed     int
	broken      []string // why tofu would not read it, or read it wrongly
	whole       bool     // read to its end
	resourcesOK bool
}

// parseState reads a state as a stream, so that its size does not matter. What
// is wrong with it is in broken, not in an error: an error means that r could
// not be read.
func parseState(r io.Reader, secret func(string)) (*tofuState, error) {
	return readState(r, tfstate.Options{Secret: secret})
}

func readState(r io.Reader, o tfstate.Options) (*tofuState, error) {
	d, err := tfstate.Read(r, o)
	if err != nil {
		return nil, err
	}
	s := &tofuState{Doc: d, serial: d.Serial, hasSerial: d.HasSerial, lineage: d.Lineage, tool: d.Tool, encrypted: d.Encrypted,
		addresses: d.Addresses, count: d.Managed, tainted: d.Tainted, deposed: d.Deposed, whole: d.Whole, resourcesOK: d.Usable()}
	for _, f := range d.Faults {
		s.broken = append(s.broken, f.Say)
	}
	return s, nil
}

// beyond says why a serial that the tools take cannot be counted with.
func (s *tofuState) beyond() string {
	return "its serial " + s.BeyondSerial + " is larger than handrail counts"
}

// sorted returns the addresses in order.
func (s *tofuState) sorted() []string {
	out := slices.Clone(s.addresses)
	slices.Sort(out)
	return out
}
