package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/evidence/redact"
	"handrail/runbooks"
	"handrail/session"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/steps/fault"
)

// kind is the public form of a step kind.
type kind struct {
	Name    string          `json:"name"`
	Class   steps.Class     `json:"class"`
	Doc     string          `json:"doc"`
	Params  []process.Field `json:"params"`
	Facts   []process.Field `json:"facts"`
	Touches []string        `json:"touches"`
}

func describe(k steps.Kind) kind {
	return kind{k.Name, k.Class, k.Doc, process.Fields(k.Params), process.Fields(k.Facts), process.OrEmpty(k.Touches)}
}

func stepCommand(p *process.Program) *cobra.Command {
	return process.Group("step", "Step kinds: reference, and one read outside of an incident", stepList(p), stepRead(p), stepShow(p), stepScript(p))
}

func stepList(p *process.Program) *cobra.Command {
	return process.Listing[steps.Kind]{
		Head: []string{"KIND", "CLASS", "WHAT IT DOES"},
		Row: func(k steps.Kind) []string {
			first, _, _ := strings.Cut(k.Doc, ". ")
			return []string{k.Name, string(k.Class), strings.TrimSuffix(first, ".") + "."}
		},
		JSON: func(k steps.Kind) any { return describe(k) },
	}.Command(p, "List the kinds of steps a runbook may use", func() ([]steps.Kind, error) { return catalog.New().Kinds(), nil })
}

func stepShow(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "show KIND", Short: "Show parameters, facts and what a kind touches", Args: process.Exactly("a KIND")}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		k, err := lookupKind(args[0])
		if err != nil {
			return err
		}
		return o.Print(p, describe(k), func() error { showKind(p.Stdout, k); return nil })
	}
	return cmd
}

func lookupKind(name string) (steps.Kind, error) {
	cat := catalog.New()
	k, ok := cat.Lookup(name)
	if !ok {
		var names []string
		for _, k := range cat.Kinds() {
			names = append(names, k.Name)
		}
		return k, process.Unknown("step kind", name, names, "handrail step list")
	}
	return k, nil
}

// stepScript prints what an operator runs where handrail cannot look.
func stepScript(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "script KIND", Short: "Print the script whose output a kind reads, such as kube/node-report", Args: process.Exactly("a KIND")}
	o := process.OutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		k, err := lookupKind(args[0])
		if err != nil {
			return err
		}
		if k.Script == "" {
			return process.Usage("kube/node-report has one", "%s needs no script: it reads by itself", k.Name)
		}
		doc := struct {
			Name   string `json:"name"`
			Script string `json:"script"`
		}{k.Name, k.Script}
		return o.Print(p, doc, func() error { _, err := io.WriteString(p.Stdout, k.Script); return err })
	}
	return cmd
}

func showKind(w io.Writer, k steps.Kind) {
	fmt.Fprintf(w, "%s (%s)\n", k.Name, k.Class)
	process.Lines(w, "  ", k.Doc)
	process.ShowFields(w, "parameters", k.Params)
	process.ShowFields(w, "facts", k.Facts)
	if len(k.Touches) > 0 {
		fmt.Fprintln(w, "\ntouches")
		for _, t := range k.Touches {
			process.Lines(w, "  ", t)
		}
	}
}

// readAside begins the names of the kinds that may be read outside of an incident: what they tell is
// of applications and their sources, and of no Secret.
const readAside = "gitops/"

// stepRead reads one probe and keeps nothing: for a scheduler, or a look before there is an incident.
func stepRead(p *process.Program) *cobra.Command {
	var pairs []string
	var check bool
	cmd := &cobra.Command{Use: "read KIND", Short: "Read one probe of GitOps now, outside of an incident, and keep nothing",
		Long: `read runs one probe as you, through the transport that cannot write, prints what it tells, redacted
as in an incident, and keeps nothing. It takes the probes of Argo CD and Flux, whose names begin with
gitops/.

With --check it ends with 3 where the probe found something to warn of, or could not see all of it:
a scheduler then reminds of what is still suspended.`,
		Args: process.Exactly("a KIND")}
	cmd.Flags().StringArrayVarP(&pairs, "param", "p", nil, "a parameter of the kind, as `name=value`; may be repeated")
	cmd.Flags().BoolVar(&check, "check", false, "end with 3 where it warns, or could not see all")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		k, err := lookupKind(args[0])
		if err != nil {
			return err
		}
		if k.Class != steps.Probe || k.Reads == nil || !strings.HasPrefix(k.Name, readAside) {
			return process.Usage("begin an incident with a runbook that reads it", "%s is read in an incident alone", k.Name)
		}
		given, err := settings.Pairs(pairs)
		if err != nil {
			return err
		}
		in, err := (&runbooks.Runbook{ID: k.Name, Params: k.Params}).Bind(given)
		if err != nil {
			return process.Usage("see `handrail step show "+k.Name+"`", "%w", err)
		}
		by, err := newAsideReader(cmd.Context(), p)
		if err != nil {
			return err
		}
		read, err := by.doc(cmd.Context(), k, in)
		if err != nil {
			return err
		}
		if err := o.Print(p, read, func() error { read.print(p); return nil }); err != nil {
			return err
		}
		if check && read.warns() {
			return &process.Problem{Code: process.ExitOpen}
		}
		return nil
	}
	return cmd
}

