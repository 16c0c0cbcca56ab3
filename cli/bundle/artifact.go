package bundle

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/cli/process"
	"handrail/evidence"
	"handrail/session/journal"
	"handrail/session/report"
)

// allArtifacts is the name that stands for each of them.
const allArtifacts = "all"

// wanted are the recovery artifacts that --artifact names.
func wanted(names []string) ([]string, error) {
	all := report.RecoveryNames()
	if slices.Contains(names, allArtifacts) {
		return all, nil
	}
	for _, n := range names {
		if !slices.Contains(all, n) {
			return nil, process.Usage("choose of: "+strings.Join(all, ", ")+", or "+allArtifacts, "there is no recovery artifact %q", n)
		}
	}
	return slices.Compact(slices.Clone(names)), nil
}

// Artifacts are the names that --artifact takes, each with what it proves.
func Artifacts() []string {
	var out []string
	for _, n := range report.RecoveryNames() {
		out = append(out, n+"\t"+report.RecoveryAbout(n))
	}
	return append(out, allArtifacts)
}

// artifactsHelp lists them for the help of export.
func artifactsHelp() string {
	out := "\nWith --artifact it writes recovery artifacts instead: what each proves, what in the bundle it\n" +
		"stands on, and what is missing. Several names, or all, go into the directory of -f. It ends\nwith 3 when the bundle does not hold one that was named. The artifacts:\n\n"
	for _, n := range report.RecoveryNames() {
		out += fmt.Sprintf("  %-15s %s\n", n, report.RecoveryAbout(n))
	}
	return out
}

// exportArtifacts writes recovery artifacts. Those that the bundle lacks end it with
// ExitOpen where they were asked for by name.
func exportArtifacts(p *process.Program, path, file string, names []string, o process.Output) (err error) {
	list, err := wanted(names)
	if err != nil {
		return err
	}
	doc, v, r, err := document(p, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	made, err := recovered(path, doc, r, list)
	if err != nil {
		return err
	}
	if err := putArtifacts(p, file, made, len(names) > 1 || len(list) > 1, o); err != nil {
		return err
	}
	var lacking []string
	for _, a := range made {
		if a.Standing == report.NotInBundle {
			lacking = append(lacking, a.Artifact)
		}
	}
	if len(lacking) > 0 {
		fmt.Fprintf(p.Stderr, "%s does not hold: %s\n", process.Safe(string(doc.Incident)), strings.Join(lacking, ", "))
	}
	switch {
	case !v.OK:
		fmt.Fprintln(p.Stderr, "The bundle is NOT verified, and each artifact says so; see `handrail bundle verify`.")
		return process.Ended(process.ExitTampered)
	case len(lacking) > 0 && !slices.Contains(names, allArtifacts):
		return process.Ended(process.ExitOpen)
	}
	return nil
}

func recovered(path string, doc report.Document, r *evidence.Reader, list []string) ([]report.Recovery, error) {
	st, err := journal.LoadState(path)
	if err != nil {
		return nil, err
	}
	j, err := report.ReadJournal(r)
	if err != nil {
		return nil, err
	}
	var out []report.Recovery
	for _, n := range list {
		a, err := report.Recover(n, st, doc, j)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// putArtifacts writes to stdout, to one file, or to a directory where there are several.
func putArtifacts(p *process.Program, file string, list []report.Recovery, several bool, o process.Output) error {
	switch {
	case file == "" && o == process.AsJSON && several:
		return process.PrintKind(p, artifactKind, list)
	case file == "":
		for i, a := range list {
			if i > 0 {
				fmt.Fprintln(p.Stdout)
			}
			if err := writeArtifact(p, p.Stdout, a, o); err != nil {
				return err
			}
		}
		return nil
	case !several:
		if err := replace(file, func(w io.Writer) error { return writeArtifact(p, w, list[0], o) }); err != nil {
			return err
		}
		fmt.Fprintf(p.Stderr, "%s of %s is in %s\n", list[0].Artifact, process.Safe(string(list[0].Incident)), process.Safe(file))
		return nil
	}
	if err := os.MkdirAll(file, 0o700); err != nil {
		return process.Hint(fmt.Errorf("exporting: %w", err), "name a directory with -f")
	}
	ext := ".md"
	if o == process.AsJSON {
		ext = ".json"
	}
	for _, a := range list {
		if err := replace(filepath.Join(file, a.Artifact+ext), func(w io.Writer) error { return writeArtifact(p, w, a, o) }); err != nil {
			return err
		}
	}
	fmt.Fprintf(p.Stderr, "%s of %s are in %s\n", process.Counted(len(list), "artifact"), process.Safe(string(list[0].Incident)), process.Safe(file))
	return nil
}

// artifactKind is the kind of the documents of artifacts.
const artifactKind = "BundleExport"

func writeArtifact(p *process.Program, w io.Writer, a report.Recovery, o process.Output) error {
	if o != process.AsJSON {
		return report.WriteRecovery(w, a)
	}
	to := *p
	to.Stdout = w
	return process.PrintKind(&to, artifactKind, a)
}

// replace writes a file whole or not at all.
func replace(file string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".handrail-export-*")
	if err != nil {
		return process.Hint(fmt.Errorf("exporting: %w", err), "name a file in a directory that can be written")
	}
	defer os.Remove(f.Name()) // gone after the rename
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("exporting to %q: %w", file, err)
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	return nil
}
