package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"handrail/cli/process"
	"handrail/session/index"
	"handrail/triage"
)

// queryFlags are the flags of bundle query.
type queryFlags struct {
	keys, kind, severity, runbook, state, outcome, prints, like []string
	since, until, from                                          string
	limit, lines                                                int
}

func bundleQuery(p *process.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "query [TEXT...]", Short: "Search all bundles for incidents and lines",
		Long: `query looks through every bundle, in the lines of journals and of artifacts. All words
of TEXT must be on one line, in any order, but for upper and lower case; words in double
quotes inside it stay together: 'lock "timed out after"'. All flags must fit; of one
flag that is given more than once, one must.

--kind act gives acts instead of lines: who changed what, as which user of the system,
and the readings and answers that it stood on. Who removed the finalizer of web-0?

  handrail bundle query --kind act finalizer web-0

A key is one of the eleven evidence keys:

  ` + keyList() + `

The newest incidents come first, with the first lines of each and how many more
it has; --lines 0 prints every line of an incident, --limit 0 everything.
A value of a key must be equal but for case; * stands for any text. A time is a date, a
date with a time (2026-11-21T02:14Z), or how long ago (90m, 36h, 7d). An error
has a fingerprint that leaves out ids, times and numbers: --like gives an error
line and finds its kind, --fingerprint the value that an earlier query printed.

The index that makes this quick is a cache beside the bundles. It may be deleted.`,
		Args: cobra.ArbitraryArgs,
	}
	var a queryFlags
	f := cmd.Flags()
	f.StringArrayVarP(&a.keys, "key", "k", nil, "KEY=VALUE that the incident must hold")
	f.StringVar(&a.since, "since", "", "entries from this time on")
	f.StringVar(&a.until, "until", "", "entries up to this time")
	f.StringArrayVar(&a.kind, "kind", nil, "kind of entry: act for acts, artifact, or a type as note, answer, gate")
	f.StringArrayVar(&a.severity, "severity", nil, "severity, as SEV-1")
	f.StringArrayVar(&a.runbook, "runbook", nil, "runbook that the incident went through")
	f.StringArrayVar(&a.state, "state", nil, "failure state that was concluded")
	f.StringArrayVar(&a.outcome, "outcome", nil, "recovered, open, aborted or ongoing")
	f.StringArrayVar(&a.prints, "fingerprint", nil, "fingerprint of an error")
	f.StringArrayVar(&a.like, "like", nil, "error line whose kind is looked for")
	f.StringVar(&a.from, "from", "", "directory of bundles, instead of this machine's")
	f.IntVar(&a.limit, "limit", 100, "most lines to print, 0 for all")
	f.IntVar(&a.lines, "lines", 3, "most lines of one incident, 0 for all")
	o := process.OutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.limit == 0 && !cmd.Flags().Changed("lines") {
			a.lines = 0
		}
		q, err := a.query(args, p.Now())
		if err != nil {
			return err
		}
		store, err := Store(p, a.from)
		if err != nil {
			return err
		}
		// A search is over before the heap is worth cleaning, which is a fifth of its time.
		if p.Getenv("GOGC") == "" {
			defer debug.SetGCPercent(debug.SetGCPercent(400))
		}
		found, err := store.Search(q)
		if err != nil {
			return err
		}
		return o.Print(p, publicAnswer(found), func() error { return PrintHits(p, found) })
	}
	return cmd
}

func keyList() string {
	var names []string
	for _, k := range index.Keys() {
		names = append(names, k.String())
	}
	return strings.Join(names, " ")
}

// Store is the bundles of this machine, or those in a directory. The cache for
// another user's directory lies with our own: a shared one may not be ours to
// write.
func Store(p *process.Program, from string) (index.Store, error) {
	dir, err := p.Incidents()
	if err != nil {
		return index.Store{}, err
	}
	if from == "" {
		return index.At(dir, index.CacheOf(dir)), nil
	}
	if from, err = localDir(from); err != nil {
		return index.Store{}, err
	}
	sum := sha256.Sum256([]byte(from))
	return index.At(from, filepath.Join(index.CacheOf(dir), hex.EncodeToString(sum[:8]))), nil
}

const queryHelp = "see `handrail bundle query --help`"

