package runbooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"gopkg.in/yaml.v3"

	"handrail/steps"
	"handrail/steps/strict"
)

// Bind turns what was given (`-p name=value`) and the defaults into the
// parameters of the runbook. Optional texts that were not given are absent, and
// empty in expressions. A token that is given is its header from here on. Every error
// of it is an ErrParam.
func (r *Runbook) Bind(given map[string]string) (steps.Params, error) {
	out := steps.Params{}
	var bad []error
	names := make([]string, len(r.Params))
	for i, p := range r.Params {
		names[i] = p.Name
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			msg := fmt.Sprintf("runbook %s has no parameter %q", r.ID, name)
			if hint := strict.Meant(name, names); hint != "" {
				msg += " (" + hint + ")"
			}
			bad = append(bad, fmt.Errorf("%w: %s", ErrParam, msg))
		}
	}
	for _, p := range r.Params {
		raw, ok := given[p.Name]
		if !ok {
			raw = p.Default
		}
		raw = steps.WithoutTokens(raw)
		if under := r.Bounds[p.Name].Patch; under != "" && raw != "" {
			ops, err := patchOf(under, raw)
			if err != nil {
				bad = append(bad, fmt.Errorf("%w %s: %w", ErrParam, p.Name, err))
				continue
			}
			raw = ops
		}
		switch {
		case raw == "" && p.Required:
			bad = append(bad, fmt.Errorf("%w %s is required: %s", ErrRequired, p.Name, p.Doc))
			continue
		case raw == "" && textual(p.Type):
			continue
		}
		v, err := steps.ParseValue(p.Type, raw)
		if err == nil {
			err = r.admit(p, v)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%w %s: %w", ErrParam, p.Name, err))
			continue
		}
		out[p.Name] = v
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	return out, nil
}

// admit checks a parameter of the runbook against its declaration.
func (r *Runbook) admit(p steps.Field, v steps.Value) error {
	b := r.Bounds[p.Name]
	for _, limit := range []struct {
		text  string
		wrong func(v, l steps.Value) bool
		what  string
	}{
		{b.Min, less, "less than the least"},
		{b.Max, func(v, l steps.Value) bool { return less(l, v) }, "more than the most"},
	} {
		if limit.text == "" {
			continue
		}
		l, err := steps.ParseValue(p.Type, limit.text)
		if err != nil {
			return err
		}
		if limit.wrong(v, l) {
			return fmt.Errorf("%s is %s that is allowed, %s", v.Text(), limit.what, limit.text)
		}
	}
	return fits(p, v)
}

func less(a, b steps.Value) bool {
	if a.Type() == steps.Duration {
		return a.Duration() < b.Duration()
	}
	return a.Int() < b.Int()
}

// grammars are the compiled patterns of fields. Each is asked after every
// observation, and compiling it is most of that check.
var grammars sync.Map // *regexp.Regexp by pattern

// grammarOf compiles a pattern. It is anchored again: one without anchors must not
// let a prefix through.
func grammarOf(pattern string) (*regexp.Regexp, error) {
	if re, ok := grammars.Load(pattern); ok {
		return re.(*regexp.Regexp), nil
	}
	re, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err == nil {
		grammars.Store(pattern, re)
	}
	return re, err
}

// fits checks a value against the grammar of a field. A text never begins with
// a hyphen, for in an argument list it would become an option; a document of
// several lines reaches none.
func fits(p steps.Field, v steps.Value) error {
	if !textual(p.Type) {
		return nil
	}
	s := v.Text()
	if p.Lines {
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) }) {
			return fmt.Errorf("it has a control character in it that is no end of a line")
		}
		return nil
	}
	switch {
	case strings.HasPrefix(s, "-"):
		return fmt.Errorf("%q begins with a hyphen and could be taken for an option", s)
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("%q has a control character in it", s)
	case p.Type == steps.Enum && !slices.Contains(p.Values, s):
		return fmt.Errorf("%q is not one of %s", s, strings.Join(p.Values, ", "))
	}
	if p.Pattern == "" {
		return nil
	}
	re, err := grammarOf(p.Pattern)
	if err != nil {
		return fmt.Errorf("the pattern %q of %s: %w", p.Pattern, p.Name, err)
	}
	if !re.MatchString(s) {
		return fmt.Errorf("%q does not look like %s", s, p.Pattern)
	}
	return nil
}

// patchPath is a path that a declaration names for the pairs of a patch.
var patchPath = regexp.MustCompile(`^/[A-Za-z0-9_.~/-]*$`)

// pairKey is how a pair of a patch begins.
var pairKey = regexp.MustCompile(`^\s*[A-Za-z0-9][A-Za-z0-9._/-]*=`)

// patchOf reads the text of a patch parameter: operations of JSON Patch (RFC 6902, section 4), as
// JSON or YAML, as they are; or pairs, as in pods=6,requests.cpu=2, as operations that set them
// below a path. A comma that no KEY= follows belongs to the value before it.
func patchOf(under, text string) (string, error) {
	text = strings.TrimSpace(text)
	how := "write operations, as in [{op: replace, path: /spec/replicas, value: 2}]"
	if under != "/" {
		how = "write KEY=VALUE,KEY=VALUE for what is to stand below " + under + ", or operations, as in [{op: replace, path: " + under + "/KEY, value: VALUE}]"
	}
	if strings.HasPrefix(text, "[") {
		list, err := strict.Single([]byte(text))
		if err != nil {
			return "", fmt.Errorf("it is not a list of operations: %w; %s", err, how)
		}
		for i, n := range list.Content {
			var op struct{ Op, Path string }
			if err := n.Decode(&op); err != nil || op.Op == "" || !strings.HasPrefix(op.Path, "/") {
				return "", fmt.Errorf("operation %d of it lacks op, or a path that begins with a slash; %s", i+1, how)
			}
		}
		if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			return "", fmt.Errorf("it has no operation; %s", how)
		}
		return text, nil
	}
	if under == "/" || !pairKey.MatchString(text) {
		return "", fmt.Errorf("%q is not a patch; %s", steps.Clip(text, 80), how)
	}
	type set struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value"`
	}
	var ops []set
	for _, part := range strings.Split(text, ",") {
		if !pairKey.MatchString(part) {
			ops[len(ops)-1].Value += "," + part
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		// RFC 6901, section 3: ~ and / of a name are escaped.
		ops = append(ops, set{"add", under + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key), value})
	}
	for i := range ops {
		if ops[i].Value = strings.TrimSpace(ops[i].Value); ops[i].Value == "" {
			return "", fmt.Errorf("%s has no value; %s", strings.TrimPrefix(ops[i].Path, under+"/"), how)
		}
	}
	out, err := json.Marshal(ops)
	return string(out), err
}
