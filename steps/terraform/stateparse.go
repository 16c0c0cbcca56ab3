package terraform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxAddresses bounds the list of addresses; the count stays exact.
const maxAddresses = 5000

// tofuState is what handrail reads of a state. Known says which parts were
// there and sound.
type tofuState struct {
	serial      int64
	hasSerial   bool
	lineage     string
	tool        string
	version     int64
	hasVersion  bool
	encrypted   bool
	addresses   []string // of managed, current instances
	count       int
	tainted     int
	deposed     int
	broken      []string // why tofu would not read it, or read it wrongly
	whole       bool     // read to its end
	secretSeen  func(string)
	seen        map[string]struct{}
	resourcesOK bool
}

// parseState reads a state of format 4 token by token, so that its size does
// not matter. What is wrong with it is in broken, not in an error: an error
// means that r could not be read.
func parseState(r io.Reader, secret func(string)) (*tofuState, error) {
	s := &tofuState{secretSeen: secret, seen: map[string]struct{}{}, resourcesOK: true}
	src := &countingReader{r: r}
	dec := json.NewDecoder(src)
	dec.UseNumber()
	err := readObject(dec, s.topLevel(dec))
	switch {
	case src.err != nil:
		return nil, src.err
	case err != nil && src.n == 0:
		s.broken = append(s.broken, "The state is empty: tofu takes it for no state at all, without an error, and a plan would create everything.")
		return s, nil
	case err != nil:
		s.broken = append(s.broken, fmt.Sprintf("The state is not whole JSON, it breaks at byte %d: %v.", dec.InputOffset(), err))
		return s, nil
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		if src.err != nil {
			return nil, src.err
		}
		s.broken = append(s.broken, fmt.Sprintf("Bytes follow the state after byte %d.", dec.InputOffset()))
		return s, nil
	}
	s.whole = true
	s.judge()
	return s, nil
}

// judge finds what is wrong with a state that is whole JSON.
func (s *tofuState) judge() {
	switch {
	case s.encrypted:
		s.resourcesOK = false
	case !s.hasVersion:
		s.broken = append(s.broken, `This is not a state: it has no "version".`)
		s.resourcesOK = false
	case s.version > 4:
		s.broken = append(s.broken, fmt.Sprintf("The state has format version %d; handrail, and every tofu so far, knows 4.", s.version))
		s.resourcesOK = false
	case s.version < 4:
		s.broken = append(s.broken, fmt.Sprintf("The state has the old format version %d; tofu would upgrade it at its next write.", s.version))
		s.resourcesOK = false
	}
}

func (s *tofuState) topLevel(dec *json.Decoder) func(string) error {
	return func(key string) error {
		switch key {
		case "version":
			n, ok, err := readInt(dec)
			if s.version, s.hasVersion = n, ok; err == nil && !ok {
				s.broken = append(s.broken, `"version" is no number.`)
			}
			return err
		case "serial":
			n, ok, err := readInt(dec)
			if s.serial, s.hasSerial = n, ok && n >= 0; err == nil && !s.hasSerial {
				s.broken = append(s.broken, `"serial" has an invalid value.`)
			}
			return err
		case "lineage":
			return readString(dec, &s.lineage)
		case "terraform_version":
			return readString(dec, &s.tool)
		case "encrypted_data", "encryption_version":
			s.encrypted = true
			return skip(dec)
		case "outputs":
			return readObjectOr(dec, func(string) error { return s.output(dec) })
		case "resources":
			return readArrayOr(dec, func() error { return s.resource(dec) })
		}
		return skip(dec)
	}
}

func (s *tofuState) output(dec *json.Decoder) error {
	var o struct {
		Value     any  `json:"value"`
		Sensitive bool `json:"sensitive"`
	}
	if err := decode(dec, &o); err != nil {
		return err
	}
	if o.Sensitive {
		s.hide(o.Value)
	}
	return nil
}

// instance is one instance of a resource, without what is not looked at.
type instance struct {
	IndexKey   any             `json:"index_key"`
	Status     string          `json:"status"`
	Deposed    string          `json:"deposed"`
	Attributes json.RawMessage `json:"attributes"`
	Sensitive  json.RawMessage `json:"sensitive_attributes"`
}

