package tfplan

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"handrail/steps"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers below are those of planfile.proto, which OpenTofu and Terraform
// share in format 3. A saved plan may be read by the very version that wrote it
// alone; handrail reads the parts that have not changed since 1.5, and says so
// of the rest.

const planFormat = 3

// maxForced bounds the paths that a replacement is explained by.
const maxForced = 200

// fields calls do with each field of a message; broken bytes end it.
func fields(b []byte, do func(num protowire.Number, n uint64, data []byte)) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v uint64
		var data []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		do(num, v, data)
	}
	return nil
}

// decode reads the part tfplan. What is wrong with its form is in the Doc; an
// error means that the archive could not be read.
func (s *Saved) decode(r *bufio.Reader) error {
	d := &Doc{Count: map[Act]int{}, Whole: true}
	s.Doc, s.Mode = d, "normal"
	applyable, complete := false, false
	err := stream(r, func(num protowire.Number, n uint64, data []byte, cut bool) {
		if cut {
			d.Cut++
			d.Newer = fmt.Sprintf("%d parts of the plan are over %d bytes, and were not read", d.Cut, maxField)
			return
		}
		switch num {
		case 1:
			if d.Format = fmt.Sprint(n); n != planFormat {
				d.Newer = fmt.Sprintf("the saved plan has the format %d, handrail knows %d: what it would do may be read wrongly", n, planFormat)
			}
		case 2:
			s.variable(data)
		case 3:
			s.add(&d.Changes, data, true)
		case 18:
			s.add(&d.Drift, data, false)
		case 4:
			if changesOutput(data) {
				d.Outputs++
			}
		case 5:
			if s.keeps(len(data)) {
				s.Targets = append(s.Targets, steps.Clip(string(data), 300))
			}
		case 13:
			_ = fields(data, func(num protowire.Number, _ uint64, v []byte) {
				switch num {
				case 1:
					s.Backend = steps.Clip(string(v), 60)
				case 3:
					s.Workspace = steps.Clip(string(v), 200)
				}
			})
		case 14:
			d.Tool = steps.Clip(string(data), 60)
		case 16:
			if s.keeps(len(data)) {
				s.Replaces = append(s.Replaces, steps.Clip(string(data), 300))
			}
		case 17:
			if modes := []string{"normal", "destroy", "refresh-only"}; n < uint64(len(modes)) {
				s.Mode = modes[n]
			} else {
				s.Mode = fmt.Sprint(n)
			}
		case 20:
			d.Errored = n != 0
		case 21:
			s.Created = steps.Clip(string(data), 60)
		case 27:
			s.deferred(data)
		case 25:
			applyable = n != 0
		case 26:
			complete = n != 0
		}
	})
	// Who writes neither field says nothing.
	s.Idle = complete && !applyable
	var form *formError
	switch {
	case errors.As(err, &form):
		d.Whole, d.Broken = false, "the part tfplan is damaged: "+err.Error()
	case err != nil:
		return err
	}
	slices.Sort(s.Variables)
	// The tools keep no -replace in the plan, although its format has a place for them (16): what
	// one made them do says so as its reason.
	for _, c := range d.Changes {
		if c.Reason == "replace_by_request" && !slices.Contains(s.Replaces, c.Address) && s.keeps(len(c.Address)) {
			s.Replaces = append(s.Replaces, c.Address)
		}
	}
	d.judge()
	return nil
}

// variable keeps the name of a variable and its value, a DynamicValue that holds
// msgpack.
func (s *Saved) variable(b []byte) {
	name, value := "", []byte(nil)
	_ = fields(b, func(num protowire.Number, _ uint64, data []byte) {
		switch num {
		case 1:
			name = string(data)
		case 2:
			_ = fields(data, func(num protowire.Number, _ uint64, v []byte) {
				if num == 1 {
					value = slices.Clone(v)
				}
			})
		}
	})
	if name == "" || !s.keeps(len(name)+len(value)) {
		return
	}
	s.Variables = append(s.Variables, steps.Clip(name, 200))
	s.Values[name] = value
}

// maxNames bounds what is kept of a plan beside its counts: addresses, paths,
// targets, variables and their values.
const maxNames = 32 << 20

// keeps reports whether so much more may be kept; what may not is counted.
func (s *Saved) keeps(n int) bool {
	// An entry costs more than its text.
	if s.kept += n + 128; s.kept <= maxNames {
		return true
	}
	s.Doc.Cut++
	s.Doc.Newer = fmt.Sprintf("the names in the plan are over %d bytes, and not all of them are kept", maxNames)
	return false
}

// deferred counts a change that the tool leaves for a later plan.
func (s *Saved) deferred(b []byte) {
	address := ""
	_ = fields(b, func(num protowire.Number, _ uint64, change []byte) {
		if num == 2 {
			_ = fields(change, func(num protowire.Number, _ uint64, v []byte) {
				if num == 13 {
					address = steps.Clip(string(v), 300)
				}
			})
		}
	})
	s.Doc.defers(address)
}

