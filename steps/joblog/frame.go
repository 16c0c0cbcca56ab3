package joblog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxShapes bounds the prefixes of a log, maxStreams the sources of its lines,
	// and maxPrefix one prefix.
	maxShapes  = 32
	maxStreams = 64
	maxPrefix  = 300
	// maxSample bounds the lines that tell whether a log shares a prefix.
	maxSample = 256
)

// Learner finds out what stands before the lines of a log.
type Learner struct {
	n      int
	strong map[string]*candidate
	weak   map[string]*candidate
	spans  int
	sample []string
	many   bool
}

type candidate struct {
	shape
	prefix  string           // one that has it
	streams map[string]*span // where the lines of each stand
}

// span is where the lines of a stream stand.
type span struct{ from, to int }

// NewLearner has seen nothing.
func NewLearner() *Learner {
	return &Learner{strong: map[string]*candidate{}, weak: map[string]*candidate{}}
}

// Line looks at one line.
func (l *Learner) Line(line string, _ End) {
	l.n++
	if l.n <= maxSample && strings.TrimSpace(line) != "" {
		l.sample = append(l.sample, strings.Clone(line[:min(len(line), maxPrefix)]))
	}
	if i := anchor(line); i >= 0 {
		l.learn(l.strong, line, i)
	} else if i := headline(line); i >= 0 {
		l.learn(l.weak, line, i)
	}
}

func (l *Learner) learn(into map[string]*candidate, line string, at int) {
	prefix := unmarked(line[:at], strings.TrimSuffix)
	if at > maxPrefix || strings.ContainsAny(prefix, "\r│") {
		l.many = l.many || at > maxPrefix
		return // a marker of a section, or the text of an error
	}
	s := shapeOf(prefix)
	key := s.key()
	c := into[key]
	if c == nil {
		if len(into) == maxShapes {
			l.many = true
			return
		}
		c = &candidate{shape: s, prefix: strings.Clone(prefix), streams: map[string]*span{}}
		into[key] = c
	}
	from := stream(prefix)
	if sp := c.streams[from]; sp != nil {
		sp.to = l.n
	} else if l.spans < maxStreams {
		l.spans++
		c.streams[strings.Clone(from)] = &span{l.n, l.n}
	} else {
		l.many = true
	}
}

// Frame is what stands before the lines of a log.
type Frame struct {
	shapes []shape
	bare   bool // nothing stands before them
	why    string
	beside bool
}

// Frame says what was learned.
func (l *Learner) Frame() *Frame {
	f := &Frame{}
	var kept []*candidate
	for _, c := range sorted(l.strong) {
		outer := slices.IndexFunc(kept, func(k *candidate) bool { return k.match(c.prefix) >= 0 })
		if outer < 0 {
			kept = append(kept, c)
			continue
		}
		inner := c.prefix[kept[outer].match(c.prefix):]
		if strings.TrimSpace(inner) != "" {
			f.why = "lines of a run stand in it with and without " + strconv.Quote(strings.TrimSpace(inner)) + " before them: two logs in one, or one that another quotes"
		}
	}
	strong := len(kept)
	for _, c := range sorted(l.weak) {
		covers := func(k *candidate) bool { return k.match(c.prefix) >= 0 || c.match(k.prefix) >= 0 }
		if slices.ContainsFunc(kept, covers) || !c.stamped() && (strong > 0 || !l.shared(c.shape)) {
			continue
		}
		kept = append(kept, c)
	}
	for _, k := range kept {
		f.shapes = append(f.shapes, k.shape)
	}
	f.bare = len(kept) == 0 || len(kept) == 1 && len(kept[0].parts) == 0
	if l.many {
		f.why = "it has more prefixes than are told apart"
	}
	f.beside = overlap(kept)
	return f
}

// overlap reports whether lines of two streams stand between each other.
func overlap(kept []*candidate) bool {
	all := map[string]span{} // a stream may have several shapes
	for _, c := range kept {
		for name, s := range c.streams {
			if o, ok := all[name]; ok {
				s = &span{min(s.from, o.from), max(s.to, o.to)}
			}
			all[name] = *s
		}
	}
	spans := make([]span, 0, len(all))
	for _, s := range all {
		spans = append(spans, s)
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	last := 0
	for _, s := range spans {
		if s.from < last {
			return true
		}
		last = max(last, s.to)
	}
	return false
}

// unmarked takes away what systems put before some lines alone, to colour them.
func unmarked(s string, trim func(string, string) string) string {
	if !strings.Contains(s, "##[") && !strings.Contains(s, "::") {
		return s
	}
	for _, mark := range []string{"##[error]", "##[warning]", "::error::", "::warning::"} {
		if out := trim(s, mark); out != s {
			return out
		}
	}
	return s
}

// sorted has the shortest shapes first.
func sorted(m map[string]*candidate) []*candidate {
	out := make([]*candidate, 0, len(m))
	for _, c := range m {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(len(a.parts), len(b.parts)), cmp.Compare(len(a.prefix), len(b.prefix)), cmp.Compare(a.prefix, b.prefix))
	})
	return out
}

// shared reports whether most lines of the sample begin with a shape.
func (l *Learner) shared(s shape) bool {
	n := 0
	for _, line := range l.sample {
		if s.match(line) >= 0 {
			n++
		}
	}
	return len(l.sample) > 0 && n*10 >= len(l.sample)*6
}

// Unclear says why the lines of a run cannot be told from what quotes them, "".
func (f *Frame) Unclear() string { return f.why }

// Beside reports whether lines of several sources stand beside each other.
func (f *Frame) Beside() bool { return f.beside }

// Strip takes the frame off a line. framed is false for a line without it: it is
// not of the program. stream names its source.
func (f *Frame) Strip(line string) (text, from string, framed bool) {
	if f.bare {
		return unmarked(line, strings.TrimPrefix), "", true
	}
	for _, s := range f.shapes {
		n := s.match(line)
		if n < 0 {
			continue
		}
		text = unmarked(line[n:], strings.TrimPrefix)
		if f.beside {
			from = stream(line[:n])
		}
		return text, from, true
	}
	return line, "", false
}

// Unframe takes the frame off every line of a text, and leaves lines without it as
// they are.
func Unframe(s string) string {
	in, err := Decode(strings.NewReader(s))
	if err != nil {
		return s
	}
	var lines []string
	l := NewLearner()
	if Each(in, func(line string, how End) { lines = append(lines, line); l.Line(line, how) }) != nil {
		return s
	}
	f := l.Frame()
	var out strings.Builder
	for _, line := range lines {
		text, _, _ := f.Strip(line)
		out.WriteString(text)
		out.WriteByte('\n')
	}
	return out.String()
}
