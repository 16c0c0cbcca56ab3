package books

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/bundle"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
	"handrail/runbooks"
	"handrail/runbooks/draft"
	"handrail/session/journal"
	"handrail/session/trial"
	"handrail/steps/catalog"
)

// made is a runbook that was drafted, its tests, and what its author has to look at.
type made struct {
	text, test string
	notes      []string
}

func newCommand(p *process.Program) *cobra.Command {
	var page, incident, dir string
	var team, stdout bool
	cmd := &cobra.Command{
		Use: "new ID", Short: "Begin a runbook: from a template, a page of Markdown or an incident",
		Long: `new writes ID.yaml, the beginning of its tests in ID.test.yaml, and the schema by which
editors complete them, in .handrail/runbooks of the repository. It overwrites nothing.

With --from-markdown each command in a fenced block of a page becomes a step: a probe
where handrail has one that reads the same, else a step by hand. Nothing of it is run.
With --from-bundle the runbook of an incident is taken, as its bundle keeps it, and what
was read and said in it becomes the first test.`,
		Args: process.Exactly("an ID"),
	}
	cmd.Flags().StringVar(&page, "from-markdown", "", "make the steps of the commands in this `file`")
	cmd.Flags().StringVar(&incident, "from-bundle", "", "take the runbook of this `incident`, and its reads as a test")
	cmd.Flags().StringVar(&dir, "dir", "", "write into this `directory`")
	cmd.Flags().BoolVar(&team, "team", false, "write into the directory of the team")
	cmd.Flags().BoolVar(&stdout, "stdout", false, "print the runbook, and write nothing")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		id := args[0]
		switch {
		case !bookID.MatchString(id):
			return process.Usage("as in disk-full", "the id %q must be small letters, digits and single hyphens", id)
		case page != "" && incident != "":
			return process.Usage("leave one out", "a runbook begins from a page or from an incident")
		case team && dir != "":
			return process.Usage("leave one out", "--team and --dir name two places")
		}
		if !stdout {
			var err error
			if dir, err = vacant(p, id, team, dir); err != nil {
				return err
			}
		}
		m, err := draftOf(p, id, page, incident)
		if err != nil {
			return err
		}
		if _, err := settings.LintBook(p, id+".yaml", []byte(m.text)); err != nil {
			m.notes = append(m.notes, "it does not pass the linter yet:\n"+err.Error())
		}
		if stdout {
			err = printText(p, m.text)
		} else {
			err = write(p, id, m, dir)
		}
		for _, n := range m.notes {
			process.Lines(p.Stderr, "look at ", n)
		}
		return err
	}
	return cmd
}

var bookID = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func draftOf(p *process.Program, id, page, incident string) (made, error) {
	switch {
	case page != "":
		src, err := settings.ReadUpTo(page, 1<<20)
		if err != nil {
			return made{}, process.Usage("name a file that can be read", "%w", err)
		}
		text, notes := draft.FromMarkdown(id, string(src), catalog.New())
		return made{text: text, notes: notes}, nil
	case incident != "":
		return fromBundle(p, id, incident)
	}
	return made{text: draft.Template(id), test: draft.TestTemplate(id)}, nil
}

var idLine = regexp.MustCompile(`(?m)^id:.*$`)

// fromBundle takes the runbook that an incident was in, and what it read as a test.
func fromBundle(p *process.Program, id, incident string) (made, error) {
	path, err := bundle.Find(p, incident)
	if err != nil {
		return made{}, err
	}
	st, err := journal.LoadState(path)
	if err != nil {
		return made{}, err
	}
	if len(st.Plans) == 0 {
		return made{}, process.Usage("name another incident", "%s has no runbook", st.Incident)
	}
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return made{}, err
	}
	defer r.Close()
	old, err := journal.Runbook(r, st.Plan(), catalog.New())
	if err != nil {
		return made{}, err
	}
	m := made{text: idLine.ReplaceAllString(string(old.Source), "id: "+id)}
	if !strings.HasPrefix(m.text, "# yaml-language-server:") {
		m.text = draft.Modeline + m.text
	}
	m.notes = append(m.notes, "title, recognise: they are those of "+old.ID)
	rb, err := runbooks.Parse(id+".yaml", []byte(m.text), catalog.New())
	if err != nil {
		return m, nil //nolint:nilerr // the linter says it with its place
	}
	c := trial.Recorded(old, st)
	d := &trial.Document{File: id + runbooks.TestSuffix, Runbook: id, Cases: []trial.Case{c}}
	got, err := trial.Run(d, rb, catalog.New())
	if err != nil {
		m.notes = append(m.notes, "the incident could not be told as a test: "+err.Error())
		return m, nil
	}
	d.Cases[0] = c.Follows(got.Cases[0], rb)
	m.test = d.Text("")
	m.notes = append(m.notes, "the test: what it expects is what follows today; read it over")
	return m, nil
}

// vacant is the directory that a runbook goes into, once nothing of its name stands there.
func vacant(p *process.Program, id string, team bool, dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = settings.BooksDir(p, team); err != nil {
			return "", err
		}
	}
	for _, name := range []string{id + ".yaml", id + runbooks.TestSuffix} {
		if path := filepath.Join(dir, name); exists(path) {
			return "", inTheWay(path)
		}
	}
	return dir, nil
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func inTheWay(path string) error {
	return process.Usage("choose another id, or move it away", "%q is there already", path)
}

// write puts a runbook, its tests and the schema into a directory, and overwrites nothing.
func write(p *process.Program, id string, m made, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	schema, err := schemaText(nil)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name, text string
		shared     bool
	}{{id + ".yaml", m.text, false}, {id + runbooks.TestSuffix, m.test, false}, {draft.SchemaFile, string(schema), true}} {
		if f.text == "" {
			continue
		}
		path := filepath.Join(dir, f.name)
		err := writeNew(path, f.text)
		if errors.Is(err, fs.ErrExist) {
			if f.shared {
				continue
			}
			return inTheWay(path)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(p.Stdout, process.Safe(path))
	}
	return nil
}

func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
