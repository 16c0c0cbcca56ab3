package fault

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestIntoAndTo(t *testing.T) {
	t.Parallel()
	into := func(v any) (err error) {
		defer Into(&err)
		if v != nil {
			panic(v)
		}
		return io.EOF
	}
	to := func(v any) (err error) {
		func() {
			defer To(func(e error) { err = e })
			if v != nil {
				panic(v)
			}
			err = io.EOF
		}()
		return err
	}
	first := into("first")
	for name, f := range map[string]func(any) error{"Into": into, "To": to} {
		if err := f(nil); !errors.Is(err, io.EOF) {
			t.Errorf("%s without a panic = %v", name, err)
		}
		err := f("a bug")
		var e *Error
		if !errors.As(err, &e) || err.Error() != "an internal error in handrail: a bug" || !strings.Contains(string(e.Stack), "TestIntoAndTo") {
			t.Errorf("%s = %v", name, err)
		}
		if err := f(io.ErrClosedPipe); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s of an error = %v", name, err)
		}
		if err := f(first); !errors.Is(err, first) || err.Error() != first.Error() {
			t.Errorf("%s of a fault that was passed on = %v", name, err)
		}
	}
}
