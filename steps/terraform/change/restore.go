package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfstate"
)

// RestoreGate writes an earlier version of a state as a new one.
type RestoreGate struct{ Env steps.Env }

const (
	keyVersion  = "version"
	keyFile     = "file"
	keyRestored = "version SHA-256"
	keyPushed   = "pushed serial"
	keyContent  = "version content"
)

// restoreInput is everything that a restore is decided by.
type restoreInput struct {
	site
	versions backend.VersionList
	heads    map[string]backend.Head
	noList   error
	from     state.Ledger // what is to be written
	bad      error        // why it cannot be
	version  string       // one of both
	file     string
	serial   int64 // that it is written with
	mend     *backend.Repair
	noMend   error
}

func (g RestoreGate) read(ctx context.Context, in steps.Params, out steps.Sink) (restoreInput, error) {
	r := restoreInput{version: in.Text("version"), file: in.Text("file")}
	var err error
	if r.site, err = readSite(ctx, g.Env, in, out); err != nil {
		return r, err
	}
	if r.file != "" && !filepath.IsAbs(r.file) {
		r.file = filepath.Join(g.Env.Dir, r.file)
	}
	r.versions, r.noList = r.s.Versions(ctx, backend.MostVersions)
	if r.noList == nil {
		r.heads = map[string]backend.Head{}
		for _, v := range r.versions.List {
			if h, err := v.Head(ctx); err == nil && !v.Deleted {
				r.heads[v.ID] = h
			}
		}
	}
	r.bad = r.fetch(ctx, out)
	if r.bad != nil {
		return r, ctx.Err()
	}
	r.serial = r.above()
	if r.shut() {
		r.mending(ctx, out)
	}
	return r, ctx.Err()
}

// shut reports whether no program can open the present state: it cannot be read,
// or what the backend keeps beside it does not fit.
func (r restoreInput) shut() bool { return r.now.Broken || r.lock.Digest == "mismatch" }

// fetch reads what is to be written.
func (r *restoreInput) fetch(ctx context.Context, out steps.Sink) error {
	switch {
	case r.version != "" && r.file != "":
		return errors.New("both a version and a file are named: name one")
	case r.file != "":
		f, err := steps.OpenRegular(r.file)
		if err != nil {
			return err
		}
		defer f.Close()
		r.from.Where = r.file
		if info, err := f.Stat(); err == nil {
			r.from.Written = info.ModTime()
		}
		return r.from.Fill(ctx, f, out.Secret)
	case r.version == "":
		return errors.New("neither a version nor a file is named")
	case r.noList != nil:
		return fmt.Errorf("the versions could not be listed: %w", r.noList)
	}
	for _, v := range r.versions.List {
		if v.ID != r.version {
			continue
		}
		if v.Deleted {
			return fmt.Errorf("version %s is the mark of a deletion", r.version)
		}
		if v.Current {
			return fmt.Errorf("version %s is the present one", r.version)
		}
		body, err := v.Open(ctx, 0)
		if err != nil {
			return fmt.Errorf("version %s: %w", r.version, err)
		}
		defer body.Close()
		r.from.Where, r.from.Written = "version "+r.version, v.Written
		return r.from.Fill(ctx, body, out.Secret)
	}
	why := "not among the versions that the backend keeps"
	if !r.versions.Kept {
		why = r.versions.Why
	}
	return fmt.Errorf("version %s cannot be had: %s", r.version, why)
}

// above is a serial higher than that of every write that is known.
func (r restoreInput) above() int64 {
	top := r.from.Doc.Serial
	if r.now.Doc != nil && r.now.Doc.HasSerial {
		top = max(top, r.now.Doc.Serial)
	}
	for _, h := range r.heads {
		if h.Lineage == r.from.Doc.Lineage {
			top = max(top, h.Serial)
		}
	}
	return top + 1
}

// mostLeap is how far above the serial in the file a push may leave the state.
const mostLeap = 2

// stored is the serial that a push of other content leaves: on the local backend
// tofu adds two to that in the file and terraform one, on the others both add one.
func (r restoreInput) stored() int64 {
	if r.s.Name() == "local" && r.program.Product != module.Terraform {
		return r.pushed() + mostLeap
	}
	return r.pushed() + 1
}

// pushed is the serial in the file that is pushed; a mended state has the one
// below it.
func (r restoreInput) pushed() int64 {
	if r.now.Broken {
		return r.serial + 1
	}
	return r.serial
}

// mending finds out how what no program can read is replaced first.
func (r *restoreInput) mending(ctx context.Context, out steps.Sink) {
	m, ok := r.s.(backend.Repairer)
	if !ok {
		r.noMend = fmt.Errorf("handrail cannot replace it on the backend %s", r.s.Name())
		return
	}
	content, err := reserial(r.from.Raw, r.serial)
	if err != nil {
		r.noMend = err
		return
	}
	mend, err := m.Repair(ctx, r.w, backend.Found{Raw: r.now.Raw, Broken: r.now.Broken}, content, out)
	if err != nil {
		r.noMend = err
		return
	}
	r.mend = &mend
}

