package terraform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/jsonscan"
)

const (
	// mostVersions bounds what one reading lists.
	mostVersions = 200
	// headBytes is where serial and lineage stand in every state that a tool wrote.
	headBytes = 64 << 10
)

// version is one write of a state that can still be read.
type version struct {
	id      string
	written time.Time
	size    int64
	current bool
	deleted bool // a mark that the state was deleted
	what    string
	// open reads it from its start: its first bytes up to a limit, or all of it where that is 0.
	open func(ctx context.Context, limit int64) (io.ReadCloser, error)
}

// versionList are the writes that a backend kept, newest first.
type versionList struct {
	kept bool
	why  string // why none but the current one is kept
	list []version
	more bool // older ones are not listed
}

// cut sorts the versions and keeps the newest.
func (v *versionList) cut(limit int) {
	slices.SortStableFunc(v.list, func(a, b version) int {
		if a.current != b.current { // the current one may have the time of another
			if a.current {
				return -1
			}
			return 1
		}
		return b.written.Compare(a.written)
	})
	if len(v.list) > limit {
		v.list, v.more = v.list[:limit], true
	}
}

// onlyCurrent is the list of a backend that keeps the last write alone.
func onlyCurrent(ctx context.Context, s store, why string) (versionList, error) {
	out := versionList{why: why}
	r, err := s.state(ctx)
	if err != nil || !r.exists {
		return out, err
	}
	if r.body == nil {
		return out, errors.New(r.broken)
	}
	out.list = []version{{id: r.version, written: r.written, size: r.size, current: true, open: again(r.body)}}
	return out, nil
}

// again opens the one body of a state as often as it is asked for.
func again(body io.ReadSeekCloser) func(context.Context, int64) (io.ReadCloser, error) {
	first := true
	return func(context.Context, int64) (io.ReadCloser, error) {
		if !first {
			if _, err := body.Seek(0, io.SeekStart); err != nil {
				return nil, err
			}
		}
		first = false
		return body, nil
	}
}

// stateHead is what stands at the start of a state.
type stateHead struct {
	serial  int64
	lineage string
	tool    string // "" where it comes later, or not at all
}

// parseHead reads serial and lineage and stops there.
func parseHead(r io.Reader) (stateHead, error) {
	var h stateHead
	var serial, lineage bool
	doc := jsonscan.New(io.LimitReader(r, headBytes))
	found := errors.New("found")
	err := doc.Object(func(key string) error {
		var err error
		switch key {
		case "serial":
			h.serial, serial, err = doc.Int()
		case "lineage":
			h.lineage, lineage, err = doc.TextOr(512)
		case "terraform_version":
			h.tool, _, err = doc.TextOr(512)
		default:
			err = doc.Skip()
		}
		if err == nil && serial && lineage {
			return found
		}
		return err
	})
	var syntax *jsonscan.SyntaxError
	switch {
	case errors.Is(err, found):
		return h, nil
	case err == nil:
		err = errors.New("it has no serial or no lineage")
	case errors.As(err, &syntax) && syntax.Ended:
		err = fmt.Errorf("its first %d bytes hold no serial and lineage", headBytes)
	}
	return stateHead{}, err
}

func versionFacts() []steps.Field {
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
		{Name: "backend", Type: steps.Enum, Values: backends(), Doc: "type of the backend"},
	}
}

type versionsProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p versionsProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	_, s, err := open(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	limit := int(min(max(in.Int("limit"), 1), mostVersions))
	v, err := s.versions(ctx, limit)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("versions: %w", err)
	}
	obs := steps.Observation{Command: s.command("versions")}
	f := steps.NewFacts(versionFacts())
	f.Set("backend", steps.EnumOf(s.name()))
	f.Set("kept", steps.BoolOf(v.kept))
	f.Set("count", steps.IntOf(int64(len(v.list))))
	f.Set("more", steps.BoolOf(v.more))
	heads, err := readHeads(ctx, v.list, f, &obs)
	if err != nil {
		return steps.Observation{}, err
	}
	if !v.kept {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: "Nothing but the last write can be had: " + v.why + "."})
	}
	v.newest(in, f, heads, &obs)
	if err := v.bursts(ctx, f, heads, &obs); err != nil {
		return steps.Observation{}, err
	}
	obs.Facts = f.Rest("there is no state")
	return obs, nil
}

