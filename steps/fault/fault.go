// Package fault turns a panic into an error of the operation that it ended.
//
// A panic in an unwatched goroutine ends the whole program: the
// runtime prints its value, which may hold a secret, where nothing redacts it,
// leaves the terminal as it was, and cuts off an act. So each goroutine of ours
// defers [To] or [Into] first of all, and a test refuses one that does not.
package fault

import (
	"fmt"
	"runtime/debug"
)

// Error is a panic that was caught. Its text holds what the panic said, which
// must be redacted like any other text from outside.
type Error struct {
	Value any
	Stack []byte // names of functions and lines
}

func (e *Error) Error() string { return fmt.Sprintf("an internal error in handrail: %v", e.Value) }

// Unwrap returns the value where it is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Into is deferred. A panic of the function that defers it becomes *err.
func Into(err *error) {
	if v := recover(); v != nil {
		*err = of(v)
	}
}

// To is deferred. A panic of the function that defers it is handed to tell,
// which must not panic.
func To(tell func(error)) {
	if v := recover(); v != nil {
		tell(of(v))
	}
}

// of keeps the first account of a panic that was passed on from another
// goroutine.
func of(v any) error {
	if e, ok := v.(*Error); ok {
		return e
	}
	return &Error{Value: v, Stack: debug.Stack()}
}
