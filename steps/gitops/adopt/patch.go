package adopt

import (
	"bytes"
	"fmt"
	"strings"
)

// Patch is the change as git apply takes it: the unified format of diff with three lines around each part, under the head that git
// gives it (git-diff, "Generating patch text with -p").
func (c Change) Patch() []byte {
	var out bytes.Buffer
	for _, f := range c.Files {
		out.Write(f.Patch())
	}
	return out.Bytes()
}

// Patch is that of one file.
func (f File) Patch() []byte {
	was, is := named("a/"+f.Path), named("b/"+f.Path)
	return fmt.Appendf(nil, "diff --git %s %s\n--- %s\n+++ %s\n%s", was, is, tabbed(was), tabbed(is), unified(f.Was, f.Is))
}

// named is a path as git writes it: in quotes where it has more than plain characters (git-config, core.quotePath).
func named(name string) string {
	odd := func(c byte) bool { return c < ' ' || c >= 0x7f || c == '"' || c == '\\' }
	var b strings.Builder
	quote := false
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
			quote = true
		case odd(c):
			fmt.Fprintf(&b, `\%03o`, c)
			quote = true
		default:
			b.WriteByte(c)
		}
	}
	if quote {
		return `"` + b.String() + `"`
	}
	return name
}

// tabbed ends a name that has a space and no quotes with a tab, so that the reader of a patch finds its end.
func tabbed(name string) string {
	if strings.Contains(name, " ") && name[0] != '"' {
		return name + "\t"
	}
	return name
}

// Text is a pull request of the change, in Markdown: the title, and what it does.
func (c Change) Text(application string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: bring to Git what is live\n\n", application)
	fmt.Fprintf(&b, "Fields of %s were changed in the cluster, and Git does not have them. This change gives Git what is live, so that the next sync changes nothing.\n\n", coded(application))
	fmt.Fprintf(&b, "It was made for commit %s. Rendered again, exactly these fields come out otherwise:\n\n", coded(c.Commit))
	for _, f := range c.Taken {
		fmt.Fprintf(&b, "- %s %s: %s -> %s\n", coded(f.Object), coded(f.At), coded(f.From), coded(f.To))
	}
	b.WriteString("\nFiles:\n\n")
	for _, f := range c.Files {
		fmt.Fprintf(&b, "- %s\n", coded(f.Path))
	}
	if len(c.Left) > 0 {
		b.WriteString("\nNot in it, and still to be decided:\n\n")
	}
	for _, l := range c.Left {
		fmt.Fprintf(&b, "- %s %s: %s\n", coded(l.Object), coded(l.At), l.Why)
	}
	return b.String()
}

// coded is text that Markdown shows as it is (CommonMark, section 6.1).
func coded(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const most = 400
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}
