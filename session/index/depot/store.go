package depot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"handrail/evidence/redact"
)

var (
	// ErrNone: the Store has no bundle of this name.
	ErrNone = errors.New("no such bundle")
	// ErrTaken: something has the name already. Nothing was overwritten.
	ErrTaken = errors.New("the name is taken")
	// ErrStranger: what has the name is no packed bundle.
	ErrStranger = errors.New("something other than a bundle has this name")
	// ErrPlace: the text names no place for bundles.
	ErrPlace = errors.New("not a place for bundles")
)

// PartSize is how much a Store sends at once, and so what a broken-off push may
// have to send again.
const PartSize = 8 << 20

// Quiet is how long the other side may say nothing while it sends.
const Quiet = time.Minute

// MaxListed is how many names of one place are looked at.
const MaxListed = 10_000

// Store is a place for packed bundles behind a network. Names in it are ids.
type Store interface {
	// Place is how a person names a bundle there.
	Place(id string) string
	// Find looks for a bundle, whatever it holds; ErrNone where there is none.
	Find(ctx context.Context, id string) (BundleInfo, error)
	// Open reads a bundle that was found, from an offset on.
	Open(ctx context.Context, s BundleInfo, from int64) (io.ReadCloser, error)
	// Send stores a bundle under a name that is free, in one step, and otherwise returns ErrTaken. It is told how far
	// it is, and does not send again what an earlier Send of the same bytes left there.
	Send(ctx context.Context, p *Package, tell Progress) error
	// List names what is there.
	List(ctx context.Context) (Listing, error)
	// Secrets are the credentials in use, which no message may hold.
	Secrets() []string
}

// BundleInfo is what a Store says of a bundle. Nothing of it is verified.
type BundleInfo struct {
	ID      string
	Place   string
	Size    int64     // packed
	When    time.Time // when it was stored; zero where the Store does not tell
	Version string    // changes with the contents
	Inside  any       // the Store's own
}

// Listing is what lies in a Store.
type Listing struct {
	Bundles   []BundleInfo
	Strangers []string // names of what is no bundle
	More      bool     // there is more than MaxListed
}

// Progress is told how much of a bundle went over the network.
type Progress func(done, total int64)

var validID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$`)

// IDOf takes the id out of the name of a packed bundle.
func IDOf(name string) (string, bool) {
	id, ok := strings.CutSuffix(name, Suffix)
	return id, ok && validID.MatchString(id)
}

// List names the bundles of a Store, without the copies of those that are still
// written.
func List(ctx context.Context, from Store) (Listing, error) {
	l, err := from.List(ctx)
	l.Bundles = slices.DeleteFunc(l.Bundles, func(s BundleInfo) bool { return IsLive(s.ID) })
	return l, discreet(err, from)
}

// discreetError says what went wrong, without the credentials in use.
type discreetError struct {
	text string
	err  error
}

func (e *discreetError) Error() string { return e.text }
func (e *discreetError) Unwrap() error { return e.err }

// discreet hides credentials that the other side may have sent back.
func discreet(err error, s Store) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	var values []string
	for _, v := range s.Secrets() {
		if v != "" && strings.Contains(text, v) {
			text = strings.ReplaceAll(text, v, "<hidden>") // a short password is below what a scrubber looks for
		}
		values = append(values, v)
	}
	scrub, serr := redact.NewScrubber(values, nil)
	if serr != nil {
		return fmt.Errorf("an error is withheld, because it could not be searched for secrets: %w", serr)
	}
	if clean := scrub.Text(text); clean != err.Error() {
		return &discreetError{text: clean, err: err}
	}
	return err
}

// errQuiet ends a transfer of which nothing comes any more.
var errQuiet = fmt.Errorf("nothing received for %s", Quiet)

// patient reads from the network until it falls silent.
type patient struct {
	io.ReadCloser
	timer *time.Timer
	end   context.CancelCauseFunc
	ctx   context.Context
}

// open opens a bundle for reading that cannot hang for ever.
func open(ctx context.Context, from Store, s BundleInfo, at int64) (io.ReadCloser, error) {
	ctx, end := context.WithCancelCause(ctx)
	p := &patient{timer: time.AfterFunc(Quiet, func() { end(errQuiet) }), end: end, ctx: ctx}
	body, err := from.Open(ctx, s, at)
	if err != nil {
		p.timer.Stop()
		end(nil)
		return nil, err
	}
	p.ReadCloser = body
	return p, nil
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if n > 0 {
		p.timer.Reset(Quiet)
	}
	if cause := context.Cause(p.ctx); err != nil && cause != nil && !errors.Is(err, io.EOF) {
		err = cause
	}
	return n, err
}

func (p *patient) Close() error {
	p.timer.Stop()
	err := p.ReadCloser.Close()
	p.end(nil)
	return err
}

// IsLive reports whether a name is that of such a copy.
func IsLive(name string) bool { return strings.HasSuffix(name, liveMark) }

// liveMark ends the name of the newest copy of a bundle that is still written.
const liveMark = ".live"

// Live is the name of the newest copy of a bundle that is still written. It stands
// beside the bundle's own name, which is taken once, by the whole bundle.
func Live(id string) string { return id + liveMark }
