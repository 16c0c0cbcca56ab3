package loosetype

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// walk follows one input through locals and modules.
type walk struct {
	*checker
	input *Input
	seen  map[string]bool
}

func at(r hcl.Range) string { return path.Clean(r.Filename) + ":" + strconv.Itoa(r.Start.Line) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// follow finds every use of a variable of m, and goes on in the modules that it
// is passed to.
func (w *walk) follow(m *module, name string, deep int) {
	id := m.key + "\x00" + name
	if w.seen[id] || deep > 30 {
		return
	}
	w.seen[id] = true
	carriers := m.carriers(name)
	for _, b := range m.all {
		inside := false // each.value stands for the input here
		for _, a := range b.attrs {
			inside = inside || a.name == "for_each" && touches(a.expr, carriers, false) != ""
		}
		for _, a := range b.attrs {
			of := touches(a.expr, carriers, inside)
			if of == "" || b.typ == "variable" {
				continue
			}
			w.use(m, b, a, of)
			if child := w.modules[strings.TrimPrefix(m.key+"."+first(b.labels), ".")]; b.typ == "module" && child != nil && !slices.Contains(metaNames, a.name) {
				w.follow(child, a.name, deep+1)
			}
		}
	}
}

// metaNames are the arguments of a call that are no inputs.
var metaNames = []string{"source", "version", "count", "for_each", "depends_on", "providers", "enabled"}

func first(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	return labels[0]
}

func (w *walk) use(m *module, b block, a attr, of string) {
	if len(w.input.Consumers) >= maxUses {
		return
	}
	named := w.key == "" || namesKey(a.expr, w.key)
	in := a.name
	if what := inside(a.expr); what != "" && in != "for_each" && in != "count" {
		in = what + " " + in
	}
	w.input.Consumers = append(w.input.Consumers, Use{Module: m.address(), At: at(a.expr.Range()), Of: of, In: in, named: named})
	if what := inside(a.expr); what == "==" && in == a.name {
		w.input.Consumers = append(w.input.Consumers, Use{Module: m.address(), At: at(a.expr.Range()), Of: of, In: "== " + in, named: named})
	}
}

// carriers are the names that hold the variable: itself, and the locals that are
// made from it.
func (m *module) carriers(name string) map[string]bool {
	out := map[string]bool{"var." + name: true}
	for grown := true; grown; {
		grown = false
		for local, a := range m.locals {
			if !out["local."+local] && touches(a.expr, out, false) != "" {
				out["local."+local], grown = true, true
			}
		}
	}
	return out
}

// touches returns the first name in an expression that carries the input.
func touches(e hcl.Expression, carriers map[string]bool, each bool) string {
	for _, t := range e.Variables() {
		root, second := t.RootName(), ""
		if len(t) > 1 {
			if s, ok := t[1].(hcl.TraverseAttr); ok {
				second = s.Name
			}
		}
		if carriers[root+"."+second] || each && root == "each" && second == "value" {
			return written(t)
		}
	}
	return ""
}

func written(t hcl.Traversal) string {
	var b strings.Builder
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			switch {
			case s.Key.Type() == cty.String:
				fmt.Fprintf(&b, "[%q]", s.Key.AsString())
			case s.Key.Type() == cty.Number:
				b.WriteString("[" + s.Key.AsBigFloat().String() + "]")
			}
		case hcl.TraverseSplat:
			b.WriteString("[*]")
		}
	}
	return b.String()
}

// inside says in what an expression puts its names: a comparison, merge or
// lookup.
func inside(e hcl.Expression) string {
	native, ok := e.(hclsyntax.Expression)
	if !ok {
		return ""
	}
	found := ""
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.BinaryOpExpr:
			if n.Op == hclsyntax.OpEqual || n.Op == hclsyntax.OpNotEqual {
				found = "=="
			}
		case *hclsyntax.FunctionCallExpr:
			if found == "" && (n.Name == "merge" || n.Name == "lookup") {
				found = n.Name
			}
		}
		return nil
	})
	return found
}

// namesKey says whether an expression names a key, as .key, ["key"] or in a
// lookup.
func namesKey(e hcl.Expression, key string) bool {
	for _, t := range e.Variables() {
		for _, s := range t[min(1, len(t)):] {
			switch s := s.(type) {
			case hcl.TraverseAttr:
				if s.Name == key {
					return true
				}
			case hcl.TraverseIndex:
				if s.Key.Type() == cty.String && s.Key.AsString() == key {
					return true
				}
			}
		}
	}
	native, ok := e.(hclsyntax.Expression)
	if !ok {
		return false
	}
	found := false
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.LiteralValueExpr:
			found = found || n.Val.Type() == cty.String && n.Val.IsKnown() && !n.Val.IsNull() && n.Val.AsString() == key
		case *hclsyntax.ObjectConsKeyExpr:
			found = found || hcl.ExprAsKeyword(n) == key
		case *hclsyntax.RelativeTraversalExpr:
			found = found || hasAttr(n.Traversal, key)
		case *hclsyntax.ScopeTraversalExpr: // of a for expression, which Variables leaves out
			found = found || hasAttr(n.Traversal, key)
		}
		return nil
	})
	return found
}

func hasAttr(t hcl.Traversal, key string) bool {
	return slices.ContainsFunc(t, func(s hcl.Traverser) bool {
		a, ok := s.(hcl.TraverseAttr)
		return ok && a.Name == key
	})
}

// fed looks at what callers pass to the input.
func (w *walk) fed(m *module, name string) {
	if m.key == "" {
		return
	}
	up, call := "", m.key
	if i := strings.LastIndexByte(m.key, '.'); i >= 0 {
		up, call = m.key[:i], m.key[i+1:]
	}
	parent := w.modules[up]
	if parent == nil {
		return
	}
	for _, a := range parent.calls[call].attrs {
		if a.name != name {
			continue
		}
		w.input.Late = w.input.Late || parent.late(a.expr, 0)
		if v, diags := a.expr.Value(nil); !diags.HasErrors() {
			w.input.Mixed = append(w.input.Mixed, mixed(v, at(a.expr.Range()), w.input.Type)...)
		}
	}
}

// known are the roots of names whose values a plan knows, or that are followed
// by themselves.
var known = []string{"var", "local", "each", "count", "path", "terraform", "tofu", "self"}

// late says whether the type of an expression may be known at the apply alone:
// it decodes text that comes from a resource, or takes a resource as it is.
func (m *module) late(e hcl.Expression, deep int) bool {
	for _, t := range e.Variables() {
		root := t.RootName()
		if !slices.Contains(known, root) {
			return true
		}
		if s, ok := second(t); ok && root == "local" && deep < 20 {
			if a, there := m.locals[s]; there && m.late(a.expr, deep+1) {
				return true
			}
		}
	}
	native, ok := e.(hclsyntax.Expression)
	if !ok {
		return false
	}
	decodes := false
	_ = hclsyntax.VisitAll(native, func(n hclsyntax.Node) hcl.Diagnostics {
		if f, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			decodes = decodes || f.Name == "jsondecode" || f.Name == "yamldecode"
		}
		return nil
	})
	return decodes
}

func second(t hcl.Traversal) (string, bool) {
	if len(t) < 2 {
		return "", false
	}
	s, ok := t[1].(hcl.TraverseAttr)
	return s.Name, ok
}
