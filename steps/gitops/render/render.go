package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"handrail/steps/confined"
)

// Word is the only argument of handrail as the process that renders.
const Word = "__render"

// Render makes the objects of files in a process of its own, that of self. A
// [NotHereError] says that a controller may make what cannot be made here; any other error
// that the manifests are wrong, or that the process did not come to its end.
func Render(ctx context.Context, self string, o Order, files map[string][]byte) (Answer, error) {
	if self == "" {
		return Answer{}, notHere("handrail does not know its own program, which renders in a process of its own")
	}
	var in bytes.Buffer
	if err := pack(&in, o, files); err != nil {
		return Answer{}, fmt.Errorf("packing the files: %w", err)
	}
	out, err := confined.Task{Word: Word, Doing: "rendering", Answer: mostAnswer}.Run(ctx, self, &in)
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if err := json.Unmarshal(out, &a); err != nil {
		return Answer{}, fmt.Errorf("reading what was rendered: %w", err)
	}
	switch {
	case a.NotHere != "":
		return Answer{}, &NotHereError{Why: a.NotHere}
	case a.Error != "":
		return Answer{}, errors.New(a.Error)
	}
	return a, nil
}
