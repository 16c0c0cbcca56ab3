package drills

import (
	"context"
	"os"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
)

// alter is the verb mirror.alter.
type alter struct{ back bool }

func readAlter(p parser, n *yaml.Node) action {
	f := p.Fields(n, "mirror.alter", "content")
	return alter{p.OneOf(p.need(n, f, "content"), "content", []string{"other", "right"}) == "right"}
}

// apply puts a package of the same name and another content into the mirror, as
// somebody does who builds a release anew, or who means harm. A program may carry
// what it likes behind its end.
func (a alter) apply(ctx context.Context, st *stage) error {
	program, err := st.provider(ctx)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(st.mirror()); err != nil {
		return err
	}
	if a.back {
		st.say("the mirror has the right provider again")
		_, err := lab.Mirror(st.mirror(), program)
		return err
	}
	st.say("the mirror has another provider under the same name")
	raw, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	other := st.home + "/other-provider"
	if err := os.WriteFile(other, append(raw, "built again\n"...), 0o700); err != nil {
		return err
	}
	_, err = lab.Mirror(st.mirror(), other)
	return err
}
