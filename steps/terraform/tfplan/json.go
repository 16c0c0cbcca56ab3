package tfplan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/jsonscan"
)

const (
	maxChanges = 20_000
	maxChange  = 16 << 20 // bytes of one change
	maxKept    = 64 << 20 // bytes of creates and deletes that are held against each other
)

// rawChange is a change as `show -json` writes it.
type rawChange struct {
	Address  string `json:"address"`
	Previous string `json:"previous_address"`
	Mode     string `json:"mode"`
	Type     string `json:"type"`
	Provider string `json:"provider_name"`
	Deposed  string `json:"deposed"`
	Reason   string `json:"action_reason"`
	Change   struct {
		Actions   []string            `json:"actions"`
		Before    json.RawMessage     `json:"before"`
		After     json.RawMessage     `json:"after"`
		Unknown   json.RawMessage     `json:"after_unknown"`
		Hidden    json.RawMessage     `json:"before_sensitive"`
		Sensitive json.RawMessage     `json:"after_sensitive"`
		Replace   [][]json.RawMessage `json:"replace_paths"`
		Importing *struct {
			ID       string          `json:"id"`
			Identity json.RawMessage `json:"identity"`
		} `json:"importing"`
		Generated string `json:"generated_config"`
	} `json:"change"`
}

// ReadJSON reads the JSON of `show -json PLAN`. A warning about the CLI
// configuration may stand before it. What is wrong with the plan is in Broken;
// the error means that r could not be read. secret is told each sensitive value.
func ReadJSON(r io.Reader, secret func(string)) (*Doc, error) { return ReadJSONOf(r, secret, "") }

// ReadJSONOf is ReadJSON, which besides tells the entries of the ConfigMap at an address.
func ReadJSONOf(r io.Reader, secret func(string), configMap string) (*Doc, error) {
	d := &Doc{Count: map[Act]int{}}
	s := jsonscan.New(&jsonReader{r: r})
	w := &reader{d: d, s: s, secret: secret, asked: configMap}
	err := s.Object(w.top)
	if err == nil {
		err = s.End()
	}
	var syntax *jsonscan.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Ended:
		d.Broken = fmt.Sprintf("the plan is cut off at byte %d", syntax.Offset)
	case errors.As(err, &syntax):
		d.Broken = "this is no plan: " + syntax.Error()
	case err != nil:
		return nil, err
	case w.encrypted:
		d.Broken = "tofu encrypted the plan: without its key only tofu can read it"
	case d.Format == "":
		d.Broken = "this is no plan: it has no format_version"
	case !w.plan:
		d.Broken = "this is the JSON of a state, not of a plan: it has no resource_changes and no planned_values"
	default:
		d.Whole = true
		d.judge()
	}
	return d, nil
}

// jsonReader drops what stands before the first brace.
type jsonReader struct {
	r     io.Reader
	found bool
}

func (a *jsonReader) Read(p []byte) (int, error) {
	for {
		n, err := a.r.Read(p)
		if a.found || n == 0 {
			return n, err
		}
		if i := strings.IndexByte(string(p[:n]), '{'); i >= 0 {
			a.found = true
			return copy(p, p[i:n]), err
		}
		if err != nil {
			return 0, err
		}
	}
}

type reader struct {
	d         *Doc
	s         *jsonscan.Scanner
	secret    func(string)
	asked     string // address of a ConfigMap whose entries are told
	plan      bool
	encrypted bool
	buf       []byte
	kept      int // bytes of values that are kept until the end
}

func (w *reader) top(key string) (err error) {
	d, s := w.d, w.s
	switch key {
	case "format_version":
		d.Format, _, err = s.TextOr(40)
		if major, _, _ := strings.Cut(d.Format, "."); major != "1" && major != "0" {
			d.Newer = fmt.Sprintf("the plan has the format %q, handrail knows 1.x: it may hold what is not shown here", steps.Clip(d.Format, 40))
		}
	case "terraform_version":
		d.Tool, _, err = s.TextOr(60)
	case "errored":
		d.Errored, err = s.Bool()
	case "encrypted_data":
		w.encrypted = true
		err = s.Skip()
	case "resource_changes":
		w.plan = true
		_, err = s.ArrayOr(func() error { return w.change(&d.Changes, true) })
	case "resource_drift":
		_, err = s.ArrayOr(func() error { return w.change(&d.Drift, false) })
	case "planned_values":
		w.plan = true
		err = s.Skip()
	case "deferred_changes":
		_, err = s.ArrayOr(func() error {
			address := ""
			_, err := s.ObjectOr(func(key string) error {
				if key != "resource_change" {
					return s.Skip()
				}
				_, err := s.ObjectOr(func(key string) (err error) {
					if key != "address" {
						return s.Skip()
					}
					address, _, err = s.TextOr(300)
					return err
				})
				return err
			})
			d.defers(address)
			return err
		})
	case "output_changes":
		_, err = s.ObjectOr(func(string) error {
			_, err := s.ObjectOr(func(key string) error {
				if key != "actions" {
					return s.Skip()
				}
				_, err := s.ArrayOr(func() error {
					act, _, err := s.TextOr(20)
					if act != "no-op" {
						d.Outputs++
					}
					return err
				})
				return err
			})
			return err
		})
	default:
		err = s.Skip()
	}
	return err
}