// readDoc is what `handrail step read` prints.
type readDoc struct {
	Name     string                 `json:"name"`
	Summary  string                 `json:"summary"`
	Command  string                 `json:"command"`
	Facts    map[string]steps.Value `json:"facts"`
	Findings []steps.Finding        `json:"findings"`
	Gaps     []string               `json:"gaps"`

	order []steps.Field
}

// asideReader reads probes outside of an incident, and redacts what they tell before anything of it is judged or shown.
type asideReader struct {
	env steps.Env
	red *redact.Redactor
}

func newAsideReader(ctx context.Context, p *process.Program) (asideReader, error) {
	c, err := newConfig(p)
	if err != nil {
		return asideReader{}, err
	}
	if err := signIn(ctx, p, &c); err != nil {
		return asideReader{}, err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return asideReader{}, err
	}
	team, err := settings.TeamRules(p)
	if err != nil {
		return asideReader{}, err
	}
	red, err := redact.New(key, team)
	return asideReader{c.Env, red}, err
}

// read is one read within the time that its kind has. A panic of it is an error.
func (r asideReader) read(ctx context.Context, k steps.Kind, in steps.Params) (steps.Observation, error) {
	d, err := r.doc(ctx, k, in)
	return steps.Observation{Summary: d.Summary, Command: d.Command, Facts: d.Facts, Findings: d.Findings, Gaps: d.Gaps}, err
}

func (r asideReader) doc(ctx context.Context, k steps.Kind, in steps.Params) (d readDoc, err error) {
	ctx, cancel := context.WithTimeout(ctx, session.Span(k, in))
	defer cancel()
	defer fault.To(func(f error) { d, err = readDoc{}, errors.New(r.red.Text(f.Error())) })
	obs, err := k.Reads(r.env).Probe(ctx, in, asideSink{steps.SecretsOnly(r.red.Secret), r.red})
	if err != nil {
		return readDoc{}, errors.New(r.red.Text(err.Error()))
	}
	return redactedDoc(r.red, readDoc{Name: k.Name, Summary: obs.Summary, Command: obs.Command, Facts: obs.Facts, Findings: process.OrEmpty(obs.Findings), Gaps: process.OrEmpty(obs.Gaps), order: k.Facts})
}

// redactedDoc goes over every value of a document.
func redactedDoc(red *redact.Redactor, d readDoc) (readDoc, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	clean, err := asideSink{red: red}.Redacted(redact.MediaJSON, raw)
	if err != nil {
		return d, err
	}
	told := readDoc{order: d.order}
	if err := json.Unmarshal(clean, &told); err != nil {
		return readDoc{}, fmt.Errorf("what %s told cannot be redacted: %w", d.Name, err)
	}
	return told, nil
}

// asideSink keeps nothing. It redacts for the probes that compare what is redacted.
type asideSink struct {
	steps.SecretsOnly
	red *redact.Redactor
}

// Redacted implements steps.RedactingSink.
func (s asideSink) Redacted(media string, raw []byte) ([]byte, error) {
	var out bytes.Buffer
	w := s.red.Artifact(media, &out)
	_, err := w.Write(raw)
	_, end := w.Close()
	return out.Bytes(), errors.Join(err, end)
}

// warns reports whether there is something to look at, or something that was not seen.
func (d readDoc) warns() bool {
	if len(d.Gaps) > 0 {
		return true
	}
	return slices.ContainsFunc(d.Findings, func(f steps.Finding) bool { return f.Level != steps.Info })
}

func (d readDoc) print(p *process.Program) {
	fmt.Fprintln(p.Stdout, process.Safe(d.Summary))
	for _, f := range d.order {
		v, is := d.Facts[f.Name]
		if !is {
			continue
		}
		switch {
		case !v.Known():
			fmt.Fprintf(p.Stdout, "  %s: unknown: %s\n", f.Name, process.Safe(v.Why()))
		case v.Type() == steps.Strings:
			fmt.Fprintf(p.Stdout, "  %s: %d\n", f.Name, len(v.Strings()))
			for _, line := range v.Strings() {
				fmt.Fprintf(p.Stdout, "    %s\n", process.Safe(line))
			}
		case v.Type() == steps.Table:
			fmt.Fprintf(p.Stdout, "  %s: %d\n", f.Name, len(v.Table()))
			for _, key := range process.SortedKeys(v.Table()) {
				fmt.Fprintf(p.Stdout, "    %s: %s\n", process.Safe(key), process.Safe(v.Table()[key]))
			}
		default:
			fmt.Fprintf(p.Stdout, "  %s: %s\n", f.Name, process.Safe(v.Text()))
		}
	}
	for _, f := range d.Findings {
		fmt.Fprintf(p.Stdout, "%s: %s\n", f.Level, process.Safe(f.Say))
	}
	for _, why := range d.Gaps {
		fmt.Fprintf(p.Stdout, "not seen: %s\n", process.Safe(why))
	}
	fmt.Fprintf(p.Stdout, "by hand: %s\n", process.Safe(d.Command))
}
