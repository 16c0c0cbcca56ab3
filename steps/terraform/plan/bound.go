package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
)

// bindingRun holds what a saved plan is bound to against what is here now.
type bindingRun struct {
	env   steps.Env
	in    steps.Params
	saved *tfplan.Saved
	facts steps.Facts
	obs   *steps.Observation
	out   steps.Sink
}

// Bind fills the facts that tell what a saved plan is bound to and whether that
// still holds.
func Bind(ctx context.Context, env steps.Env, in steps.Params, saved *tfplan.Saved, f steps.Facts, obs *steps.Observation, out steps.Sink) error {
	return bindingRun{env: env, in: in, saved: saved, facts: f, obs: obs, out: out}.all(ctx)
}

func (b bindingRun) set(name string, same bool) {
	word := "moved"
	if same {
		word = "same"
	}
	b.facts.Set(name, steps.EnumOf(word))
}

func (b bindingRun) unknown(why string, names ...string) {
	b.facts.Unknown(why, names...)
	b.obs.Gaps = append(b.obs.Gaps, strings.Join(names, ", ")+": "+why)
}

func (b bindingRun) all(ctx context.Context) error {
	if want := b.in.Text("tool_version"); want != "" {
		same := strings.TrimPrefix(want, "v") == b.saved.Doc.Tool
		if b.set("tool_bound", same); !same {
			b.obs.Say(steps.Warning, "Version %s made the plan, and only that version of the same tool takes it; here is %s.", b.saved.Doc.Tool, want)
		}
	} else {
		b.facts.Unknown("the parameter tool_version does not say which version would apply it", "tool_bound")
	}
	w, s, err := backend.OpenAt(ctx, b.env, b.in, b.out)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.unknown(err.Error(), "state_bound", "content_bound", "config_bound", "providers_bound", "workspace_bound")
		return b.prior(nil)
	}
	kind := b.saved.Backend
	same := b.saved.Workspace == w.Space && (kind == w.Backend || kind == "")
	if b.set("workspace_bound", same); !same {
		b.obs.Say(steps.Warning, "The plan is for workspace %q on backend %q, here is %q on %q.", b.saved.Workspace, kind, w.Space, w.Backend)
	}
	b.lockFile(w.Dir)
	b.config(w.Dir)
	r, err := s.State(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		b.unknown(err.Error(), "state_bound", "content_bound")
		return b.prior(nil)
	case r.Broken != "":
		b.unknown("the present state cannot be read: "+r.Broken, "state_bound", "content_bound")
		return b.prior(nil)
	case !r.Exists:
		return b.prior(strings.NewReader(""))
	}
	defer r.Body.Close()
	return b.prior(module.UntilSeeker(ctx, r.Body))
}

// prior compares the state inside the plan with the present one; nil where that
// could not be read, and nothing where there is none. Serial and lineage stand
// with the refreshed state alone; what was recorded, with the other.
func (b bindingRun) prior(now io.ReadSeeker) error {
	meta, err := b.read(true)
	if err == nil && meta.HasSerial {
		b.facts.Set("bound_serial", steps.IntOf(meta.Serial))
		b.facts.Set("bound_lineage", steps.IdentOf(meta.Lineage))
	}
	switch {
	case err != nil:
		b.unknown(err.Error(), "bound_serial", "bound_lineage", "state_bound", "content_bound")
		return nil
	case now == nil:
		return nil
	}
	rc, err := b.saved.State(false)
	if err != nil {
		b.unknown(err.Error(), "state_bound", "content_bound")
		return nil
	}
	defer rc.Close()
	diff, err := tfstate.CompareAs(rc, now, b.expected())
	if err != nil {
		return fmt.Errorf("comparing the state in the plan with the present one: %w", err)
	}
	b.verdict(meta, diff)
	return nil
}

// expected is what the tool did already in the state that it put into the plan:
// moves are made there, and imports recorded.
func (b bindingRun) expected() tfstate.Expected {
	e := tfstate.Expected{Moved: map[string]string{}, Extra: map[string]bool{}}
	for _, c := range b.saved.Doc.Changes {
		if c.Previous != "" {
			e.Moved[c.Previous] = c.Address
		}
		if c.Importing != "" {
			e.Extra[c.Address] = true
		}
	}
	return e
}

// read reads one of the states inside the plan for what it says of itself.
func (b bindingRun) read(refreshed bool) (*tfstate.Doc, error) {
	rc, err := b.saved.State(refreshed)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	return tfstate.Read(rc, tfstate.Options{Secret: b.out.Secret})
}