// query holds every flag to what it can be.
func (a queryFlags) query(args []string, now time.Time) (index.Query, error) {
	q := index.Query{Severity: a.severity, Runbook: a.runbook, Failure: a.state, Outcome: a.outcome, Limit: a.limit, Lines: a.lines, Keys: map[index.Key][]string{}}
	var err error
	if q.Text, err = textParts(args); err != nil {
		return q, err
	}
	for _, kv := range a.keys {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || value == "" {
			return q, process.Usage(queryHelp, "--key %q is not KEY=VALUE", kv)
		}
		k, err := index.ParseKey(name)
		if err != nil {
			return q, process.Usage(queryHelp, "--key: %w", err)
		}
		q.Keys[k] = append(q.Keys[k], value)
	}
	for _, one := range []struct {
		flag       string
		given, can []string
	}{
		{"--kind", a.kind, kindNames()},
		{"--severity", a.severity, severityNames()},
		{"--state", a.state, failureNames()},
		{"--outcome", a.outcome, []string{"recovered", triage.Reviewed, "open", "aborted", index.Ongoing}},
	} {
		if err := oneOf(one.flag, one.given, one.can); err != nil {
			return q, err
		}
	}
	if q.Since, err = TimeFlag("--since", a.since, now, false); err != nil {
		return q, err
	}
	if q.Until, err = TimeFlag("--until", a.until, now, true); err != nil {
		return q, err
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && q.Until.Before(q.Since) {
		return q, process.Usage(queryHelp, "--until %q is before --since %q", a.until, a.since)
	}
	if a.limit < 0 || a.lines < 0 {
		return q, process.Usage(queryHelp, "--limit %d or --lines %d is below 0", a.limit, a.lines)
	}
	for _, k := range a.kind {
		q.Kind = append(q.Kind, strings.ToLower(k))
	}
	if len(q.Kind) > 1 && slices.Contains(q.Kind, index.Acts) {
		return q, process.Usage(queryHelp, "--kind act gives whole acts, and goes with no other kind")
	}
	q.Fingerprints, err = a.fingerprints()
	return q, err
}

// textParts splits what is looked for at blanks; what stands in double quotes stays
// together.
func textParts(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		if strings.ContainsAny(arg, "\r\n") || strings.TrimSpace(arg) == "" {
			return nil, process.Usage(queryHelp, "the text %q is not a part of one line", arg)
		}
		for i, part := range strings.Split(arg, `"`) {
			switch {
			case i%2 == 0:
				out = append(out, strings.Fields(part)...)
			case part != "":
				out = append(out, part)
			}
		}
		if strings.Count(arg, `"`)%2 == 1 {
			return nil, process.Usage(queryHelp, "the text %q has no closing quote", arg)
		}
	}
	return out, nil
}

// kindNames are the kinds of entries: types, and what several types begin with.
func kindNames() []string {
	out := []string{index.Acts, index.Artifacts}
	for _, t := range triage.EventTypes() {
		short, _, _ := strings.Cut(t.Type, ".")
		for _, name := range []string{short, t.Type} {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func severityNames() []string {
	var out []string
	for _, l := range triage.SeverityLevels() {
		out = append(out, string(l.Level))
	}
	return out
}

func failureNames() []string {
	var out []string
	for _, s := range triage.FailureStates() {
		out = append(out, s.Name)
	}
	return out
}

func oneOf(flag string, given, can []string) error {
next:
	for _, g := range given {
		for _, c := range can {
			if strings.EqualFold(g, c) {
				continue next
			}
		}
		return process.Usage(queryHelp, "%s %q is none of %s", flag, g, strings.Join(can, ", "))
	}
	return nil
}

func (a queryFlags) fingerprints() ([]index.Fingerprint, error) {
	var out []index.Fingerprint
	for _, s := range a.prints {
		fp, ok := index.ParseFingerprint(s)
		if !ok {
			return nil, process.Usage(queryHelp, "--fingerprint %q is not 16 hex digits, as a query prints them", s)
		}
		out = append(out, fp)
	}
	for _, text := range a.like {
		n := len(out)
		for line := range strings.Lines(text) {
			if fp := index.FingerprintOf(strings.TrimRight(line, "\r\n")); fp != "" {
				out = append(out, fp)
			}
		}
		if n == len(out) {
			return nil, process.Usage("look for it as TEXT", "--like %q: no line of it is an error", text)
		}
	}
	return out, nil
}

// TimeFlag reads a point in time: a date, a date with a time, or how long ago.
// A date alone means its first instant, or its last where the end is meant.
func TimeFlag(flag, s string, now time.Time, end bool) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.DateOnly, s); err == nil {
		if end {
			at = at.Add(24*time.Hour - 1)
		}
		return at, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC(), nil
		}
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 36500 {
			return now.Add(-time.Duration(n) * 24 * time.Hour), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, process.Usage(queryHelp, "%s %q is not a time: give a date as 2026-11-21, a time as 2026-11-21T02:14Z, or how long ago as 36h or 7d", flag, s)
}
