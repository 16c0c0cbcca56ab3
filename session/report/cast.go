package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"handrail/evidence/visible"
)

// Open gives the bytes of an artifact by its hash.
type Open func(sha256 string) (io.ReadCloser, error)

// The recording's terminal, how many lines of an artifact it shows, and the longest pause a player should keep.
const (
	castCols, castRows = 120, 36
	castLines          = 14
	castIdle           = 3
)

// WriteCast writes what was seen as a terminal recording of asciicast version 2 or 3, with the pauses of the journal:
// the lines of the timeline, the first lines of text artifacts where open is given, and a mark at each phase. It holds
// no keystroke, since none is recorded.
func WriteCast(w io.Writer, d Document, version int, open Open) error {
	c := &cast{w: bufio.NewWriter(w), version: version}
	head := map[string]any{"version": version, "title": string(d.Title) + " (" + string(d.Incident) + ")", "idle_time_limit": castIdle}
	if !d.Opened.IsZero() {
		head["timestamp"] = d.Opened.Unix()
	}
	switch version {
	case 2:
		head["width"], head["height"] = castCols, castRows
	case 3:
		head["term"] = map[string]any{"cols": castCols, "rows": castRows}
	default:
		return fmt.Errorf("asciicast version %d: there are 2 and 3", version)
	}
	c.json(head)
	stored := map[int64][]Artifact{}
	for _, a := range d.Artifacts {
		stored[a.Entry] = append(stored[a.Entry], a)
	}
	for _, m := range d.Timeline {
		at := 0.0
		if !d.Opened.IsZero() && !m.At.IsZero() {
			at = m.At.Sub(d.Opened).Seconds()
		}
		if m.Type == "phase" {
			c.event(at, "m", string(m.Text))
		}
		c.event(at, "o", c.wrapped(fmt.Sprintf("%s  %s", m.At.Format("15:04:05"), m.Text), "          "))
		if open == nil {
			continue
		}
		for _, a := range stored[m.Entry] {
			c.artifact(at, a, open)
		}
	}
	if version == 3 {
		c.event(c.last, "x", "0")
	}
	if c.err != nil {
		return c.err
	}
	return c.w.Flush()
}

type cast struct {
	w       *bufio.Writer
	version int
	last    float64
	err     error
}

func (c *cast) json(v any) {
	if c.err != nil {
		return
	}
	raw, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(c.w, "%s\n", raw)
	}
	c.err = err
}

// event writes one event. A clock that was set back does not turn the recording back.
func (c *cast) event(at float64, code, data string) {
	at = max(at, c.last)
	when := at
	if c.version == 3 {
		when = at - c.last
	}
	c.last = at
	c.json([]any{json.Number(fmt.Sprintf("%.6f", when)), code, data})
}

// wrapped breaks a line for the width of the recording.
func (c *cast) wrapped(s, indent string) string {
	var b strings.Builder
	r := []rune(string(visible.Line(s)))
	for first := true; first || len(r) > 0; first = false {
		room := castCols
		if !first {
			b.WriteString(indent)
			room -= len(indent)
		}
		n := min(room, len(r))
		for k := n; n < len(r) && k > room/2; k-- { // rather between words
			if r[k-1] == ' ' {
				n = k
				break
			}
		}
		b.WriteString(string(r[:n]) + "\r\n")
		r = r[n:]
	}
	return b.String()
}

// artifact shows the first lines of a text.
func (c *cast) artifact(at float64, a Artifact, open Open) {
	if c.err != nil || a.Media != "text/plain" {
		return
	}
	f, err := open(string(a.SHA256))
	if err != nil {
		c.event(at, "o", c.wrapped("          | "+string(a.Role)+" cannot be read: "+err.Error(), "          | "))
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 1<<20))
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; n < castLines && lines.Scan(); n++ {
		r := []rune(string(visible.Line(lines.Text())))
		c.event(at, "o", "          | "+string(r[:min(len(r), castCols-12)])+"\r\n")
	}
	if lines.Scan() {
		c.event(at, "o", fmt.Sprintf("          | … the rest of %d bytes is in the bundle\r\n", a.Size))
	}
}
