package inject

import (
	"context"
	"os"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/drills/stage"
)

// alter is the verb mirror.alter.
type alter struct{ back bool }

func readAlter(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "mirror.alter", "content")
	return alter{p.OneOf(p.Need(n, f, "content"), "content", []string{"other", "right"}) == "right"}
}

// apply puts a package of the same name and another content into the mirror, as
// somebody does who builds a release anew, or who means harm. A program may carry
// what it likes behind its end.
func (a alter) apply(ctx context.Context, st *stage.Stage) error {
	program, err := st.Provider(ctx)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(st.Mirror()); err != nil {
		return err
	}
	if a.back {
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
