package nodereport

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Script is the script, for a POSIX shell. Every command in it reads.
//
//go:embed script.sh
var Script string

// The sections of a report.
const (
	Timers     = "timers"
	Cron       = "cron"
	Processes  = "processes"
	Spoofed    = "spoofed"
	Immutable  = "immutable"
	Supervised = "supervised"
	StaticPods = "static_pods"
	Containers = "containers"
)

// Sections returns all sections in order.
func Sections() []string {
	return []string{Timers, Cron, Processes, Spoofed, Immutable, Supervised, StaticPods, Containers}
}

const (
	// MaxSize bounds one file of reports.
	MaxSize = 16 << 20
	// mostItems and longest bound what is kept of one.
	mostItems  = 20_000
	longest    = 500
	mostUnread = 200
)

// Item is something that a node has.
type Item struct {
	Name   string
	Detail string
	Hash   string // of its content, "" where the script could not tell
}

// Report is what one node said.
type Report struct {
	Node   string
	At     time.Time // by the clock of the node
	Items  map[string][]Item
	Unread []string // what could not be looked at, or was lost on the way
}

// Complete reports whether every section was looked through and nothing was
// lost.
func (r Report) Complete() bool { return len(r.Unread) == 0 }

// ErrNone says that a text holds no report.
var ErrNone = errors.New("it holds no node report: it must have the line handrail-node-report|1")

const header = "handrail-node-report|1"

// Parse reads the reports in a text, one after another. What is wrong in one
// stands under its Unread; an error means that there is none.
func Parse(text string) ([]Report, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("it has %d bytes, more than the %d of a file of reports", len(text), MaxSize)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	var out []Report
	for start := slices.Index(lines, header); start >= 0; {
		next := slices.Index(lines[start+1:], header)
		end := len(lines)
		if next >= 0 {
			end = start + 1 + next
		}
		out = append(out, parse(lines[start:end]))
		if next < 0 {
			break
		}
		start = end
	}
	if len(out) == 0 {
		return nil, ErrNone
	}
	return out, nil
}

var (
	nodeForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	hashForm = regexp.MustCompile(`^[0-9a-f]{1,16}$`)
)

// parser is one report while it is read.
type parser struct {
	Report
	done map[string]bool
	root string // user ID, "" until it is said
	n    int
}

func (p *parser) unread(format string, args ...any) {
	if len(p.Unread) == mostUnread {
		p.Unread[mostUnread-1] = "more than that"
		return
	}
	p.Unread = append(p.Unread, fmt.Sprintf(format, args...))
}

func parse(lines []string) Report {
	p := &parser{Report: Report{Items: map[string][]Item{}}, done: map[string]bool{}}
	ended := false
	for i, line := range lines {
		if rest, is := strings.CutPrefix(line, "end|"); is {
			ended = true
			p.end(rest, lines[:i])
			break
		}
		if i > 0 {
			p.line(line)
		}
	}
	switch {
	case !ended:
		p.unread("its end is missing: a part was lost on the way")
	case p.Node == "":
		p.unread("it does not say of which node it is")
	case p.At.IsZero():
		p.unread("it does not say when it was made")
	case p.root != "0":
		p.unread("it was not made by root, who alone sees all")
	}
	for _, s := range Sections() {
		if !p.done[s] {
			p.unread("%s: the script did not get through", s)
		}
	}
	return p.Report
}

// end holds the lines against what the script said of them.
func (p *parser) end(said string, lines []string) {
	if want := fmt.Sprintf("%d|%d", len(lines), cksum(strings.Join(lines, "\n")+"\n")); strings.TrimSpace(said) != want {
		p.unread("it was changed or a part was lost on the way: it has %d lines, and its end is for %q", len(lines), clean(said))
	}
}

func (p *parser) line(line string) {
	f := strings.Split(line, "|")
	switch {
	case f[0] == "item" && len(f) == 5 && slices.Contains(Sections(), f[1]):
		if p.n++; p.n > mostItems {
			p.unread("%s: more than %d items", f[1], mostItems)
			return
		}
		it := Item{Name: clean(f[2]), Detail: clean(f[3])}
		if hashForm.MatchString(f[4]) {
			it.Hash = f[4]
		}
		p.Items[f[1]] = append(p.Items[f[1]], it)
	case f[0] == "unread" && len(f) == 3:
		p.unread("%s: %s", clean(f[1]), clean(f[2]))
	case f[0] == "done" && len(f) == 2:
		p.done[f[1]] = true
	case f[0] == "node" && len(f) == 2 && p.Node == "" && len(f[1]) <= 253 && nodeForm.MatchString(f[1]):
		p.Node = f[1]
	case f[0] == "at" && len(f) == 2 && p.At.IsZero():
		p.At, _ = time.Parse(time.RFC3339, f[1])
	case f[0] == "user" && len(f) == 2 && p.root == "":
		if _, err := strconv.ParseUint(f[1], 10, 32); err == nil {
			p.root = f[1]
		}
	default:
		p.unread("a line does not belong to a report: %q", clean(line))
	}
}

// clean keeps the text of a stranger printable and short.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if len(s) > longest {
		s = s[:longest] + "..."
	}
	return s
}

// cksum is the CRC of the POSIX utility of that name: over the text and then its
// length.
func cksum(s string) uint32 {
	const poly = 0x04C11DB7
	var crc uint32
	add := func(b byte) {
		crc ^= uint32(b) << 24
		for range 8 {
			if crc&(1<<31) != 0 {
				crc = crc<<1 ^ poly
			} else {
				crc <<= 1
			}
		}
	}
	for i := range len(s) {
		add(s[i])
	}
	for n := len(s); n > 0; n >>= 8 {
		add(byte(n))
	}
	return ^crc
}
