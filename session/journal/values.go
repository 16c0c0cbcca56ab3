// Package journal reads the entries of a bundle as the loop understands them.
//
// [Fold] applies one stored entry to a state and [LoadState] a whole bundle,
// within the bounds that hold for a stranger's. [Stored] and [Loaded] turn values
// of steps into the form of the journal and back. [OpenArtifact] opens what an
// entry keeps beside itself. Nothing here writes, asks a clock or keeps a state.
package journal

import (
	"encoding/json"
	"strings"

	"handrail/steps"
	"handrail/triage"
)

// Bare is the id of a step without its runbook.
func Bare(step string) string {
	if i := strings.IndexByte(step, '/'); i >= 0 {
		return step[i+1:]
	}
	return step
}

// BookOf is the runbook of a step.
func BookOf(step string) string {
	if i := strings.IndexByte(step, '/'); i >= 0 {
		return step[:i]
	}
	return ""
}

// Stored turns a value into the form of the journal.
func Stored(v steps.Value) triage.Value {
	var out triage.Value
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return triage.Value{T: string(v.Type()), Unknown: "could not be written: " + err.Error()}
	}
	return out
}

// Loaded turns a value of the journal back.
func Loaded(v triage.Value) steps.Value {
	var out steps.Value
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return steps.Unknown(steps.Type(v.T), "could not be read back: "+err.Error())
	}
	return out
}

// StoredAll is Stored for each value, nil for none.
func StoredAll(m map[string]steps.Value) map[string]triage.Value {
	if m == nil {
		return nil
	}
	out := make(map[string]triage.Value, len(m))
	for k, v := range m {
		out[k] = Stored(v)
	}
	return out
}

// StoredLines turns lines of a preview into the form of the journal.
func StoredLines(kvs []steps.KV) []triage.KV {
	out := make([]triage.KV, len(kvs))
	for i, kv := range kvs {
		out[i] = triage.KV{Key: kv.Key, Value: kv.Value}
	}
	return out
}

// LoadedLines turns lines of the journal back.
func LoadedLines(kvs []triage.KV) []steps.KV {
	out := make([]steps.KV, len(kvs))
	for i, kv := range kvs {
		out[i] = steps.KV{Key: kv.Key, Value: kv.Value}
	}
	return out
}
