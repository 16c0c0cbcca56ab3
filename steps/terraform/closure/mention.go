package closure

import (
	"bytes"
	"path/filepath"
	"regexp"
)

// mentions finds which of the files that may change are run by a file of the
// closure.
type mentions struct {
	left  map[string]string // name to path
	found map[string]string
}

func newMentions(may map[string]string) *mentions {
	return &mentions{left: may, found: map[string]string{}}
}

var (
	// starting is what stands on a line that runs a file, or reads a program of it.
	starting = regexp.MustCompile(`\b(ba|da|z|k)?sh\b|\bsource\b|(^|[\s;&|(])\.\s|python|perl|ruby|\bnode\b|\bexec|\beval\b|program|command|interpreter|templatefile|\bfile\s*\(`)
	// placing is what stands before a file in a configuration that keeps it there.
	placing = regexp.MustCompile(`^\s*("?(path|filename|output_path|workspace_dir|description)"?\s*[=:]|#|//)`)
	// writing is what stands before a file that is only written.
	writing = regexp.MustCompile(`(>>?\s*|\btee\s+(-a\s+)?|TF_LOG_PATH\s*=\s*)["']?[\w./${}-]*$`)
)

// in looks through one text; that of a configuration may name what it runs on a
// line of its own.
func (m *mentions) in(text []byte, config bool) {
	for name, path := range m.left {
		if starts(text, filepath.Base(path), config) || starts(text, "*"+filepath.Ext(path), config) {
			m.found[name] = path
		}
	}
	for name := range m.found {
		delete(m.left, name)
	}
}

// run returns what was found since it was last asked.
func (m *mentions) run() map[string]string {
	out := m.found
	m.found = map[string]string{}
	return out
}

// starts reports whether a line of text runs what it calls name.
func starts(text []byte, name string, config bool) bool {
	for rest := text; ; {
		at := bytes.Index(rest, []byte(name))
		if at < 0 {
			return false
		}
		line := bytes.LastIndexByte(rest[:at], '\n') + 1
		for line > 1 && bytes.HasSuffix(rest[:line], []byte("\\\n")) { // it goes on from the line before
			line = bytes.LastIndexByte(rest[:line-1], '\n') + 1
		}
		end := len(rest)
		if n := bytes.IndexByte(rest[at:], '\n'); n >= 0 {
			end = at + n
		}
		runs := starting.Match(rest[line:end]) || config && !placing.Match(rest[line:at])
		if runs && !writing.Match(rest[line:at]) {
			return true
		}
		rest = rest[at+len(name):]
	}
}
