package runbooks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errEmptyProof = errors.New("an empty proof proves nothing; paste the URL, id or output that shows it")

// ErrParam is the kind of every error of Bind.
var ErrParam = errors.New("parameter")

// ErrRequired is an ErrParam of a parameter that must be given and is not.
var ErrRequired = fmt.Errorf("%w", ErrParam)

// OnlyRequired reports whether nothing but what must be given is missing.
func OnlyRequired(err error) bool {
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		return false
	}
	return !slices.ContainsFunc(all.Unwrap(), func(e error) bool { return !errors.Is(e, ErrRequired) })
}

// ErrUntrusted is the kind of error of a runbook that is there and that the operator did
// not trust yet.
var ErrUntrusted = errors.New("not trusted")

// ProofError says that a proof is not what the step asks for.
type ProofError struct{ Step, Proof, Pattern string }

func (e *ProofError) Error() string {
	return fmt.Sprintf("proof %q of step %s does not look like %s", e.Proof, e.Step, e.Pattern)
}

// HollowError says that words only agree, where a step asks for evidence.
type HollowError struct{ Words, Evidence string }

func (e *HollowError) Error() string {
	return fmt.Sprintf("%q is no evidence; the step asks for: %s", e.Words, e.Evidence)
}

// MissingError says that a step cannot start, since a parameter of it depends on
// what is not known.
type MissingError struct {
	Step    string
	Param   string
	Missing []string // facts, answers or params, by their names in expressions
	Why     string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("step %s cannot start: its parameter %s needs %s: %s",
		e.Step, e.Param, strings.Join(e.Missing, ", "), e.Why)
}

// ArgumentError says that a parameter of a step has a value that its kind does
// not take. Ungiven are the parameters of the runbook that would give it one.
type ArgumentError struct {
	Step, Param, Value, Why string
	Ungiven                 []string
}

func (e *ArgumentError) Error() string {
	if len(e.Ungiven) > 0 {
		return fmt.Sprintf("step %s cannot start: the runbook's parameter %s is not given; give it with P, or with -p %s=VALUE",
			e.Step, strings.Join(e.Ungiven, " or "), e.Ungiven[0])
	}
	return fmt.Sprintf("step %s cannot start: its parameter %s would be %q, which %s", e.Step, e.Param, e.Value, e.Why)
}

func article(key string) string {
	if strings.ContainsRune("aeiou", rune(key[0])) && key != "uses" {
		return "an " + key
	}
	return "a " + key
}
