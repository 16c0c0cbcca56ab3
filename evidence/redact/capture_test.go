package redact_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"handrail/evidence"
	"handrail/evidence/redact"
)

func create(t testing.TB, keys string) *evidence.Bundle {
	t.Helper()
	b, err := evidence.Create(t.TempDir(), "i1", evidence.Options{Keys: keys, Host: "bridge", Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// endless makes a state of any size without holding it.
type endless struct {
	head, unit, tail string
	left             int
	buf              []byte
	begun, ended     bool
}

func (e *endless) Read(p []byte) (int, error) {
	for len(e.buf) < len(p) && !e.ended {
		switch {
		case !e.begun:
			e.buf, e.begun = append(e.buf, e.head...), true
		case e.left > 0:
			e.buf = append(e.buf, e.unit...)
			if e.left -= len(e.unit); e.left > 0 {
				e.buf = append(e.buf, ',')
			}
		default:
			e.buf, e.ended = append(e.buf, e.tail...), true
		}
	}
	n := copy(p, e.buf)
	e.buf = append(e.buf[:0], e.buf[n:]...)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// BenchmarkCapture stores 1 GiB from a stream: redacted, hashed, on disk. peak-MB is the highest heap seen.
func BenchmarkCapture(b *testing.B) {
	state, _ := redact.BigState(2)
	from, to := strings.Index(state, "    {\n      \"mode\""), strings.Index(state, "\n  ],")
	unit := state[from:to]
	log := redact.CleanLines(3, 1<<20)
	for name, in := range map[string]struct {
		media string
		src   endless
	}{
		"log 1 GiB":   {"text/plain", endless{unit: log, left: 1 << 30}},
		"state 1 GiB": {redact.MediaTFState, endless{head: state[:from], unit: unit, tail: state[to:], left: 1 << 30}},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1 << 30)
			for b.Loop() {
				bundle := create(b, "")
				runtime.GC()
				src := in.src
				w, err := bundle.Blob("log", in.media)
				if err != nil {
					b.Fatal(err)
				}
				peak, size := uint64(0), 0
				buf := make([]byte, 256<<10)
				for {
					n, err := src.Read(buf)
					if errors.Is(err, io.EOF) {
						break
					}
					if _, err := w.Write(buf[:n]); err != nil {
						b.Fatal(err)
					}
					if size += n; size%(16<<20) < n {
						var m runtime.MemStats
						runtime.ReadMemStats(&m)
						peak = max(peak, m.HeapInuse+m.StackInuse)
					}
				}
				if _, err := w.Commit(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
			}
		})
	}
}
