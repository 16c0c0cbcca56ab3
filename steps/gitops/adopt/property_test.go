package adopt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// texts are values that are read in more than one way, or written in more than one.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "yes", "No", "~", "null", "1", "1.5", "1e3", "0x1f", "0o7", "012", "1:20", "2020-01-01", "=", "<<", "a: b", "a #b", "#a", "- a", "[a", "{a", "*a", "&a", "!a", "%a", "@a", "`a", "'", "\"", "\\", "a\nb", "a\nb\n", "a\n\n", " a", "a ", "\ta", "\n", "a\n b\n\n\nc\n\n", "größe", "a\u2028b", "a\rb", "\u0000", "\ufeff", "500m", "nginx:1.2", "--x=y", "😀", "---", "...", "? a", ": a", ".inf", "1_000", "0b1"}),
		rapid.StringN(0, 12, -1),
		rapid.StringMatching(`[a-z \n:#'",\[\]{}-]{0,20}`),
	)
}

// shape draws a document in which styles are mixed, and writes it by hand: the library would write one style alone.
type shape struct {
	t *rapid.T
	b strings.Builder
}

func (s *shape) scalar(flow bool) string {
	switch text := rapid.StringMatching(`[a-z]{1,4}( [a-z]{1,3})?`).Draw(s.t, "text"); rapid.IntRange(0, 5).Draw(s.t, "style") {
	case 0:
		return "'" + text + "''s'"
	case 1:
		return `"` + text + `\n"`
	case 2:
		return rapid.SampledFrom([]string{"1", "true", "2.5", "null"}).Draw(s.t, "other")
	default:
		if flow {
			return strings.ReplaceAll(text, " ", "")
		}
		return text
	}
}

func (s *shape) comment() string {
	return rapid.SampledFrom([]string{"", "", " # why", "   # it's {"}).Draw(s.t, "comment")
}

// mapping writes keys below an indentation; the first may stand behind a dash.
func (s *shape) mapping(indent string, depth int, behind bool) {
	for i := range rapid.IntRange(1, 3).Draw(s.t, "keys") {
		if i > 0 || !behind {
			s.b.WriteString(indent)
		}
		key := fmt.Sprintf("k%d", i)
		if i == 0 && behind {
			key = "name"
		}
		of := rapid.IntRange(0, 5).Draw(s.t, "of")
		if depth == 0 || i == 0 && behind {
			of %= 3
		}
		switch of {
		case 0, 1:
			fmt.Fprintf(&s.b, "%s: %s%s\n", key, s.scalar(false), s.comment())
		case 2:
			fmt.Fprintf(&s.b, "%s: %s%s\n%s    one\n\n%s    two\n", key, rapid.SampledFrom([]string{"|", "|-", ">", ">-"}).Draw(s.t, "block"), s.comment(), indent, indent)
		case 3:
			fmt.Fprintf(&s.b, "%s:%s\n", key, s.comment())
			s.mapping(indent+"  ", depth-1, false)
		case 4:
			fmt.Fprintf(&s.b, "%s: {a: %s, \"b\": [%s, %s]}%s\n", key, s.scalar(true), s.scalar(true), s.scalar(true), s.comment())
		default:
			fmt.Fprintf(&s.b, "%s:\n", key)
			for range rapid.IntRange(1, 3).Draw(s.t, "items") {
				fmt.Fprintf(&s.b, "%s- ", indent)
				s.mapping(indent+"  ", depth-1, true)
			}
		}
	}
}

// leavesOf are the ways to the values of a decoded document.
func leavesOf(v any, so []string, each func(way []string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(func(yield func(string) bool) {
			for k := range v {
				if !yield(k) {
					return
				}
			}
		}) {
			leavesOf(v[key], append(slices.Clone(so), key), each)
		}
	case []any:
		for i, item := range v {
			leavesOf(item, append(slices.Clone(so), fmt.Sprintf("[%d]", i)), each)
		}
	default:
		each(so, v)
	}
}

// put is a decoded document with one value otherwise, or without it.
func put(v any, way []string, to any, gone bool) any {
	if len(way) == 0 {
		return to
	}
	last := gone && len(way) == 1
	switch of := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, below := range of {
			out[k] = below
		}
		if delete(out, way[0]); !last {
			out[way[0]] = put(of[way[0]], way[1:], to, gone)
		}
		return out
	case []any:
		var i int
		fmt.Sscanf(way[0], "[%d]", &i)
		out := slices.Clone(of)
		if last {
			return slices.Delete(out, i, i+1)
		}
		out[i] = put(of[i], way[1:], to, gone)
		return out
	}
	return v
}

