package adopt

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// splice puts text in the place of a part of a file.
type splice struct {
	from, to int
	text     string
}

// cutting puts several in.
func (s source) cutting(all []splice) []byte {
	slices.SortStableFunc(all, func(a, b splice) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, p := range all {
		if p.from < at || p.to < p.from || p.to > len(s.src) {
			return nil
		}
		out = append(append(out, s.src[at:p.from]...), p.text...)
		at = p.to
	}
	return append(out, s.src[at:]...)
}

// apply makes one edit, or says why not.
func apply(src []byte, name string, e Edit) ([]byte, string) {
	if !e.New && !e.Gone {
		if to, is := e.To.([]any); is {
			return applyList(src, name, e, to)
		}
	}
	out, err := one(src, e, e.Of.loosely(src, e))
	if err != nil {
		return nil, name + ": " + err.Error()
	}
	return out, ""
}

// loosely reports whether the object has another name in the file than it is rendered with.
func (of Object) loosely(src []byte, e Edit) bool {
	_, err := find(src, e, false)
	return errors.Is(err, errAbsent)
}

// applyList brings a list of scalars item by item, so that what stays is not touched.
func applyList(src []byte, name string, e Edit, to []any) ([]byte, string) {
	from, is := e.From.([]any)
	if !is || len(from) == 0 || len(to) == 0 {
		return nil, name + ": a list is none on one side"
	}
	step := func(i int, as Edit) (err error) {
		as.Of, as.Path = e.Of, append(slices.Clone(e.Path), "["+strconv.Itoa(i)+"]")
		src, err = one(src, as, e.Of.loosely(src, e))
		return err
	}
	head := 0
	for head < min(len(from), len(to)) && jsonOf(from[head]) == jsonOf(to[head]) {
		head++
	}
	tail := 0
	for tail < min(len(from), len(to))-head && jsonOf(from[len(from)-1-tail]) == jsonOf(to[len(to)-1-tail]) {
		tail++
	}
	both := min(len(from), len(to)) - tail
	var err error
	for i := head; i < both && err == nil; i++ {
		if jsonOf(from[i]) == jsonOf(to[i]) {
			continue
		}
		err = step(i, Edit{From: from[i], To: to[i]})
	}
	for i := len(from) - tail - 1; i >= both && err == nil; i-- {
		err = step(i, Edit{From: from[i], Gone: true})
	}
	for i := both; i < len(to)-tail && err == nil; i++ {
		err = step(i, Edit{To: to[i], New: true})
	}
	if err != nil {
		return nil, name + ": " + err.Error()
	}
	return src, ""
}

// one makes one edit of one value, and reads again what came of it: exactly that value may differ.
func one(src []byte, e Edit, loose bool) ([]byte, error) {
	s, err := sourceOf(src)
	if err != nil {
		return nil, err
	}
	p, err := find(src, e, loose)
	if err != nil {
		return nil, err
	}
	ways, err := s.ways(p, e)
	if err != nil {
		return nil, err
	}
	isJSON := json.Valid(src)
	for _, way := range ways {
		out := s.cutting(way)
		if out == nil || isJSON && !json.Valid(out) {
			continue
		}
		if docs, err := documents(out); err == nil && slices.EqualFunc(docs, p.docs, equal) {
			return out, nil
		}
	}
	return nil, errForm
}

// ways are the splices that may make an edit, the best first. The documents of the place are as they are to be then.
func (s source) ways(p place, e Edit) (ways [][]splice, err error) {
	a := around{json: json.Valid(s.src), eol: s.eol}
	if e.New {
		on, err := walk(p.object, e.Path[:len(e.Path)-1])
		if err != nil {
			return nil, err
		}
		a.flow = on.flow
		return s.adding(on, e, a)
	}
	on, err := walk(p.object, e.Path)
	switch {
	case err != nil:
		return nil, err
	case on.over == nil:
		return nil, errForm
	case e.Gone:
		way, err := s.removing(on)
		return [][]splice{way}, err
	}
	return s.replacing(on, e, a)
}

// replacing writes a scalar anew.
func (s source) replacing(on step, e Edit, a around) ([][]splice, error) {
	if on.at.Kind != yaml.ScalarNode || !sameValue(on.at, e.From) {
		return nil, errForm
	}
	node, err := made(e.To)
	if err != nil {
		return nil, err
	}
	a.flow, a.style = on.flow, on.at.Style
	at, to, body, err := s.span(on)
	if err != nil {
		return nil, err
	}
	lineEnd := to
	if body != nil {
		a.indent, lineEnd = body.indent, body.end
	} else if on.over.Kind == yaml.MappingNode && !a.flow {
		key, err := s.begin(on.over.Content[on.i-1])
		if err != nil {
			return nil, err
		}
		a.indent = strings.Repeat(" ", key-s.lineStart(key)+2)
		lineEnd = s.lineEnd(to)
	}
	var ways [][]splice
	for _, f := range forms(e.To, a) {
		if at > 0 && s.src[at-1] == ':' {
			f.inline = " " + f.inline
		}
		way := []splice{{at, to, f.inline}}
		switch {
		case body != nil:
			way = append(way, splice{s.lineEnd(at), body.end, f.below})
		case f.below != "":
			way = append(way, splice{lineEnd, lineEnd, f.below})
		}
		ways = append(ways, way)
	}
	*on.at = yaml.Node{Kind: yaml.ScalarNode, Tag: node.ShortTag(), Value: node.Value}
	return ways, nil
}

// span is what is replaced of a scalar: all of it, or of a block its head, with the body to replace beside.
func (s source) span(on step) (from, to int, body *block, err error) {
	if empty(on.at) {
		if on.over.Kind != yaml.MappingNode {
			return 0, 0, nil, errForm
		}
		from, err = s.colon(on.over.Content[on.i-1])
		return from, from, nil, err
	}
	if from, err = s.begin(on.at); err != nil || on.at.Style&yaml.TaggedStyle != 0 {
		return 0, 0, nil, errForm
	}
	if on.at.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		b, err := s.block(on.at, from)
		return from, b.headEnd, &b, err
	}
	to, err = s.end(on.at)
	return from, to, nil, err
}

