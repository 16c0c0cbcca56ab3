package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"handrail/steps"
	"handrail/steps/terraform/tfplan"
)

// maxValue bounds a value of a variable as it is shown.
const maxValue = 200

// Approved opens the saved plan whose fixed values another one is held against.
// The caller closes the file.
func Approved(ctx context.Context, name string) (*tfplan.Saved, io.Closer, error) {
	file, _, saved, err := OpenSaved(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	why := ""
	switch {
	case !saved.Doc.Whole:
		why = saved.Doc.Broken
	case saved.Doc.Newer != "":
		why = saved.Doc.Newer
	}
	if why != "" {
		return nil, nil, errors.Join(fmt.Errorf("plan %s: %s", name, why), file.Close())
	}
	return saved, file, nil
}

// FixedChanges are the differences between what two saved plans fix, whatever
// files and environment say at the apply: the values of variables, targets,
// forced replacements, mode, workspace and backend. A value whose variable either
// of them declares sensitive, or whose name is that of a secret, is not shown.
func FixedChanges(was, now *tfplan.Saved, secret func(string)) []steps.KV {
	a, aErr := declared(was)
	b, bErr := declared(now)
	hidden := func(name string) bool { // all where the declarations cannot be read
		return aErr != nil || bErr != nil || a[name].sensitive || b[name].sensitive || secretName(name)
	}
	names := maps.Clone(was.Values)
	maps.Copy(names, now.Values)
	var out []steps.KV
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, after := fixedValue(was, a, name), fixedValue(now, b, name)
		if hidden(name) {
			before.tell(secret)
			after.tell(secret)
		}
		if before.text == after.text {
			continue
		}
		kv := steps.KV{Key: "variable " + name, Value: before.shown() + " -> " + after.shown()}
		if hidden(name) {
			kv.Value = "another value, which is sensitive"
			if !before.set || !after.set {
				kv.Value = fmt.Sprintf("%s -> %s", before.there(), after.there())
			}
		}
		out = append(out, kv)
	}
	lists := func(key string, a, b []string) {
		a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
		if !slices.Equal(a, b) {
			out = append(out, steps.KV{Key: key, Value: listed(a) + " -> " + listed(b)})
		}
	}
	lists("targets", was.Targets, now.Targets)
	lists("replace", was.Replaces, now.Replaces)
	for _, f := range []struct{ key, a, b string }{
		{"mode", was.Mode, now.Mode}, {"workspace", was.Workspace, now.Workspace}, {"backend", was.Backend, now.Backend},
	} {
		if f.a != f.b {
			out = append(out, steps.KV{Key: f.key, Value: f.a + " -> " + f.b})
		}
	}
	return out
}

// Fixed is what a saved plan fixes, whatever files and environment say at the apply: the
// value of each variable, a default too, then targets, forced replacements, mode and
// workspace, where they are not the usual ones. A sensitive value is named only.
func Fixed(s *tfplan.Saved, secret func(string)) []steps.KV {
	in, err := declared(s)
	names := maps.Clone(s.Values)
	for name := range in {
		if _, given := names[name]; !given {
			names[name] = nil
		}
	}
	var out []steps.KV
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := fixedValue(s, in, name)
		kv := steps.KV{Key: "variable " + name, Value: f.shown()}
		if err != nil || in[name].sensitive || secretName(name) {
			f.tell(secret)
			kv.Value = f.there()
		}
		if _, given := s.Values[name]; !given && f.set {
			kv.Value += ", its default"
		}
		out = append(out, kv)
	}
	for _, l := range []struct {
		key       string
		addresses []string
	}{{"targets", s.Targets}, {"replace", s.Replaces}} {
		if len(l.addresses) > 0 {
			out = append(out, steps.KV{Key: l.key, Value: listed(slices.Sorted(slices.Values(l.addresses)))})
		}
	}
	if s.Mode != "normal" {
		out = append(out, steps.KV{Key: "mode", Value: s.Mode})
	}
	if s.Workspace != "" && s.Workspace != "default" {
		out = append(out, steps.KV{Key: "workspace", Value: s.Workspace})
	}
	return out
}

func listed(addresses []string) string {
	if len(addresses) == 0 {
		return "none"
	}
	return steps.Clip(strings.Join(addresses, ", "), 2*maxValue)
}

// secretName reports whether a variable of this name holds a secret, declared so
// or not.
func secretName(name string) bool {
	return len(steps.SecretVariables([]string{name + "=a long value"})) > 0
}

// fixed is one value of a plan.
type fixed struct {
	set   bool
	value cty.Value // cty.NilVal where it cannot be read
	text  string    // the same for values that a tool treats alike
}