// readHeads reads the start of each version. One that cannot be read leaves its
// own row without serial, and nothing else.
func readHeads(ctx context.Context, list []version, f steps.Facts, obs *steps.Observation) (map[string]stateHead, error) {
	heads, rows := map[string]stateHead{}, map[string]string{}
	var ids []string
	for _, v := range list {
		text := "at an unknown time"
		if !v.written.IsZero() {
			text = v.written.UTC().Format(time.RFC3339)
		}
		text += fmt.Sprintf(", %d bytes", v.size)
		switch h, err := v.head(ctx); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case v.deleted:
			text += ", deleted"
		case err != nil:
			text += ", unread"
			obs.Gaps = append(obs.Gaps, fmt.Sprintf("version %s: %v", orUnknown(v.id), err))
		default:
			heads[v.id] = h
			text += fmt.Sprintf(", serial %d, lineage %s", h.serial, clip(h.lineage, 60))
		}
		if v.what != "" {
			text += ": " + v.what
		}
		ids, rows[v.id] = append(ids, v.id), text
	}
	f.Set("ids", steps.StringsOf(ids))
	f.Set("versions", steps.TableOf(rows))
	return heads, nil
}

func (v version) head(ctx context.Context) (stateHead, error) {
	if v.deleted {
		return stateHead{}, nil
	}
	body, err := v.open(ctx, headBytes)
	if err != nil {
		return stateHead{}, err
	}
	defer body.Close()
	return parseHead(bounded(ctx, body))
}

// newest says what the last write is, and how it stands to an earlier reading.
func (v versionList) newest(in steps.Params, f steps.Facts, heads map[string]stateHead, obs *steps.Observation) {
	if len(v.list) == 0 {
		obs.Summary = "There is no state, and no version of one."
		return
	}
	last := v.list[0]
	obs.Summary = fmt.Sprintf("%d versions of the state, the last of %s.", len(v.list), last.written.UTC().Format(time.RFC3339))
	if last.written.IsZero() {
		obs.Summary = fmt.Sprintf("%d versions of the state.", len(v.list))
		f.Unknown("the backend does not say when the state was written", "newest", "writes_since")
	} else {
		f.Set("newest", steps.TimeOf(last.written))
	}
	if last.id != "" {
		f.Set("newest_id", steps.IdentOf(last.id))
	} else {
		f.Unknown("the backend has no ids for its writes", "newest_id")
	}
	f.Unknown("give the parameter serial, as it was read before", "moved")
	h, ok := heads[last.id]
	switch {
	case last.deleted:
		f.Unknown("the last write deleted the state", "serial", "lineage", "moved")
	case !ok:
		f.Unknown("the last write could not be read", "serial", "lineage", "moved")
	default:
		f.Set("serial", steps.IntOf(h.serial))
		f.Set("lineage", steps.IdentOf(h.lineage))
		if before := in["serial"]; before.Known() {
			f.Set("moved", steps.BoolOf(before.Int() != h.serial))
			if before.Int() != h.serial {
				obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical, Say: fmt.Sprintf("The serial moved from %d to %d since it was read: a writer is alive, or was a moment ago.", before.Int(), h.serial)})
			}
		}
	}
	v.since(in, f, obs)
}

// since counts the writes after a moment, as that of a lock.
func (v versionList) since(in steps.Params, f steps.Facts, obs *steps.Observation) {
	at := in["since"]
	switch {
	case !at.Known():
		f.Unknown("give the parameter since, as the time of a lock", "writes_since")
		return
	case v.list[0].written.IsZero():
		return
	case !v.kept:
		f.Unknown("the backend keeps the last write alone, so that writes cannot be counted", "writes_since")
		return
	}
	n := 0
	for _, w := range v.list {
		if w.what == "" && w.written.After(at.Time()) {
			n++
		}
	}
	if n == len(v.list) && v.more {
		f.Unknown(strconv.Itoa(n)+" or more: not all versions were listed", "writes_since")
		return
	}
	f.Set("writes_since", steps.IntOf(int64(n)))
	if n > 0 {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info, Say: fmt.Sprintf("%d writes came after %s: whoever held the lock then was alive that long.", n, at.Time().UTC().Format(time.RFC3339))})
	}
}