// dash is what leads to an item of a list that begins its line.
var dash = regexp.MustCompile(`^ *- +$`)

// adding writes a new entry or item behind those that are there.
func (s source) adding(on step, e Edit, a around) ([][]splice, error) {
	over, key := on.at, e.Path[len(e.Path)-1]
	node, err := made(e.To)
	if err != nil {
		return nil, err
	}
	after := len(over.Content)
	entry := []*yaml.Node{node}
	lead := ""
	switch over.Kind {
	case yaml.MappingNode:
		if value(over, key) != nil {
			return nil, errForm
		}
		entry = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, node}
		lead = keyed(key, a) + ": "
	case yaml.SequenceNode:
		if after, err = strconv.Atoi(strings.Trim(key, "[]")); err != nil || after < 0 || after > len(over.Content) {
			return nil, errForm
		}
	default:
		return nil, errForm
	}
	way, err := s.behind(over, after, a)
	if err != nil {
		return nil, err
	}
	if over.Kind == yaml.MappingNode && !a.flow && len(over.Content) > 0 {
		a.indent = strings.TrimLeft(way.text, "\r\n") + "  "
	}
	tail := ""
	if before, after, between := strings.Cut(way.text, "\x00"); between { // between brackets something may follow
		way.text, tail = before, after
	}
	var ways [][]splice
	for _, f := range forms(e.To, a) {
		ways = append(ways, []splice{{way.from, way.to, way.text + lead + f.inline + f.below + tail}})
	}
	over.Content = slices.Insert(over.Content, after, entry...)
	return ways, nil
}