func (s *Saved) add(to *[]Change, b []byte, planned bool) {
	d := s.Doc
	c := Change{Act: None, Mode: "managed"}
	act, reason := uint64(0), uint64(0)
	var after []byte
	var values [][]byte
	err := fields(b, func(num protowire.Number, n uint64, data []byte) {
		switch num {
		case 7:
			c.Deposed = string(data)
		case 8:
			c.Provider = steps.Clip(string(data), 300)
		case 9:
			_ = fields(data, func(num protowire.Number, n uint64, data []byte) {
				switch num {
				case 1:
					act = n
				case 2: // a creation has one value, what will be
					after = data
					values = append(values, data)
				case 5:
					c.Importing = "(id not shown)"
					_ = fields(data, func(num protowire.Number, _ uint64, id []byte) {
						if num == 1 && len(id) > 0 {
							c.Importing = string(id)
						}
					})
				}
			})
		case 11:
			if len(c.Forced) < maxForced {
				c.Forced = append(c.Forced, protoPath(data))
			}
		case 12:
			reason = n
		case 13:
			c.Address = string(data)
		case 14:
			c.Previous = string(data)
		}
	})
	if err != nil {
		d.Broken, d.Whole = "a change in the part tfplan is damaged: "+err.Error(), false
		return
	}
	if c.Previous == c.Address {
		c.Previous = ""
	}
	if a, ok := ParseAddress(c.Address); ok {
		if c.Type = a.Type; a.Data {
			c.Mode = "data"
		}
	}
	c.Act = protoAct(act)
	if c.Reason = protoReason(reason); c.Act == Strange {
		d.Newer = fmt.Sprintf("the saved plan holds the action %d, which handrail does not know", act)
	}
	if planned && c.Act == Create && strings.HasPrefix(c.Type, "kubernetes_") {
		c.Object = objectOf(c.Type, attributesOf(after))
	}
	if planned {
		d.Resources++
		d.Count[c.Act]++
		if c.Previous != "" {
			d.Moved++
		}
		if c.Importing != "" {
			d.Imported++
		}
	}
	if c.Act == None && c.Previous == "" && c.Importing == "" {
		return
	}
	c.Values = summed(values)
	n := len(c.Address) + len(c.Previous) + len(c.Deposed) + len(c.Importing)
	for _, path := range c.Forced {
		n += len(path) + 16
	}
	if len(*to) >= maxChanges {
		d.Cut++
		return
	}
	if s.keeps(n) {
		*to = append(*to, c)
	}
}

// summed tells apart lists of values, the length of each included.
func summed(values [][]byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, v := range values {
		_, _ = fmt.Fprintf(h, "%d ", len(v)) // a hash takes everything
		_, _ = h.Write(v)
	}
	h.Sum(sum[:0])
	return sum
}

// attributesOf decodes a DynamicValue of msgpack, nil where that cannot be done.
// What is known after the apply alone is nil in it.
func attributesOf(b []byte) map[string]any {
	var packed []byte
	if fields(b, func(num protowire.Number, _ uint64, v []byte) {
		if num == 1 {
			packed = v
		}
	}) != nil || len(packed) == 0 {
		return nil
	}
	typ, err := msgpack.ImpliedType(packed)
	if err != nil {
		return nil
	}
	v, err := msgpack.Unmarshal(packed, typ)
	if err != nil {
		return nil
	}
	v, _ = v.UnmarkDeep()
	v, err = cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return cty.NullVal(cty.DynamicPseudoType), nil
		}
		return v, nil
	})
	if err != nil {
		return nil
	}
	raw, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return nil
	}
	out, _ := value(raw).(map[string]any)
	return out
}

func changesOutput(b []byte) (yes bool) {
	_ = fields(b, func(num protowire.Number, _ uint64, change []byte) {
		if num == 2 {
			_ = fields(change, func(num protowire.Number, n uint64, _ []byte) { yes = yes || num == 1 && n != 0 })
		}
	})
	return yes
}

func protoAct(n uint64) Act {
	acts := map[uint64]Act{0: None, 1: Create, 2: Read, 3: Update, 5: Delete, 6: Replace, 7: ReplaceSafer, 8: Forget, 9: ForgetReplace, 10: ForgetReplace}
	if a, ok := acts[n]; ok {
		return a
	}
	return Strange
}

func protoReason(n uint64) string {
	names := []string{"", "replace_because_tainted", "replace_by_request", "replace_because_cannot_update", "delete_because_no_resource_config",
		"delete_because_wrong_repetition", "delete_because_count_index", "delete_because_each_key", "delete_because_no_module", "replace_by_triggers",
		"read_because_config_unknown", "read_because_dependency_pending", "delete_because_no_move_target", "read_because_check_nested",
		"delete_because_enabled_false", "forgot_because_lifecycle_destroy_in_state", "forgot_because_lifecycle_destroy_in_config"}
	if n < uint64(len(names)) {
		return names[n]
	}
	return fmt.Sprintf("reason %d", n)
}

func protoPath(b []byte) string {
	out := ""
	_ = fields(b, func(num protowire.Number, _ uint64, step []byte) {
		if num != 1 {
			return
		}
		_ = fields(step, func(num protowire.Number, _ uint64, v []byte) {
			switch {
			case num == 1 && out == "":
				out = string(v)
			case num == 1:
				out += "." + string(v)
			default:
				out += "[*]"
			}
		})
	})
	return steps.Clip(out, 300)
}
