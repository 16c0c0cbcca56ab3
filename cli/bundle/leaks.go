package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence"
)

// finding is one place with a secret; the value itself is never in it.
type finding struct {
	By     string `json:"by"`              // handrail or gitleaks
	Entry  *int64 `json:"entry,omitempty"` // seq of the entry that holds or names it
	Blob   string `json:"blob,omitempty"`
	Offset *int64 `json:"offset,omitempty"` // byte in the blob
	File   string `json:"file,omitempty"`   // gitleaks names a file of the bundle and a line
	Line   int    `json:"line,omitempty"`
	Kind   string `json:"kind"`
}

// leakReport is the public form of a search for leaks.
type leakReport struct {
	Path     string    `json:"path"`
	Findings []finding `json:"findings"`
	Gitleaks string    `json:"gitleaks"` // "" when it was asked, else why not
}

func bundleLeaks(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "leaks BUNDLE", Short: "Search a bundle again for secrets, with today's rules; exits with 0 or 7",
		Long: `leaks searches every entry and every artifact of a bundle with the rules and the
known values of today, which may know more than those it was written by. Where a
gitleaks is on PATH it is asked for a second opinion. What is found is named by its
place and kind; the value is never printed, and nothing in the bundle is changed.`,
		Args: process.Exactly("a BUNDLE: a path, or the id of an incident"),
	}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := Find(p, args[0])
		if err != nil {
			return err
		}
		out, err := leaks(cmd.Context(), p, at)
		if err != nil {
			return err
		}
		err = o.Print(p, out, func() error { return printLeaks(p, out) })
		if err == nil && len(out.Findings) > 0 {
			err = process.Ended(process.ExitTampered)
		}
		handled(p, at, evidence.Handling{What: "leaks", Result: fmt.Sprintf("%d found", len(out.Findings))}, err)
		return err
	}
	return cmd
}

func leaks(ctx context.Context, p *process.Program, at string) (leakReport, error) {
	out := leakReport{Path: at, Findings: []finding{}}
	team, err := settings.TeamRules(p)
	if err != nil {
		return out, err
	}
	r, err := evidence.OpenReadOnly(at)
	if err != nil {
		return out, err
	}
	defer r.Close()
	list, err := r.Leaks(settings.KnownSecrets(p), team)
	if err != nil {
		return out, fmt.Errorf("searching %q: %w", at, err)
	}
	for _, l := range list {
		f := finding{By: "handrail", Entry: &l.Entry, Blob: l.Blob, Kind: l.Kind}
		if l.Offset >= 0 {
			f.Offset = &l.Offset
		}
		out.Findings = append(out.Findings, f)
	}
	more, err := gitleaks(ctx, p, at)
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		out.Gitleaks = "not on PATH"
	case err != nil:
		out.Gitleaks = err.Error()
	}
	out.Findings = append(out.Findings, more...)
	return out, nil
}

// gitleaks asks the program of that name. Its report comes through a pipe and is
// kept nowhere, since it holds the values.
func gitleaks(ctx context.Context, p *process.Program, at string) ([]finding, error) {
	tool, err := p.Tool("gitleaks")
	if err != nil {
		return nil, err
	}
	// A configuration or an ignore file of the bundle's own could switch it off.
	cmd := exec.CommandContext(ctx, tool, "dir", "--no-banner", "--log-level", "error", "--exit-code", "0", "--ignore-gitleaks-allow",
		"--gitleaks-ignore-path", "/dev/null", "--report-format", "json", "--report-path", "-", "--", at)
	cmd.Dir = "/"
	cmd.Env = process.Without(p.Environ, "GITLEAKS_CONFIG", "GITLEAKS_CONFIG_TOML")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s did not end well: %w", tool, err)
	}
	var report []struct {
		RuleID, File, Match, Secret string
		StartLine                   int
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		return nil, fmt.Errorf("the report of %s cannot be read", tool)
	}
	var out []finding
	for _, f := range report {
		name, err := filepath.Rel(at, f.File)
		name = filepath.ToSlash(name)
		// Tokens of ours, and the hashes that every journal line ends with, are no secrets.
		if err != nil || strings.Contains(f.Match, "<redacted:") || strings.Contains(f.Secret, "<redacted:") || hashOfOurs(name, f.Secret) {
			continue
		}
		out = append(out, finding{By: "gitleaks", File: name, Line: f.StartLine, Kind: f.RuleID, Blob: blobOf(name)})
	}
	return out, nil
}

func hashOfOurs(name, secret string) bool {
	if !strings.HasPrefix(name, "journal/") || len(secret) != 64 {
		return false
	}
	return strings.Trim(secret, "0123456789abcdef") == ""
}

func blobOf(name string) string {
	if strings.HasPrefix(name, "blobs/sha256/") {
		return path.Base(name)
	}
	return ""
}

func printLeaks(p *process.Program, out leakReport) error {
	var rows [][]string
	for _, f := range out.Findings {
		entry, place := "", f.Blob
		if f.Entry != nil {
			entry = strconv.FormatInt(*f.Entry, 10)
		}
		switch {
		case f.Offset != nil:
			place += " byte " + strconv.FormatInt(*f.Offset, 10)
		case f.File != "":
			place = f.File + " line " + strconv.Itoa(f.Line)
		}
		rows = append(rows, []string{entry, f.Kind, place, f.By})
	}
	if len(rows) > 0 {
		if err := process.Table(p.Stdout, []string{"ENTRY", "KIND", "BLOB", "FOUND BY"}, rows); err != nil {
			return err
		}
	}
	second := "gitleaks was asked as well"
	if out.Gitleaks != "" {
		second = "gitleaks was not asked: " + out.Gitleaks
	}
	_, err := fmt.Fprintf(p.Stderr, "%s: %d found; %s\n", process.Safe(out.Path), len(out.Findings), process.Safe(second))
	return err
}
