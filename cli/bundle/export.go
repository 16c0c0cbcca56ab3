package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/evidence"
	"handrail/evidence/escrow"
	"handrail/session/index/depot"
	"handrail/session/journal"
	"handrail/session/report"
	"handrail/session/walk"
)

// exportForm is one form that a bundle can be exported to.
type exportForm struct {
	name  string
	what  string
	write func(io.Writer, report.Document, *evidence.Reader) error
}

func exportForms() []exportForm {
	plain := func(write func(io.Writer, report.Document) error) func(io.Writer, report.Document, *evidence.Reader) error {
		return func(w io.Writer, d report.Document, _ *evidence.Reader) error { return write(w, d) }
	}
	cast := func(version int) func(io.Writer, report.Document, *evidence.Reader) error {
		return func(w io.Writer, d report.Document, r *evidence.Reader) error {
			return report.WriteCast(w, d, version, r.OpenBlob)
		}
	}
	return []exportForm{
		{"markdown", "one page of Markdown; md for short", plain(report.WriteMarkdown)},
		{"html", "one self-contained page: no script, nothing loaded", plain(report.WriteHTML)},
		{"json", "the whole report as data, which templates see too", plain(report.WriteJSON)},
		{"timeline", "the timeline as CSV, safe to open in a spreadsheet", plain(report.WriteCSV)},
		{"timeline-jsonl", "the timeline as JSON lines", plain(report.WriteJSONLines)},
		{"asciicast", "what was seen, as a terminal recording (asciicast v3)", cast(3)},
		{"asciicast-v2", "the same for older players", cast(2)},
		{answersForm, "an answers file of what was said and typed, for handrail run", recorded},
		{"troubleshoot", "a directory laid out as a troubleshoot support bundle", nil},
		{"archive", "the bundle itself as one file, a tar with gzip, to unpack anywhere", nil},
	}
}

// answersForm is the form of an answers file, which --answers stands for too.
const answersForm = "answers"

// recorded writes the answers file of an incident.
func recorded(w io.Writer, _ report.Document, r *evidence.Reader) error {
	st, err := journal.LoadState(r.Path())
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, walk.Recorded(st))
	return err
}

func bundleExport(p *process.Program) *cobra.Command {
	var format, file, tmpl string
	var answers bool
	var to, artifacts []string
	names := []string{}
	long := `export writes an incident for people and programs that have no handrail. It reads
the bundle and changes nothing in it; an incident may still be open. Beside the
bundle, its handling log says what went where. The bundle is
verified first, and the verdict stands in the report; it ends with 7 when the bundle
is not verified, and writes the report all the same. With --to the file can be read by
those age recipients only, with age -d and one of their keys. The formats:

`
	for _, f := range exportForms() {
		names = append(names, f.name)
		long += fmt.Sprintf("  %-15s %s\n", f.name, f.what)
	}
	long += artifactsHelp()
	cmd := &cobra.Command{
		Use: "export BUNDLE", Short: "Export an incident as a page, a timeline, an answers file, a recording or a directory", Long: long,
		Args: process.Exactly("a BUNDLE: a path, an archive, or the id of an incident"),
	}
	cmd.Flags().StringVar(&format, "format", "markdown", "one of "+strings.Join(names, ", "))
	cmd.Flags().BoolVar(&answers, "answers", false, "the same as --format answers")
	cmd.Flags().StringVarP(&file, "file", "f", "", "write to this `file` (for troubleshoot: directory) instead of stdout")
	cmd.Flags().StringVar(&tmpl, "template", "", "write an html page through this Go html/template `file`")
	cmd.Flags().StringArrayVar(&to, "to", nil, "encrypt the file to this age `recipient` (age1…); may be repeated")
	cmd.Flags().StringSliceVar(&artifacts, "artifact", nil, "write recovery artifacts by `name`, separated by commas, or all")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(artifacts) > 0 {
			for _, other := range []string{"format", "answers", "template", "to"} {
				if cmd.Flags().Changed(other) {
					return process.Usage("leave out --artifact or --"+other, "an artifact has a form of its own: text, or -o json")
				}
			}
			return artifactsOf(p, args[0], file, artifacts, *o)
		}
		if *o == process.AsJSON {
			return process.Usage("--format json writes the report as data", "-o json is the form of an --artifact")
		}
		if format == "md" {
			format = "markdown"
		}
		if answers {
			if cmd.Flags().Changed("format") && format != answersForm {
				return process.Usage("leave out --format or --answers", "an answers file is no %s", format)
			}
			format = answersForm
		}
		i := slices.Index(names, format)
		switch {
		case i < 0:
			return process.Usage("choose one of: "+strings.Join(names, ", "), "there is no format %q", format)
		case tmpl != "" && format != "html" && format != "markdown":
			return process.Usage("leave out --format or --template", "a template makes a page, not %s", format)
		case format == "troubleshoot" && file == "":
			return process.Usage("name a new directory with -f", "a troubleshoot layout is a directory and cannot go to stdout")
		case format == "troubleshoot" && len(to) > 0:
			return process.Usage("encrypt one of the other forms", "a directory cannot be encrypted as one file")
		case format == "archive" && file == "" && process.IsTerminal(p.Stdout):
			return process.Usage("name a file with -f, or send it on through a pipe", "an archive cannot be printed on a terminal")
		}
		if err := escrow.CheckRecipients(to); len(to) > 0 && err != nil {
			return process.Usage("a recipient is what age-keygen prints as public key", "--to: %w", err)
		}
		path, done, err := openable(p, args[0])
		if err != nil {
			return err
		}
		defer done()
		if err := outside(file); err != nil {
			return err
		}
		form := exportForms()[i]
		if tmpl != "" {
			if form.write, err = ownTemplate(tmpl); err != nil {
				return err
			}
		}
		if form.name == "archive" {
			form.write = archive(cmd.Context(), p)
		}
		form.write = encrypted(form.write, to)
		err = export(p, path, form, file)
		if !packed(args[0]) {
			handled(p, path, evidence.Handling{What: "export", Form: form.name, Place: cmp.Or(absolute(file), "stdout")}, err)
		}
		return err
	}
	return cmd
}

