package allowlist

import (
	"bufio"
	"fmt"
	"io"
	"iter"

	"gopkg.in/yaml.v3"
)

// Propose writes the entries for things in the form of the file, each without
// who accounts for it: the file is refused until a person has filled that in.
func Propose(w io.Writer, cluster, name string, things iter.Seq[Thing]) error {
	b := bufio.NewWriter(w)
	quote := func(s string) string {
		if plain(s) {
			return `"` + s + `"`
		}
		raw, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle})
		if err != nil {
			return `""`
		}
		return string(raw[:max(0, len(raw)-1)])
	}
	fmt.Fprintf(b, "# What is not accounted for yet. Keep an entry only where you know what it is and who needs it, and say so.\n")
	fmt.Fprintf(b, "apiVersion: handrail/v1\nkind: AllowList\nclusters:\n  %s: %s\nentries:\n", quote(name), quote(cluster))
	for t := range things {
		fmt.Fprintf(b, "- category: %s\n  cluster: %s\n", t.Category, quote(name))
		if t.Namespace != "" {
			fmt.Fprintf(b, "  namespace: %s\n", quote(t.Namespace))
		}
		if t.Node != "" {
			fmt.Fprintf(b, "  node: %s\n", quote(t.Node))
		}
		fmt.Fprintf(b, "  name: %s\n  digest: %s\n  accounts: \"\"\n  until: \"\"\n", quote(t.Name), quote(t.Digest))
	}
	return b.Flush()
}

// plain reports whether a text stands between quotes as it is. A sweep proposes
// tens of thousands, and an encoder for each takes longer than all else of them.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
