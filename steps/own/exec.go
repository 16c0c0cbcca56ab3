package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

const (
	mostRun     = 10 * time.Minute
	mostPrinted = mostRead // of each stream
	mostArgs    = 100
)

// execProbe is own/exec.
type execProbe struct {
	env    steps.Env
	outs   []steps.Output
	kernel func() sandbox
}

// errNeedsSandbox is why nothing starts that could write where nothing may change.
var errNeedsSandbox = errors.New("the incident is read-only, and here the kernel cannot keep the program from writing")

// Probe implements steps.Prober.
func (p execProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := trusted(p.env); err != nil {
		return steps.Observation{}, err
	}
	argv := in["argv"].Strings()
	if len(argv) == 0 || len(argv) > mostArgs || slices.ContainsFunc(argv, func(a string) bool { return strings.ContainsRune(a, 0) }) {
		return steps.Observation{}, fmt.Errorf("argv has %d items, or one with a zero byte: it takes 1 to %d", len(argv), mostArgs)
	}
	alone := in.Text("network") == "none"
	kept := p.kernel()
	switch {
	case p.env.ReadOnly != "" && !kept.whole():
		return steps.Observation{}, fmt.Errorf("%w (%s): read it by hand, or on a machine whose kernel has Landlock", errNeedsSandbox, kept.why)
	case alone && !kept.noNetwork():
		return steps.Observation{}, fmt.Errorf("network: none cannot be held here, %s: read it by hand, or leave the network open", kept.why)
	}
	job, err := p.job(in, argv)
	if err != nil {
		return steps.Observation{}, err
	}
	defer job.end()
	job.confined = confined{in: kept, alone: alone, read: job.readable, write: job.private}
	for _, v := range steps.SecretVariables(job.env) {
		out.Secret(v)
	}
	span := min(max(in.Duration("timeout"), 0), mostRun)
	if span == 0 {
		span = 30 * time.Second
	}
	ctx, stop := context.WithTimeout(ctx, span)
	defer stop()
	out.Line("running " + quoted(argv))
	r, err := job.run(ctx, out.Line)
	var gaps, more []string
	r.stdout, gaps = keep(out, "stdout", r.stdout)
	r.stderr, more = keep(out, "stderr", r.stderr)
	gaps = append(gaps, more...)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return steps.Observation{}, fmt.Errorf("%s was killed with all that it started after %s: %w", argv[0], span, err)
	case err != nil:
		return steps.Observation{}, err
	case !slices.Contains(exitsOf(in), r.exit):
		return steps.Observation{}, fmt.Errorf("%s ended with %d, and the runbook takes %s as a success: %s%s", argv[0], r.exit, counts(exitsOf(in)), said(r), job.hint(r))
	}
	f := steps.NewFacts(steps.Kind{Facts: p.fields()}.Facts)
	f.Set("exit", steps.IntOf(int64(r.exit)))
	f.Set("sandboxed", steps.BoolOf(kept.whole()))
	f.Set("sandbox", steps.StringOf(kept.words(alone)))
	obs := steps.Observation{Command: job.typed(argv), Gaps: append(gaps, readOutputs(ctx, p.outs, in.Text("as"), r.stdout, f)...)}
	if !kept.whole() {
		obs.Say(steps.Warning, "Nothing but your trust in the runbook kept %s from writing: %s.", argv[0], kept.why)
	}
	obs.Facts = f.Rest("it was not declared")
	obs.Summary = fmt.Sprintf("%s ended with %d%s", filepath.Base(argv[0]), r.exit, told(p.outs, obs.Facts))
	return obs, nil
}

func (p execProbe) fields() []steps.Field { return fieldsOf("own/exec", p.outs) }

// fieldsOf are the facts of a kind with those that the step declares.
func fieldsOf(kind string, outs []steps.Output) []steps.Field {
	for _, k := range Kinds() {
		if k.Name == kind {
			return k.Telling(outs).Facts
		}
	}
	return nil
}

// exitsOf are the codes that are a success.
func exitsOf(in steps.Params) []int {
	out := []int{}
	for _, text := range in["exits"].Strings() {
		if n, err := strconv.Atoi(text); err == nil {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return []int{0}
	}
	return out
}

func counts(list []int) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ", ")
}