// artifactsOf exports recovery artifacts of the bundle that was named.
func artifactsOf(p *process.Program, name, file string, artifacts []string, o process.Output) error {
	path, done, err := openable(p, name)
	if err != nil {
		return err
	}
	defer done()
	if err := outside(file); err != nil {
		return err
	}
	err = exportArtifacts(p, path, file, artifacts, o)
	if !packed(name) {
		handled(p, path, evidence.Handling{What: "export", Form: "artifact " + strings.Join(artifacts, ","), Place: cmp.Or(absolute(file), "stdout")}, err)
	}
	return err
}

func export(p *process.Program, path string, form exportForm, file string) (err error) {
	doc, v, r, err := document(p, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	switch {
	case form.write == nil:
		err = process.Hint(report.WriteTroubleshoot(file, doc, r.OpenBlob, process.BuildVersion().String()), "name a directory that does not exist yet")
	case file == "":
		err = form.write(p.Stdout, doc, r)
	default:
		err = replace(file, func(w io.Writer) error { return form.write(w, doc, r) })
	}
	if err != nil {
		return err
	}
	if file != "" {
		fmt.Fprintf(p.Stderr, "%s of %s is in %s\n", form.name, process.Safe(string(doc.Incident)), process.Safe(file))
	}
	if !v.OK {
		fmt.Fprintln(p.Stderr, "The bundle is NOT verified, and the report says so; see `handrail bundle verify`.")
		return process.Ended(process.ExitTampered)
	}
	return nil
}

// archive packs the bundle as it would be pushed.
func archive(ctx context.Context, p *process.Program) func(io.Writer, report.Document, *evidence.Reader) error {
	return func(w io.Writer, _ report.Document, r *evidence.Reader) (err error) {
		work, err := outgoing(p)
		if err != nil {
			return err
		}
		packed, err := depot.Pack(ctx, r.Path(), work)
		if err != nil {
			return DepotError(err)
		}
		defer func() { err = errors.Join(err, packed.Close()) }()
		_, err = io.Copy(w, packed.Reader(depot.Part{Size: packed.Size}))
		return err
	}
}

// encrypted lets what a form writes be read by the recipients only; without any
// it is the form itself.
func encrypted(write func(io.Writer, report.Document, *evidence.Reader) error, to []string) func(io.Writer, report.Document, *evidence.Reader) error {
	if write == nil || len(to) == 0 {
		return write
	}
	return func(w io.Writer, d report.Document, r *evidence.Reader) error {
		sealed, err := escrow.Encrypt(w, to)
		if err != nil {
			return err
		}
		return errors.Join(write(sealed, d, r), sealed.Close())
	}
}

// ownTemplate reads a team's template and tries it, so that what is wrong with
// it is said before anything is written.
func ownTemplate(file string) (func(io.Writer, report.Document, *evidence.Reader) error, error) {
	const most = 4 << 20
	f, err := os.Open(file)
	if err != nil {
		return nil, process.Usage("name a template that can be read", "reading the template: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	if len(src) > most {
		return nil, process.Usage("a template is a page, not data", "template %q is over %d MiB", file, most>>20)
	}
	return func(w io.Writer, d report.Document, _ *evidence.Reader) error {
		err := report.WriteTemplate(w, d, file, string(src))
		var bad *report.TemplateError
		if errors.As(err, &bad) {
			return process.Usage("the data of a template is described in docs/reports.md", "%w", err)
		}
		return err
	}, nil
}

// outside refuses a target inside a bundle: nothing may be added to one.
func outside(file string) error {
	if file == "" {
		return nil
	}
	dir, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	for dir = filepath.Dir(dir); ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			dir = real
		}
		if _, err := os.Stat(filepath.Join(dir, "bundle.json")); err == nil {
			return process.Usage("write it beside the bundle", "%q is inside the bundle %q, to which nothing may be added", file, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
