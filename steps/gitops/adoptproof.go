package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/gitops/adopt"
	"handrail/steps/gitops/manifests"
	"handrail/steps/gitops/render"
)

// unit are edits that are one: fields that go with what holds them.
type unit []adopt.Edit

func (u unit) in(file string) unit {
	out := slices.Clone(u)
	for i := range out {
		out[i].In = file
	}
	return out
}

func (a *adoption) leaveAll(u unit, format string, args ...any) {
	for _, e := range u {
		a.leave(e.Object, e.At, format, args...)
	}
}

// prove makes the change, of what comes out as it should when it is rendered.
func (a *adoption) prove(ctx context.Context, edits []adopt.Edit) (err error) {
	if a.files, err = manifests.FilesAt(ctx, a.env, a.a, a.clone, a.wanted.Revision); err != nil {
		return err
	}
	// What was rendered before is as the sides were compared, which hides values.
	made, err := manifests.Made(ctx, a.env, a.c, a.a, a.from, a.wanted.Revision, a.files)
	if err != nil {
		return err
	}
	a.first = made.Objects
	var all []unit
	for _, u := range units(edits) {
		placed, err := a.place(ctx, u)
		if err != nil {
			return err
		}
		if placed != nil {
			all = append(all, placed)
		}
	}
	all = a.shown(all)
	why, err := a.check(ctx, all...)
	if err != nil {
		return err
	}
	if why != "" { // one of them is to blame
		if all, err = a.alone(ctx, all); err != nil {
			return err
		}
		if why, err = a.check(ctx, all...); err != nil {
			return err
		}
	}
	if why != "" {
		for _, u := range all {
			a.leaveAll(u, "%s", why)
		}
		return nil
	}
	c := a.change(all)
	a.to.Files, a.to.Taken, a.to.Left = c.Files, c.Taken, append(a.to.Left, c.Left...)
	return nil
}

// units puts edits together that take the same part of a file away.
func units(edits []adopt.Edit) []unit {
	var out []unit
	by := map[string]int{}
	for _, e := range edits {
		key := e.Object + "\n" + strings.Join(e.Path, "\n")
		if i, has := by[key]; has && e.Gone {
			out[i] = append(out[i], e)
			continue
		}
		by[key] = len(out)
		out = append(out, unit{e})
	}
	return out
}

func (a *adoption) change(all []unit) adopt.Change {
	return adopt.Make(a.wanted.Revision, a.files, slices.Concat(all...))
}

// place finds the file for edits: the only one that has the field, or of several the only one whose change comes out. A kustomization
// may have given the object another name. It leaves what has none, and returns nil.
func (a *adoption) place(ctx context.Context, u unit) (unit, error) {
	names, why := adopt.Places(a.files, u[0], false)
	if len(names) == 0 && a.wanted.Tool != render.Directory {
		if loose, _ := adopt.Places(a.files, u[0], true); len(loose) > 0 {
			names = loose
		}
	}
	switch len(names) {
	case 0:
		a.leaveAll(u, "%s", why)
		return nil, nil
	case 1:
		return u.in(names[0]), nil
	}
	var proven []string
	for _, name := range names {
		off, err := a.check(ctx, u.in(name))
		switch {
		case err != nil:
			return nil, err
		case off == "":
			proven = append(proven, name)
		default:
			why = off
		}
	}
	switch len(proven) {
	case 1:
		return u.in(proven[0]), nil
	case 0:
		a.leaveAll(u, "%d files have it, and none of them brings it alone: %s", len(names), why)
	default:
		a.leaveAll(u, "each of %s brings it: decide where it belongs", strings.Join(proven, ", "))
	}
	return nil, nil
}

// shown leaves the edits of files whose patch would hold what is hidden: what is kept of it could not be applied.
func (a *adoption) shown(all []unit) []unit {
	red, is := a.out.(steps.RedactingSink)
	if !is {
		return all
	}
	hidden := map[string]bool{}
	for _, f := range a.change(all).Files {
		patch := f.Patch()
		kept, err := red.Redacted(steps.MediaText, patch)
		hidden[f.Path] = err != nil || !bytes.Equal(kept, patch)
	}
	return slices.DeleteFunc(all, func(u unit) bool {
		if hidden[u[0].In] {
			a.leaveAll(u, "what stands beside it in %s is hidden as a secret, so no patch of it can be kept", u[0].In)
		}
		return hidden[u[0].In]
	})
}

// alone takes the edits that come out by themselves, and leaves the others.
func (a *adoption) alone(ctx context.Context, all []unit) ([]unit, error) {
	var out []unit
	for _, u := range all {
		why, err := a.check(ctx, u)
		switch {
		case err != nil:
			return nil, err
		case why != "":
			a.leaveAll(u, "%s", why)
		default:
			out = append(out, u)
		}
	}
	return out, nil
}

// check renders the files with edits, and says what does not come out as it should; "" where all does. The error is of what could not
// be found out.
func (a *adoption) check(ctx context.Context, all ...unit) (string, error) {
	c := a.change(all)
	switch {
	case len(c.Left) > 0:
		return c.Left[0].Why, nil
	case len(c.Taken) == 0:
		return "", nil
	case a.rendered == mostRenderings:
		return fmt.Sprintf("which of the files has it is not known after %d renderings", mostRenderings), nil
	}
	a.rendered++
	made, err := manifests.Made(ctx, a.env, a.c, a.a, a.from, a.wanted.Revision, c.With(a.files))
	switch {
	case ctx.Err() != nil:
		return "", errors.Join(ctx.Err(), err)
	case err != nil:
		return "changed so, it does not render: " + steps.OneLine(err.Error(), 300), nil
	}
	return a.off(made.Objects, c.Taken), nil
}

// off says what of a rendering is not as it should be: exactly the fields that were taken are as they are live.
func (a *adoption) off(now []map[string]any, taken []adopt.Field) string {
	if len(now) != len(a.first) {
		return "changed so, other objects come out"
	}
	due := map[string]bool{}
	for _, f := range taken {
		due[f.Object+" "+f.At] = true
	}
	touched := map[string]bool{}
	for _, f := range taken {
		touched[f.Object] = true
	}
	for i, was := range a.first {
		of, _, _ := a.resourceOf(was)
		to, _, _ := a.resourceOf(now[i])
		name := of.String()
		switch {
		case to.String() != name || was["apiVersion"] != now[i]["apiVersion"]:
			return "changed so, other objects come out"
		case !touched[name] && !same(was, now[i]):
			return "changed so, " + name + " comes out otherwise, too"
		}
		is := leaves(now[i])
		for _, at := range slices.Sorted(maps.Keys(apart(was, now[i]))) {
			if !due[name+" "+at] {
				return "changed so, " + name + " " + at + " comes out otherwise, too"
			}
			if !same(is[at], a.live[name][at]) {
				return "changed so, it does not come out as it is live"
			}
			delete(due, name+" "+at)
		}
	}
	if len(due) > 0 {
		return "changed so, it comes out as before"
	}
	return ""
}
