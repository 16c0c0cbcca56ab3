package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"handrail/cli/process"
	"handrail/session/index/depot"
	"handrail/session/index/depot/bucket"
	"handrail/session/index/depot/registry"
)

const places = "a directory, s3://BUCKET/PREFIX or oci://HOST/REPOSITORY"

// FarScheme is the scheme of a place behind a network, "" for any other place.
func FarScheme(place string) string {
	for _, s := range []string{bucket.Scheme, registry.Scheme} {
		if strings.HasPrefix(place, s) {
			return s
		}
	}
	return ""
}

// far opens a place behind a network.
func far(ctx context.Context, p *process.Program, place string) (depot.Store, error) {
	if FarScheme(place) == registry.Scheme {
		r, err := registry.Open(place)
		if err != nil {
			return nil, DepotError(err)
		}
		return r, nil
	}
	b, err := bucket.Open(ctx, place)
	if err != nil {
		return nil, DepotError(err)
	}
	if plain := b.Plain(); plain != "" {
		fmt.Fprintf(p.Stderr, "%s is not encrypted: what goes over it can be read on its way.\n", process.Safe(plain))
	}
	return b, nil
}

// FarBundle opens the place of a bundle behind a network, and tells its id.
func FarBundle(ctx context.Context, p *process.Program, place string) (depot.Store, string, error) {
	read := bucket.Bundle
	if FarScheme(place) == registry.Scheme {
		read = registry.Bundle
	}
	where, id, err := read(place)
	if err != nil {
		return nil, "", DepotError(err)
	}
	store, err := far(ctx, p, where)
	return store, id, err
}

// outgoing is where bundles are packed before they travel.
func outgoing(p *process.Program) (string, error) {
	dir, err := p.StateDir()
	return filepath.Join(dir, "outgoing"), err
}

// localDir refuses places that are no directory.
func localDir(place string) (string, error) {
	scheme, rest, ok := strings.Cut(place, "://")
	switch {
	case !ok:
		return filepath.Abs(place)
	case scheme == "file" && strings.HasPrefix(rest, "/"):
		return filepath.Clean(rest), nil
	case FarScheme(place) != "":
		return "", process.Usage("bring the bundles here with `handrail bundle pull`", "%s:// holds packed bundles, which are not read where they lie", scheme)
	}
	return "", process.Usage("give "+places, "%q is not a place for bundles", scheme+"://…")
}

// received says what came of a copy.
func received(p *process.Program, r depot.Receipt, err error) error {
	if err != nil {
		return DepotError(err)
	}
	if r.Already {
		fmt.Fprintf(p.Stderr, "%s is there already, with the same contents.\n", process.Safe(r.Path))
	} else {
		fmt.Fprintf(p.Stderr, "%s, %s, verified.\n", process.Counted(r.Files, "file"), process.Counted(int(r.Bytes), "byte"))
	}
	fmt.Fprintln(p.Stdout, process.Safe(r.Path))
	return nil
}

// DepotError gives what went wrong its exit code and the next safe move.
func DepotError(err error) error {
	switch {
	case errors.Is(err, depot.ErrOther):
		return &process.Problem{Code: process.ExitTampered, Err: err, Next: "verify both, and find out why one id has two histories; neither was changed"}
	case errors.Is(err, depot.ErrUnverified):
		return &process.Problem{Code: process.ExitTampered, Err: err, Next: "see each property with `handrail bundle verify`; nothing was made visible"}
	case errors.Is(err, depot.ErrOlder):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "keep the older one elsewhere first, or push to another place"}
	case errors.Is(err, depot.ErrStranger):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "push to another place, or find out whose it is; it was not changed"}
	case errors.Is(err, depot.ErrPlace):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "give " + places}
	case errors.Is(err, depot.ErrNone):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "see what is there with `handrail bundle list --from PLACE`"}
	case errors.Is(err, depot.ErrTooLong):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "push it to a directory, where it is not packed"}
	case errors.Is(err, depot.ErrBusy):
		return process.Hint(err, "wait for it to end, then try again")
	}
	return err
}

// large is what takes long enough to be told about.
const large = 2 * depot.PartSize

// Transfer tells how far a bundle is: one line that is rewritten on a terminal,
// and a line for each tenth elsewhere.
type Transfer struct {
	W      io.Writer
	What   string
	redraw bool
	Tenth  int64
	last   time.Time
	now    func() time.Time
	open   bool
}

func transfer(p *process.Program, what string) *Transfer {
	return &Transfer{W: p.Stderr, What: what, redraw: process.IsTerminal(p.Stderr), now: p.Now, Tenth: -1}
}

func (t *Transfer) Tell(done, total int64) {
	if total < large {
		return
	}
	text := fmt.Sprintf("%s: %d of %d MB", t.What, done>>20, total>>20)
	if t.redraw {
		if now := t.now(); done == total || now.Sub(t.last) > 200*time.Millisecond {
			t.last, t.open = now, true
			fmt.Fprintf(t.W, process.Overwrite+"%s", text)
		}
		return
	}
	if tenth := 10 * done / total; tenth != t.Tenth {
		t.Tenth = tenth
		fmt.Fprintln(t.W, text)
	}
}

func (t *Transfer) End() {
	if t.open {
		fmt.Fprintln(t.W)
	}
}