// told are the declared facts that are known, for one line.
func told(outs []steps.Output, facts map[string]steps.Value) string {
	var out []string
	for _, o := range outs {
		if v := facts[o.Name]; v.Known() && len(out) < 6 {
			out = append(out, o.Name+" "+steps.OneLine(v.Text(), 60))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

// said is what a program said of its failure.
func said(r result) string {
	for _, b := range [][]byte{r.stderr, r.stdout} {
		if text := steps.OneLine(strings.ToValidUTF8(string(b), "?"), 300); text != "" {
			return text
		}
	}
	return "it said nothing"
}

// keep stores what came as an artifact, and returns it as that holds it: what is not to
// be stored is in no fact either, whatever path the author of a runbook takes to it.
func keep(out steps.Sink, role string, raw []byte) (kept []byte, gaps []string) {
	if len(raw) == 0 {
		return nil, nil
	}
	media := steps.MediaText
	if json.Valid(raw) {
		media = steps.MediaJSON
	}
	if gap := steps.Keep(out, role, media, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		gaps = append(gaps, gap)
	}
	red, ok := out.(steps.RedactingSink)
	if !ok {
		return raw, gaps // nothing of it is stored
	}
	kept, err := red.Redacted(media, raw)
	if err != nil {
		return nil, append(gaps, "the "+role+" could not be redacted, so nothing is read from it: "+err.Error())
	}
	return kept, gaps
}

// quoted is an argument list as a person would type it.
func quoted(argv []string) string {
	var out []string
	for _, a := range argv {
		out = append(out, steps.Quote(a))
	}
	return strings.Join(out, " ")
}

// job is one start of a program.
type job struct {
	path     string
	argv     []string
	env      []string
	dir      string // in which it runs
	shown    string // the directory that was asked for, "" for none
	private  string
	home     string   // that it may not read, "" where it may
	readable []string // what it may read
	confined confined
}

// job prepares the run of argv: where the program is, what it is given, and a private
// directory, which end removes.
func (p execProbe) job(in steps.Params, argv []string) (*job, error) {
	j := &job{argv: argv}
	if dir := in.Text("dir"); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.env.Dir, dir)
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, fmt.Errorf("directory of the program: %w", err)
		}
		if p.env.Trusted == nil {
			return nil, fmt.Errorf("directory %s is not trusted: programs run in trusted directories only", real)
		}
		if err := p.env.Trusted(real); err != nil {
			return nil, fmt.Errorf("directory %s is not trusted: %w", real, err)
		}
		j.dir, j.shown = real, real
	}
	var err error
	if j.path, err = p.find(argv[0], j.shown); err != nil {
		return nil, err
	}
	if j.private, err = p.makePrivate(); err != nil {
		return nil, err
	}
	if j.dir == "" {
		j.dir = j.private
	}
	named := in["env"].Strings()
	if j.env, err = p.environ(named, j.private); err != nil {
		j.end()
		return nil, err
	}
	hide := []string{"/dev", "/run/secrets", "/var/run/secrets", p.env.Private}
	if !slices.Contains(named, "HOME") {
		hide = append(hide, p.env.Home)
		j.home = p.env.Home
	}
	j.readable = append(readable(hide), j.path, j.dir)
	return j, nil
}