// behind is where an entry comes, and what leads to it; for an item before all others, what follows it stands behind a NUL.
func (s source) behind(over *yaml.Node, after int, a around) (splice, error) {
	begin, err := s.begin(over)
	if err != nil {
		return splice{}, err
	}
	if after == 0 {
		switch {
		case over.Style&yaml.FlowStyle == 0:
			return splice{}, errForm
		case len(over.Content) == 0:
			return splice{from: begin + 1, to: begin + 1}, nil
		}
		return splice{begin + 1, begin + 1, "\x00, "}, nil
	}
	last, first := over.Content[after-1], over.Content[0]
	var end int
	if over.Kind == yaml.MappingNode {
		end, err = s.entryEnd(over.Content[after-2], last)
	} else {
		end, err = s.end(last)
	}
	if err != nil {
		return splice{}, err
	}
	at, err := s.begin(first)
	if err != nil {
		return splice{}, err
	}
	lead := string(s.src[s.lineStart(at):at])
	if !a.flow {
		switch {
		case over.Kind == yaml.SequenceNode && dash.MatchString(lead):
		case over.Kind == yaml.MappingNode:
			lead = strings.Repeat(" ", at-s.lineStart(at))
		default:
			return splice{}, errForm
		}
		end = s.lineEnd(end)
		return splice{end, end, s.eol + lead}, nil
	}
	if strings.TrimSpace(lead) == "" && s.lineStart(at) > begin { // each on a line of its own
		return splice{end, end, "," + s.eol + lead}, nil
	}
	return splice{end, end, ", "}, nil
}

// removing takes an entry of a mapping, or an item of a list, away.
func (s source) removing(on step) ([]splice, error) {
	first, width := on.i, 1
	if on.over.Kind == yaml.MappingNode {
		first, width = on.i-1, 2
	}
	of := on.over.Content
	begin, err := s.begin(of[first])
	if err != nil {
		return nil, err
	}
	end, err := s.ended(on.over, first)
	if err != nil {
		return nil, err
	}
	next := first + width
	lead := string(s.src[s.lineStart(begin):begin])
	block := on.over.Style&yaml.FlowStyle == 0
	way := splice{from: begin, to: end}
	switch {
	case len(of) == width && on.over.Kind == yaml.MappingNode && block:
		way.text = "{}"
	case len(of) == width && block:
		if !dash.MatchString(lead) {
			return nil, errForm
		}
		way.from = s.lineStart(begin) + strings.IndexByte(lead, '-')
		way.text = "[]"
	case len(of) == width: // between brackets nothing is left
	case block && (on.over.Kind == yaml.MappingNode && strings.TrimSpace(lead) == "" || on.over.Kind == yaml.SequenceNode && dash.MatchString(lead)):
		way.from, way.to = s.lineStart(begin), s.nextLine(end)
	case next < len(of):
		if way.to, err = s.begin(of[next]); err != nil {
			return nil, err
		}
	case block:
		return nil, errForm
	default:
		if way.from, err = s.ended(on.over, first-width); err != nil {
			return nil, err
		}
	}
	on.over.Content = slices.Delete(of, first, next)
	return []splice{way}, nil
}

// ended is where the entry or item that begins at a place of the content ends.
func (s source) ended(over *yaml.Node, first int) (int, error) {
	if over.Kind == yaml.MappingNode {
		return s.entryEnd(over.Content[first], over.Content[first+1])
	}
	return s.end(over.Content[first])
}

// equal compares what two nodes mean, and by which anchors.
func equal(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Anchor != b.Anchor {
		return false
	}
	switch a.Kind {
	case yaml.AliasNode:
		return a.Value == b.Value
	case yaml.ScalarNode:
		return a.ShortTag() == b.ShortTag() && a.Value == b.Value
	}
	return slices.EqualFunc(a.Content, b.Content, equal)
}
