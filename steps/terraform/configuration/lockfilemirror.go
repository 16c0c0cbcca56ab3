package configuration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/gitread"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/providerlock"
)

// sources are the ways in which providers are installed here.
func (l *lockFile) sources() ([]providerlock.Method, error) {
	if m := l.in.Text("mirror"); m != "" {
		m = steps.Below(l.env.Dir, m)
		return []providerlock.Method{{Kind: "filesystem_mirror", Where: m}}, nil
	}
	name := l.env.Getenv("TF_CLI_CONFIG_FILE")
	names := []string{name}
	if name == "" {
		names = []string{filepath.Join(l.env.Home, ".tofurc"), filepath.Join(l.env.Home, ".terraformrc")}
	}
	for _, name := range names {
		src, err := module.ReadSmall(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the CLI configuration: %w", err)
		}
		methods, dev, err := providerlock.ParseInstallation(name, src)
		if err != nil {
			return nil, fmt.Errorf("reading the CLI configuration %s: %w", name, err)
		}
		if len(dev) > 0 {
			l.obs.Say(steps.Warning, "The CLI configuration overrides %s with local builds, for which no checksum counts.", strings.Join(dev, ", "))
		}
		if len(methods) > 0 {
			return methods, nil
		}
	}
	return []providerlock.Method{{Kind: "direct"}}, nil
}

// mirrored compares the pins with the packages of the mirrors. What a registry
// has is not asked for: a probe downloads nothing.
func (l *lockFile) mirrored(ctx context.Context) {
	facts := []string{"offered", "missing", "checksum", "mismatched", "computed"}
	methods, err := l.sources()
	if err != nil {
		l.gap(err, append(facts, "sources", "mirrored")...)
		return
	}
	var names []string
	var mirrors []string
	other := false
	for _, m := range methods {
		names = append(names, m.String())
		if m.Kind == "filesystem_mirror" && m.Where != "" && len(m.Include)+len(m.Exclude) == 0 {
			mirrors = append(mirrors, m.Where)
		} else {
			other = true
		}
	}
	l.f.Set("sources", steps.StringsOf(names))
	l.f.Set("mirrored", steps.BoolOf(len(mirrors) > 0))
	if len(mirrors) == 0 {
		l.gap(errors.New("no filesystem mirror serves every provider here, and a registry is not asked; name one with the parameter mirror, or compare the checksums that the registry publishes"), facts...)
		return
	}
	if !l.found {
		l.f.Unknown("there is no lock file to compare with", facts...)
		return
	}
	l.look(ctx, mirrors, other)
}

// look computes what the mirrors hold for each pin.
func (l *lockFile) look(ctx context.Context, mirrors []string, other bool) {
	offered, computed := map[string]string{}, map[string]string{}
	missing, mismatched := []string{}, []string{}
	untold := ""
	for _, p := range l.pinned {
		var here, elsewhere []string
		at := ""
		for _, m := range mirrors {
			h, e, err := providerlock.Versions(m, p.Address, l.platform())
			if err != nil {
				untold = fmt.Sprintf("mirror %s: %v", m, err)
				continue
			}
			here, elsewhere = append(here, h...), append(elsewhere, e...)
			if at == "" && slices.Contains(h, p.Version) {
				at = m
			}
		}
		offered[p.Address] = strings.Join(here, ", ")
		if at == "" {
			missing = append(missing, p.Address)
			if slices.Contains(elsewhere, p.Version) {
				l.obs.Say(steps.Critical, "The mirror has %s %s for other platforms than %s alone.", p.Address, p.Version, l.platform())
			} else if untold == "" {
				l.obs.Say(steps.Critical, "The mirror does not have %s %s; it has %s.", p.Address, p.Version, orNone(offered[p.Address]))
			}
			continue
		}
		got, err := providerlock.Hashes(ctx, at, p.Address, p.Version, l.platform())
		if err != nil {
			untold = fmt.Sprintf("package of %s: %v", p.Address, err)
			continue
		}
		computed[p.Address] = strings.Join(got, " ")
		switch {
		case slices.ContainsFunc(got, func(h string) bool { return slices.Contains(p.Hashes, h) }):
		case !sameScheme(got, p.Hashes):
			untold = fmt.Sprintf("the lock file has %s for %s, and the mirror's package can be held against h1 alone", schemes(p.Hashes), p.Address)
			l.obs.Say(steps.Warning, "An init refuses the unpacked %s of the mirror because the lock file has no checksum of its kind. That is no sign of tampering: `tofu providers lock -fs-mirror` adds one, in a change that is reviewed.", p.Address)
		default:
			mismatched = append(mismatched, p.Address)
			l.obs.Say(steps.Critical, "%s %s of the mirror is not what was locked: none of its checksums (%s) is in the lock file. Do not delete the lock file, do not upgrade past it, and do not run init again until you know who put this package there.",
				p.Address, p.Version, computed[p.Address])
		}
	}
	l.f.Set("offered", steps.TableOf(offered))
	l.f.Set("missing", steps.StringsOf(missing))
	l.f.Set("mismatched", steps.StringsOf(mismatched))
	l.f.Set("computed", steps.TableOf(computed))
	if other && len(missing) > 0 {
		l.f.Unknown("other sources than the filesystem mirror may have them", "missing")
	}
	switch {
	case len(mismatched) > 0:
		l.checksum = "mismatch"
	case untold != "":
		l.gap(errors.New(untold), "checksum")
		return
	case len(missing) > 0:
		l.f.Unknown("the mirror does not have every pinned provider", "checksum")
		return
	default:
		l.checksum = "match"
	}
	l.f.Set("checksum", steps.EnumOf(l.checksum))
	if untold != "" {
		l.obs.Gaps = append(l.obs.Gaps, untold)
	}
}

