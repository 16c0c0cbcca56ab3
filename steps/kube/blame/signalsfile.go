package blame

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/fieldpath"
	"handrail/steps/kube/report"
	"handrail/steps/strict"
)

// faultName is the grammar of the name of a fault, as kube/repair-order takes it.
const faultName = `[a-z][a-z0-9_]{0,40}`

const (
	// largestSignals bounds the file, mostSignals what it may describe.
	largestSignals = 256 << 10
	mostSignals    = 200
	longestSignal  = 500
)

// signal is one condition that a reconciler waits for: one field of one object.
type signal struct {
	name, object, field string
	why                 string
	fault               string  // the fault that it shows, by the names of docs/repair-order.md; "" for none
	want                *string // the value, as a text
	present             *bool   // or whether it is there at all

	resource, namespace, id string // of object
	path                    fieldpath.Path
}

// wants tells the condition in words.
func (s signal) wants() string {
	switch {
	case s.want != nil:
		return fmt.Sprintf("%q", steps.Clip(*s.want, report.LongestValue))
	case *s.present:
		return "to be there"
	}
	return "not to be there"
}

// signalsFile is what docs/writers.md describes.
type signalsFile struct {
	reconciler string
	signals    []signal
}

var errSignals = errors.New("not a file of signals")

// parseSignals reads the file. It takes plain YAML alone: one document, no
// anchors, no tags, no key twice, no key that it does not know.
func parseSignals(raw []byte) (signalsFile, error) {
	bad := func(line int, format string, args ...any) (signalsFile, error) {
		return signalsFile{}, fmt.Errorf("%w: line %d: %s", errSignals, line, fmt.Sprintf(format, args...))
	}
	root, err := strict.Single(raw)
	var second *strict.SecondError
	switch {
	case errors.As(err, &second):
		return signalsFile{}, fmt.Errorf("%w: it holds more than one document", errSignals)
	case err != nil:
		return signalsFile{}, fmt.Errorf("%w: %s", errSignals, steps.Clip(err.Error(), 300))
	}
	switch at, why := strict.OddIn(root); why {
	case strict.Alias, strict.Anchor:
		return bad(at.Line, "anchors and aliases are not taken")
	case strict.Tagged:
		return bad(at.Line, "tags are not taken")
	}
	top, err := membersOf(root, "apiVersion", "kind", "reconciler", "signals")
	if err != nil {
		return signalsFile{}, fmt.Errorf("%w: %w", errSignals, err)
	}
	var out signalsFile
	for _, key := range []struct {
		name, want string
		into       *string
	}{{"apiVersion", "handrail/v1", nil}, {"kind", "Signals", nil}, {"reconciler", "", &out.reconciler}} {
		n := top[key.name]
		switch {
		case n == nil && key.want == "":
		case n == nil, n.Kind != yaml.ScalarNode, key.want != "" && n.Value != key.want:
			return bad(lineOf(n, root), "%s must be %s", key.name, orText(key.want))
		case key.into != nil:
			*key.into = steps.Clip(n.Value, report.LongestValue)
		}
	}
	list := top["signals"]
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 || len(list.Content) > mostSignals {
		return bad(lineOf(list, root), "signals must be a list of 1 to %d", mostSignals)
	}
	for _, n := range list.Content {
		s, err := parseSignal(n)
		if err != nil {
			return signalsFile{}, fmt.Errorf("%w: %w", errSignals, err)
		}
		if slices.ContainsFunc(out.signals, func(o signal) bool { return o.name == s.name }) {
			return bad(n.Line, "two signals have the name %q", s.name)
		}
		out.signals = append(out.signals, s)
	}
	return out, nil
}

func parseSignal(n *yaml.Node) (signal, error) {
	bad := func(format string, args ...any) (signal, error) {
		return signal{}, fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))
	}
	m, err := membersOf(n, "name", "object", "field", "want", "present", "why", "fault")
	if err != nil {
		return signal{}, err
	}
	var s signal
	for _, key := range []struct {
		name string
		into *string
		must bool
	}{{"name", &s.name, true}, {"object", &s.object, true}, {"field", &s.field, false}, {"why", &s.why, false}, {"fault", &s.fault, false}} {
		v := m[key.name]
		switch {
		case v == nil && !key.must:
		case v == nil, v.Kind != yaml.ScalarNode, key.must && v.Value == "", len(v.Value) > longestSignal, strings.ContainsFunc(v.Value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return bad("%s must be a text in one line", key.name)
		default:
			*key.into = v.Value
		}
	}
	if s.fault != "" && !cluster.Matches(faultName, s.fault) {
		return bad("signal %q: %q is not a valid name of a fault: want small letters, digits and _", s.name, s.fault)
	}
	switch w, p := m["want"], m["present"]; {
	case (w == nil) == (p == nil):
		return bad("signal %q: give one of want and present", s.name)
	case w != nil && (w.Kind != yaml.ScalarNode || len(w.Value) > longestSignal):
		return bad("signal %q: want must be a single value", s.name)
	case w != nil:
		s.want = &w.Value
	case p.Kind != yaml.ScalarNode || p.Value != "true" && p.Value != "false":
		return bad("signal %q: present must be true or false", s.name)
	default:
		is := p.Value == "true"
		s.present = &is
	}
	if s.want != nil && s.field == "" {
		return bad("signal %q: a value needs a field", s.name)
	}
	if s.path, err = fieldpath.Parse(s.field); err != nil {
		return bad("signal %q: %v", s.name, err)
	}
	parts := strings.Split(s.object, "/")
	s.resource, s.id = parts[0], parts[len(parts)-1]
	if len(parts) == 3 {
		s.namespace = parts[1]
	}
	if len(parts) < 2 || len(parts) > 3 || !cluster.Matches(cluster.ResourceName, s.resource) || !cluster.Matches(cluster.ObjectName, s.id) || len(parts) == 3 && !cluster.Matches(cluster.NamespaceName, s.namespace) {
		return bad("signal %q: object must be kind/namespace/name or kind/name, as configmap/shop/settings", s.name)
	}
	return s, nil
}

// membersOf reads a map with keys that are known, each once.
func membersOf(n *yaml.Node, known ...string) (map[string]*yaml.Node, error) {
	out, at, why := strict.Members(n, known...)
	switch why {
	case strict.NoMapping:
		return nil, fmt.Errorf("line %d: want a map of %s", n.Line, strings.Join(known, ", "))
	case strict.NoWord, strict.UnknownKey:
		return nil, fmt.Errorf("line %d: %q is not one of %s", at.Line, steps.Clip(at.Value, 100), strings.Join(known, ", "))
	case strict.Repeated:
		return nil, fmt.Errorf("line %d: %s is there twice", at.Line, at.Value)
	}
	return out, nil
}

func lineOf(n, or *yaml.Node) int {
	if n == nil {
		return or.Line
	}
	return n.Line
}

func orText(want string) string {
	if want == "" {
		return "a text"
	}
	return want
}
