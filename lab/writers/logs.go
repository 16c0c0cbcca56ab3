package main

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// maxLog is kept of one run of a container.
const maxLog = 64 << 10

// journal is what one run of a container has said, whole lines with their times.
type journal struct {
	mu      sync.Mutex
	lines   []line
	size    int
	partial []byte
}

type line struct {
	at   time.Time
	text string
}

// Write implements io.Writer.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.partial = append(j.partial, p...)
	for {
		i := bytes.IndexByte(j.partial, '\n')
		if i < 0 {
			return len(p), nil
		}
		j.lines = append(j.lines, line{time.Now(), string(j.partial[:i])})
		j.size += i + 1
		j.partial = j.partial[i+1:]
		for j.size > maxLog && len(j.lines) > 1 {
			j.size -= len(j.lines[0].text) + 1
			j.lines = j.lines[1:]
		}
	}
}

// tail is the last n lines, all for n < 0.
func (j *journal) tail(n int, stamps bool, since time.Time) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	for len(lines) > 0 && lines[0].at.Before(since) {
		lines = lines[1:]
	}
	if n >= 0 && len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	var b strings.Builder
	for _, l := range lines {
		if stamps {
			b.WriteString(l.at.UTC().Format(time.RFC3339Nano) + " ")
		}
		b.WriteString(l.text + "\n")
	}
	return b.String()
}
