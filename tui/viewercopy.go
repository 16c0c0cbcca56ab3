package tui

import (
	"context"
	"errors"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/session"
	"handrail/tui/ink"
	"handrail/tui/longtext"
)

// copyMost bounds what is handed to a clipboard: terminals drop what is longer.
const copyMost = 64 << 10

type copiedMsg struct {
	id   int
	body string
	line bool // not a page
	cut  bool
	err  error
}

// copyText hands what is on the screen, or a line of it, to the clipboard: whole
// lines, as they are shown, so that no control character gets into a shell.
func (e *evidenceScreen) copyText(env *Env, line bool) tea.Cmd {
	v := e.view
	rows := v.page.rows
	if v.file == nil || len(rows) == 0 {
		env.warn("", "There is nothing to copy yet.")
		return nil
	}
	from, to := rows[0].from, rows[len(rows)-1].from
	if line {
		for _, r := range rows {
			if r.hit {
				from = r.from
			}
		}
		to = from
	}
	file, id := v.file, v.id
	return env.crew.start(func(context.Context) tea.Msg {
		msg := copiedMsg{id: id, line: line}
		msg.body, msg.cut, msg.err = copyOf(file, from, to)
		return msg
	})
}

// copyOf is the text from one piece to another, up to what a clipboard takes.
func copyOf(file *longtext.File, from, to int64) (body string, cut bool, err error) {
	var b strings.Builder
	for off := from; off <= to && off < file.Size(); {
		ps, err := file.Forward(off, 1)
		if err != nil {
			return "", false, err
		}
		t := string(ink.Block(string(ps[0].Text)))
		if ps[0].Last {
			t += "\n"
		}
		if room := copyMost - b.Len(); len(t) > room {
			return b.String() + strings.ToValidUTF8(t[:room], ""), true, nil
		}
		b.WriteString(t)
		off = ps[0].Next
	}
	return b.String(), false, nil
}

func (e *evidenceScreen) copied(env *Env, msg copiedMsg) tea.Cmd {
	if e.viewing(env, msg.id) == nil {
		return nil
	}
	if msg.err != nil {
		env.warn("warning", ink.Say("Nothing was copied: %s", msg.err.Error()))
		return nil
	}
	what := ink.Text("what is on the screen")
	if msg.line {
		what = "the line"
	}
	t := ink.Say("✓ Handed to the clipboard: %s, %s.", what, ink.Amount(int64(len(msg.body))))
	if msg.cut {
		t = ink.Say("Handed to the clipboard: the first %s of %s; a clipboard gets no more. %s saves all of it.", ink.Amount(int64(len(msg.body))), what, env.keys.Save.Help().Key)
	}
	env.warn("", t)
	return tea.SetClipboard(msg.body)
}

type savedMsg struct {
	path string
	size int64
	err  error
}

// saveText asks where to, and saves the artifact as it is stored. It opens it once
// more: the person may look at something else meanwhile.
func (e *evidenceScreen) saveText(env *Env) {
	v, save := e.view, env.c.Save
	if save == nil || v.file == nil {
		env.warn("", "This cannot be saved here.")
		return
	}
	source := v.source
	title, intro, hint := ink.Say("Save %s", ink.Amount(v.file.Size())), ink.Text("A copy outside of the bundle, as it is stored: redacted. No file is overwritten."), ink.Text("a name, as lock.json or ~/lock.json")
	switch {
	case v.doc != nil:
		title, intro, hint = ink.Say("Save the report, %s", ink.Amount(int64(len(v.doc.src)))), "The Markdown, as it would be exported now. No file is overwritten.", "a name, as report.md or ~/report.md"
	case v.live != nil:
		printed := v.printed // what was printed by now
		source = func() (session.Artifact, error) { return printed, nil }
	}
	env.form = &form{title: title, intro: []ink.Text{intro},
		fields: []field{named("name", "file", hint, true)},
		submit: func(val map[string]string) tea.Cmd {
			env.warn("", ink.Say("Saving to %s …", val["name"]))
			return env.crew.start(func(ctx context.Context) tea.Msg {
				art, err := source()
				if err != nil {
					return savedMsg{err: err}
				}
				path, err := save(ctx, val["name"], io.NewSectionReader(art, 0, art.Size()))
				return savedMsg{path, art.Size(), errors.Join(err, art.Close())}
			})
		}}
}

func (e *evidenceScreen) saved(env *Env, msg savedMsg) {
	if msg.err != nil {
		env.warn("warning", ink.Say("Nothing was saved: %s", msg.err.Error()))
		return
	}
	env.warn("", ink.Say("✓ Saved %s to %s", ink.Amount(msg.size), msg.path))
}
