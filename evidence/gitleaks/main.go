// Command gitleaks times the gitleaks library over what it reads, so that a benchmark of the redactor has a peer in the same
// run. It is a module of its own: nothing of gitleaks is in handrail. Build it with -tags gore2regex.
//
// It prints one line: nanoseconds of processor time for one pass, bytes, findings.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/zricethezav/gitleaks/v8/detect"
)

// piece is what is given to the library at once, cut at lines. It is fastest at a few KiB.
const piece = 4 << 10

func main() {
	in, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = run(in)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gitleaks:", err)
		os.Exit(1)
	}
}

func run(in []byte) error {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return err
	}
	d.IgnoreGitleaksAllow = true
	pass(d, in[:min(len(in), 256<<10)]) // its patterns are compiled when they are first used
	start, err := processorTime()
	if err != nil {
		return err
	}
	found := pass(d, in)
	end, err := processorTime()
	if err != nil {
		return err
	}
	_, err = fmt.Println(end-start, len(in), found)
	return err
}

// processorTime is what this process has used, in nanoseconds.
func processorTime() (int64, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano(), err
}

func pass(d *detect.Detector, in []byte) int {
	found := 0
	for len(in) > 0 {
		n := min(len(in), piece)
		if nl := bytes.LastIndexByte(in[:n], '\n'); nl >= 0 {
			n = nl + 1
		}
		found += len(d.DetectBytes(in[:n]))
		in = in[n:]
	}
	return found
}
