package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tfstate"
)

// maxFiles bounds how many copies of a state are read.
const maxFiles = 200

// FileFacts are the facts of terraform/state-files.
func FileFacts() []steps.Field {
	return []steps.Field{
		{Name: "errored", Type: steps.Bool, Doc: "whether there is an errored.tfstate, which a run leaves that could not save"},
		{Name: "errored_serial", Type: steps.Int, Doc: "its serial"},
		{Name: "errored_ahead", Type: steps.Int, Doc: "how many serials it is ahead of the recorded state"},
		{Name: "errored_fits", Type: steps.Enum, Values: []string{"none", "next", "overtaken", "other-lineage", "encrypted", "broken"},
			Doc: "whether it is the write that comes after the recorded state"},
		{Name: "backups", Type: steps.Strings, Doc: "copies of the state beside it, oldest first"},
		{Name: "newest_backup", Type: steps.String, Doc: "newest sound copy of the same lineage that is not errored.tfstate"},
		{Name: "write_burst", Type: steps.Bool, Doc: "whether copies lie within 90 seconds of each other"},
		{Name: "racing", Type: steps.Bool, Doc: "whether a burst proves two writers: a serial repeated or went back, or tools or lineages differ"},
		{Name: "last_clean", Type: steps.String, Doc: "newest sound copy before the first burst of two writers"},
		{Name: "paused", Type: steps.Bool, Doc: "whether the marker of a pause stands in the directory"},
	}
}

// FilesProbe is terraform/state-files.
type FilesProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p FilesProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	w, s, err := backend.OpenAt(ctx, p.Env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	present, where, err := presentState(ctx, s, out)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: "ls -l " + steps.Quote(filepath.Join(w.Dir, "errored.tfstate")) + " " + steps.Quote(filepath.Join(w.Dir, "*.backup"))}
	f := steps.NewFacts(FileFacts())
	f.Set("paused", steps.BoolOf(module.ReadPause(w.Dir).Stands))
	if err := p.errored(ctx, w.Dir, present, where, f, &obs); err != nil {
		return steps.Observation{}, err
	}
	if err := backups(ctx, w, present, f, &obs); err != nil {
		return steps.Observation{}, err
	}
	if w.Backend != "local" {
		// The copies here are few of its writes, or none.
		for _, name := range []string{"write_burst", "racing"} {
			if !f.Got(name).Bool() {
				f.Unknown("the writes of this state are kept by its backend, if at all: look at them with terraform/versions", name)
			}
		}
	}
	obs.Summary = "No errored.tfstate is left here."
	if f.Got("errored").Bool() {
		obs.Summary = "A run could not save its state: errored.tfstate is left here."
	}
	obs.Facts = f.Rest("no such file, or the recorded state cannot be read")
	return obs, nil
}

// presentState reads the recorded state; nil where there is none that can be
// read.
func presentState(ctx context.Context, s backend.Store, out steps.Sink) (*tfstate.Doc, string, error) {
	r, err := s.State(ctx)
	if err != nil || !r.Exists || r.Body == nil {
		return nil, r.Where, err
	}
	defer r.Body.Close()
	d, err := tfstate.Read(module.Until(ctx, r.Body), tfstate.Options{Secret: out.Secret})
	return d, r.Where, err
}

func readCopy(ctx context.Context, name string) (*tfstate.Doc, time.Time, error) {
	f, err := steps.OpenRegular(name)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, err
	}
	d, err := tfstate.Read(module.Until(ctx, f), tfstate.Options{Sums: true})
	return d, info.ModTime(), err
}