func (s *tofuState) resource(dec *json.Decoder) error {
	var module, mode, typ, name string
	var list []instance
	err := readObject(dec, func(key string) error {
		switch key {
		case "module":
			return readString(dec, &module)
		case "mode":
			return readString(dec, &mode)
		case "type":
			return readString(dec, &typ)
		case "name":
			return readString(dec, &name)
		case "instances":
			return readArrayOr(dec, func() error {
				var i instance
				if err := decode(dec, &i); err != nil {
					return err
				}
				s.hidePaths(i.Attributes, i.Sensitive)
				i.Attributes, i.Sensitive = nil, nil
				list = append(list, i)
				return nil
			})
		}
		return skip(dec)
	})
	if err != nil {
		return err
	}
	address := typ + "." + name
	if module != "" {
		address = module + "." + address
	}
	if mode == "data" {
		address = strings.TrimSuffix(address, typ+"."+name) + "data." + typ + "." + name
	} else if mode != "managed" {
		s.broken = append(s.broken, fmt.Sprintf("Resource %s has the mode %q.", address, mode))
	}
	for _, i := range list {
		s.instance(address+indexOf(i.IndexKey), mode, i)
	}
	return nil
}

func (s *tofuState) instance(address, mode string, i instance) {
	if i.Status != "" && i.Status != "tainted" {
		s.broken = append(s.broken, fmt.Sprintf("Instance %s has the invalid status %q.", address, i.Status))
	}
	id := address + "\x00" + i.Deposed
	if _, twice := s.seen[id]; twice {
		s.broken = append(s.broken, fmt.Sprintf("Instance %s appears more than once: tofu refuses the whole state.", address))
		s.resourcesOK = false
	}
	s.seen[id] = struct{}{}
	switch {
	case i.Deposed != "":
		s.deposed++
	case mode == "managed":
		if s.count++; s.count <= maxAddresses {
			s.addresses = append(s.addresses, address)
		}
		if i.Status == "tainted" {
			s.tainted++
		}
	}
}

func indexOf(key any) string {
	switch k := key.(type) {
	case nil:
		return ""
	case string:
		return "[" + strconv.Quote(k) + "]"
	default:
		return fmt.Sprintf("[%v]", k)
	}
}

// hidePaths names the values at the sensitive paths of an instance.
func (s *tofuState) hidePaths(attributes, paths json.RawMessage) {
	var list [][]struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	if len(paths) == 0 || json.Unmarshal(paths, &list) != nil || len(list) == 0 {
		return
	}
	var root any
	if json.Unmarshal(attributes, &root) != nil {
		return
	}
	for _, path := range list {
		at := root
		for _, step := range path {
			at = child(at, step.Value)
		}
		s.hide(at)
	}
}

// child follows one step of a path: the name of an attribute, or an index that
// is written as {"value":…,"type":…}.
func child(at any, raw json.RawMessage) any {
	var key any
	if json.Unmarshal(raw, &key) != nil {
		return nil
	}
	if m, ok := key.(map[string]any); ok {
		key = m["value"]
	}
	switch v := at.(type) {
	case map[string]any:
		name, _ := key.(string)
		return v[name]
	case []any:
		if i, ok := key.(float64); ok && i >= 0 && int(i) < len(v) {
			return v[int(i)]
		}
	}
	return nil
}

// minSecret keeps words like "on" from being hidden everywhere.
const minSecret = 4

// hide names every string inside v as a secret.
func (s *tofuState) hide(v any) {
	switch v := v.(type) {
	case string:
		if len(v) >= minSecret {
			s.secretSeen(v)
		}
	case []any:
		for _, e := range v {
			s.hide(e)
		}
	case map[string]any:
		for _, e := range v {
			s.hide(e)
		}
	}
}

// sorted returns the addresses in order.
func (s *tofuState) sorted() []string {
	out := slices.Clone(s.addresses)
	slices.Sort(out)
	return out
}