// TestExactlyOneValue: what a file means after an edit is what it meant, with the one value otherwise; and git apply makes it.
func TestExactlyOneValue(t *testing.T) {
	t.Parallel()
	made, tried := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := &shape{t: rt}
		s.b.WriteString("# Top.\n---\n" + head + "data:\n")
		s.mapping("  ", 2, false)
		was := s.b.String()
		if rapid.Bool().Draw(rt, "crlf") {
			was = strings.ReplaceAll(was, "\n", "\r\n")
		}
		if rapid.Bool().Draw(rt, "cut") {
			was = strings.TrimRight(was, "\r\n")
		}
		docs, err := plainly([]byte(was))
		if err != nil {
			rt.Fatalf("%v\n%s", err, was)
		}
		var ways [][]string
		var values []any
		leavesOf(docs[0].(map[string]any)["data"], []string{"data"}, func(way []string, v any) { ways, values = append(ways, way), append(values, v) })
		i := rapid.IntRange(0, len(ways)-1).Draw(rt, "which")
		e := Edit{Of: limits, Object: "x", At: strings.Join(ways[i], "."), Path: ways[i], From: values[i]}
		switch rapid.IntRange(0, 5).Draw(rt, "do") {
		case 0:
			e.Gone = true
		case 1:
			e.To = rapid.SampledFrom([]any{int64(7), true, 1.5, int64(-3)}).Draw(rt, "to")
		default:
			e.To = texts().Draw(rt, "text")
		}
		tried++
		files := map[string][]byte{"x.yaml": []byte(was)}
		c := Make("c", files, []Edit{e})
		if len(c.Left) > 0 {
			return
		}
		made++
		if len(c.Files) == 0 {
			if e.Gone || jsonOf(e.To) != jsonOf(e.From) {
				rt.Fatalf("nothing changed:\n%s", was)
			}
			return
		}
		is := c.Files[0].Is
		now, err := plainly(is)
		if err != nil {
			rt.Fatalf("%v\n%s", err, is)
		}
		if want := put(docs[0], e.Path, e.To, e.Gone); len(now) != 1 || jsonOf(now[0]) != jsonOf(want) {
			rt.Fatalf("%s %v -> %v\n%s\nbecame\n%s\n%s, want\n%s", e.At, e.From, e.To, was, is, jsonOf(now[0]), jsonOf(want))
		}
		if made%5 == 0 { // a process each
			applies(t, c, files)
		}
	})
	if made*10 < tried*8 {
		t.Errorf("%d of %d edits were made", made, tried)
	}
}

// FuzzDiff: git apply takes what the own diff says of any two texts.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd")
	f.Add("", "x")
	f.Add("x\r\n\r\n", "")
	f.Add(strings.Repeat("a\n", 30), strings.Repeat("a\n", 12)+"b\n"+strings.Repeat("a\n", 17))
	f.Add(strings.Repeat("a\nb\n", 3000), strings.Repeat("c\na\n", 3000))
	f.Fuzz(func(t *testing.T, was, is string) {
		if was == is || strings.ContainsRune(was+is, 0) || was == "" || is == "" {
			return
		}
		applies(t, Change{Files: []File{{"x", []byte(was), []byte(is)}}}, map[string][]byte{"x": []byte(was)})
	})
}

// FuzzAdopt: no file makes an edit fall, and what comes of it is the file with the one value otherwise.
func FuzzAdopt(f *testing.F) {
	for _, body := range []string{"data: {a: x}\n", "data:\n  a: |\n    x\n  b: &y [1, *y]\n", "data:\n  ? a\n  : x\n", "data: {a: 'x', <<: {b: c}}\n---\n- 1\n...\n", "data: !!map {a: !!str x}\n", "\ufeffdata:\n\ta: x\n", "data:\n- - a\n  - b: c\n- \"x\\\n  y\"\n", "data: {a: x, }\n", "data:\n  a: x\n   #c\n  \n---\r\n"} {
		for _, n := range []uint8{0, 1, 64, 130} {
			f.Add(head+body, n, "y\nz")
		}
	}
	f.Fuzz(func(t *testing.T, was string, which uint8, to string) {
		nodes, err := documents([]byte(was))
		if err != nil {
			return
		}
		docs, err := plainly([]byte(was))
		if err != nil || len(docs) != len(nodes) {
			return
		}
		for at, doc := range docs {
			o, is := doc.(map[string]any)
			if !is {
				continue
			}
			var ways [][]string
			var values []any
			leavesOf(o, nil, func(way []string, v any) { ways, values = append(ways, way), append(values, v) })
			version, _ := o["apiVersion"].(string)
			kind, _ := o["kind"].(string)
			meta, _ := o["metadata"].(map[string]any)
			name, _ := meta["name"].(string)
			group, _, has := strings.Cut(version, "/")
			if !has {
				group = ""
			}
			if len(ways) == 0 {
				continue
			}
			i := int(which&63) % len(ways)
			e := Edit{Of: Object{Group: group, Kind: kind, Name: name}, Object: "x", At: "x", Path: ways[i], From: values[i], To: to, Gone: which&192 == 64, New: which&128 != 0}
			if e.New {
				e.Path = append(slices.Clone(ways[i][:len(ways[i])-1]), "new key")
			}
			files := map[string][]byte{"x.yaml": []byte(was)}
			c := Make("c", files, []Edit{e})
			if len(c.Files) == 0 {
				continue
			}
			now, err := plainly(c.Files[0].Is)
			if err != nil || len(now) != len(docs) {
				t.Fatalf("%v: %q became %q", err, was, c.Files[0].Is)
			}
			for k := range docs {
				want := docs[k]
				if k == at {
					want = put(want, e.Path, e.To, e.Gone)
				}
				if plainJSON(now[k]) != plainJSON(want) {
					t.Fatalf("%v: %q became %q", e, was, c.Files[0].Is)
				}
			}
		}
	})
}

// plainJSON is a decoded document as JSON; keys of other types are as the library prints them.
func plainJSON(v any) string {
	if raw, err := json.Marshal(v); err == nil {
		return string(raw)
	}
	raw, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