func (p FilesProbe) errored(ctx context.Context, dir string, present *tfstate.Doc, where string, f steps.Facts, obs *steps.Observation) error {
	name := filepath.Join(dir, "errored.tfstate")
	d, at, err := readCopy(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		f.Set("errored", steps.BoolOf(false))
		f.Set("errored_fits", steps.EnumOf("none"))
		return nil
	}
	if err != nil {
		return fmt.Errorf("errored.tfstate: %w", err)
	}
	f.Set("errored", steps.BoolOf(true))
	say := func(format string, args ...any) {
		obs.Say(steps.Critical, format, args...)
	}
	say("%s was left %s by a run whose last save failed. The run released its lock, so others may go on from the old state. What that run made is recorded here alone: keep the file.", name, at.UTC().Format(time.RFC3339))
	if d.HasSerial {
		f.Set("errored_serial", steps.IntOf(d.Serial))
	}
	fits := fit(d, present)
	if fits != "" {
		f.Set("errored_fits", steps.EnumOf(fits))
	}
	if present != nil && present.HasSerial && d.HasSerial && present.Lineage == d.Lineage {
		f.Set("errored_ahead", steps.IntOf(d.Serial-present.Serial))
	}
	switch fits {
	case "next":
		say("It is serial %d, the recorded state at %s is serial %d: tofu leaves the stored serial plus 2, terraform plus 1. It is the write that failed, and `state push` takes it while there is no other writer.", d.Serial, where, present.Serial)
	case "overtaken":
		say("It is serial %d, the recorded state at %s is serial %d already: it was written since. Pushing it would lose that write; compare both with terraform/state-diff, and import what only this file knows.", d.Serial, where, present.Serial)
	case "other-lineage":
		say("Its lineage is not that of the state at %s: it belongs to another state, or a run began on an empty one.", where)
	case "encrypted":
		say("tofu encrypted it, and `state push` refuses such a file. Copy it as terraform.tfstate into a scratch directory with the same encryption block and a local backend, `state pull` it there, push the result, and shred both.")
	case "broken":
		say("It is damaged: %s", d.Faults[0].Say)
	}
	return nil
}

// fit relates an errored.tfstate to the recorded state; "" where that is not
// known.
func fit(d, present *tfstate.Doc) string {
	switch {
	case d.Encrypted && len(d.Faults) == 0:
		return "encrypted"
	case len(d.Faults) > 0 || !d.HasSerial:
		return "broken"
	case present == nil || !present.HasSerial:
		return ""
	case present.Lineage != d.Lineage:
		return "other-lineage"
	case d.Serial <= present.Serial:
		return "overtaken"
	}
	return "next"
}

// isBackup tells the names that the tools give: .backup, and .SECONDS.backup of
// `state mv` and `state rm`.
func isBackup(name string) bool {
	return strings.HasSuffix(name, ".backup") && strings.Contains(name, "tfstate")
}

// backups judges the copies that lie beside a state.
func backups(ctx context.Context, w module.Workdir, present *tfstate.Doc, f steps.Facts, obs *steps.Observation) error {
	copies, gaps, err := readCopies(ctx, w)
	if err != nil {
		return err
	}
	obs.Gaps = append(obs.Gaps, gaps...)
	judgeCopies(copies, present, f, obs)
	return nil
}

// readCopies reads the copies of a state that lie in the directory and beside a local
// state. The gaps say which of them were not read.
func readCopies(ctx context.Context, w module.Workdir) (copies []tfstate.Version, gaps []string, err error) {
	dirs := []string{w.Dir}
	if w.Backend == "local" {
		if path, _ := backend.LocalFiles(w); filepath.Dir(path) != w.Dir {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, nil, fmt.Errorf("directory %s: %w", dir, err)
		}
		for _, e := range entries {
			if !isBackup(e.Name()) {
				continue
			}
			if len(copies) == maxFiles {
				gaps = append(gaps, fmt.Sprintf("more than %d copies lie in %s; the rest was not read", maxFiles, dir))
				break
			}
			name := filepath.Join(dir, e.Name())
			d, at, err := readCopy(ctx, name)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err != nil {
				gaps = append(gaps, fmt.Sprintf("copy %s: %v", name, err))
				continue
			}
			if m := surgery.FindStringSubmatch(name); m != nil {
				if sec, err := strconv.ParseInt(m[1], 10, 64); err == nil {
					at = time.Unix(sec, 0)
				}
			}
			copies = append(copies, tfstate.Version{ID: name, At: at, Size: d.Size, Doc: d})
		}
	}
	return copies, gaps, nil
}

