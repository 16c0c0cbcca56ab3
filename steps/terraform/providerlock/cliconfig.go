package providerlock

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Method is one way in which a CLI configuration has providers installed.
type Method struct {
	Kind    string   // filesystem_mirror, network_mirror, oci_mirror, direct
	Where   string   // path or URL
	Include []string // patterns of addresses, none for all
	Exclude []string
}

// String implements fmt.Stringer.
func (m Method) String() string {
	if m.Where == "" {
		return m.Kind
	}
	return m.Kind + " " + m.Where
}

// ParseInstallation reads provider_installation out of a CLI configuration, nil
// where it says nothing of it; dev names providers that are overridden by local
// builds, for which the lock file does not count.
func ParseInstallation(name string, src []byte) (methods []Method, dev []string, err error) {
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil, nil, errors.New("it has no form that is known here")
	}
	for _, b := range body.Blocks {
		if b.Type != "provider_installation" {
			continue
		}
		for key := range b.Body.Attributes {
			return nil, nil, fmt.Errorf("provider_installation holds %q, which is not known here", key)
		}
		for _, m := range b.Body.Blocks {
			if m.Type == "dev_overrides" {
				dev = append(dev, overrides(m.Body)...)
				continue
			}
			where := text(m.Body, "path")
			if where == "" {
				where = text(m.Body, "url")
			}
			methods = append(methods, Method{Kind: m.Type, Where: where, Include: list(m.Body, "include"), Exclude: list(m.Body, "exclude")})
		}
	}
	return methods, dev, nil
}

func overrides(body *hclsyntax.Body) []string {
	var out []string
	for key := range body.Attributes {
		out = append(out, key)
	}
	return out
}
