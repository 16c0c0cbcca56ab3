package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"handrail/steps/confined"
	"handrail/steps/fault"
)

// Child is the process that renders, and returns its exit code. It reads all of stdin, gives
// up what it does not need, and then looks at what it read.
func Child(stdin io.Reader, stdout io.Writer) int {
	var a Answer
	o, files, err := unpack(stdin)
	if err == nil {
		if err = confined.Confine(); err == nil {
			a, err = rendered(o, files)
		}
	}
	var not *NotHereError
	switch {
	case errors.As(err, &not):
		a = Answer{NotHere: not.Why}
	case err != nil:
		a = Answer{Error: err.Error()}
	}
	if err := json.NewEncoder(stdout).Encode(a); err != nil {
		return 1
	}
	return 0
}

// rendered does what the order says. The library panics on some inputs.
func rendered(o Order, files map[string][]byte) (a Answer, err error) {
	defer fault.Into(&err)
	t := tree(files)
	if o.Packed {
		t = t.packed(o.Ignore)
	}
	if o.Tool == "" {
		if o.Tool, err = t.tool(o.Path); err != nil {
			return a, err
		}
	}
	a.Tool = o.Tool
	switch o.Tool {
	case Helm:
		a, err = t.chart(o)
		a.Tool = Helm
	case Kustomize:
		a.made, err = t.kustomize(o)
	case Generated:
		a.made, err = t.generated(o)
	case Directory:
		a.made, err = t.directory(o)
	default:
		err = notHere("%q is not rendered here", o.Tool)
	}
	if err != nil {
		return a, err
	}
	for _, object := range a.made {
		raw, err := json.Marshal(object)
		if err != nil {
			return a, fmt.Errorf("what is rendered is no JSON: %w", err)
		}
		a.Objects = append(a.Objects, raw)
	}
	return a, nil
}