// Earlier says what speaks against it that nothing was ever recorded where a state has 0
// bytes, and "" where nothing does: a copy that holds something, one that cannot be read,
// or a backend that would keep copies elsewhere.
func Earlier(ctx context.Context, w module.Workdir) string {
	if w.Backend != "local" {
		return "the copies of this state are kept by its backend: look at them with terraform/versions"
	}
	copies, gaps, err := readCopies(ctx, w)
	if err != nil {
		return err.Error()
	}
	for _, v := range copies {
		if v.Doc.Condition() != tfstate.Empty {
			return filepath.Base(v.ID) + " beside it is a copy that is not empty"
		}
	}
	if len(gaps) > 0 {
		return gaps[0]
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, "errored.tfstate")); !errors.Is(err, fs.ErrNotExist) {
		return "errored.tfstate in the directory is what a run could not save"
	}
	return ""
}

func judgeCopies(copies []tfstate.Version, present *tfstate.Doc, f steps.Facts, obs *steps.Observation) {
	slices.SortStableFunc(copies, func(a, b tfstate.Version) int { return a.At.Compare(b.At) })
	var lines []string
	lineage := ""
	if present != nil {
		lineage = present.Lineage
	}
	for _, v := range copies {
		line := fmt.Sprintf("%s: %s, %s", filepath.Base(v.ID), v.At.UTC().Format(time.RFC3339), v.Doc.Condition())
		if v.Doc.Usable() {
			line += fmt.Sprintf(", serial %d, %d resources", v.Doc.Serial, v.Doc.Managed)
		}
		lines = append(lines, line)
		if v.Doc.Condition() == tfstate.Sound && (lineage == "" || v.Doc.Lineage == lineage) {
			f.Set("newest_backup", steps.StringOf(v.ID))
		}
	}
	f.Set("backups", steps.StringsOf(lines))
	fillBursts(copies, lineage, f, obs)
	if n := len(lines); n > 0 {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info,
			Say: fmt.Sprintf("%d copies of the state lie here. Two of `state mv` or `state rm` in one second overwrite each other, and remote backends get none: they are not a full history.", n)})
	}
}

// fillBursts fills write_burst, racing and last_clean from the writes of a state
// that are still there.
func fillBursts(copies []tfstate.Version, lineage string, f steps.Facts, obs *steps.Observation) {
	bursts := tfstate.Bursts(copies)
	f.Set("write_burst", steps.BoolOf(len(bursts) > 0))
	racing := slices.ContainsFunc(bursts, tfstate.Burst.Racing)
	f.Set("racing", steps.BoolOf(racing))
	if v, ok := tfstate.LastClean(copies, lineage); ok {
		f.Set("last_clean", steps.StringOf(v.ID))
	}
	for _, b := range bursts {
		level, proof := steps.Info, "one long run also writes every 20 seconds, so this alone proves nothing"
		if b.Racing() {
			level, proof = steps.Critical, "a serial repeated or went back, or tools or lineages differ: two writers raced"
		}
		obs.Findings = append(obs.Findings, steps.Finding{Level: level,
			Say: fmt.Sprintf("%d writes lie within %s from %s: %s.", len(b.IDs), b.To.Sub(b.From), b.From.UTC().Format(time.RFC3339), proof)})
	}
}

// surgery is how tofu and terraform name the backup that `state mv` and `state
// rm` leave, by the second of the change.
var surgery = regexp.MustCompile(`\.tfstate\.(\d{9,11})\.backup$`)
