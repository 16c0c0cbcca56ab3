package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"handrail/steps/confined"
)

// Word is the only argument of handrail as the process that judges.
const Word = "__replay"

// MostFiles bounds the policies of one commit, in bytes.
const MostFiles = 16 << 20

const mostAnswer = 16 << 20

// Order is what is to be judged, and by what.
type Order struct {
	Query string            `json:"query"` // data.PACKAGE.RULE
	All   bool              `json:"all"`   // every rule of that package which conftest takes for a failure, whatever RULE is
	V0    bool              `json:"v0"`    // Rego as before OPA 1.0
	Now   time.Time         `json:"now"`
	Input json.RawMessage   `json:"input"`
	Files map[string][]byte `json:"files"` // by their names below the directory of the policies
}

// Answer is what the policies come to.
type Answer struct {
	Output    json.RawMessage `json:"output,omitempty"`    // as `opa eval --format json` prints it
	Undefined bool            `json:"undefined,omitempty"` // the rule is there and has no value for this input
	NoRule    bool            `json:"no_rule,omitempty"`   // no module has the rule
	Modules   int             `json:"modules"`
	Ignored   []string        `json:"ignored,omitempty"`  // files that were not loaded
	Builtins  []string        `json:"builtins,omitempty"` // errors of functions, which made an expression undefined
	Error     string          `json:"error,omitempty"`    // the policies do not compile, or do not end
}

// IsQuery matches the name of a rule.
var IsQuery = regexp.MustCompile(`^data(?:\.[A-Za-z_][A-Za-z0-9_]*){2,}$`)

// Judge answers an order in a process of self. An error says that there is no answer; one of the policies is in the answer.
func Judge(ctx context.Context, self string, o Order) (Answer, error) {
	if self == "" {
		return Answer{}, errors.New("handrail does not know its own program, which judges in a process of its own")
	}
	if !IsQuery.MatchString(o.Query) {
		return Answer{}, fmt.Errorf("the query %q is not the name of a rule: give data.PACKAGE.RULE", o.Query)
	}
	in, err := json.Marshal(o)
	if err != nil {
		return Answer{}, fmt.Errorf("packing the input: %w", err)
	}
	out, err := confined.Task{Word: Word, Doing: "judging the input", Answer: mostAnswer}.Run(ctx, self, bytes.NewReader(in))
	if err != nil {
		return Answer{}, err
	}
	var a Answer
	if err := json.Unmarshal(out, &a); err != nil {
		return Answer{}, fmt.Errorf("reading what the policies came to: %w", err)
	}
	return a, nil
}