func (b bindingRun) verdict(was *tfstate.Doc, d *tfstate.Diff) {
	is := d.After
	if is.Condition() == tfstate.Empty {
		// No state at all: a first plan is bound to that.
		first := was.Serial == 0 && was.Lineage == ""
		b.set("state_bound", first)
		b.set("content_bound", first)
		if !first {
			b.obs.Say(steps.Critical, "The plan was made from serial %d, and there is no state now.", was.Serial)
		}
		return
	}
	if !was.HasSerial || !is.HasSerial {
		b.unknown("one of the states has no serial", "state_bound", "content_bound")
		return
	}
	same := was.Serial == is.Serial && was.Lineage == is.Lineage
	b.set("state_bound", same)
	switch {
	case was.Lineage != is.Lineage:
		b.obs.Say(steps.Critical, "The plan is bound to lineage %s, the present state has %s: it is of another state, and the tool refuses it.", prose.OrUnknown(was.Lineage), prose.OrUnknown(is.Lineage))
	case !same:
		b.obs.Say(steps.Warning, "The saved plan is stale: it was made from serial %d, the state is at %d. The tool refuses it; what approved it approves no other plan.", was.Serial, is.Serial)
	}
	if !d.Before.Usable() || !is.Usable() {
		b.unknown("one of the states cannot be compared", "content_bound")
		return
	}
	equal := d.Missing+d.Added+d.Changed == 0 && d.Moved == b.planned(d) && !d.Outputs
	if b.set("content_bound", equal); !equal && same {
		b.obs.Say(steps.Critical, "Serial and lineage are as in the plan, but the state records something else (%d missing, %d added, %d changed, %d moved): two writers collided. The tool takes this plan, and its apply overwrites the state with the plan's own copy.", d.Missing, d.Added, d.Changed, d.Moved)
	}
	if same && equal {
		b.obs.Say(steps.Info, "The plan still fits the state. It is bound to serial, lineage, configuration, variables, provider hashes and tool version, and to nothing real: what changed outside since then is not looked at.")
	}
}

// planned counts the moves that the plan itself would make: both tools keep in it
// the old state with the addresses moved already.
func (b bindingRun) planned(d *tfstate.Diff) int {
	n := 0
	for _, m := range d.MovedList {
		if slices.ContainsFunc(b.saved.Doc.Changes, func(c tfplan.Change) bool {
			return c.Previous != "" && c.Address == m.From && c.Previous == m.To
		}) {
			n++
		}
	}
	return n
}

func (b bindingRun) lockFile(dir string) {
	now, err := module.ReadSmall(filepath.Join(dir, ".terraform.lock.hcl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.unknown(err.Error(), "providers_bound")
		return
	}
	same := bytes.Equal(bytes.TrimSpace(now), bytes.TrimSpace(b.saved.LockFile)) || noProviders(now) && noProviders(b.saved.LockFile)
	if b.set("providers_bound", same); !same {
		b.obs.Say(steps.Warning, "The provider lock file differs from the one in the plan: the tool refuses the plan as an inconsistent dependency lock file, or runs other providers than were planned with.")
	}
}

// noProviders says whether a lock file locks nothing, which the tools write or
// leave out as they like.
func noProviders(b []byte) bool { return !bytes.Contains(b, []byte("provider \"")) }

// config compares the snapshot in the plan with the files on disk.
func (b bindingRun) config(dir string) {
	if len(b.saved.Files) == 0 {
		b.unknown("the plan holds no configuration", "config_bound", "config_changes")
		return
	}
	var changes []string
	dirs := map[string]bool{}
	for name, sum := range b.saved.Files {
		dirs[path.Dir(name)] = true
		now, err := module.ReadSmall(filepath.Join(dir, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			changes = append(changes, "gone: "+name)
		case err != nil:
			b.unknown(err.Error(), "config_bound", "config_changes")
			return
		case sha256.Sum256(now) != sum:
			changes = append(changes, "changed: "+name)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(dirs)) {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(d)))
		if err != nil {
			continue // its files are gone, and said to be
		}
		for _, e := range entries {
			name := path.Join(d, e.Name())
			if _, known := b.saved.Files[name]; !known && !e.IsDir() && module.IsConfig(e.Name()) {
				changes = append(changes, "new: "+name)
			}
		}
	}
	slices.Sort(changes)
	b.set("config_bound", len(changes) == 0)
	b.facts.Set("config_changes", steps.StringsOf(changes))
	if len(changes) > 0 {
		b.obs.Say(steps.Info, "%d files of the configuration differ from those in the plan, first %s. The apply uses those in the plan: an edit since then has no part in it.", len(changes), changes[0])
	}
	for _, skipped := range b.saved.Skipped {
		b.obs.Gaps = append(b.obs.Gaps, "not compared: "+steps.Clip(skipped, 300))
	}
}
