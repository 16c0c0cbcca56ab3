package terraform

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAddressesAreThoseOfTheTool: a key stands in an address as the tool writes
// it there, whatever is in it; a log, a plan and a state must name one object
// alike.
func TestAddressesAreThoseOfTheTool(t *testing.T) {
	t.Parallel()
	keys := []string{"plain", "a\x07b", "\x1b[31m", "\x7f", "tab\tnew\nline\r", "\v\f\b", "\u0085", "\u200b", "\ufeff", "\u202e", "\U000e0001", "é", "日本", `q"u\o`, "${x}", "%{x}", "$$", "$", "\u00ad", "\u2028", ""}
	var list []string
	for _, k := range keys {
		text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${", "%{", "%%{", "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(k)
		escaped := ""
		for _, r := range text {
			if r < ' ' || r == 0x7f || r > 0x7e {
				escaped += fmt.Sprintf(`\U%08x`, r)
			} else {
				escaped += string(r)
			}
		}
		list = append(list, `"`+escaped+`"`)
	}
	w := newBackend(t, "local", "", "resource \"terraform_data\" \"k\" {\n  for_each = toset(["+strings.Join(list, ", ")+"])\n}\n")
	w.run("apply", "-auto-approve", "-input=false", "-no-color")
	want := strings.Split(strings.TrimSpace(w.run("state", "list")), "\n")
	got := w.probe("terraform/state", nil).Facts["addresses"].Strings()
	slices.Sort(want)
	if !slices.Equal(got, want) || len(got) != len(keys) {
		t.Errorf("addresses =\n%q\nwant those of the tool,\n%q", got, want)
	}
}
