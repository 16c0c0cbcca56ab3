package forge

import (
	"bytes"
	"testing"

	"handrail/steps/joblog"
)

// BenchmarkLog reads a log of Terraform as a runner stamps it.
func BenchmarkLog(b *testing.B) {
	text := bytes.Repeat([]byte(logLine), 200_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		h := newHearing()
		if err := joblog.Each(bytes.NewReader(text), h.line); err != nil {
			b.Fatal(err)
		}
		h.end()
	}
}
