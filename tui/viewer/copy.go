package viewer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"handrail/session/journal"
	"handrail/tui/form"
	"handrail/tui/ink"
	"handrail/tui/longtext"
	"handrail/tui/screen"
)

// copiedMsg is what was read for the clipboard.
type copiedMsg struct {
	id   int
	body string
	line bool // not a page
	cut  bool
	err  error
}

// copyText hands what is on the screen, or a line of it, to the clipboard: whole
// lines, as they are shown, so that no control character gets into a shell.
func (e *Screen) copyText(env *screen.Env, line bool) tea.Cmd {
	v := e.View
	rows := v.Page.Rows
	if v.File == nil || len(rows) == 0 {
		env.Warn("", "There is nothing to copy yet.")
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
	file, id := v.File, v.id
	return env.Tasks.Start(func(context.Context) tea.Msg {
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
		if room := screen.CopyMost - b.Len(); len(t) > room {
			return b.String() + strings.ToValidUTF8(t[:room], ""), true, nil
		}
		b.WriteString(t)
		off = ps[0].Next
	}
	return b.String(), false, nil
}

func (e *Screen) copied(env *screen.Env, msg copiedMsg) tea.Cmd {
	if e.viewing(msg.id) == nil {
		return nil
	}
	if msg.err != nil {
		env.Warn("warning", ink.Say("Nothing was copied: %s", msg.err.Error()))
		return nil
	}
	what := ink.Text("what is on the screen")
	if msg.line {
		what = "the line"
	}
	cmd := env.Copy(what, msg.body)
	if msg.cut {
		env.Warn("", ink.Say("Sent to the terminal's clipboard: the first %s of %s, which is its limit. %s saves everything.", ink.Amount(int64(len(msg.body))), what, env.Keys.Save.Help().Key))
	}
	return cmd
}

// copyEntry hands the entry that the cursor is on to the clipboard, in one line.
func (e *Screen) copyEntry(env *screen.Env) tea.Cmd {
	m, ok := e.moment()
	if !ok {
		env.Warn("", "There is nothing to copy yet.")
		return nil
	}
	line := fmt.Sprintf("%s entry %d %s by %s: %s", m.At.UTC().Format(time.RFC3339), m.Seq, m.Type, cmp.Or(m.Actor, "handrail"), m.Text)
	return env.Copy(ink.Say("entry %d", m.Seq), strings.Join(strings.Fields(line), " "))
}

type savedMsg struct {
	path string
	size int64
	err  error
}

// saveText asks where to, and saves the artifact as it is stored. It opens it once
// more: the person may look at something else meanwhile.
func (e *Screen) saveText(env *screen.Env) {
	v, save := e.View, env.Config.Save
	if save == nil || v.File == nil {
		env.Warn("", "This cannot be saved here.")
		return
	}
	source := v.source
	title, intro, hint := ink.Say("Save %s", ink.Amount(v.File.Size())), ink.Text("A copy outside the bundle, redacted as stored. No file is overwritten."), ink.Text("a name, such as lock.json or ~/lock.json")
	switch {
	case v.Doc != nil:
		title, intro, hint = ink.Say("Save the report, %s", ink.Amount(int64(len(v.Doc.src)))), "The Markdown as it would be exported now. No file is overwritten.", "a name, such as report.md or ~/report.md"
	case v.live != nil:
		printed := v.Printed // what was printed by now
		source = func() (journal.Artifact, error) { return printed, nil }
	}
	env.Sheet = &form.Form{Title: title, Intro: []ink.Text{intro},
		Fields: []form.Field{form.Named("name", "file", hint, true)},
		Submit: func(val map[string]string) tea.Cmd {
			env.Warn("", ink.Say("Saving to %s …", val["name"]))
			return env.Tasks.Start(func(ctx context.Context) tea.Msg {
				art, err := source()
				if err != nil {
					return savedMsg{err: err}
				}
				path, err := save(ctx, val["name"], io.NewSectionReader(art, 0, art.Size()))
				return savedMsg{path, art.Size(), errors.Join(err, art.Close())}
			})
		}}
}

func (e *Screen) saved(env *screen.Env, msg savedMsg) {
	if msg.err != nil {
		env.Warn("warning", ink.Say("Nothing was saved: %s", msg.err.Error()))
		return
	}
	env.Warn("", ink.Say("✓ Saved %s to %s", ink.Amount(msg.size), msg.path))
}
