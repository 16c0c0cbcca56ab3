package configuration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/providerlock"
)

const lockFileName = ".terraform.lock.hcl"

// LockFileFacts are the facts of terraform/lock-file.
func LockFileFacts() []steps.Field {
	return []steps.Field{
		{Name: "found", Type: steps.Bool, Doc: "whether the directory has a lock file"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the lock file"},
		{Name: "providers", Type: steps.Strings, Doc: "addresses of the providers that it pins"},
		{Name: "versions", Type: steps.Table, Doc: "provider to the version that it pins"},
		{Name: "hashes", Type: steps.Table, Doc: "provider to how many checksums it has, by scheme"},
		{Name: "constraints", Type: steps.Table, Doc: "provider to what the configuration demands now"},
		{Name: "unlocked", Type: steps.Strings, Doc: "providers that the configuration demands and the file does not pin"},
		{Name: "unsatisfied", Type: steps.Strings, Doc: "providers whose pinned version is not what the configuration demands"},
		{Name: "sources", Type: steps.Strings, Doc: "where providers are installed from, as the CLI configuration says; direct means their registries"},
		{Name: "mirrored", Type: steps.Bool, Doc: "whether a filesystem mirror is one of them, so that packages can be compared here"},
		{Name: "offered", Type: steps.Table, Doc: "provider to the versions that the mirror has for the platform"},
		{Name: "missing", Type: steps.Strings, Doc: "providers whose pinned version the mirror does not have for the platform"},
		{Name: "checksum", Type: steps.Enum, Values: []string{"match", "mismatch"}, Doc: "whether all pinned providers of the mirror have a checksum of the lock file; a single other one is a mismatch"},
		{Name: "mismatched", Type: steps.Strings, Doc: "providers of the mirror with another checksum"},
		{Name: "computed", Type: steps.Table, Doc: "provider to the checksums of its package in the mirror"},
		{Name: "base_commit", Type: steps.Ident, Doc: "commit that it was compared with"},
		{Name: "in_base", Type: steps.Bool, Doc: "whether that commit has the file"},
		{Name: "changed", Type: steps.Bool, Doc: "whether the file differs from the one in that commit"},
		{Name: "changes", Type: steps.Strings, Doc: "what differs, provider by provider"},
	}
}

// LockFileProbe is terraform/lock-file.
type LockFileProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p LockFileProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	dir := in.Text("dir")
	if dir == "" {
		dir = "."
	}
	dir = steps.Below(p.Env.Dir, dir)
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err != nil {
		return steps.Observation{}, fmt.Errorf("directory %s: %w", dir, err)
	} else if !info.IsDir() {
		return steps.Observation{}, fmt.Errorf("%s is not a directory: name the root module", dir)
	}
	l := lockFile{env: p.Env, in: in, dir: dir, f: steps.NewFacts(LockFileFacts())}
	l.obs.Command = "cat " + steps.Quote(filepath.Join(dir, lockFileName)) + "; git diff " + steps.Quote(l.baseName()) + " -- " + lockFileName
	if err := l.own(out); err != nil {
		return steps.Observation{}, err
	}
	if err := l.demanded(ctx); err != nil {
		return steps.Observation{}, err
	}
	l.mirrored(ctx)
	l.compared(ctx)
	if ctx.Err() != nil {
		return steps.Observation{}, context.Cause(ctx)
	}
	l.summarise()
	l.obs.Facts = l.f.Rest("not read")
	return l.obs, nil
}

// lockFile is one look at a lock file.
type lockFile struct {
	env      steps.Env
	in       steps.Params
	dir      string
	src      []byte
	found    bool
	pinned   []providerlock.Provider
	checksum string // match, mismatch, "" while it cannot be told
	changed  string // yes, no, "" while it cannot be told
	f        steps.Facts
	obs      steps.Observation
}

func (l *lockFile) gap(err error, facts ...string) {
	l.obs.Gaps = append(l.obs.Gaps, err.Error())
	l.f.Unknown(err.Error(), facts...)
}

// own reads the file itself.
func (l *lockFile) own(out steps.Sink) error {
	src, err := module.ReadSmall(filepath.Join(l.dir, lockFileName))
	l.found = !errors.Is(err, fs.ErrNotExist)
	l.f.Set("found", steps.BoolOf(l.found))
	if !l.found {
		l.obs.Say(steps.Warning, "There is no %s: each init takes what it finds, and no checksum is held against it.", lockFileName)
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock file of %s: %w", l.dir, err)
	}
	l.src = src
	if gap := steps.Keep(out, "lock-file", steps.MediaText, func(w io.Writer) error { _, err := w.Write(src); return err }); gap != "" {
		l.obs.Gaps = append(l.obs.Gaps, gap)
	}
	sum := sha256.Sum256(src)
	l.f.Set("digest", steps.IdentOf(hex.EncodeToString(sum[:])))
	if l.pinned, err = providerlock.ParseLock(lockFileName, src); err != nil {
		return fmt.Errorf("lock file of %s: %w; no tool gets past it, so restore the one in Git rather than delete it", l.dir, err)
	}
	names, versions, hashes := []string{}, map[string]string{}, map[string]string{}
	for _, p := range l.pinned {
		names = append(names, p.Address)
		versions[p.Address] = p.Version
		hashes[p.Address] = schemes(p.Hashes)
		if len(p.Hashes) == 0 {
			l.obs.Say(steps.Warning, "%s is pinned without any checksum: whatever calls itself %s is taken.", p.Address, p.Version)
		}
	}
	slices.Sort(names)
	l.f.Set("providers", steps.StringsOf(names))
	l.f.Set("versions", steps.TableOf(versions))
	l.f.Set("hashes", steps.TableOf(hashes))
	return nil
}