// fixedValue is the value of a variable in a plan: the one that was given, else the
// default of its declaration, which the plan keeps with its configuration.
func fixedValue(s *tfplan.Saved, in map[string]declaration, name string) fixed {
	raw, ok := s.Values[name]
	if !ok {
		if in[name].def == cty.NilVal {
			return fixed{text: "not set"}
		}
		return fixedAs(in[name].def, "")
	}
	v, err := msgpack.Unmarshal(raw, cty.DynamicPseudoType)
	if err != nil || !v.IsWhollyKnown() {
		return fixed{set: true, text: "raw " + string(raw)}
	}
	return fixedAs(v, "raw "+string(raw))
}

func fixedAs(v cty.Value, otherwise string) fixed {
	f := fixed{set: true, value: v, text: otherwise}
	if !v.IsNull() && v.Type().IsPrimitiveType() {
		// -var gives text where a file gives a number.
		as, err := convert.Convert(v, cty.String)
		if err != nil {
			return f
		}
		v = as
	}
	if b, err := ctyjson.Marshal(v, v.Type()); err == nil {
		f.text = string(b)
	}
	return f
}

func (f fixed) shown() string {
	if f.set && f.value == cty.NilVal {
		return "a value that cannot be read"
	}
	return steps.Clip(f.text, maxValue)
}

func (f fixed) there() string {
	if f.set {
		return "a sensitive value"
	}
	return "not set"
}

// tell names each text in a value that must not be shown.
func (f fixed) tell(secret func(string)) {
	if !f.set || f.value == cty.NilVal {
		return
	}
	_ = cty.Walk(f.value, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			secret(v.AsString())
		}
		return true, nil
	})
}

// declaration is what the root module of a plan declares of a variable.
type declaration struct {
	sensitive bool      // or ephemeral; what is not a plain true or false counts as true
	def       cty.Value // its default, cty.NilVal for none
}

// declared reads the variables of the root module of a plan.
func declared(s *tfplan.Saved) (map[string]declaration, error) {
	files, err := s.Root()
	if err != nil {
		return nil, err
	}
	schema := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "variable", LabelNames: []string{"name"}}}}
	marks := &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "sensitive"}, {Name: "ephemeral"}, {Name: "default"}}}
	out, parser := map[string]declaration{}, hclparse.NewParser()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var file *hcl.File
		var diags hcl.Diagnostics
		switch path.Ext(name) {
		case ".tf", ".tofu":
			file, diags = parser.ParseHCL(files[name], name)
		case ".json":
			file, diags = parser.ParseJSON(files[name], name)
		default:
			continue
		}
		if diags.HasErrors() || file == nil {
			return nil, fmt.Errorf("%s in the plan cannot be read: %w", name, errors.Join(diags.Errs()...))
		}
		content, _, diags := file.Body.PartialContent(schema)
		if diags.HasErrors() {
			return nil, fmt.Errorf("%s in the plan: %w", name, errors.Join(diags.Errs()...))
		}
		for _, block := range content.Blocks {
			attributes, _, _ := block.Body.PartialContent(marks)
			d := out[block.Labels[0]]
			for _, a := range attributes.Attributes {
				v, diags := a.Expr.Value(nil)
				switch plain := !diags.HasErrors() && v.IsWhollyKnown(); {
				case a.Name != "default":
					d.sensitive = d.sensitive || !plain || v.IsNull() || v.Type() != cty.Bool || v.True()
				case plain:
					d.def = v
				}
			}
			out[block.Labels[0]] = d
		}
	}
	return out, nil
}

// varFile is what a plan fixes of its variables, as the file of -var-file: also the
// defaults that it took, which a file or the environment may set by now. What it
// cannot say is in the names.
func varFile(s *tfplan.Saved) (text []byte, unsaid []string) {
	file := hclwrite.NewEmptyFile()
	in, err := declared(s)
	names := maps.Clone(s.Values)
	for name, d := range in {
		if _, given := names[name]; !given && d.def != cty.NilVal {
			names[name] = nil
		}
	}
	if err != nil {
		unsaid = append(unsaid, "the defaults of the variables ("+err.Error()+")")
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := fixedValue(s, in, name)
		if f.value == cty.NilVal || !hclsyntax.ValidIdentifier(name) {
			unsaid = append(unsaid, "the value of the variable "+name)
			continue
		}
		file.Body().SetAttributeValue(name, f.value)
	}
	return file.Bytes(), unsaid
}

// fixedNames are the keys and values of changes as one fact.
func fixedNames(changes []steps.KV) []string {
	out := []string{}
	for _, kv := range changes {
		out = append(out, kv.Key+": "+kv.Value)
	}
	return out
}
