package inject

import (
	"context"
	"os"

	"handrail/drills/lab"
	"handrail/drills/stage"
)

// alter is the verb mirror.alter.
type alter struct {
	Content string `key:"content,required" oneof:"other right"`
}

// apply puts a package of the same name and another content into the mirror, as
// a release that is built anew has, or one that means harm. A program may carry
// what it likes behind its end.
func (a alter) apply(ctx context.Context, st *stage.Stage) error {
	program, err := st.Provider(ctx)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(st.Mirror()); err != nil {
		return err
	}
	if a.Content == "right" {
		st.Say("the mirror has the right provider again")
		_, err := lab.Mirror(st.Mirror(), program)
		return err
	}
	st.Say("the mirror has another provider under the same name")
	raw, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	other := st.Home + "/other-provider"
	if err := os.WriteFile(other, append(raw, "built again\n"...), 0o700); err != nil {
		return err
	}
	_, err = lab.Mirror(st.Mirror(), other)
	return err
}
