package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"handrail/steps/terraform/jsonscan"
	"handrail/steps/terraform/module"
)

// Version is one write of a state that can still be read.
type Version struct {
	ID      string
	Written time.Time
	Size    int64
	Current bool
	Deleted bool // a mark that the state was deleted
	What    string
	// Open reads it from its start: its first bytes up to a limit, or all of it where that is 0.
	Open func(ctx context.Context, limit int64) (io.ReadCloser, error)
}

// VersionList are the writes that a backend kept, newest first.
type VersionList struct {
	Kept bool
	Why  string // why none but the current one is kept
	List []Version
	More bool // older ones are not listed
}

// cut sorts the versions and keeps the newest.
func (v *VersionList) cut(limit int) {
	slices.SortStableFunc(v.List, func(a, b Version) int {
		if a.Current != b.Current { // the current one may have the time of another
			if a.Current {
				return -1
			}
			return 1
		}
		return b.Written.Compare(a.Written)
	})
	if len(v.List) > limit {
		v.List, v.More = v.List[:limit], true
	}
}

// onlyCurrent is the list of a backend that keeps the last write alone.
func onlyCurrent(ctx context.Context, s Store, why string) (VersionList, error) {
	out := VersionList{Why: why}
	r, err := s.State(ctx)
	if err != nil || !r.Exists {
		return out, err
	}
	if r.Body == nil {
		return out, errors.New(r.Broken)
	}
	out.List = []Version{{ID: r.Version, Written: r.Written, Size: r.size, Current: true, Open: again(r.Body)}}
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
	// MostVersions bounds what one reading lists.
	MostVersions = 200
	// headBytes is where serial and lineage stand in every state that a tool wrote.
	headBytes = 64 << 10
)

// Head is what stands at the start of a state.
type Head struct {
	Serial  int64
	Lineage string
	Tool    string // "" where it comes later, or not at all
}

// parseHead reads serial and lineage and stops there.
func parseHead(r io.Reader) (Head, error) {
	var h Head
	var serial, lineage bool
	doc := jsonscan.New(io.LimitReader(r, headBytes))
	found := errors.New("found")
	err := doc.Object(func(key string) error {
		var err error
		switch key {
		case "serial":
			h.Serial, serial, err = doc.Int()
		case "lineage":
			h.Lineage, lineage, err = doc.TextOr(512)
		case "terraform_version":
			h.Tool, _, err = doc.TextOr(512)
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
	return Head{}, err
}

// Head reads what stands at the start of the version.
func (v Version) Head(ctx context.Context) (Head, error) {
	if v.Deleted {
		return Head{}, nil
	}
	body, err := v.Open(ctx, headBytes)
	if err != nil {
		return Head{}, err
	}
	defer body.Close()
	return parseHead(module.Until(ctx, body))
}

// KeptBefore is what a backend kept before it wrote over it.
const KeptBefore = "snapshot"
