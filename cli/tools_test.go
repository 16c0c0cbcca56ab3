package cli

import (
	"os"
	"strings"
	"testing"

	yamlv3 "gopkg.in/yaml.v3"

	"handrail/cli/process"
	"handrail/cli/settings"
)

// TestK9sPlugin: each plugin of docs/tools.md is a command line that handrail takes, with
// what k9s puts in for its variables.
func TestK9sPlugin(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(src), "```yaml\nplugins:")
	text, _, _ := strings.Cut(rest, "```")
	var doc struct {
		Plugins map[string]struct {
			ShortCut             string `yaml:"shortCut"`
			Description, Command string
			Scopes, Args         []string
			Background           bool
		}
	}
	if err := yamlv3.Unmarshal([]byte("plugins:"+text), &doc); err != nil || !ok || len(doc.Plugins) < 2 {
		t.Fatalf("plugins of k9s: %+v, %v", doc, err)
	}
	for name, plugin := range doc.Plugins {
		if plugin.Command != "handrail" || plugin.ShortCut == "" || plugin.Description == "" || len(plugin.Scopes) == 0 {
			t.Errorf("%s: %+v", name, plugin)
		}
		var args []string
		for _, a := range plugin.Args {
			args = append(args, strings.NewReplacer("$CONTEXT", "prod-eu", "$RESOURCE_NAME", "pods", "$NAMESPACE", "shop", "$NAME", "web-1").Replace(a))
		}
		cmd, given, err := newRoot(&process.Program{}).Find(args)
		if err == nil {
			err = cmd.ParseFlags(given)
		}
		if err != nil {
			t.Errorf("%s: handrail %v: %v", name, args, err)
			continue
		}
		if pairs, err := cmd.Flags().GetStringArray("param"); err == nil {
			rb, err := settings.Embedded(cmd.Flags().Arg(0))
			if err != nil {
				t.Fatal(err)
			}
			given, err := settings.Pairs(pairs)
			if err == nil {
				_, err = settings.Bind(rb, given)
			}
			if err != nil {
				t.Errorf("%s: handrail %v: %v", name, args, err)
			}
		}
	}
}
