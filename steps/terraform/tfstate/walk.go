package tfstate

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/jsonscan"
)

// walker walks one state.
type walker struct {
	d    *Doc
	s    *jsonscan.Scanner
	o    Options
	seen map[short]struct{} // of addresses, which would take more room
	keys map[string]bool    // of the top level
	raw  []byte             // attributes of the instance that is read
	sure []byte             // its sensitive_attributes
	sum  hash.Hash
	rest hash.Hash
}

// serial reads a number that the tools keep in 64 bits without a sign.
func (w *walker) serial() error {
	d, s := w.d, w.s
	d.Serial, d.HasSerial, d.BeyondSerial = 0, false, ""
	k, err := s.Kind()
	if err != nil {
		return err
	}
	text := ""
	if k != '0' {
		err = s.Skip()
	} else {
		text, err = s.Number()
	}
	if err != nil {
		return err
	}
	n, bad := strconv.ParseUint(text, 10, 64)
	switch {
	case bad != nil:
		d.fault(Invalid, `"serial" has an invalid value.`)
	case n > math.MaxInt64:
		d.BeyondSerial = text
	default:
		d.Serial, d.HasSerial = int64(n), true
	}
	return nil
}

func (w *walker) top(key string) error {
	d, s := w.d, w.s
	if w.keys[key] {
		d.fault(Invalid, fmt.Sprintf("The key %q stands twice in the state: the tools take the last one, a person may read the first.", steps.Clip(key, 60)))
	}
	if len(w.keys) < 100 {
		w.keys[key] = true
	}
	var err error
	switch key {
	case "version":
		if d.Version, d.HasVersion, err = s.Int(); err == nil && !d.HasVersion {
			d.fault(Invalid, `"version" is no number.`)
		}
	case "serial":
		err = w.serial()
	case "lineage":
		d.Lineage, _, err = s.TextOr(maxWord)
	case "terraform_version":
		d.Tool, _, err = s.TextOr(maxWord)
	case "encrypted_data", "encryption_version":
		d.Encrypted = true
		err = s.Skip()
	case "outputs":
		err = w.outputs()
	case "resources":
		d.resources = true
		_, err = s.ArrayOr(w.resource)
	default:
		if len(d.other) < 50 {
			d.other[key] = true
		}
		err = s.Skip()
	}
	return err
}

// outputs reads them in two ways at once: what is sensitive, and their sum.
func (w *walker) outputs() error {
	if w.o.Sums {
		w.sum = sha256.New()
		c := jsonscan.Compactor{To: w.sum}
		w.s.Tap(c.Write)
		defer func() {
			w.s.Untap()
			w.d.OutputSum = Sum(w.sum.Sum(nil))
		}()
		_, err := w.s.ObjectOr(func(string) error { w.d.Outputs++; return w.s.Skip() })
		return err
	}
	_, err := w.s.ObjectOr(func(string) error {
		w.d.Outputs++
		var value []byte
		sensitive := false
		_, err := w.s.ObjectOr(func(key string) error {
			switch key {
			case "value":
				var err error
				value, _, err = w.capture(nil, maxAttributes)
				return err
			case "sensitive":
				var err error
				sensitive, err = w.s.Bool()
				return err
			}
			return w.s.Skip()
		})
		if err == nil && sensitive {
			w.d.Sensitive++
			w.tell(value)
		}
		return err
	})
	return err
}

// capture reads one value and keeps it, unless it is over limit.
func (w *walker) capture(into []byte, limit int) (raw []byte, cut bool, err error) {
	raw = into[:0]
	w.s.Tap(func(b []byte) {
		if cut = cut || len(raw)+len(b) > limit; !cut {
			raw = append(raw, b...)
		}
	})
	err = w.s.Skip()
	w.s.Untap()
	if cut {
		raw = raw[:0]
	}
	return raw, cut, err
}

