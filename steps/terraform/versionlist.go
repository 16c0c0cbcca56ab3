package terraform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"handrail/steps/terraform/jsonscan"
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

const (
	// mostVersions bounds what one reading lists.
	mostVersions = 200
	// headBytes is where serial and lineage stand in every state that a tool wrote.
	headBytes = 64 << 10
)

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

// keptBefore is what a backend kept before it wrote over it.
const keptBefore = "snapshot"
