package inject

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"handrail/drills/stage"
)

// keepState is the verb state.copy: a copy of the state as the pipeline keeps one
// before it applies, written when it was written.
type keepState struct {
	To  string        `key:"to,required" as:"file name"`
	Age time.Duration `key:"age"`
}

func (a keepState) apply(ctx context.Context, st *stage.Stage) error {
	raw, err := st.RawState(ctx)
	if err != nil {
		return err
	}
	name := filepath.Join(st.Rec.Dir, a.To)
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		return err
	}
	if a.Age == 0 {
		return nil
	}
	then := st.Now().Add(-a.Age)
	return os.Chtimes(name, then, then)
}

// tear is the verb state.tear: the end of the state in the backend is missing, as
// after a write that was cut off.
type tear struct {
	Keep int `key:"keep,required" range:"1 99"`
}

func (a tear) apply(ctx context.Context, st *stage.Stage) error {
	raw, err := st.RawState(ctx)
	if err != nil {
		return err
	}
	st.Say("the state is torn: %d percent of it are left", a.Keep)
	return st.PutState(ctx, raw[:len(raw)*a.Keep/100])
}

// renumber is the verb state.renumber: the state has a serial that another content
// had before.
type renumber struct {
	By int `key:"by,required" range:"-9 9"`
}

func (a renumber) apply(ctx context.Context, st *stage.Stage) error {
	return writeAgain(ctx, st, a.By, func(map[string]any) error { return nil })
}

// cross is the verb state.cross: two resources of the root module have each other's
// objects, as after a move by hand that mixed them up.
type cross struct {
	One   string `key:"one,required"`
	Other string `key:"other,required"`
}

func (a cross) apply(ctx context.Context, st *stage.Stage) error {
	return writeAgain(ctx, st, 1, func(doc map[string]any) error {
		found := map[string]map[string]any{}
		list, _ := doc["resources"].([]any)
		for _, one := range list {
			r, _ := one.(map[string]any)
			found[fmt.Sprintf("%v.%v", r["type"], r["name"])] = r
		}
		one, other := found[a.One], found[a.Other]
		if one == nil || other == nil {
			return fmt.Errorf("the state of the drill does not have both of %s and %s", a.One, a.Other)
		}
		one["instances"], other["instances"] = other["instances"], one["instances"]
		return nil
	})
}

// writeAgain writes the state of the drill with another content, so many serials on.
func writeAgain(ctx context.Context, st *stage.Stage, on int, change func(doc map[string]any) error) error {
	raw, err := st.RawState(ctx)
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
	if err := change(doc); err != nil {
		return err
	}
	doc["serial"] = serial + int64(on)
	if raw, err = json.Marshal(doc); err != nil {
		return err
	}
	st.Say("the state is written again as serial %d", doc["serial"])
	return st.PutState(ctx, raw)
}
