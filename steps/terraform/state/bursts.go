package state

import (
	"context"
	"fmt"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfstate"
)

// wholeBytes bounds what is read of versions from start to end: to tell two
// writes of one serial apart, and to find a sound one.
const wholeBytes = 1 << 30

// writes are the versions of a state, as far as they were read.
type writes struct {
	ctx   context.Context
	by    map[string]backend.Version
	whole map[string]*tfstate.Doc // of those that were read to their end
	read  int64
	obs   *steps.Observation
	short string // why not all is known
}

// bursts fills write_burst, racing and last_clean from the writes that the
// backend kept.
func bursts(ctx context.Context, v backend.VersionList, f steps.Facts, heads map[string]backend.Head, obs *steps.Observation) error {
	names := []string{"write_burst", "racing", "last_clean"}
	w := writes{ctx: ctx, by: map[string]backend.Version{}, whole: map[string]*tfstate.Doc{}, obs: obs}
	list := w.list(v.List, heads)
	if !v.Kept || len(list) == 0 {
		f.Unknown("the backend keeps the last write alone; terraform/state-files looks at the copies that lie in the directory", names...)
		return nil
	}
	list = w.once(tfstate.OldestFirst(list))
	lineage := ""
	twice(list, obs)
	if h, ok := heads[v.List[0].ID]; ok {
		lineage = h.Lineage
	}
	for {
		last, ok := tfstate.LastClean(list, lineage)
		if !ok || w.whole[last.ID] != nil || w.short != "" {
			break
		}
		for i := range list {
			if list[i].ID == last.ID {
				list[i].Doc = w.all(last.ID)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	fillBursts(list, lineage, f, obs)
	if w.short != "" {
		// What was seen stands; what was not seen proves nothing.
		if !f.Got("racing").Bool() {
			f.Unknown(w.short, "racing")
		}
		f.Unknown(w.short, "last_clean")
	}
	return nil
}

// list takes each version with what its head says, and those without one as a
// whole. Copies of what was are no writes, but on a backend that has nothing else.
func (w *writes) list(from []backend.Version, heads map[string]backend.Head) []tfstate.Version {
	var out []tfstate.Version
	for _, v := range from {
		if v.What != "" && v.What != backend.KeptBefore {
			continue
		}
		w.by[v.ID] = v
		t := tfstate.Version{ID: v.ID, At: v.Written, Size: v.Size}
		if h, ok := heads[v.ID]; ok {
			t.Doc = &tfstate.Doc{Serial: h.Serial, HasSerial: true, Lineage: h.Lineage, Tool: h.Tool}
		} else if !v.Deleted {
			t.Doc = w.all(v.ID)
		}
		out = append(out, t)
	}
	return out
}

// once leaves out versions that hold what the one before them holds, as those
// that azurerm makes of each lock: no state was written there.
func (w *writes) once(list []tfstate.Version) []tfstate.Version {
	var out []tfstate.Version
	for _, v := range list {
		if n := len(out); n > 0 && sameHead(out[n-1].Doc, v.Doc) {
			before := &out[n-1]
			before.Doc, v.Doc = w.all(before.ID), w.all(v.ID)
			if before.Doc != nil && v.Doc != nil && before.Doc.Content == v.Doc.Content && before.Doc.Content != (tfstate.Sum{}) {
				continue
			}
		}
		out = append(out, v)
	}
	return out
}

// twice finds what no single writer does: one serial for two writes, and a
// lineage that changed. What is cut off is said apart.
func twice(list []tfstate.Version, obs *steps.Observation) {
	type mark struct {
		serial  int64
		lineage string
	}
	say := func(format string, args ...any) {
		obs.Say(steps.Critical, format, args...)
	}
	seen := map[mark]string{}
	last := list[len(list)-1]
	for _, v := range list {
		if v.Doc == nil {
			continue
		}
		if v.Doc.Torn() {
			say("Version %s is %s: its write broke off, or something else than a run wrote it. That alone shows no second writer.", prose.OrUnknown(v.ID), v.Doc.Condition())
			continue
		}
		if !v.Doc.HasSerial {
			continue
		}
		m := mark{v.Doc.Serial, v.Doc.Lineage}
		if other, ok := seen[m]; ok && m.serial > 0 {
			say("Serial %d was written twice, as %s and as %s: two writers did not see each other, or an older content was put back.", m.serial, other, v.ID)
		}
		seen[m] = v.ID
		if last.Doc != nil && last.Doc.HasSerial && last.Doc.Lineage != m.lineage {
			say("Version %s has the lineage %s, the last write has %s: another state took its place.", v.ID, steps.Clip(m.lineage, 60), steps.Clip(last.Doc.Lineage, 60))
		}
	}
}

func sameHead(a, b *tfstate.Doc) bool {
	return a != nil && b != nil && a.HasSerial && b.HasSerial && a.Serial == b.Serial && a.Lineage == b.Lineage
}

// all reads one version to its end; nil where it cannot be read.
func (w *writes) all(id string) *tfstate.Doc {
	if d := w.whole[id]; d != nil {
		return d
	}
	v := w.by[id]
	if w.read += v.Size; w.read > wholeBytes {
		w.short = fmt.Sprintf("more than %d bytes would have to be read", wholeBytes)
		return nil
	}
	body, err := v.Open(w.ctx, 0)
	if err == nil {
		defer body.Close()
		var d *tfstate.Doc
		if d, err = tfstate.Read(module.Until(w.ctx, body), tfstate.Options{Sums: true}); err == nil {
			w.whole[id] = d
			return d
		}
	}
	w.short = fmt.Sprintf("version %s could not be read", prose.OrUnknown(id))
	w.obs.Gaps = append(w.obs.Gaps, fmt.Sprintf("version %s: %v", prose.OrUnknown(id), err))
	return nil
}
