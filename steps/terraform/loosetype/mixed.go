package loosetype

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// mixValues looks at a file with values for the inputs of the root module.
func mixValues(src []byte, name string, inputs []Input) (gap string) {
	body, err := parse(src, name)
	if body == nil {
		return fmt.Sprintf("%s: %v", name, err)
	}
	attrs, _ := body.JustAttributes()
	for i := range inputs {
		a, ok := attrs[inputs[i].Name]
		if !ok || inputs[i].Module != "" {
			continue
		}
		if v, diags := a.Expr.Value(nil); !diags.HasErrors() {
			inputs[i].Mixed = append(inputs[i].Mixed, mixed(v, at(a.Range), inputs[i].Type)...)
		}
	}
	if err != nil {
		return fmt.Sprintf("%s: %v", name, err)
	}
	return ""
}

// mixed names what a collection of any would turn into one type. typ is the type
// as written: only a map or a list makes its elements alike.
func mixed(v cty.Value, where, typ string) []string {
	if !strings.HasPrefix(typ, "map(") && !strings.HasPrefix(typ, "list(") && !strings.HasPrefix(typ, "set(") {
		return nil
	}
	if v.IsNull() || !v.IsKnown() || !(v.Type().IsObjectType() || v.Type().IsTupleType()) {
		return nil
	}
	types := map[string]map[string]string{} // path below the element, type, first element
	n := 0
	for it := v.ElementIterator(); it.Next() && n < 10_000; n++ {
		k, e := it.Element()
		leaves(e.Type(), "", name(k), types, 0)
	}
	var out []string
	for _, p := range sortedKeys(types) {
		if len(types[p]) < 2 {
			continue
		}
		var parts []string
		for _, t := range sortedKeys(types[p]) {
			parts = append(parts, t+" in "+types[p][t])
		}
		what := "the elements are"
		if p != "" {
			what = strings.TrimPrefix(p, ".") + " is"
		}
		out = append(out, fmt.Sprintf("%s %s (%s)", what, strings.Join(parts, ", "), where))
	}
	return out[:min(len(out), 20)]
}

func name(k cty.Value) string {
	if k.Type() == cty.String {
		return k.AsString()
	}
	return k.AsBigFloat().String()
}

// leaves notes the type of each part of an element.
func leaves(t cty.Type, at, element string, types map[string]map[string]string, deep int) {
	if deep > 20 {
		return
	}
	word := t.FriendlyName()
	if t.IsObjectType() {
		word = "object"
		names := sortedKeys(t.AttributeTypes())
		if deep == 0 {
			note(types, "", "object{"+strings.Join(names, ",")+"}", element)
		}
		for _, n := range names {
			leaves(t.AttributeType(n), at+"."+n, element, types, deep+1)
		}
	}
	if t.IsTupleType() {
		word = "list"
	}
	if at != "" || word != "object" {
		note(types, at, word, element)
	}
}

func note(types map[string]map[string]string, at, word, element string) {
	if types[at] == nil {
		types[at] = map[string]string{}
	}
	if _, known := types[at][word]; !known && len(types[at]) < 10 {
		types[at][word] = element
	}
}

// Of returns the inputs whose name or call contains a text, "" for all.
func (r Report) Of(text string) []Input {
	return slices.DeleteFunc(slices.Clone(r.Loose), func(i Input) bool { return !strings.Contains(i.String(), text) })
}
