package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"handrail/cli/process"
	"handrail/evidence/redact"
	"handrail/runbooks"
	"handrail/steps/catalog"
	"handrail/steps/strict"
)

// A runbook of a file is a stranger's text until a person trusted it. What makes a file
// another one behind the reader's back is refused before it is read.

// FileError says why a runbook file is not read at all.
type FileError struct{ Path, Why, Cure string }

func (e *FileError) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Path, e.Why, e.Cure) }

// bookText reads a runbook file; links may lead no further than below root, "" for the
// directory of the file.
func bookText(path, root string) ([]byte, error) {
	wrong := func(cure, why string, args ...any) ([]byte, error) {
		return nil, &FileError{path, fmt.Sprintf(why, args...), cure}
	}
	if root == "" {
		root = filepath.Dir(path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	home, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(home, real); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return wrong("copy the file, or name "+real, "it is a link that leads out of its directory, to %s", real)
	}
	if info, err := os.Stat(real); err != nil { // a pipe would wait for a writer
		return nil, err
	} else if !info.Mode().IsRegular() {
		return wrong("name a file", "it is not a regular file")
	}
	f, err := os.Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	at, err := os.Stat(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return wrong("name a file", "it is not a regular file")
	case info.Size() > strict.MaxSize:
		return wrong("a runbook is a few KiB", "it has %d bytes, more than the %d that a runbook may have", info.Size(), strict.MaxSize)
	case anyoneWrites(info):
		return wrong("chmod o-w "+real, "every user of this machine may write it")
	case anyoneWrites(at) && at.Mode()&fs.ModeSticky == 0:
		return wrong("chmod o-w "+filepath.Dir(real), "every user of this machine may write in its directory, and so exchange it")
	}
	src, err := io.ReadAll(io.LimitReader(f, strict.MaxSize+1))
	if err == nil && len(src) > strict.MaxSize {
		return wrong("a runbook is a few KiB", "it grew beyond the %d bytes that a runbook may have", strict.MaxSize)
	}
	return src, err
}

// anyoneWrites reports whether users who are neither owner nor of the group may write. On
// Windows the bits say nothing.
func anyoneWrites(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0
}

// LintBook reads the text of a runbook that does not come with the program as strictly as
// `handrail runbook lint` does: what an incident would hide of it is refused too, since the
// bundle keeps the text.
func LintBook(p *process.Program, file string, src []byte) (*runbooks.Runbook, error) {
	rb, err := runbooks.Lint(file, src, catalog.New())
	var bad runbooks.Problems
	if err != nil && !errors.As(err, &bad) {
		return nil, fmt.Errorf("%q: %w", file, err)
	}
	team, err := TeamRules(p)
	if err != nil {
		return nil, err
	}
	line, err := redact.HiddenLine("application/yaml", src, team)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", file, err)
	}
	if line > 0 {
		bad = append(bad, runbooks.Problem{File: file, Line: line, Col: 1, Message: "this line looks like a secret: a bundle would redact it, and the incident could not be read back",
			Hint: "give it another name, or take the secret out"})
	}
	if err := bad.Sorted(); err != nil {
		return nil, err
	}
	return rb, nil
}
