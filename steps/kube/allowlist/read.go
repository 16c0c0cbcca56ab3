package allowlist

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"handrail/steps/strict"

	"gopkg.in/yaml.v3"
)

const (
	// MaxSize bounds the file, which a person must be able to review.
	MaxSize = 4 << 20
	// mostEntries and longest bound what it holds.
	mostEntries = 20_000
	longest     = 600
)

// Parse reads an allow-list whole, or says at which line what is wrong with it.
// Half a list accounts for nothing.
func Parse(src []byte) (List, error) {
	if len(src) > MaxSize {
		return List{}, fmt.Errorf("it has %d bytes, more than the %d that an allow-list may have", len(src), MaxSize)
	}
	root, err := strict.Single(src)
	var second *strict.SecondError
	switch {
	case errors.Is(err, io.EOF):
		return List{}, errors.New("it is empty")
	case errors.As(err, &second):
		return List{}, errors.New("it has more than one document")
	case err != nil:
		return List{}, err
	}
	return read(root)
}

func read(root *yaml.Node) (List, error) {
	top, err := members(root, "an allow-list", "apiVersion", "kind", "clusters", "entries")
	if err != nil {
		return List{}, err
	}
	for key, want := range map[string]string{"apiVersion": "handrail/v1", "kind": "AllowList"} {
		if got, err := text(top[key], root, key); err != nil || got != want {
			return List{}, at(root, "want %s: %s", key, want)
		}
	}
	l := List{Names: map[string]string{}}
	if n := top["clusters"]; n != nil {
		if n.Kind != yaml.MappingNode {
			return List{}, at(n, "clusters is a name and a UID a line")
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, uid := n.Content[i], n.Content[i+1]
			got, err := text(uid, uid, "the UID")
			if err != nil {
				return List{}, err
			}
			if _, twice := l.Names[name.Value]; twice || name.Value == "" {
				return List{}, at(name, "cluster %q is named twice, or has no name", name.Value)
			}
			l.Names[name.Value] = got
		}
	}
	entries := top["entries"]
	if entries == nil || entries.Kind == yaml.ScalarNode && entries.Tag == "!!null" {
		return l, nil
	}
	if entries.Kind != yaml.SequenceNode || len(entries.Content) > mostEntries {
		return List{}, at(entries, "entries is a list of %d at most", mostEntries)
	}
	seen := map[string]int{}
	for _, n := range entries.Content {
		e, err := l.entry(n)
		if err != nil {
			return List{}, err
		}
		key := fmt.Sprintf("%q %q", e.Cluster, []string{e.Category, e.Namespace, e.Node, e.Name, e.Digest})
		if line, twice := seen[key]; twice {
			return List{}, at(n, "the entry of line %d again", line)
		}
		seen[key] = n.Line
		l.Entries = append(l.Entries, e)
	}
	return l, nil
}

func (l List) entry(n *yaml.Node) (Entry, error) {
	f, err := members(n, "an entry", "category", "cluster", "namespace", "node", "name", "digest", "accounts", "until")
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Line: n.Line}
	var until string
	for _, field := range []struct {
		key  string
		into *string
		must bool
	}{
		{"category", &e.Category, true}, {"cluster", &e.Cluster, true}, {"namespace", &e.Namespace, false}, {"node", &e.Node, false},
		{"name", &e.Name, true}, {"digest", &e.Digest, true}, {"accounts", &e.Accounts, true}, {"until", &until, true},
	} {
		if f[field.key] == nil && !field.must {
			continue
		}
		if *field.into, err = text(f[field.key], n, field.key); err != nil {
			return Entry{}, err
		}
	}
	uid, known := l.Names[e.Cluster]
	switch {
	case !slices.Contains(Categories(), e.Category):
		return Entry{}, at(f["category"], "there is no category %q; there are %s", e.Category, strings.Join(Categories(), ", "))
	case !known:
		return Entry{}, at(f["cluster"], "cluster %q does not stand under clusters", e.Cluster)
	case !digestForm.MatchString(e.Digest):
		return Entry{}, at(f["digest"], "the digest has 16 hexadecimal digits")
	case (e.Category == NodeWriters) != (e.Node != ""):
		return Entry{}, at(n, "an entry of category %s names a node, and no other does", NodeWriters)
	case e.Name == Any || strings.Contains(e.Name, Any) && !strings.Contains(e.Name, "/"):
		return Entry{}, at(f["name"], "a name is no pattern")
	}
	e.Cluster = uid
	if e.Until, err = time.Parse(time.DateOnly, until); err != nil {
		return Entry{}, at(f["until"], "until is a day such as 2027-01-31, the last on which it holds")
	}
	return e, nil
}

// members reads a mapping of known keys, each once.
func members(n *yaml.Node, what string, known ...string) (map[string]*yaml.Node, error) {
	out, odd, why := strict.Members(n, known...)
	switch why {
	case strict.NoMapping:
		return nil, at(n, "%s has keys and values", what)
	case strict.NoWord, strict.UnknownKey:
		return nil, at(odd, "%s has no key %q; it has %s", what, odd.Value, strings.Join(known, ", "))
	case strict.Repeated:
		return nil, at(odd, "%q again", odd.Value)
	}
	return out, nil
}

// text reads a scalar that is not empty. Digests of digits alone are texts too.
func text(n, parent *yaml.Node, key string) (string, error) {
	switch {
	case n == nil:
		return "", at(parent, "%s is missing", key)
	case n.Kind != yaml.ScalarNode || n.Anchor != "" || n.Tag == "!!null" || n.Style&yaml.TaggedStyle != 0:
		return "", at(n, "%s is a text", key)
	case strings.TrimSpace(n.Value) == "":
		return "", at(n, "%s is empty", key)
	case len(n.Value) > longest:
		return "", at(n, "%s is longer than %d", key, longest)
	}
	return n.Value, nil
}

func at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))
}
