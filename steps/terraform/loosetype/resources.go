package loosetype

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

// Resources lists the resources and module calls that files of one module declare, as
// type.name and module.name, and counts their moved blocks. gaps says what could not be
// read: it may declare more.
func Resources(files map[string][]byte) (declared []string, moved int, gaps []string) {
	for name, src := range files {
		p := hclparse.NewParser()
		var f *hcl.File
		var diags hcl.Diagnostics
		switch {
		case strings.HasSuffix(name, ".json"):
			f, diags = p.ParseJSON(src, name)
		default:
			f, diags = p.ParseHCL(src, name)
		}
		if diags.HasErrors() || f == nil {
			gaps = append(gaps, fmt.Sprintf("%s cannot be parsed", name))
			continue
		}
		content, _, _ := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
			{Type: "resource", LabelNames: []string{"type", "name"}}, {Type: "module", LabelNames: []string{"name"}}, {Type: "moved"},
		}})
		for _, b := range content.Blocks {
			switch b.Type {
			case "moved":
				moved++
			case "module":
				declared = append(declared, "module."+b.Labels[0])
			default:
				declared = append(declared, strings.Join(b.Labels, "."))
			}
		}
	}
	slices.Sort(declared)
	return slices.Compact(declared), moved, gaps
}