// makePrivate makes the one directory in which the program may write.
func (p execProbe) makePrivate() (string, error) {
	in := p.env.Private // it goes with the incident at the latest
	if in != "" && os.MkdirAll(in, 0o700) != nil {
		in = ""
	}
	dir, err := os.MkdirTemp(in, "run-")
	if err != nil {
		return "", fmt.Errorf("private directory of the program: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// end removes what the program left behind.
func (j *job) end() {
	if j.private != "" {
		// What it took the rights off is given them back, to be removed.
		_ = filepath.WalkDir(j.private, func(path string, d os.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		_ = os.RemoveAll(j.private)
	}
}

// find returns the path of a program: as named where that is a path, below dir where it
// is a relative one, else in the absolute entries of PATH. A file below dir that can be
// run counts for the trust in dir, whatever it is called.
func (p execProbe) find(name, dir string) (string, error) {
	switch {
	case filepath.IsAbs(name):
		return runnable(name)
	case strings.ContainsRune(name, filepath.Separator) || strings.ContainsRune(name, '/'):
		if dir == "" {
			return "", fmt.Errorf("program %q: a path from a directory needs dir, which is trusted with all its files", name)
		}
		real, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return "", fmt.Errorf("program: %w", err)
		}
		if rel, err := filepath.Rel(dir, real); err != nil || !filepath.IsLocal(rel) || slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), ".git") {
			return "", fmt.Errorf("program %q leads out of what was trusted of %s", name, dir)
		}
		f, err := os.Open(real) // what cannot be read was not looked at either
		if err != nil {
			return "", fmt.Errorf("program: %w", err)
		}
		_ = f.Close()
		return runnable(real)
	}
	for _, at := range filepath.SplitList(p.env.Getenv("PATH")) {
		if !filepath.IsAbs(at) {
			continue // it would mean another program in each directory
		}
		if path, err := runnable(filepath.Join(at, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %q in PATH: install it, or name it by its path", name)
}

func runnable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("program: %w", err)
	case !info.Mode().IsRegular() || !executable(info):
		return "", fmt.Errorf("program %s is no file that can be run", path)
	}
	return path, nil
}

// environ makes the environment from scratch: what programs need to run, and what the
// step names. A variable that is named and not set is an error, for a program without
// its credentials tells of something else.
func (p execProbe) environ(named []string, private string) ([]string, error) {
	out := []string{"TMPDIR=" + private}
	if !slices.Contains(named, "HOME") {
		out = append(out, "HOME="+private)
	}
	have := map[string]string{}
	for _, kv := range p.env.Environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			have[name] = value
		}
	}
	usual := []string{"PATH", "LANG", "TZ", "USER", "LOGNAME"}
	for name := range have {
		if strings.HasPrefix(name, "LC_") {
			usual = append(usual, name)
		}
	}
	slices.Sort(usual[5:])
	for _, name := range usual {
		if value, ok := have[name]; ok && !slices.Contains(named, name) && name != "TMPDIR" {
			out = append(out, name+"="+value)
		}
	}
	for _, name := range named {
		value, ok := have[name]
		if !ok {
			return nil, fmt.Errorf("the variable %s, which the step hands to the program, is not set: set it, then read again", name)
		}
		if name != "TMPDIR" {
			out = append(out, name+"="+value)
		}
	}
	return out, nil
}

// typed is the command that a person could type.
func (j *job) typed(argv []string) string {
	if j.shown == "" {
		return quoted(argv)
	}
	return "cd " + steps.Quote(j.shown) + " && " + quoted(argv)
}

// hint says where a program may have failed because it is kept from what it needs.
func (j *job) hint(r result) string {
	text := strings.ToLower(said(r))
	switch {
	case !j.confined.in.whole():
		return ""
	case j.home != "" && strings.Contains(text, strings.ToLower(j.home)):
		return ". It may not read your home: env: [HOME] lets it"
	case strings.Contains(text, "permission denied") || strings.Contains(text, "operation not permitted") || strings.Contains(text, "read-only"):
		return ". It writes to its private directory alone ($TMPDIR), and reads your home only with env: [HOME]"
	}
	return ""
}

// shells run what they are given as a program: a value from elsewhere would be run too.
var shells = regexp.MustCompile(`^(?:(?:ba|da|z|k|mk|c|tc|fi|a)?sh|busybox|env|xargs|find|timeout|nice|nohup|setsid|stdbuf|watch|ssh|eval|[gmn]?awk|(?:python|perl|ruby|node|php|lua|deno|bun|tclsh|pwsh)[0-9.]*|sudo|doas|su|pkexec|runuser|systemd-run|docker|podman|nsenter|chroot|unshare)$`)

// raisers hand the program to another one, with more rights or outside of the sandbox.
var raisers = regexp.MustCompile(`^(?:sudo|doas|su|pkexec|runuser|systemd-run|at|batch|crontab)$`)

// vetArgv says why an argument list cannot stand as written.
func vetArgv(argv []steps.Written) error {
	if len(argv) == 0 {
		return errors.New("an argument list begins with the program")
	}
	name := argv[0]
	base := filepath.Base(filepath.FromSlash(name.Text))
	switch {
	case len(argv) > mostArgs:
		return fmt.Errorf("%d arguments, more than %d", len(argv), mostArgs)
	case !name.Fixed:
		return errors.New("the program itself takes no ${…}: what runs is the runbook's to say")
	case strings.TrimSpace(name.Text) == "" || strings.HasPrefix(name.Text, "-"):
		return fmt.Errorf("%q is no program", name.Text)
	case strings.ContainsAny(name.Text, " \t") && len(argv) == 1:
		return fmt.Errorf("%q is one word here: give each argument as an item of its own, as in [%s]", name.Text, strings.Join(strings.Fields(name.Text), ", "))
	case raisers.MatchString(base):
		return fmt.Errorf("%s hands the program to another one, out of what keeps it from writing: name the program itself", base)
	case !shells.MatchString(base):
		return nil
	}
	for _, a := range argv[1:] {
		if !a.Fixed {
			return fmt.Errorf("%s runs what it is given, so it takes no ${…} (%s): let a program of its own take the value", base, a.Text)
		}
	}
	return nil
}

// tellExec is a step of own/exec in words.
func tellExec(w steps.With) string {
	out := "runs " + quoted(w.Texts("argv"))
	if dir := w.Text("dir"); dir != "" {
		out += " in " + dir + ", which must be trusted as it is"
	} else {
		out += " in an empty private directory"
	}
	out += ", for at most " + w.Text("timeout")
	if names := w.Texts("env"); len(names) > 0 {
		out += "; gives it of your environment " + strings.Join(names, ", ")
		if slices.Contains(names, "HOME") {
			out += ", and lets it read your home"
		}
	} else {
		out += "; gives it no credentials of your environment"
	}
	if w.Text("network") == "none" {
		return out + "; keeps it off the network"
	}
	return out + "; the network is open to it"
}
