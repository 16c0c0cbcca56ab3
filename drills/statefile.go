package drills

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"gopkg.in/yaml.v3"
)

// keepState is the verb state.copy: a copy of the state as the pipeline keeps one
// before it applies, written when it was written.
type keepState struct {
	to  string
	age time.Duration
}

func readKeepState(p parser, n *yaml.Node) action {
	f := p.Fields(n, "state.copy", "to", "age")
	return keepState{p.form(p.need(n, f, "to"), "to", fileForm), p.span(f["age"], "age")}
}

func (a keepState) apply(ctx context.Context, st *stage) error {
	raw, err := st.rawState(ctx)
	if err != nil {
		return err
	}
	name := filepath.Join(st.rec.Dir, a.to)
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		return err
	}
	if a.age == 0 {
		return nil
	}
	then := st.now().Add(-a.age)
	return os.Chtimes(name, then, then)
}

// tear is the verb state.tear: the end of the state in the backend is missing, as
// after a write that was cut off.
type tear struct{ keep int }

func readTear(p parser, n *yaml.Node) action {
	f := p.Fields(n, "state.tear", "keep")
	return tear{p.Number(p.need(n, f, "keep"), "keep", 1, 99)}
}

func (a tear) apply(ctx context.Context, st *stage) error {
	raw, err := st.rawState(ctx)
	if err != nil {
		return err
	}
	st.say("the state is torn: %d percent of it are left", a.keep)
	return st.putState(ctx, raw[:len(raw)*a.keep/100])
}

// renumber is the verb state.renumber: the state has a serial that another content
// had before.
type renumber struct{ by int }

func readRenumber(p parser, n *yaml.Node) action {
	f := p.Fields(n, "state.renumber", "by")
	return renumber{p.Number(p.need(n, f, "by"), "by", -9, 9)}
}

func (a renumber) apply(ctx context.Context, st *stage) error {
	raw, err := st.rawState(ctx)
	if err != nil {
		return err
	}
	var doc map[string]any
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	if err := in.Decode(&doc); err != nil {
		return fmt.Errorf("state of the drill: %w", err)
	}
	number, ok := doc["serial"].(json.Number)
	if !ok {
		return errors.New("the state of the drill has no serial")
	}
	serial, err := number.Int64()
	if err != nil {
		return fmt.Errorf("state of the drill: %w", err)
	}
	doc["serial"] = serial + int64(a.by)
	if raw, err = json.Marshal(doc); err != nil {
		return err
	}
	st.say("the state is written again as serial %d", doc["serial"])
	return st.putState(ctx, raw)
}

// putState writes the state past the tool and its lock.
func (st *stage) putState(ctx context.Context, raw []byte) error {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(raw); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return st.robot.patch(ctx, st.statePath(), map[string]any{"data": map[string][]byte{"tfstate": zipped.Bytes()}})
}

func (st *stage) statePath() string {
	return "/api/v1/namespaces/" + st.rec.Namespace.Name + "/secrets/tfstate-default-" + st.rec.Suffix
}

// rawState is the state as the backend has it, unpacked.
func (st *stage) rawState(ctx context.Context) ([]byte, error) {
	var secret struct{ Data struct{ TFState []byte } }
	if err := st.robot.get(ctx, st.statePath(), &secret); err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(secret.Data.TFState))
	if err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(unzip, maxAnswer))
	if err := errors.Join(err, unzip.Close()); err != nil {
		return nil, fmt.Errorf("state of the drill: %w", err)
	}
	return raw, nil
}
