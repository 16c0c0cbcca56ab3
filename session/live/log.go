// Package live keeps in memory what running steps print, for people who read
// along.
//
// A [Log] takes lines that are redacted already and drops what stands inside a
// private key, which no line shows by itself. It keeps the newest 8 MiB and says
// how much went before. A [Text] is a log at one moment and never changes. A
// [Shelf] holds the logs that are being written, so that a value which turns out
// to be secret is taken out of all of them. Nothing here reaches a disk.
package live

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// How much of what a running step prints can be read while it runs. The oldest
// lines go first, some at once, so that the reader is seldom disturbed.
const (
	liveMost  = 8 << 20
	liveChunk = 64 << 10
	liveDrop  = 1 << 20 // dropped at once
	liveLine  = 1 << 20 // of one line
)

// Log is what a running step printed so far, redacted. It lives in memory
// only: what is evidence of it is in the artifacts of the step. It is safe for
// use by several goroutines, and stays readable after the step ended.
type Log struct {
	mu     sync.Mutex
	chunks [][]byte // each grows at its end only, so that a text taken earlier stays as it was
	size   int64
	gone   int64 // bytes before the first chunk
	lost   int64 // lines before it
	era    int
	key    bool // between the first and the last line of a private key
	over   bool
}

// Text is a [LiveLog] as it was at one moment. It is an [Artifact].
type Text struct {
	*io.SectionReader
	Gone int64 // so many bytes before its first were dropped
	Lost int64 // and so many lines
	Era  int   // another one than before: what was read may have changed, not only grown
	Over bool  // the step ended
}

// Close implements [Artifact]; there is nothing to let go of.
func (Text) Close() error { return nil }

// Print takes a line that is redacted. A line by itself does not show that it is
// part of a key; those are known by what stands around them.
func (l *Log) Print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if line, ok := l.Outside(line); ok {
			l.put(line)
		}
	}
	for l.size > liveMost {
		l.drop()
	}
}

// Outside is what may be shown of a line with regard to private keys.
func (l *Log) Outside(line string) (string, bool) {
	switch {
	case l.key:
		if strings.Contains(line, "-----END") {
			l.key = false
		}
		return "", false
	case strings.Contains(line, "-----BEGIN") && strings.Contains(line, "PRIVATE KEY"):
		l.key = !strings.Contains(line, "-----END")
		return "[a private key is not shown]", true
	}
	if len(line) > liveLine {
		line = strings.ToValidUTF8(line[:liveLine], "") + fmt.Sprintf(" [%d bytes more are not shown]", len(line)-liveLine)
	}
	return line, true
}

func (l *Log) put(line string) {
	n := len(l.chunks) - 1
	if n < 0 || len(l.chunks[n])+len(line)+1 > cap(l.chunks[n]) {
		l.chunks = append(l.chunks, make([]byte, 0, max(liveChunk, len(line)+1)))
		n++
	}
	l.chunks[n] = append(append(l.chunks[n], line...), '\n')
	l.size += int64(len(line)) + 1
}

// drop forgets the oldest lines; a chunk holds whole ones.
func (l *Log) drop() {
	for from := l.size; len(l.chunks) > 1 && l.size > from-liveDrop; {
		old := l.chunks[0]
		l.chunks = l.chunks[1:]
		l.size -= int64(len(old))
		l.gone += int64(len(old))
		l.lost += int64(bytes.Count(old, []byte{'\n'}))
	}
	l.era++
}

// forget takes a value out that turned out to be secret only now.
func (l *Log) forget(value string, redact func(string) string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []byte
	for _, c := range l.chunks {
		all = append(all, c...)
	}
	if value == "" || !bytes.Contains(all, []byte(value)) {
		return
	}
	l.chunks, l.size = nil, 0
	for line := range bytes.Lines(all) {
		l.put(redact(string(bytes.TrimSuffix(line, []byte{'\n'}))))
	}
	l.era++
}

// End says that nothing more comes.
func (l *Log) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

// Now is what is there at this moment. What is printed later does not change it.
func (l *Log) Now() Text {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := chunkReader{ends: make([]int64, len(l.chunks)), chunks: make([][]byte, len(l.chunks))}
	end := int64(0)
	for i, c := range l.chunks {
		end += int64(len(c))
		at.chunks[i], at.ends[i] = c[:len(c):len(c)], end
	}
	return Text{SectionReader: io.NewSectionReader(at, 0, end), Gone: l.gone, Lost: l.lost, Era: l.era, Over: l.over}
}

// chunkReader reads from pieces that do not change.
type chunkReader struct {
	chunks [][]byte
	ends   []int64
}

// ReadAt implements [io.ReaderAt].
func (c chunkReader) ReadAt(p []byte, off int64) (n int, err error) {
	for i, b := range c.chunks {
		if off >= c.ends[i] {
			continue
		}
		from := off - (c.ends[i] - int64(len(b)))
		got := copy(p[n:], b[from:])
		n, off = n+got, off+int64(got)
		if n == len(p) {
			return n, nil
		}
	}
	return n, io.EOF
}

// Shelf is every log that is being written, for a secret that is named while
// they are.
type Shelf struct {
	mu   sync.Mutex
	logs map[*Log]bool
}

// Begin puts a new log on the shelf.
func (s *Shelf) Begin() *Log {
	l := &Log{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs == nil {
		s.logs = map[*Log]bool{}
	}
	s.logs[l] = true
	return l
}

// End ends a log and takes it off the shelf; nil is none.
func (s *Shelf) End(l *Log) {
	if l == nil {
		return
	}
	l.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logs, l)
}

// Forget takes a value out of every log on the shelf.
func (s *Shelf) Forget(value string, redact func(string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.logs {
		l.forget(value, redact)
	}
}
