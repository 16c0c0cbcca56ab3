package drills

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"
)

// hands reads what is done outside handrail at a manual step, when a script walks:
// it has no hands. A person does it with their own, and the drill does nothing.
func (p parser) hands(n *yaml.Node) map[string][]step {
	out := map[string][]step{}
	p.each(n, "hands", func(key, value *yaml.Node) {
		if !nameForm.MatchString(key.Value) {
			p.Fail(key, "", "step %q must match %s", key.Value, nameForm)
		}
		out[key.Value] = p.steps(value)
	})
	return out
}

// paste is the verb module.paste: a text that a step of the incident gives, as the
// operator pastes it into the module.
type paste struct{ step, fact, file string }

func readPaste(p parser, n *yaml.Node) action {
	f := p.Fields(n, "module.paste", "step", "fact", "file")
	return paste{
		p.form(p.need(n, f, "step"), "step", nameForm), p.form(p.need(n, f, "fact"), "fact", nameForm),
		p.form(p.need(n, f, "file"), "file", fileForm),
	}
}

func (a paste) apply(ctx context.Context, st *stage) error {
	text, err := st.told(a.step, a.fact)
	if err == nil && text == "" {
		err = fmt.Errorf("%s of %s is empty: there is nothing to paste", a.fact, a.step)
	}
	if err != nil {
		return err
	}
	st.say("pasting %s of %s into %s", a.fact, a.step, a.file)
	return os.WriteFile(filepath.Join(st.rec.Dir, a.file), []byte(text), 0o600)
}