// resource is one block; its instances may come before its name in a state that
// another program sorted.
func (w *walker) resource() error {
	var r Instance
	var early []Instance
	named, count := 0, 0
	ok, err := w.s.ObjectOr(func(key string) error {
		var err error
		switch key {
		case "module":
			r.Module, _, err = w.s.TextOr(8 * maxWord)
		case "mode":
			named++
			r.Mode, _, err = w.s.TextOr(maxWord)
		case "type":
			named++
			r.Type, _, err = w.s.TextOr(maxWord)
		case "name":
			named++
			r.Name, _, err = w.s.TextOr(maxWord)
		case "provider":
			var p string
			p, _, err = w.s.TextOr(8 * maxWord)
			r.Provider = providerOf(p)
		case "instances":
			late := named == 3
			_, err = w.s.ArrayOr(func() error {
				count++
				i, err := w.instance(r)
				if err != nil {
					return err
				}
				if late {
					return w.add(&i)
				}
				i.Attributes = slices.Clone(i.Attributes)
				early = append(early, i)
				return nil
			})
		default:
			err = w.s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	if !ok {
		w.d.fault(Invalid, "A resource of the state is no object.")
		return nil
	}
	if count == 0 {
		w.d.Hollow++
	}
	if r.Mode != "managed" && r.Mode != "data" {
		w.d.fault(Invalid, fmt.Sprintf("Resource %s.%s has the mode %q.", r.Type, r.Name, steps.Clip(r.Mode, 60)))
	}
	if r.Type == "" || r.Name == "" {
		w.d.fault(Invalid, fmt.Sprintf("A resource of the state has the type %q and the name %q.", r.Type, r.Name))
	}
	for _, i := range early {
		i.Module, i.Mode, i.Type, i.Name = r.Module, r.Mode, r.Type, r.Name
		if i.Provider == "" {
			i.Provider = r.Provider
		}
		if err := w.add(&i); err != nil {
			return err
		}
	}
	return nil
}

// add counts an instance that is known by name.
func (w *walker) add(i *Instance) error {
	d := w.d
	var b strings.Builder
	if i.Module != "" {
		b.WriteString(i.Module + ".")
	}
	if i.Mode == "data" {
		b.WriteString("data.")
	}
	b.WriteString(i.Type + "." + i.Name + i.Address)
	i.Address = b.String()
	if i.Status != "" && i.Status != "tainted" {
		d.fault(Invalid, fmt.Sprintf("Instance %s has the invalid status %q.", i.Address, steps.Clip(i.Status, 60)))
	}
	full := sha256.Sum256([]byte(i.Address + "\x00" + i.Deposed))
	id := short(full[:])
	if _, twice := w.seen[id]; twice {
		d.fault(Duplicate, fmt.Sprintf("Instance %s appears more than once: the tools refuse the whole state.", steps.Clip(i.Address, 300)))
		d.Counted = false
	}
	w.seen[id] = struct{}{}
	d.count(i)
	if w.o.Sums {
		one := sha256.Sum256(slices.Concat(id[:], i.Sum[:], i.Rest[:]))
		for n := range d.Content {
			d.Content[n] ^= one[n]
		}
	}
	if w.o.Visit != nil {
		return w.o.Visit(i)
	}
	return nil
}

func (d *Doc) count(i *Instance) {
	if len(d.Faults) > maxMarks { // a hostile state has a fault for each instance
		d.Faults = d.Faults[:maxMarks]
	}
	for _, p := range i.paths {
		if len(d.Paths) < maxMarks {
			d.Paths = append(d.Paths, i.Address+p)
		}
	}
	bump(d.Types, i.Type)
	bump(d.Providers, i.Provider)
	mark := ""
	switch {
	case i.Deposed != "":
		d.Deposed++
		mark = fmt.Sprintf("deposed %s (%s)", i.Address, steps.Clip(i.Deposed, 20))
	case i.Mode == "data":
		d.Data++
	case i.Mode == "managed":
		if d.Managed++; d.Managed <= MaxAddresses {
			d.Addresses = append(d.Addresses, i.Address)
		}
		if i.Status == "tainted" {
			d.Tainted++
			mark = "tainted " + i.Address
		}
	}
	if mark != "" && len(d.Marks) < maxMarks {
		d.Marks = append(d.Marks, mark)
	}
}

// bump counts, but never more than a thousand names.
func bump(m map[string]int, name string) {
	if _, known := m[name]; name != "" && (known || len(m) < 1000) {
		m[name]++
	}
}

// providerOf returns the source address in provider["host/ns/type"].alias.
func providerOf(s string) string {
	_, rest, ok := strings.Cut(s, `provider["`)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, `"]`)
	return name
}