func orNone(s string) string {
	if s == "" {
		return "no version of it"
	}
	return s
}

// sameScheme reports whether any checksum that was computed is of a scheme that
// was locked: others cannot be compared.
func sameScheme(got, locked []string) bool {
	of := func(h string) string { scheme, _, _ := strings.Cut(h, ":"); return scheme }
	return slices.ContainsFunc(got, func(g string) bool {
		return slices.ContainsFunc(locked, func(k string) bool { return of(k) == of(g) })
	})
}

func (l *lockFile) baseName() string {
	if b := l.in.Text("base"); b != "" {
		return b
	}
	return "HEAD"
}

// compared holds the file against the one in Git.
func (l *lockFile) compared(ctx context.Context) {
	facts := []string{"base_commit", "in_base", "changed", "changes"}
	clone, err := gitread.Open(l.dir)
	if err != nil {
		l.gap(fmt.Errorf("history of the lock file: %w", err), facts...)
		return
	}
	commit, err := clone.Resolve(ctx, l.baseName())
	if err != nil {
		l.gap(fmt.Errorf("history of the lock file: %w", err), facts...)
		return
	}
	l.f.Set("base_commit", steps.IdentOf(commit))
	rel, err := filepath.Rel(clone.Top(), filepath.Join(l.dir, lockFileName))
	if err != nil {
		l.gap(err, facts[1:]...)
		return
	}
	old, err := clone.File(ctx, commit, filepath.ToSlash(rel))
	if errors.Is(err, gitread.ErrNoFile) {
		l.f.Set("in_base", steps.BoolOf(false))
		l.f.Set("changed", steps.BoolOf(l.found))
		l.f.Set("changes", steps.StringsOf(nil))
		l.obs.Say(steps.Warning, "%s does not have the lock file: it is not committed, so every machine pins for itself.", l.baseName())
		if l.changed = "no"; l.found {
			l.changed = "yes"
		}
		return
	}
	if err != nil {
		l.gap(fmt.Errorf("lock file of %s: %w", l.baseName(), err), facts[1:]...)
		return
	}
	l.f.Set("in_base", steps.BoolOf(true))
	same := l.found && string(old) == string(l.src)
	l.f.Set("changed", steps.BoolOf(!same))
	if l.changed = "yes"; same {
		l.changed = "no"
	}
	before, err := providerlock.ParseLock(l.baseName(), old)
	if err != nil {
		l.gap(fmt.Errorf("lock file of %s: %w", l.baseName(), err), "changes")
		return
	}
	changes := lockChanges(before, l.pinned)
	l.f.Set("changes", steps.StringsOf(changes))
	for _, c := range changes {
		if strings.Contains(c, "same version, other checksums") {
			l.obs.Say(steps.Critical, "%s. A release that is built again has other checksums, and so has one that was tampered with: who changed the lock file, and in which review?", c)
		}
	}
}

// lockChanges says what differs between two lock files.
func lockChanges(before, after []providerlock.Provider) []string {
	out := []string{}
	at := func(all []providerlock.Provider, address string) (providerlock.Provider, bool) {
		i := slices.IndexFunc(all, func(p providerlock.Provider) bool { return p.Address == address })
		if i < 0 {
			return providerlock.Provider{}, false
		}
		return all[i], true
	}
	for _, b := range before {
		a, there := at(after, b.Address)
		switch {
		case !there:
			out = append(out, b.Address+": no longer pinned")
		case a.Version != b.Version:
			out = append(out, fmt.Sprintf("%s: %s before, %s now", b.Address, b.Version, a.Version))
		case !slices.ContainsFunc(a.Hashes, func(h string) bool { return slices.Contains(b.Hashes, h) }) && len(b.Hashes) > 0:
			out = append(out, b.Address+": same version, other checksums")
		case schemes(a.Hashes) != schemes(b.Hashes):
			out = append(out, fmt.Sprintf("%s: checksums %s before, %s now", b.Address, schemes(b.Hashes), schemes(a.Hashes)))
		}
	}
	for _, a := range after {
		if _, there := at(before, a.Address); !there {
			out = append(out, a.Address+": newly pinned to "+a.Version)
		}
	}
	slices.Sort(out)
	return out
}
