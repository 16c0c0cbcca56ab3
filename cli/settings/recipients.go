package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"handrail/cli/process"
	"handrail/evidence/escrow"
)

// RecipientsFile names who may read what has to stay raw, in the format of age's own recipients files (age(1), -R), below
// handrail's folder of $XDG_CONFIG_HOME.
const RecipientsFile = "recipients.txt"

const maxRecipients = 64 << 10 // bytes of that file

// Recipients reads the age recipients of the operator and the team: undo material and the redaction key of a sealed
// bundle are encrypted to them. No file is no recipients; a file that is not understood whole is an error, since what is
// encrypted to half of a list is lost to the other half.
func Recipients(p *process.Program) ([]string, error) {
	dir, err := p.Xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return nil, nil // without a home there is no place where a file could be
	}
	name := filepath.Join(dir, RecipientsFile)
	src, err := ReadUpTo(name, maxRecipients)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &process.Problem{Code: process.ExitUsage, Err: fmt.Errorf("reading the age recipients: %w", err), Next: "fix the file or move it away"}
	}
	var out []string
	for n, line := range strings.Split(string(src), "\n") {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := escrow.CheckRecipients(append(out, text)); err != nil {
			return nil, &process.Problem{Code: process.ExitUsage, Err: fmt.Errorf("%s:%d: %w", name, n+1, err), Next: "one age recipient a line, age1… or age1pq1…, as age-keygen prints it; all of one sort"}
		}
		out = append(out, text)
	}
	return out, nil
}

// NoRecipient says what an incident will lack without an age recipient, "" where there is one.
// That is better known before its first gate than at its seal.
func NoRecipient(p *process.Program) string {
	to, err := Recipients(p)
	switch {
	case err != nil:
		return "No age recipient can be used: " + err.Error() + ". Gates on targets that hold secrets stay shut."
	case len(to) == 0:
		return "No age recipient is named: gates on targets that hold secrets stay shut, and the seal keeps no key. handrail doctor says how to name one."
	}
	return ""
}

// RecipientsHelp says how to name the first recipient.
func RecipientsHelp(p *process.Program) string {
	dir, err := p.Xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "set HOME, and name one there"
	}
	return "make a key with `age-keygen -o KEY` and write the age1… line that it prints into " + filepath.Join(dir, RecipientsFile)
}
