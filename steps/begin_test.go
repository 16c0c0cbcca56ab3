package steps_test

import (
	"errors"
	"testing"

	"handrail/steps"
)

func TestBeginIsAskedUntilItBegan(t *testing.T) {
	t.Parallel()
	if err := steps.Begin(t.Context()); err != nil {
		t.Errorf("Begin() = %v where nothing was said, want nil", err)
	}
	late := errors.New("too late")
	answers := []error{late, nil, late}
	asked := 0
	ctx := steps.BeginWhile(t.Context(), func() error { asked++; return answers[asked-1] })
	for i, want := range []error{late, nil, nil, nil} { // what has begun goes on
		if err := steps.Begin(ctx); !errors.Is(err, want) {
			t.Errorf("Begin() = %v the %dth time, want %v", err, i+1, want)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times, want 2", asked)
	}
}
