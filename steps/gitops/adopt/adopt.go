// Package adopt makes the change to Git after which Git has what was changed by hand. It edits the bytes
// of the manifests: where a value stands, that value alone is written anew, and comments, order, quotes and
// line ends stay. Each edit is read again, and is taken only if exactly the one value changed. It reads no cluster
// and no clone, and knows nothing of what a tool makes of the files: that the change does what it should is for
// its caller to prove, by rendering again.
//
// What cannot be edited so is left, with the reason: values that an anchor or a merge key brings, plain text over several
// lines, tags, keys that stand twice, Secrets, and what SOPS encrypted.
package adopt

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Object is what an object is told by. Where a file gives it no namespace, any is its own.
type Object struct{ Group, Kind, Namespace, Name string }

// Edit is one field that Git is to have otherwise.
type Edit struct {
	Of     Object
	Object string // as it is shown
	At     string // the field, as it is shown
	// Path leads there: keys of mappings, and [name=NAME] or [PLACE] for an item of a list. [Path] makes it.
	Path []string
	// From and To are what Git has and is to have, as JSON has them; a list of scalars is one value.
	From, To any
	// New says that Git lacks the field, Gone that it is to lack it: then Path may lead to what holds the field.
	New, Gone bool
	// In is the file to edit, "" for the only one that has it.
	In string
}

// Field is one that the change brings.
type Field struct{ Object, At, From, To string }

// Left is one that it does not bring.
type Left struct{ Object, At, Why string }

func (l Left) String() string { return l.Object + " " + l.At + ": " + l.Why }

// String is the field with both values.
func (f Field) String() string { return f.Object + " " + f.At + ": " + f.From + " -> " + f.To }

// File is one that changes.
type File struct {
	Path    string // from the top of the repository, with slashes
	Was, Is []byte
}

// Change is what brings Git to what is live, and what of it does not.
type Change struct {
	Commit string
	Files  []File // in order
	Taken  []Field
	Left   []Left
}

// Make edits the files of a commit, by paths from the top.
func Make(commit string, files map[string][]byte, edits []Edit) Change {
	c := Change{Commit: commit}
	now := maps.Clone(files)
	cut := map[string]bool{} // what an edit before it took away with it
	for _, e := range ordered(edits) {
		key := e.In + "\n" + e.Object + "\n" + strings.Join(e.Path, "\n")
		if !e.Gone || !cut[key] {
			in, why := e.In, Unfit(e.Of)
			if why == "" && in == "" {
				in, why = only(now, e)
			}
			var is []byte
			if why == "" {
				is, why = apply(now[in], in, e)
			}
			if why != "" {
				c.Left = append(c.Left, Left{e.Object, e.At, why})
				continue
			}
			now[in], cut[key] = is, e.Gone
		}
		c.Taken = append(c.Taken, Field{e.Object, e.At, shown(e.From, e.New), shown(e.To, e.Gone)})
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was := files[name]; string(was) != string(now[name]) {
			c.Files = append(c.Files, File{name, was, now[name]})
		}
	}
	return c
}

// ordered puts what goes last, the last item of a list first: places before it stay as they are.
func ordered(edits []Edit) []Edit {
	out := slices.Clone(edits)
	slices.SortStableFunc(out, func(a, b Edit) int {
		switch {
		case a.Gone != b.Gone:
			return map[bool]int{true: 1, false: -1}[a.Gone]
		case !a.Gone:
			return 0
		}
		return slices.CompareFunc(b.Path, a.Path, func(x, y string) int { return cmp.Or(len(x)-len(y), strings.Compare(x, y)) })
	})
	return out
}

// Unfit says why an object is never written to Git, "" where it may be.
func Unfit(of Object) string {
	if of.Group == "" && of.Kind == "Secret" {
		return "a Secret is not written to Git"
	}
	return ""
}

// only is the one file in which an edit can be made.
func only(files map[string][]byte, e Edit) (name, why string) {
	places, why := Places(files, e, false)
	switch len(places) {
	case 0:
		return "", why
	case 1:
		return places[0], ""
	}
	return "", "several files have it: " + list(places)
}

func list(names []string) string {
	const most = 5
	out := ""
	for i, n := range names {
		if i == most {
			return out + " and more"
		}
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}

// With is the files of a commit as the change has them.
func (c Change) With(files map[string][]byte) map[string][]byte {
	out := maps.Clone(files)
	for _, f := range c.Files {
		out[f.Path] = f.Is
	}
	return out
}

// Branch is the name of a branch for the change, by its digest: the same change has the same. It is "" where there is none.
func (c Change) Branch() string {
	digest := c.Digest()
	if digest == "" {
		return ""
	}
	return "handrail/" + digest[:12]
}

// Digest names the patch: SHA-256 in hexadecimal; "" where there is none.
func (c Change) Digest() string {
	if len(c.Files) == 0 {
		return ""
	}
	sum := sha256.Sum256(c.Patch())
	return hex.EncodeToString(sum[:])
}

// shown is a value as a person reads it.
func shown(v any, none bool) string {
	if none {
		return "none"
	}
	return jsonOf(v)
}

func jsonOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "unreadable"
	}
	return string(raw)
}
