package inject

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"handrail/drills/stage"
)

// placeFile is the verb file.place: a file as it lies beside the person who walks the
// drill, whose path is drill.NAME.
type placeFile struct {
	As   string `key:"as,required" as:"name"`
	File []byte `key:"file,required" as:"file"`
}

func placed(st *stage.Stage, name string) string {
	return filepath.Join(st.Home, "files", name+".yaml")
}

func (a placeFile) apply(_ context.Context, st *stage.Stage) error {
	st.Say("a file %s", a.As)
	if err := os.MkdirAll(filepath.Dir(placed(st, a.As)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(placed(st, a.As), a.File, 0o600)
}

// paste is the verb module.paste: a text that a step of the incident gives, as the
// operator pastes it into the module.
type paste struct {
	Step string `key:"step,required" as:"name"`
	Fact string `key:"fact,required" as:"name"`
	File string `key:"file,required" as:"file name"`
}

func (a paste) apply(ctx context.Context, st *stage.Stage) error {
	text, err := st.Fact(a.Step, a.Fact)
	if err == nil && text == "" {
		err = fmt.Errorf("%s of %s is empty: there is nothing to paste", a.Fact, a.Step)
	}
	if err != nil {
		return err
	}
	st.Say("pasting %s of %s into %s", a.Fact, a.Step, a.File)
	return os.WriteFile(filepath.Join(st.Rec.Dir, a.File), []byte(text), 0o600)
}
