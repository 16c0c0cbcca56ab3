package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"handrail/session/index/depot"
	"handrail/session/index/depot/bucket"
	"handrail/session/index/depot/registry"
)

const places = "a directory, s3://BUCKET/PREFIX or oci://HOST/REPOSITORY"

// farScheme is the scheme of a place behind a network, "" for any other place.
func farScheme(place string) string {
	for _, s := range []string{bucket.Scheme, registry.Scheme} {
		if strings.HasPrefix(place, s) {
			return s
		}
	}
	return ""
}

// far opens a place behind a network.
func (p *program) far(ctx context.Context, place string) (depot.Store, error) {
	if farScheme(place) == registry.Scheme {
		r, err := registry.Open(place)
		if err != nil {
			return nil, depotError(err)
		}
		return r, nil
	}
	b, err := bucket.Open(ctx, place)
	if err != nil {
		return nil, depotError(err)
	}
	if plain := b.Plain(); plain != "" {
		fmt.Fprintf(p.stderr, "%s is not encrypted: what goes over it can be read on its way.\n", safe(plain))
	}
	return b, nil
}

// farBundle opens the place of a bundle behind a network, and tells its id.
func (p *program) farBundle(ctx context.Context, place string) (depot.Store, string, error) {
	read := bucket.Bundle
	if farScheme(place) == registry.Scheme {
		read = registry.Bundle
	}
	where, id, err := read(place)
	if err != nil {
		return nil, "", depotError(err)
	}
	store, err := p.far(ctx, where)
	return store, id, err
}

// outgoing is where bundles are packed before they travel.
func (p *program) outgoing() (string, error) {
	dir, err := p.stateDir()
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
	case farScheme(place) != "":
		return "", usage("bring the bundles here with `handrail bundle pull`", "%s:// holds packed bundles, which are not read where they lie", scheme)
	}
	return "", usage("give "+places, "%q is no place for bundles", scheme+"://…")
}

// received says what came of a copy.
func (p *program) received(r depot.Received, err error) error {
	if err != nil {
		return depotError(err)
	}
	if r.Already {
		fmt.Fprintf(p.stderr, "%s is there already, with the same contents.\n", safe(r.Path))
	} else {
		fmt.Fprintf(p.stderr, "%s, %s, verified.\n", counted(r.Files, "file"), counted(int(r.Bytes), "byte"))
	}
	fmt.Fprintln(p.stdout, safe(r.Path))
	return nil
}

// depotError gives what went wrong its exit code and the next safe move.
func depotError(err error) error {
	switch {
	case errors.Is(err, depot.ErrOther):
		return &problem{code: ExitTampered, err: err, next: "verify both, and find out why one id has two histories; neither was changed"}
	case errors.Is(err, depot.ErrUnverified):
		return &problem{code: ExitTampered, err: err, next: "see each property with `handrail bundle verify`; nothing was made visible"}
	case errors.Is(err, depot.ErrOlder):
		return &problem{code: ExitUsage, err: err, next: "keep the older one elsewhere first, or push to another place"}
	case errors.Is(err, depot.ErrStranger):
		return &problem{code: ExitUsage, err: err, next: "push to another place, or find out whose it is; it was not changed"}
	case errors.Is(err, depot.ErrPlace):
		return &problem{code: ExitUsage, err: err, next: "give " + places}
	case errors.Is(err, depot.ErrNone):
		return &problem{code: ExitUsage, err: err, next: "see what is there with `handrail bundle list --from PLACE`"}
	case errors.Is(err, depot.ErrTooLong):
		return &problem{code: ExitUsage, err: err, next: "push it to a directory, where it is not packed"}
	case errors.Is(err, depot.ErrBusy):
		return hint(err, "wait for it to end, then try again")
	}
	return err
}

// large is what takes long enough to be told about.
const large = 2 * depot.PartSize

// transfer tells how far a bundle is: one line that is rewritten on a terminal,
// and a line for each tenth elsewhere.
type transfer struct {
	w      io.Writer
	what   string
	redraw bool
	tenth  int64
	last   time.Time
	now    func() time.Time
	open   bool
}

func (p *program) transfer(what string) *transfer {
	return &transfer{w: p.stderr, what: what, redraw: isTerminal(p.stderr), now: p.now, tenth: -1}
}

func (t *transfer) tell(done, total int64) {
	if total < large {
		return
	}
	text := fmt.Sprintf("%s: %d of %d MB", t.what, done>>20, total>>20)
	if t.redraw {
		if now := t.now(); done == total || now.Sub(t.last) > 200*time.Millisecond {
			t.last, t.open = now, true
			fmt.Fprintf(t.w, overwrite+"%s", text)
		}
		return
	}
	if tenth := 10 * done / total; tenth != t.tenth {
		t.tenth = tenth
		fmt.Fprintln(t.w, text)
	}
}

func (t *transfer) end() {
	if t.open {
		fmt.Fprintln(t.w)
	}
}
