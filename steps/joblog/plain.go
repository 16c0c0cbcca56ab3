package joblog

import "strings"

// Plain takes colours, links and all other escape sequences out of a line. A
// sequence that has no end loses its introducer alone, so that it hides nothing.
func Plain(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var out strings.Builder
	out.Grow(len(line))
	open := true // whether a text sequence may still find its end
	for {
		i := strings.IndexByte(line, 0x1b)
		if i < 0 || i+1 == len(line) {
			out.WriteString(strings.TrimSuffix(line, "\x1b"))
			return out.String()
		}
		out.WriteString(line[:i])
		kind, rest := line[i+1], line[i+2:]
		switch {
		case kind == '[':
			n := 0
			for n < len(rest) && rest[n] >= 0x20 && rest[n] < 0x40 {
				n++
			}
			if n < len(rest) && rest[n] >= 0x40 && rest[n] < 0x7f {
				rest = rest[n+1:]
			}
		case strings.IndexByte("]P_^X", kind) >= 0 && open:
			end := strings.IndexAny(rest, "\x07\x1b")
			switch {
			case end < 0:
				open = false
			case rest[end] == 0x07:
				rest = rest[end+1:]
			case strings.HasPrefix(rest[end:], "\x1b\\"):
				rest = rest[end+2:]
			}
		case kind >= 0x20 && kind < 0x30: // an intermediate, and its final
			if len(rest) > 0 {
				rest = rest[1:]
			}
		}
		line = rest
	}
}
