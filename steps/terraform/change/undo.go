package change

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"handrail/steps"
)

// putBack is what a change of a state is undone from: the bytes as they stand,
// but for a serial two above theirs. The change takes the next one, so that
// `state push` takes the copy unless it was written after, and refuses it otherwise.
func (t site) putBack(env steps.Env) *steps.Prior {
	if t.unsound != nil || t.now.Doc == nil {
		return nil
	}
	raw, err := reserial(t.now.Raw, t.now.Doc.Serial+2)
	if err != nil {
		return nil
	}
	return &steps.Prior{Media: steps.MediaState, Raw: raw, Back: t.said(env, "state", "push", "-")}
}

const undoWrite = "Put the state back as it was; `state push` takes it unless it was written since, and refuses it otherwise. It needs the credentials and the variables of the backend, as every run here. The copy is the stored state with its serial raised by two."

// reserial gives a state another serial and leaves every other byte as it is.
func reserial(raw []byte, serial int64) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("this is no state: it is no JSON object")
	}
	from, to := -1, -1
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if key != "serial" {
			continue
		}
		if from >= 0 {
			return nil, errors.New("the state has two serials")
		}
		to = int(dec.InputOffset())
		from = to - len(value)
		if _, err := strconv.ParseUint(string(value), 10, 63); err != nil {
			return nil, fmt.Errorf("the serial of the state is %q", steps.Clip(string(value), 60))
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if dec.More() || from < 0 {
		return nil, errors.New("the state has no serial, or something follows it")
	}
	out := make([]byte, 0, len(raw)+20)
	out = append(out, raw[:from]...)
	out = strconv.AppendInt(out, serial, 10)
	return append(out, raw[to:]...), nil
}
