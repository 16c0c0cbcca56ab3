package tool

import (
	"bytes"
	"io"
	"os"

	"handrail/steps/joblog"
)

// Spool is a file without a name that one process writes and another reads.
type Spool struct {
	file *os.File
	at   int64
	part []byte
}

func newSpool() (*Spool, error) {
	f, err := MemoryFile()
	if err != nil {
		return nil, err
	}
	return &Spool{file: f}, nil
}

// lines hands on what was written since the last time.
func (s *Spool) lines(log io.Writer, line func([]byte)) {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.file.ReadAt(buf, s.at)
		if n == 0 {
			s.forget()
			return
		}
		s.at += int64(n)
		_, _ = log.Write(buf[:n]) // what cannot be kept is told at its end
		s.part = append(s.part, buf[:n]...)
		for {
			nl := bytes.IndexByte(s.part, '\n')
			if nl < 0 {
				break
			}
			line(s.part[:nl])
			s.part = s.part[nl+1:]
		}
		if len(s.part) > joblog.MaxLine {
			line(s.part)
			s.part = nil
		}
		if err != nil {
			s.forget()
			return
		}
	}
}

// rest hands on what ended without a line break.
func (s *Spool) rest(line func([]byte)) {
	if len(s.part) > 0 {
		line(s.part)
		s.part = nil
	}
}

// Close gives up what was not read.
func (s *Spool) Close() error { return s.file.Close() }
