package form

import (
	"fmt"
	"strings"

	"handrail/tui/ink"
)

// Paste is a text that was pasted. Of one that is longer than it keeps, it has the beginning
// and the end.
type Paste struct {
	Text string
	Cut  int // bytes that were left out of its middle
	gap  int // where in Text they were
}

// MostPasted is how much of a text is kept, and Ends how much of its beginning.
const MostPasted, Ends = 256 << 10, 64 << 10

// Add puts a text behind what is there, with the ends of lines that a screen has.
func (p *Paste) Add(t string) {
	p.Text = strings.ReplaceAll(strings.ReplaceAll(p.Text+t, "\r\n", "\n"), "\r", "\n")
	over := len(p.Text) - MostPasted
	if over <= 0 {
		return
	}
	head, tail := ends(p.Text[:Ends], p.Text[Ends+over:])
	if p.Cut > 0 { // what comes behind the first gap is no beginning
		head = p.Text[:p.gap]
	}
	p.Cut += len(p.Text) - len(head) - len(tail)
	p.Text, p.gap = head+tail, len(head)
}

// Back takes the last character away.
func (p *Paste) Back() {
	if rs := []rune(p.Text); len(rs) > 0 {
		p.Text = string(rs[:len(rs)-1])
		p.gap = min(p.gap, len(p.Text))
	}
}

// Whole is the text with a line where something was left out.
func (p *Paste) Whole() string {
	if p.Cut == 0 {
		return p.Text
	}
	return p.Text[:p.gap] + omitted(p.Cut) + p.Text[p.gap:]
}

// Shortened says what was left out.
func (p *Paste) Shortened() ink.Text {
	return ink.Say("Too long: %s of its middle were cut. Its first %s and its end are kept.", ink.Amount(int64(p.Cut)), ink.Amount(Ends))
}

// Joined are the beginning and the end of a text of which so many bytes between them were
// not kept, with a line that says so.
func Joined(head, tail string, cut int) string {
	if cut == 0 {
		return head + tail
	}
	h, t := ends(head, tail)
	return h + omitted(cut+len(head)-len(h)+len(tail)-len(t)) + t
}

// omitted is the line where something was left out. What reads the text as a log must not take
// it for all of one, and knows these words.
func omitted(n int) string {
	return fmt.Sprintf("[handrail: lines omitted, %d bytes of the middle of a long text]\n", n)
}

// ends are whole lines of both, where they have any, and no half of a key: without its other
// half that would not look like one.
func ends(head, tail string) (string, string) {
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	if i := strings.LastIndex(head, keyBegins); i >= 0 && !strings.Contains(head[i:], keyEnds) {
		head = head[:i]
	}
	begin, end := strings.Index(tail, keyBegins), strings.Index(tail, keyEnds)
	if end >= 0 && (begin < 0 || end < begin) {
		_, tail, _ = strings.Cut(tail[end:], "\n")
	}
	return head, tail
}

const keyBegins, keyEnds = "-----BEGIN ", "-----END "