// schemes counts checksums by scheme, as `1 h1, 12 zh`.
func schemes(hashes []string) string {
	count := map[string]int{}
	for _, h := range hashes {
		scheme, _, _ := strings.Cut(h, ":")
		count[scheme]++
	}
	var out []string
	for _, s := range slices.Sorted(maps.Keys(count)) {
		out = append(out, strconv.Itoa(count[s])+" "+s)
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// demanded compares the pins with what root and installed modules ask for.
func (l *lockFile) demanded(ctx context.Context) error {
	demands, err := l.demands(ctx)
	if err != nil {
		l.gap(err, "constraints", "unlocked", "unsatisfied")
		return ctx.Err()
	}
	constraints := map[string]string{}
	unlocked, unsatisfied, strange := []string{}, []string{}, []string{}
	for _, d := range demands {
		i := slices.IndexFunc(l.pinned, func(p providerlock.Provider) bool { return d.Means(p.Address) })
		if i < 0 {
			name := d.Source
			if name == "" {
				name = d.Name
			}
			if strings.HasPrefix(name, "terraform.io/builtin/") {
				continue
			}
			if !slices.Contains(unlocked, name) {
				unlocked = append(unlocked, name)
			}
			continue
		}
		p := l.pinned[i]
		if d.Constraints == "" {
			continue
		}
		all := append(strings.Split(constraints[p.Address], "; "), d.Constraints+" ("+d.At+")")
		constraints[p.Address] = strings.TrimPrefix(strings.Join(all, "; "), "; ")
		ok, err := providerlock.Satisfies(p.Version, d.Constraints)
		if err != nil {
			strange = append(strange, fmt.Sprintf("%s: %q: %v", d.At, d.Constraints, err))
		} else if !ok && !slices.Contains(unsatisfied, p.Address) {
			unsatisfied = append(unsatisfied, p.Address)
			l.obs.Say(steps.Critical, "%s is pinned to %s, and %s demands %s: an init refuses that until the pin is moved on purpose.", p.Address, p.Version, d.At, d.Constraints)
		}
	}
	l.f.Set("constraints", steps.TableOf(constraints))
	l.f.Set("unlocked", steps.StringsOf(unlocked))
	l.f.Set("unsatisfied", steps.StringsOf(unsatisfied))
	if len(strange) > 0 {
		l.gap(fmt.Errorf("constraints that cannot be judged: %s", strings.Join(strange, ", ")), "unsatisfied")
	}
	if l.found && len(unlocked) > 0 {
		l.obs.Say(steps.Warning, "Demanded and not pinned: %s. An init with -lockfile=readonly refuses, and any other adds them by itself.", strings.Join(unlocked, ", "))
	}
	return nil
}

func (l *lockFile) demands(ctx context.Context) ([]providerlock.Demand, error) {
	data := filepath.Join(l.dir, ".terraform")
	if d := l.env.Getenv("TF_DATA_DIR"); d != "" {
		data = steps.Below(l.dir, d)
	}
	dirs := []string{l.dir}
	installed, err := installedModules(filepath.Join(data, "modules", "modules.json"))
	if err != nil {
		l.obs.Gaps = append(l.obs.Gaps, err.Error())
	}
	for _, key := range slices.Sorted(maps.Keys(installed)) {
		d := installed[key]
		d = steps.Below(l.dir, d)
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	var out []providerlock.Demand
	for _, d := range dirs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		files, err := readConfig(d, module.IsConfig)
		if err != nil {
			return nil, fmt.Errorf("configuration in %s: %w", d, err)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(name, ".json") {
				if strings.Contains(string(files[name]), "required_providers") {
					return nil, fmt.Errorf("%s demands providers in JSON, which is not read here", filepath.Join(d, name))
				}
				continue
			}
			at := name
			if rel, err := filepath.Rel(l.dir, filepath.Join(d, name)); err == nil {
				at = filepath.ToSlash(rel)
			}
			found, err := providerlock.ParseDemands(at, files[name])
			if err != nil {
				return nil, fmt.Errorf("configuration: %w", err)
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

func (l *lockFile) platform() string {
	if p := l.in.Text("platform"); p != "" {
		return p
	}
	return runtime.GOOS + "_" + runtime.GOARCH
}

func (l *lockFile) summarise() {
	if !l.found {
		l.obs.Summary = "There is no lock file."
		return
	}
	parts := []string{fmt.Sprintf("The lock file pins %s", prose.Plural(len(l.pinned), "provider"))}
	switch l.checksum {
	case "match":
		parts = append(parts, "the mirror has them under the same checksums")
	case "mismatch":
		parts = append(parts, "the mirror has another content for at least one of them")
	}
	switch l.changed {
	case "yes":
		parts = append(parts, "it differs from the one in Git")
	case "no":
		parts = append(parts, "it is the one in Git")
	}
	l.obs.Summary = strings.Join(parts, "; ") + "."
}
