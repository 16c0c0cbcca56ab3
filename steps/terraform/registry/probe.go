package registry

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/providerlock"
)

const (
	// mostAsked bounds the providers that registries are asked for.
	mostAsked = 50
	// within bounds all requests together; a probe has a minute.
	within = 45 * time.Second

	lockFile = ".terraform.lock.hcl"
)

// Facts are the facts of terraform/registry.
func Facts() []steps.Field {
	return []steps.Field{
		{Name: "hosts", Type: steps.Table, Doc: "registry to how it answered"},
		{Name: "up", Type: steps.Bool, Doc: "whether every registry answered from this machine"},
		{Name: "offered", Type: steps.Table, Doc: "provider to the newest version that its registry offers"},
		{Name: "present", Type: steps.Bool, Doc: "whether every pinned version is offered for the platform"},
		{Name: "missing", Type: steps.Table, Doc: "provider to the pinned version that is not offered for the platform"},
		{Name: "checksum", Type: steps.Enum, Values: []string{"match", "mismatch"}, Doc: "whether the registries name a checksum that is locked, of each provider; a single other one is a mismatch"},
		{Name: "mismatched", Type: steps.Table, Doc: "provider to the checksum that the registry names and the lock file lacks"},
		{Name: "unread", Type: steps.Table, Doc: "provider to why it is not known"},
	}
}

// Probe is terraform/registry.
type Probe struct {
	Env   steps.Env
	Roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// Probe implements steps.Prober.
func (p Probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	dir := in.Text("dir")
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, fmt.Errorf("asking the registries of %q: %w", dir, err)
	}
	dir = steps.Below(p.Env.Dir, dir)
	dir = filepath.Clean(dir)
	if p.Env.Trusted == nil {
		return steps.Observation{}, fmt.Errorf("directory %s is not trusted: its lock file says which servers are asked", dir)
	}
	if err := p.Env.Trusted(dir); err != nil {
		return steps.Observation{}, fmt.Errorf("directory %s is not trusted, and its lock file says which servers are asked: %w", dir, err)
	}
	src, err := module.ReadSmall(filepath.Join(dir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return steps.Observation{}, fmt.Errorf("%s has no %s: nothing says which version is wanted", dir, lockFile)
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("lock file of %s: %w", dir, err)
	}
	pinned, err := providerlock.ParseLock(lockFile, src)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("lock file of %s: %w", dir, err)
	}
	ctx, stop := context.WithTimeout(ctx, within)
	defer stop()
	platform := in.Text("platform")
	if platform == "" {
		platform = runtime.GOOS + "_" + runtime.GOARCH
	}
	l := &look{client: newClient(p), platform: platform, hosts: map[string]*host{}, offered: map[string]string{}, missing: map[string]string{}, other: map[string]string{}, unread: map[string]string{}}
	for i, one := range pinned {
		if i == mostAsked {
			l.unread[one.Address] = fmt.Sprintf("more than %d providers are pinned", mostAsked)
			break
		}
		l.provider(ctx, one)
		if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
			return steps.Observation{}, err
		}
	}
	return l.observation(len(pinned)), nil
}

// look is one round of questions.
type look struct {
	client
	platform string
	hosts    map[string]*host
	offered  map[string]string
	missing  map[string]string
	other    map[string]string // checksums that are not locked
	unread   map[string]string
	matched  int
}

// provider asks for one that is pinned.
func (l *look) provider(ctx context.Context, p providerlock.Provider) {
	name, rest, _ := strings.Cut(p.Address, "/")
	if name == "terraform.io" { // built in
		return
	}
	if strings.Count(rest, "/") != 1 || !plain(rest) || !plain(p.Version) {
		l.unread[p.Address] = "it is no address of a provider with a version"
		return
	}
	h := l.hosts[name]
	if h == nil {
		h = l.discover(ctx, name)
		l.hosts[name] = h
	}
	if h.base == "" {
		l.unread[p.Address] = h.said
		return
	}
	versions, err := l.versions(ctx, h, rest)
	switch {
	case errors.Is(err, errAbsent):
		l.missing[p.Address] = p.Version
		return
	case err != nil:
		h.fell(err)
		l.unread[p.Address] = err.Error()
		return
	}
	l.offered[p.Address] = newest(versions)
	if v, ok := versions[p.Version]; !ok || len(v) > 0 && !slices.Contains(v, l.platform) {
		l.missing[p.Address] = p.Version
		return
	}
	l.checksum(ctx, h, rest, p)
}

// checksum holds what the registry names against what is locked.
func (l *look) checksum(ctx context.Context, h *host, rest string, p providerlock.Provider) {
	sum, err := l.shasum(ctx, h, rest, p.Version, l.platform)
	switch {
	case errors.Is(err, errAbsent):
		l.missing[p.Address] = p.Version
	case err != nil:
		h.fell(err)
		l.unread[p.Address] = err.Error()
	case !slices.ContainsFunc(p.Hashes, func(s string) bool { return strings.HasPrefix(s, "zh:") }):
		l.unread[p.Address] = "the lock file has no checksum of the kind that registries name"
	case slices.Contains(p.Hashes, "zh:"+sum):
		l.matched++
	default:
		l.other[p.Address] = sum
	}
}

func (l *look) observation(pinned int) steps.Observation {
	f := steps.NewFacts(Facts())
	obs := steps.Observation{Command: "curl -sS https://HOST/.well-known/terraform.json"}
	hosts, down := map[string]string{}, []string{}
	for name, h := range l.hosts {
		if hosts[name] = h.said; h.down {
			down = append(down, name)
		}
	}
	slices.Sort(down)
	f.Set("hosts", steps.TableOf(hosts))
	f.Set("up", steps.BoolOf(len(down) == 0))
	for name, table := range map[string]map[string]string{"offered": l.offered, "missing": l.missing, "mismatched": l.other, "unread": l.unread} {
		f.Set(name, steps.TableOf(table))
	}
	switch {
	case len(l.missing) > 0:
		f.Set("present", steps.BoolOf(false))
	case len(l.unread) == 0:
		f.Set("present", steps.BoolOf(true))
	}
	switch {
	case len(l.other) > 0:
		f.Set("checksum", steps.EnumOf("mismatch"))
	case len(l.unread) == 0 && len(l.missing) == 0 && l.matched > 0:
		f.Set("checksum", steps.EnumOf("match"))
	}
	for _, a := range slices.Sorted(maps.Keys(l.other)) {
		obs.Say(steps.Critical, "The registry names the checksum %s for %s, and the lock file has another one.", l.other[a], a)
	}
	for _, name := range down {
		obs.Say(steps.Warning, "%s does not answer from here: %s.", name, hosts[name])
	}
	for _, a := range slices.Sorted(maps.Keys(l.unread)) {
		obs.Gaps = append(obs.Gaps, a+": "+l.unread[a])
	}
	obs.Summary = fmt.Sprintf("Of %s, %d are offered as they are locked; %d of %s answered.", prose.Plural(pinned, "pinned provider"), l.matched, len(hosts)-len(down), prose.Plural(len(hosts), "registry"))
	obs.Facts = f.Rest("not every registry could be read")
	return obs
}