func (r restoreInput) target() []steps.KV {
	sum, content := "unknown", "unknown"
	if r.bad == nil {
		sum, content = r.from.Sum(), state.Sum(r.from.Entries)
	}
	return r.site.target(
		steps.KV{Key: keyVersion, Value: r.version},
		steps.KV{Key: keyFile, Value: r.file},
		steps.KV{Key: keyRestored, Value: sum},
		steps.KV{Key: keyContent, Value: content},
		steps.KV{Key: keyPushed, Value: strconv.FormatInt(r.pushed(), 10)},
	)
}

// id is how a person names what is restored.
func (r restoreInput) id() string {
	if r.version != "" || r.bad != nil {
		return r.version
	}
	return r.from.Sum()[:12]
}

// Preview implements steps.Gater.
func (g RestoreGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	r, err := g.read(ctx, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	return r.preview(g.Env), nil
}

func (r restoreInput) preview(env steps.Env) steps.Preview {
	p := steps.Preview{
		Target:  r.target(),
		Phrase:  steps.Phrase("restore-state "+r.w.Space, r.id()),
		Request: r.request("state", "push", "-no-color", "-"),
		Command: r.said(env, "state", "push", "FILE"),
	}
	f := floors{need: &p.Unmet}
	f.writable(env, r.site)
	p.Owners = r.others()
	if r.bad != nil {
		f.unmet("name another version; terraform/versions and terraform/state-files list them", "It cannot be restored: %s.", strings.TrimSuffix(r.bad.Error(), "."))
		p.Effect, p.Undo = "write an earlier version of the state as a new one", "nothing is written"
		return p
	}
	p.Effect = fmt.Sprintf("write %s (serial %d, %d resources) as the newest state of %s (workspace %s), with serial %d or one just above it. Nothing else is changed: what was made since that version is recorded nowhere then, and what was destroyed since is recorded again. No version is deleted.",
		r.name(), r.from.Doc.Serial, r.from.Doc.Managed, r.w.Dir, r.w.Space, r.pushed())
	p.Request += fmt.Sprintf(", which reads %s with its serial set to %d, every other byte as it is", r.name(), r.pushed())
	if r.mend != nil {
		p.Request = r.mend.Request + "; then " + p.Request
		p.Command = r.mend.Command + " && " + p.Command
	}
	f.restorable(r)
	p.Shown = append(r.shown(), r.mind(env)...)
	p.Diff = r.differences()
	p.Undo, p.Prior = r.undo(env)
	return p
}

func (r restoreInput) name() string {
	if r.version != "" {
		return "version " + r.version
	}
	return r.file
}

// restorable says what keeps a version from being written.
func (f floors) restorable(r restoreInput) {
	if was := r.lineage(); was != "" && was != r.from.Doc.Lineage {
		f.unmet("find a version of this state; another one must not take its place", "%s has the lineage %s, the state here has %s.", r.name(), steps.Clip(r.from.Doc.Lineage, 60), steps.Clip(was, 60))
	}
	if r.unsound == nil && !r.shut() && state.Compare(r.now.Entries, r.from.Entries).None() && r.now.Doc.OutputSum == r.from.Doc.OutputSum {
		f.unmet("nothing needs to be restored; plan", "The present state records the same already.")
	}
	if r.unsound != nil && !r.now.Broken && !errors.Is(r.unsound, state.ErrAbsent) {
		f.unmet("make it readable first, or ask someone who can read it", "The present state cannot be replaced: %s.", strings.TrimSuffix(r.unsound.Error(), "."))
	}
	if r.shut() && r.noMend != nil {
		f.unmet("put the version in its place with the tools of the backend (a copy of the object, never a deletion), then look again",
			"No program writes over a state that it cannot open, with -force neither: %v.", r.noMend)
	}
}

// lineage is that of the state here, by the newest write that says one.
func (r restoreInput) lineage() string {
	if r.now.Doc != nil && r.now.Doc.Lineage != "" {
		return r.now.Doc.Lineage
	}
	for _, v := range r.versions.List {
		if h, ok := r.heads[v.ID]; ok && v.ID != r.version && v.ID != "errored.tfstate" {
			return h.Lineage
		}
	}
	return ""
}

// mostShown bounds the table of versions.
const mostShown = 12

func (r restoreInput) shown() []steps.KV {
	present := "none"
	switch {
	case r.now.Broken:
		present = "cannot be read: " + r.unsound.Error()
	case r.unsound == nil:
		present = fmt.Sprintf("serial %d, %d resources", r.now.Doc.Serial, r.now.Doc.Managed)
	}
	out := []steps.KV{
		{Key: "present state", Value: present},
		{Key: "restored", Value: fmt.Sprintf("serial %d, %d resources, written %s by version %s", r.from.Doc.Serial, r.from.Doc.Managed, r.from.Time(), prose.OrUnknown(steps.Clip(r.from.Doc.Tool, 40)))},
	}
	if r.unsound == nil {
		out = append(out, steps.KV{Key: "resources", Value: fmt.Sprintf("%d -> %d (%+d)", r.now.Doc.Managed, r.from.Doc.Managed, r.from.Doc.Managed-r.now.Doc.Managed)})
	}
	out = append(out, steps.KV{Key: "FILE", Value: fmt.Sprintf("a copy of %s with its serial set to %d", r.name(), r.pushed())})
	if r.lineage() == "" {
		out = append(out, steps.KV{Key: "lineage", Value: "unknown: nothing here says which lineage the state had; " + r.name() + " has " + steps.Clip(r.from.Doc.Lineage, 60)})
	}
	if left := filepath.Join(r.w.Dir, "errored.tfstate"); r.file != left {
		if _, err := os.Lstat(left); err == nil {
			out = append(out, steps.KV{Key: "errored.tfstate", Value: left + " lies here: what a run made and could not save is recorded in it alone; compare it first"})
		}
	}
	if r.lock.Digest == "mismatch" {
		out = append(out, steps.KV{Key: "digest", Value: "not that of the stored state, so that no program opens it; it is mended first"})
	}
	if r.now.Broken && len(r.now.Raw) > 0 {
		out = append(out, steps.KV{Key: "broken copy", Value: fmt.Sprintf("%d bytes, SHA-256 %s", len(r.now.Raw), r.now.Sum())})
	}
	if r.noList != nil {
		return append(out, steps.KV{Key: "versions", Value: "unknown: " + r.noList.Error()})
	}
	for i, v := range r.versions.List {
		if i == mostShown {
			return append(out, steps.KV{Key: "versions", Value: fmt.Sprintf("%d more are not shown", len(r.versions.List)-i)})
		}
		out = append(out, steps.KV{Key: "version", Value: r.row(v)})
	}
	return out
}

// row is one line of the table of versions.
func (r restoreInput) row(v backend.Version) string {
	text := prose.OrUnknown(v.ID) + ", " + state.Ledger{Written: v.Written}.Time()
	if h, ok := r.heads[v.ID]; ok {
		text += fmt.Sprintf(", serial %d", h.Serial)
		if h.Lineage != r.from.Doc.Lineage {
			text += ", another lineage"
		}
	} else if v.Deleted {
		text += ", deleted"
	} else {
		text += ", cannot be read"
	}
	switch {
	case v.Current:
		text += ", the present one"
	case v.ID == r.version:
		text += ", the one that is restored"
	case v.What != "":
		text += ": " + v.What
	}
	return text
}

// mostDiffered bounds the lines of what differs.
const mostDiffered = 200

func (r restoreInput) differences() []string {
	if r.now.Broken {
		return nil
	}
	d, err := tfstate.Compare(bytes.NewReader(r.now.Raw), bytes.NewReader(r.from.Raw))
	if err != nil || r.unsound != nil {
		return nil
	}
	var out []string
	for _, part := range []struct {
		sign string
		list []string
	}{{"- ", d.MissingList}, {"+ ", d.AddedList}, {"~ ", d.ChangedList}} {
		for _, a := range part.list {
			if len(out) == mostDiffered {
				return append(out, "more is not shown")
			}
			out = append(out, part.sign+a)
		}
	}
	for _, m := range d.MovedList {
		out = append(out, "- "+m.From, "+ "+m.To)
	}
	if d.Outputs {
		out = append(out, "~ outputs")
	}
	return out
}

// undo is how the present state comes back.
func (r restoreInput) undo(env steps.Env) (string, *steps.Prior) {
	switch {
	case errors.Is(r.unsound, state.ErrAbsent):
		return "There is no state now, and nothing to go back to.", nil
	case r.now.Broken && len(r.now.Raw) == 0:
		return "Nothing puts a broken state back: no program takes it.", nil
	case r.now.Broken:
		return "Nothing puts a broken state back: no program takes it. Its bytes are kept to be looked at.", &steps.Prior{
			Media: steps.MediaState, Raw: r.now.Raw, Back: "cat > broken.tfstate", Optional: r.mend != nil && r.mend.Keeps,
		}
	}
	raw, err := reserial(r.now.Raw, r.stored()+1)
	if err != nil {
		return "It cannot be undone: " + err.Error(), nil
	}
	return strings.Replace(undoWrite, "raised by two", "raised above the one of the restore", 1), &steps.Prior{Media: steps.MediaState, Raw: raw, Back: r.said(env, "state", "push", "-")}
}
