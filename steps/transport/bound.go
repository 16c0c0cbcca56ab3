package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
)

// What one answer may come to, after decompression: clients read it whole before
// they look at it, and a server can blow a megabyte up to gigabytes.
const (
	// mostTold is for what a server tells about itself, mostObject for one object
	// (etcd holds none over 8 MiB), mostListed for one page of a list or a log.
	mostTold   = 32 << 20
	mostObject = 32 << 20
	mostListed = 256 << 20
	// mostStored is for an object of a backend, which is read as it comes; what is
	// held of it at once is about as much as heldStored.
	mostStored = 2 << 30
	heldStored = 64 << 20

	// Objects of JSON cost two bytes to send and a hundred to hold.
	mostValuesTold  = 1_000_000
	mostValues      = 4_000_000
	mostInFlight    = 512 << 20
	mostToldToOne   = 4 * mostTold // over all that one client asks a server about itself
	valuesToldToOne = 2 * mostValuesTold
)

// LongAnswerError says that an answer was given up for its length.
type LongAnswerError struct {
	Method, Path string
	Why          string
}

func (e *LongAnswerError) Error() string {
	return fmt.Sprintf("the answer to %s %q was given up: %s", e.Method, e.Path, e.Why)
}

// inFlight is what all answers of this process that are being read may hold. The
// memory is the process's, so that the budget is too.
var inFlight = &budget{left: mostInFlight}

// budget is a number of bytes that many share. No reader waits for it: one that would
// go over it fails, and one that holds some of it is never held up by another.
type budget struct {
	mu   sync.Mutex
	left int64
}

func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

// share is a part of what one client may use up over its life.
type share struct{ bytes, values budget }

func newShare() *share {
	return &share{bytes: budget{left: mostToldToOne}, values: budget{left: valuesToldToOne}}
}

// bound is how much of one answer is let through.
type bound struct {
	bytes  int64
	values int64 // objects of JSON, 0 for any number
	held   int64 // how much of it counts as held at once
	told   *share
}

// boundOf tells by the request what its answer may come to; false for a stream,
// which its reader takes in parts.
func boundOf(req *http.Request, path string, stored bool, told *share) (bound, bool) {
	if stored {
		return bound{bytes: mostStored, held: heldStored}, true
	}
	if q, err := url.ParseQuery(req.URL.RawQuery); err == nil && (isSet(q, "watch") || isSet(q, "follow")) {
		return bound{}, false
	}
	t, why := parsePath(path)
	switch {
	case why != "" || t.resource == "":
		return bound{bytes: mostTold, values: mostValuesTold, held: mostTold, told: told}, true
	case t.subresource == "log":
		return bound{bytes: mostListed, held: mostListed}, true
	case t.name != "" || req.Method != http.MethodGet && req.Method != "":
		return bound{bytes: mostObject, values: mostValuesTold, held: mostObject}, true
	}
	return bound{bytes: mostListed, values: mostValues, held: mostListed}, true
}

func isSet(q url.Values, name string) bool {
	for _, v := range q[name] {
		switch v {
		case "0", "f", "F", "false", "FALSE", "False":
		default:
			return true
		}
	}
	return false
}

// answerBody counts an answer as it is read.
type answerBody struct {
	io.ReadCloser
	bound
	left  *budget
	fault func(why string) error

	mu     sync.Mutex
	seen   int64
	values int64
	took   int64 // of left
	done   bool
	err    error
}

// within lets no more of an answer through than b.
func within(resp *http.Response, b bound, left *budget, fault func(why string) error) {
	if resp.Body == nil || resp.Body == http.NoBody {
		return
	}
	resp.Body = &answerBody{ReadCloser: resp.Body, bound: b, left: left, fault: fault}
}

// Read implements io.Reader.
func (a *answerBody) Read(p []byte) (int, error) {
	a.mu.Lock()
	err := a.err
	a.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := a.ReadCloser.Read(p)
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > 0 {
		if why := a.count(p[:n]); why != "" {
			a.err = a.fault(why)
			a.release()
			return 0, a.err
		}
	}
	if err != nil {
		a.release()
	}
	return n, err
}

// count accounts for bytes that came, and says why there may be no more.
func (a *answerBody) count(p []byte) string {
	n := int64(len(p))
	a.seen += n
	if a.seen > a.bytes {
		return fmt.Sprintf("it is longer than %d MiB", a.bytes>>20)
	}
	if a.bound.values > 0 {
		v := int64(bytes.Count(p, []byte{'{'}))
		a.values += v
		if a.values > a.bound.values || a.told != nil && !a.told.values.take(v) {
			return fmt.Sprintf("it has over %d values", a.bound.values)
		}
	}
	if a.told != nil && !a.told.bytes.take(n) {
		return fmt.Sprintf("the server tells more than %d MiB about itself", mostToldToOne>>20)
	}
	if more := min(a.seen, a.held) - a.took; more > 0 && !a.done {
		if !a.left.take(more) {
			return fmt.Sprintf("all answers that are being read come to more than %d MiB; ask again when others are read", mostInFlight>>20)
		}
		a.took += more
	}
	return ""
}

// release gives back what the answer holds. It is locked.
func (a *answerBody) release() {
	a.done = true
	a.left.give(a.took)
	a.took = 0
}

// Close implements io.Closer.
func (a *answerBody) Close() error {
	err := a.ReadCloser.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.release()
	return err
}
