//go:build unix

package redact

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// redacted passes in through the redactor; what comes out goes nowhere, as the peer writes nothing either.
func redacted(r *Redactor, in []byte) {
	a := r.Artifact("", io.Discard)
	_, _ = a.Write(in) // io.Discard takes all
	_, _ = a.Close()
}

// once is the processor time of the fastest of some passes, the collection of garbage with it: what else the machine does adds little.
func once(b *testing.B, passes int, f func()) time.Duration {
	b.Helper()
	best := time.Duration(1<<63 - 1)
	for range passes {
		start := processorTime(b)
		f()
		best = min(best, processorTime(b)-start)
	}
	return best
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSpeed measures the redactor with 300 known values beside plain SHA-256 and, where HANDRAIL_GITLEAKS names the program
// that evidence/gitleaks builds, beside gitleaks. The worst of the hostile inputs is a ratio of the normal speed. All is processor time.
func BenchmarkSpeed(b *testing.B) {
	in := speedCorpus(8 << 20)
	r := knowing()
	per := func(d time.Duration, n int) float64 { return float64(n) / d.Seconds() / 1e6 }
	for b.Loop() {
		ours := per(once(b, 3, func() { redacted(r, in) }), len(in))
		sum := per(once(b, 3, func() { sha256.Sum256(in) }), len(in))
		worst, name := ours, ""
		for what, h := range hostile() {
			if s := per(once(b, 2, func() { redacted(r, h) }), len(h)); s < worst {
				worst, name = s, what
			}
		}
		b.ReportMetric(ours, "MB/s")
		b.ReportMetric(ours/sum, "of-sha256")
		b.ReportMetric(worst/ours, "worst-of-normal")
		b.Logf("worst hostile input: %s", name)
		if tool := os.Getenv("HANDRAIL_GITLEAKS"); tool != "" {
			theirs, found := timeGitleaks(b, tool, in)
			b.ReportMetric(ours/theirs, "of-gitleaks")
			b.Logf("gitleaks: %.1f MB/s, %d findings", theirs, found)
		}
	}
}

func timeGitleaks(b *testing.B, tool string, in []byte) (float64, int) {
	cmd := exec.CommandContext(b.Context(), tool)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var ns, size, found int
	if _, err := fmt.Sscan(string(out), &ns, &size, &found); err != nil || size != len(in) {
		b.Fatalf("%q: %v", out, err)
	}
	return float64(size) / float64(ns) * 1e3, found
}
