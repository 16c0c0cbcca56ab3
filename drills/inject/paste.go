package inject

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"handrail/drills/stage"
)

// paste is the verb module.paste: a text that a step of the incident gives, as the
// operator pastes it into the module.
type paste struct{ step, fact, file string }

func readPaste(p Parser, n *yaml.Node) action {
	f := p.Fields(n, "module.paste", "step", "fact", "file")
	return paste{
		p.Form(p.Need(n, f, "step"), "step", NameForm), p.Form(p.Need(n, f, "fact"), "fact", NameForm),
		p.Form(p.Need(n, f, "file"), "file", FileForm),
	}
}

func (a paste) apply(ctx context.Context, st *stage.Stage) error {
	text, err := st.Fact(a.step, a.fact)
	if err == nil && text == "" {
		err = fmt.Errorf("%s of %s is empty: there is nothing to paste", a.fact, a.step)
	}
	if err != nil {
		return err
	}
	st.Say("pasting %s of %s into %s", a.fact, a.step, a.file)
	return os.WriteFile(filepath.Join(st.Rec.Dir, a.file), []byte(text), 0o600)
}
