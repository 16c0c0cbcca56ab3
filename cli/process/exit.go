package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"handrail/evidence"
	"handrail/evidence/visible"
	"handrail/runbooks"
	"handrail/triage"
)

// The exit codes. Where several apply, 1, 6 and 7 win over the others.
const (
	ExitDone     = 0 // done; for an incident: recovered and closed
	ExitFault    = 1 // a fault of handrail or of the machine it runs on
	ExitUsage    = 2 // wrong usage, or a document that is not valid
	ExitOpen     = 3 // the incident ended open: not recovered, or interrupted
	ExitRefused  = 4 // the last gate that was wanted was refused
	ExitRed      = 5 // the verification of the recovery failed
	ExitAborted  = 6 // the operator closed the incident as aborted
	ExitTampered = 7 // a bundle failed verification, or holds a secret
)

const ExitCodes = `handrail ends with one of these codes:

  0  done; for an incident: recovered and closed
  1  a fault of handrail or of the machine it runs on
  2  wrong usage, or a document (runbook, answers, drill) that is not valid
  3  the incident ended open: not recovered, or handrail was interrupted
  4  the last gate that was wanted was refused
  5  the verification of the recovery failed; for a drill: not won
  6  the operator closed the incident as aborted
  7  a bundle failed verification, or bundle leaks found a secret in one

Where several apply, 1, 6 and 7 win over the others. A signal (Ctrl-C, SIGTERM,
SIGHUP) aborts nothing: it cancels probes, leaves a running act to its own process
and the incident open, and ends with 3. Code 6 means that the incident was closed as aborted.
`

// Problem is an error with the exit code it leads to and, on a line of its own,
// the next safe move.
type Problem struct {
	Code int
	Err  error // nil when everything was said already
	Next string
}

func (p *Problem) Error() string {
	if p.Err == nil {
		return fmt.Sprintf("exit code %d", p.Code)
	}
	return p.Err.Error()
}

func (p *Problem) Unwrap() error { return p.Err }

// Usage is the error of a command that was called wrongly.
func Usage(next, format string, args ...any) error {
	return &Problem{Code: ExitUsage, Err: fmt.Errorf(format, args...), Next: next}
}

// Hint adds the next safe move to err and leaves its exit code as it is.
func Hint(err error, next string) error {
	if err == nil {
		return nil
	}
	return &Problem{Code: ExitCode(err), Err: err, Next: next}
}

// Ended is the end of a command that has told everything already.
func Ended(code int) error {
	if code == ExitDone {
		return nil
	}
	return &Problem{Code: code}
}

// ExitCode is the one place where errors become exit codes.
func ExitCode(err error) int {
	var (
		p   *Problem
		bad runbooks.Problems
		no  *triage.Refused
	)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &p):
		return p.Code
	case errors.As(err, &bad):
		return ExitUsage
	case errors.Is(err, evidence.ErrCorrupt):
		return ExitTampered
	case errors.As(err, &no):
		return ExitRefused
	case errors.Is(err, context.Canceled):
		return ExitOpen
	}
	return ExitFault
}

// Tell prints err and its hint for a person.
func Tell(w io.Writer, err error) {
	var p *Problem
	if errors.As(err, &p) && p.Err == nil || leftEarly(err) {
		return
	}
	for i, line := range strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") {
		if i == 0 {
			line = "handrail: " + line
		}
		fmt.Fprintln(w, Safe(line))
	}
	if p != nil && p.Next != "" {
		fmt.Fprintln(w, "  next: "+Safe(p.Next))
	}
}

// leftEarly reports whether the reader of standard output went away, as head does once it has
// its lines: it knows.
func leftEarly(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && at.Path == os.Stdout.Name() && errors.Is(at.Err, syscall.EPIPE)
}

// Safe makes outside text harmless for a terminal, a log and a pipe.
func Safe(s string) string { return string(visible.Line(s)) }
