package state

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/prose"
)

// VersionFacts are the facts of terraform/versions.
func VersionFacts() []steps.Field {
	return []steps.Field{
		{Name: "kept", Type: steps.Bool, Doc: "whether the backend keeps more than the last write"},
		{Name: "count", Type: steps.Int, Doc: "versions that were listed, the current one among them"},
		{Name: "more", Type: steps.Bool, Doc: "whether there are older ones that were not listed"},
		{Name: "newest", Type: steps.Time, Doc: "when the last write was made, by the clock of the backend"},
		{Name: "newest_id", Type: steps.Ident, Doc: "id of the last write"},
		{Name: "serial", Type: steps.Int, Doc: "serial of the last write"},
		{Name: "lineage", Type: steps.Ident, Doc: "lineage of the last write"},
		{Name: "ids", Type: steps.Strings, Doc: "ids, newest first"},
		{Name: "versions", Type: steps.Table, Doc: "by id: time, bytes, serial and lineage"},
		{Name: "writes_since", Type: steps.Int, Doc: "writes after the parameter since"},
		{Name: "moved", Type: steps.Bool, Doc: "whether the serial is another than the parameter serial: a writer is alive, or was"},
		{Name: "write_burst", Type: steps.Bool, Doc: "whether writes lie within 90 seconds of each other, among those listed"},
		{Name: "racing", Type: steps.Bool, Doc: "whether a burst proves two writers: a serial repeated or went back, or tools or lineages differ"},
		{Name: "last_clean", Type: steps.String, Doc: "id of the newest sound write before the first burst of two writers"},
		{Name: "backend", Type: steps.Enum, Values: backend.Names(), Doc: "type of the backend"},
	}
}

// VersionsProbe is terraform/versions.
type VersionsProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p VersionsProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	_, s, err := backend.OpenAt(ctx, p.Env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	limit := int(min(max(in.Int("limit"), 1), backend.MostVersions))
	v, err := s.Versions(ctx, limit)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("versions: %w", err)
	}
	obs := steps.Observation{Command: s.Command("versions")}
	f := steps.NewFacts(VersionFacts())
	f.Set("backend", steps.EnumOf(s.Name()))
	f.Set("kept", steps.BoolOf(v.Kept))
	f.Set("count", steps.IntOf(int64(len(v.List))))
	f.Set("more", steps.BoolOf(v.More))
	heads, err := readHeads(ctx, v.List, f, &obs)
	if err != nil {
		return steps.Observation{}, err
	}
	if !v.Kept {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: "Nothing but the last write can be had: " + v.Why + "."})
	}
	newest(v, in, f, heads, &obs)
	if err := bursts(ctx, v, f, heads, &obs); err != nil {
		return steps.Observation{}, err
	}
	obs.Facts = f.Rest("there is no state")
	return obs, nil
}

// readHeads reads the start of each version. One that cannot be read leaves its
// own row without serial, and nothing else.
func readHeads(ctx context.Context, list []backend.Version, f steps.Facts, obs *steps.Observation) (map[string]backend.Head, error) {
	heads, rows := map[string]backend.Head{}, map[string]string{}
	var ids []string
	for _, v := range list {
		text := "at an unknown time"
		if !v.Written.IsZero() {
			text = v.Written.UTC().Format(time.RFC3339)
		}
		text += fmt.Sprintf(", %d bytes", v.Size)
		switch h, err := v.Head(ctx); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case v.Deleted:
			text += ", deleted"
		case err != nil:
			text += ", unread"
			obs.Gaps = append(obs.Gaps, fmt.Sprintf("version %s: %v", prose.OrUnknown(v.ID), err))
		default:
			heads[v.ID] = h
			text += fmt.Sprintf(", serial %d, lineage %s", h.Serial, steps.Clip(h.Lineage, 60))
		}
		if v.What != "" {
			text += ": " + v.What
		}
		ids, rows[v.ID] = append(ids, v.ID), text
	}
	f.Set("ids", steps.StringsOf(ids))
	f.Set("versions", steps.TableOf(rows))
	return heads, nil
}

// newest says what the last write is, and how it stands to an earlier reading.
func newest(v backend.VersionList, in steps.Params, f steps.Facts, heads map[string]backend.Head, obs *steps.Observation) {
	if len(v.List) == 0 {
		obs.Summary = "There is no state, and no version of one."
		return
	}
	last := v.List[0]
	obs.Summary = fmt.Sprintf("%s of the state, the last of %s.", prose.Plural(len(v.List), "version"), last.Written.UTC().Format(time.RFC3339))
	if last.Written.IsZero() {
		obs.Summary = prose.Plural(len(v.List), "version") + " of the state."
		f.Unknown("the backend does not say when the state was written", "newest", "writes_since")
	} else {
		f.Set("newest", steps.TimeOf(last.Written))
	}
	if last.ID != "" {
		f.Set("newest_id", steps.IdentOf(last.ID))
	} else {
		f.Unknown("the backend has no ids for its writes", "newest_id")
	}
	f.Unknown("give the parameter serial, as it was read before", "moved")
	h, ok := heads[last.ID]
	switch {
	case last.Deleted:
		f.Unknown("the last write deleted the state", "serial", "lineage", "moved")
	case !ok:
		f.Unknown("the last write could not be read", "serial", "lineage", "moved")
	default:
		f.Set("serial", steps.IntOf(h.Serial))
		f.Set("lineage", steps.IdentOf(h.Lineage))
		if before := in["serial"]; before.Known() {
			f.Set("moved", steps.BoolOf(before.Int() != h.Serial))
			if before.Int() != h.Serial {
				obs.Say(steps.Critical, "The serial moved from %d to %d since it was read: a writer is alive, or was a moment ago.", before.Int(), h.Serial)
			}
		}
	}
	since(v, in, f, obs)
}

// since counts the writes after a moment, as that of a lock.
func since(v backend.VersionList, in steps.Params, f steps.Facts, obs *steps.Observation) {
	at := in["since"]
	switch {
	case !at.Known():
		f.Unknown("give the parameter since, as the time of a lock", "writes_since")
		return
	case v.List[0].Written.IsZero():
		return
	case !v.Kept:
		f.Unknown("the backend keeps the last write alone, so that writes cannot be counted", "writes_since")
		return
	}
	n := 0
	for _, w := range v.List {
		switch {
		case w.What != "":
		case w.Written.After(at.Time()):
			n++
		case w.Written.Truncate(time.Second).Equal(at.Time().Truncate(time.Second)): // some backends keep whole seconds
			f.Unknown("a version was written in that very second, before or after", "writes_since")
			return
		}
	}
	if n == len(v.List) && v.More {
		f.Unknown(strconv.Itoa(n)+" or more: not all versions were listed", "writes_since")
		return
	}
	f.Set("writes_since", steps.IntOf(int64(n)))
	if n > 0 {
		obs.Say(steps.Info, "%d writes came after %s: the holder of the lock was alive that long.", n, at.Time().UTC().Format(time.RFC3339))
	}
}