// change reads one change; the buffer is used again for the next.
func (w *reader) change(to *[]Change, planned bool) error {
	w.buf = w.buf[:0]
	cut := false
	w.s.Tap(func(b []byte) {
		if cut = cut || len(w.buf)+len(b) > maxChange; !cut {
			w.buf = append(w.buf, b...)
		}
	})
	err := w.s.Skip()
	w.s.Untap()
	if err != nil {
		return err
	}
	if planned {
		w.d.Resources++
	}
	var raw rawChange
	if cut || json.Unmarshal(w.buf, &raw) != nil {
		w.d.Cut++
		w.d.Newer = fmt.Sprintf("%d changes of the plan are too large, or of a shape that handrail does not know", w.d.Cut)
		return nil
	}
	c := w.known(raw)
	if planned && w.asked != "" && raw.Address == w.asked && raw.Deposed == "" && raw.Mode != "data" {
		w.d.Entries = entriesOf(raw)
	}
	if planned {
		w.d.Count[c.Act]++
		if c.Act == Strange {
			w.d.Newer = fmt.Sprintf("the plan holds the actions %q, which handrail does not know", steps.Clip(strings.Join(raw.Change.Actions, " "), 60))
		}
		if c.Previous != "" && c.Previous != c.Address {
			w.d.Moved++
		}
		if raw.Change.Importing != nil {
			w.d.Imported++
		}
	}
	if c.Act == None && c.Previous == "" && c.Importing == "" {
		return nil
	}
	if len(*to) >= maxChanges {
		w.d.Cut++
		return nil
	}
	*to = append(*to, c)
	return nil
}

func (w *reader) known(raw rawChange) Change {
	c := Change{Address: raw.Address, Previous: raw.Previous, Mode: raw.Mode, Type: raw.Type, Provider: raw.Provider, Deposed: raw.Deposed,
		Act: actOf(raw.Change.Actions), Reason: raw.Reason, Generated: raw.Change.Generated != ""}
	for _, path := range raw.Change.Replace {
		c.Forced = append(c.Forced, pathOf(path))
	}
	if i := raw.Change.Importing; i != nil {
		if c.Importing = i.ID; c.Importing == "" {
			c.Importing = "(by identity)"
		}
	}
	before, after, unknown := value(raw.Change.Before), value(raw.Change.After), value(raw.Change.Unknown)
	hidden, sensitive := value(raw.Change.Hidden), value(raw.Change.Sensitive)
	w.tell(before, hidden)
	w.tell(after, sensitive)
	if c.Act.Destroys() {
		was, _ := before.(map[string]any)
		c.Held, c.Open = guardsOf(was)
	}
	switch c.Act {
	case Update, Replace, ReplaceSafer, ForgetReplace:
		c.compare(before, after, unknown, hidden, sensitive)
	case Create, Delete:
		if c.Act == Create {
			o, _ := after.(map[string]any)
			c.Object = objectOf(c.Type, o)
		}
		if w.kept += len(w.buf); w.kept > maxKept {
			w.d.Newer = "the plan is too large to look for renames in all of it"
			return c
		}
		c.before, _ = before.(map[string]any)
		c.after, _ = after.(map[string]any)
		c.unknown, _ = unknown.(map[string]any)
	}
	return c
}

func value(raw json.RawMessage) any {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

func pathOf(path []json.RawMessage) string {
	var b strings.Builder
	for _, raw := range path {
		var v any
		_ = json.Unmarshal(raw, &v)
		switch v := v.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(v)
		case float64:
			fmt.Fprintf(&b, "[%d]", int64(v))
		}
	}
	return steps.Clip(b.String(), 300)
}
