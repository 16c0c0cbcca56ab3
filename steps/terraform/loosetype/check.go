package loosetype

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
)

// maxUses bounds the places that are listed for one input.
const maxUses = 500

// Check reads the root module in dir and what it calls. installed maps the keys
// of .terraform/modules/modules.json to directories; values are the contents of
// files with values (terraform.tfvars and *.auto.tfvars) by name. key, where not
// "", keeps to uses of that attribute or map key.
func Check(read Source, dir string, installed map[string]string, values map[string][]byte, key string) Report {
	modules, gaps := load(read, dir, installed)
	r := Report{Modules: len(modules), Gaps: gaps}
	c := checker{modules: modules, key: key}
	for _, id := range sortedKeys(modules) {
		m := modules[id]
		for _, v := range m.vars {
			r.Inputs++
			if m.key == "" {
				r.Root++
			}
			if i, loose := c.input(m, v); loose {
				r.Loose = append(r.Loose, i)
			}
		}
	}
	for _, name := range sortedKeys(values) {
		if gap := mixValues(values[name], name, r.Loose); gap != "" {
			r.Gaps = append(r.Gaps, gap)
		}
	}
	for i := range r.Loose {
		c.rank(&r.Loose[i])
		r.Loose[i].Consumers = slices.DeleteFunc(r.Loose[i].Consumers, func(u Use) bool { return !u.named })
	}
	slices.SortStableFunc(r.Loose, func(a, b Input) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), strings.Compare(a.String(), b.String()))
	})
	return r
}

type checker struct {
	modules map[string]*module
	key     string
}

// input judges the type of one variable.
func (c *checker) input(m *module, v block) (Input, bool) {
	i := Input{Module: m.address(), Name: v.labels[0], Type: "none", At: at(v.at), Checked: m.checks[v.labels[0]]}
	loose := true
	for _, a := range v.attrs {
		if a.name != "type" {
			continue
		}
		t, _, diags := typeexpr.TypeConstraintWithDefaults(a.expr)
		if diags.HasErrors() {
			return i, false // the tools refuse it themselves
		}
		i.Type = typeexpr.TypeString(t)
		loose = holdsAny(t, 0)
	}
	if !loose {
		return i, false
	}
	w := &walk{checker: c, input: &i, seen: map[string]bool{}}
	w.follow(m, v.labels[0], 0)
	w.fed(m, v.labels[0])
	return i, true
}

// holdsAny says whether a type takes anything somewhere.
func holdsAny(t cty.Type, deep int) bool {
	switch {
	case deep > maxNesting || t == cty.DynamicPseudoType:
		return true
	case t.IsCollectionType():
		return holdsAny(t.ElementType(), deep+1)
	case t.IsObjectType():
		for _, e := range t.AttributeTypes() {
			if holdsAny(e, deep+1) {
				return true
			}
		}
	case t.IsTupleType():
		for _, e := range t.TupleElementTypes() {
			if holdsAny(e, deep+1) {
				return true
			}
		}
	}
	return false
}

// rank adds up what makes harm likely.
func (c *checker) rank(i *Input) {
	add := func(n int, why string) {
		if !slices.Contains(i.Why, why) {
			i.Rank += n
			i.Why = append(i.Why, why)
		}
	}
	if len(i.Mixed) > 0 {
		add(8, "values of several types are made one without an error: "+i.Mixed[0])
	}
	if i.Late {
		add(4, "fed by a value whose type may be known at the apply alone")
	}
	if i.Type != "any" && i.Type != "none" {
		add(1, i.Type+" makes its elements one type")
	}
	for _, u := range i.Consumers {
		switch {
		case u.In == "for_each" || u.In == "count":
			add(3, "decides how many objects there are ("+u.In+" at "+u.At+")")
		case strings.HasPrefix(u.In, "== "):
			add(3, "is compared (at "+u.At+")")
		case strings.HasPrefix(u.In, "merge ") || strings.HasPrefix(u.In, "lookup "):
			add(2, "goes through merge or lookup (at "+u.At+")")
		}
	}
	if len(i.Consumers) > 0 {
		add(1, fmt.Sprintf("is used in %d places", len(i.Consumers)))
	}
	if i.Checked {
		i.Rank = max(0, i.Rank-1)
		i.Why = append(i.Why, "has a validation block")
	}
}
