package inject

import (
	"context"
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
