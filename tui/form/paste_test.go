package form

import (
	"strings"
	"testing"
)

// TestPasteKeepsBothEnds: whatever the pastes are cut into, the first lines and the last are
// kept, in whole lines, and one line says how much is missing where it is missing.
func TestPasteKeepsBothEnds(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	for name, parts := range map[string][]string{
		"at once":  {"first\r\n" + strings.Repeat(line, 9000) + "last\n"},
		"in parts": {"first\n" + strings.Repeat(line, 3000), strings.Repeat(line, 3000), strings.Repeat(line, 3000), "last\n"},
	} {
		p, n := &Paste{}, 0
		for _, part := range parts {
			p.Add(part)
			n += len(strings.ReplaceAll(part, "\r\n", "\n"))
		}
		whole := p.Whole()
		head, tail, ok := strings.Cut(whole, "[handrail: lines omitted, ")
		if !ok || strings.Count(whole, "omitted") != 1 || !strings.HasPrefix(head, "first\n") || !strings.HasSuffix(tail, line+"last\n") {
			t.Errorf("%s: %d bytes, cut: %v, from %.20q", name, len(whole), ok, whole)
		}
		if len(p.Text) > MostPasted || p.Cut+len(p.Text) != n || len(head) > Ends || len(head) < Ends-len(line) {
			t.Errorf("%s: %d of %d bytes are kept, %d cut, %d at the beginning", name, len(p.Text), n, p.Cut, len(head))
		}
		if strings.Trim(head, "x\nfirst") != "" || !strings.HasSuffix(head, line) {
			t.Errorf("%s: the beginning is torn", name)
		}
	}
}

// TestCutKeyIsLeftOut: half of a key does not look like one, so it is not kept.
func TestCutKeyIsLeftOut(t *testing.T) {
	t.Parallel()
	begin, end := "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n"
	for name, tc := range map[string]struct{ head, tail string }{
		"in the beginning": {"a\n" + begin + "MIIEbody\n", "b\n"},
		"in the end":       {"a\n", "MIIEbody\n" + end + "b\n"},
		"in both":          {"a\n" + begin + "MIIEbody\n", "MIIEbody\n" + end + "b\n"},
	} {
		got := Joined(tc.head, tc.tail, 7)
		if strings.Contains(got, "MIIE") || !strings.HasPrefix(got, "a\n[handrail: lines omitted") || !strings.HasSuffix(got, "b\n") {
			t.Errorf("%s: %q", name, got)
		}
	}
	whole := begin + "MIIEbody\n" + end
	if got := Joined("a\n"+whole, "c\n"+whole+"b\n", 7); strings.Count(got, "MIIEbody") != 2 {
		t.Errorf("whole keys are left out: %q", got)
	}
	if got := Joined("a", "b", 0); got != "ab" {
		t.Errorf("a text that is not cut: %q", got)
	}
}
