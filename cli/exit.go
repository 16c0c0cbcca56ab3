package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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

const exitCodes = `handrail ends with one of these codes:

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
and the incident open, and ends with 3. Code 6 means that somebody closed it as aborted.
`

// problem is an error with the exit code it leads to and, on a line of its own,
// the next safe move.
type problem struct {
	code int
	err  error // nil when everything was said already
	next string
}

func (p *problem) Error() string {
	if p.err == nil {
		return fmt.Sprintf("exit code %d", p.code)
	}
	return p.err.Error()
}

func (p *problem) Unwrap() error { return p.err }

// usage is the error of a command that was called wrongly.
func usage(next, format string, args ...any) error {
	return &problem{code: ExitUsage, err: fmt.Errorf(format, args...), next: next}
}

// hint adds the next safe move to err and leaves its exit code as it is.
func hint(err error, next string) error {
	if err == nil {
		return nil
	}
	return &problem{code: exitCode(err), err: err, next: next}
}

// ended is the end of a command that has told everything already.
func ended(code int) error {
	if code == ExitDone {
		return nil
	}
	return &problem{code: code}
}

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var (
		p   *problem
		bad runbooks.Problems
		no  *triage.Refused
	)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &p):
		return p.code
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

// tell prints err and its hint for a person.
func tell(w io.Writer, err error) {
	var p *problem
	if errors.As(err, &p) && p.err == nil {
		return
	}
	for i, line := range strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") {
		if i == 0 {
			line = "handrail: " + line
		}
		fmt.Fprintln(w, safe(line))
	}
	if p != nil && p.next != "" {
		fmt.Fprintln(w, "  next: "+safe(p.next))
	}
}

// safe makes outside text harmless for a terminal, a log and a pipe.
func safe(s string) string { return string(visible.Line(s)) }
