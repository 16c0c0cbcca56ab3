package providerlock

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Provider is one entry of a lock file.
type Provider struct {
	Address     string // host/namespace/type
	Version     string
	Constraints string // what the configuration demanded when it was locked
	Hashes      []string
}

// ParseLock reads a dependency lock file. Blocks and attributes of a newer tool
// are passed over.
func ParseLock(name string, src []byte) ([]Provider, error) {
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil, errors.New("it has no form that is known here")
	}
	var out []Provider
	for _, b := range body.Blocks {
		if b.Type != "provider" {
			continue
		}
		if len(b.Labels) != 1 {
			return nil, fmt.Errorf("line %d: a provider has one address", b.TypeRange.Start.Line)
		}
		p := Provider{Address: b.Labels[0], Version: text(b.Body, "version"), Constraints: text(b.Body, "constraints"), Hashes: list(b.Body, "hashes")}
		if slices.ContainsFunc(out, func(o Provider) bool { return o.Address == p.Address }) {
			return nil, fmt.Errorf("line %d: provider %q again, as a merge leaves it", b.TypeRange.Start.Line, p.Address)
		}
		out = append(out, p)
	}
	return out, nil
}

func value(body *hclsyntax.Body, name string) cty.Value {
	a, ok := body.Attributes[name]
	if !ok {
		return cty.NilVal
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsWhollyKnown() {
		return cty.NilVal
	}
	return v
}

func text(body *hclsyntax.Body, name string) string { return str(value(body, name)) }

func str(v cty.Value) string {
	if v == cty.NilVal || v.IsNull() || v.Type() != cty.String {
		return ""
	}
	return v.AsString()
}

func list(body *hclsyntax.Body, name string) []string {
	v := value(body, name)
	if v == cty.NilVal || !v.CanIterateElements() {
		return nil
	}
	var out []string
	for it := v.ElementIterator(); it.Next(); {
		if _, e := it.Element(); str(e) != "" {
			out = append(out, str(e))
		}
	}
	return out
}

// Demand is what one module wants of one provider.
type Demand struct {
	Source      string // as it is written, "" for one that is only named
	Name        string // by which the module calls it
	Constraints string
	At          string // file:line
}

// ParseDemands reads required_providers out of one file of configuration.
func ParseDemands(name string, src []byte) ([]Demand, error) {
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	body, ok := file.Body.(*hclsyntax.Body)
	if diags.HasErrors() || !ok {
		return nil, diags
	}
	var out []Demand
	for _, b := range body.Blocks {
		if b.Type != "terraform" {
			continue
		}
		for _, r := range b.Body.Blocks {
			if r.Type != "required_providers" {
				continue
			}
			for key, a := range r.Body.Attributes {
				d := Demand{Name: key, At: fmt.Sprintf("%s:%d", name, a.NameRange.Start.Line)}
				// configuration_aliases are no values, so the object is read item by item.
				if o, ok := a.Expr.(*hclsyntax.ObjectConsExpr); ok {
					for _, item := range o.Items {
						k, kd := item.KeyExpr.Value(nil)
						v, vd := item.ValueExpr.Value(nil)
						if kd.HasErrors() || vd.HasErrors() {
							continue
						}
						switch str(k) {
						case "source":
							d.Source = str(v)
						case "version":
							d.Constraints = str(v)
						}
					}
				} else if v, diags := a.Expr.Value(nil); !diags.HasErrors() {
					d.Constraints = str(v)
				}
				out = append(out, d)
			}
		}
	}
	slices.SortFunc(out, func(a, b Demand) int { return strings.Compare(a.At+a.Name, b.At+b.Name) })
	return out, nil
}

// Means reports whether a demand is for the provider of this address. A source
// without a host is of the registry of whichever tool reads it.
func (d Demand) Means(address string) bool {
	source := d.Source
	if source == "" {
		source = d.Name
	}
	if !strings.Contains(source, "/") {
		source = "hashicorp/" + source
	}
	if strings.Count(source, "/") == 2 {
		return strings.EqualFold(source, address)
	}
	host, rest, ok := strings.Cut(strings.ToLower(address), "/")
	return ok && rest == strings.ToLower(source) && (host == "registry.opentofu.org" || host == "registry.terraform.io")
}

// Satisfies reports whether a version is within constraints; an error says that
// one of them has no form that is known here.
func Satisfies(v, constraints string) (bool, error) {
	if strings.TrimSpace(constraints) == "" {
		return true, nil
	}
	have, err := version.NewVersion(v)
	if err != nil {
		return false, err
	}
	want, err := version.NewConstraint(constraints)
	if err != nil {
		return false, err
	}
	return want.Check(have), nil
}
