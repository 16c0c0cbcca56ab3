package cluster

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"sync"
	"time"

	"handrail/steps"
)

// responseNotes keeps what a server says beside its answers.
type responseNotes struct {
	mu       sync.Mutex
	warnings []string
	date     time.Time // the server's clock at its last answer
	at       time.Time // ours at that moment
}

func (h *responseNotes) listen(next http.RoundTripper) http.RoundTripper {
	return notesTransport{next, h}
}

// errPage says that no API server answered: one never sends a page, and the
// bytes of a page would pass for a log.
var errPage = errors.New("got HTML instead of an API response (login proxy?)")

type notesTransport struct {
	next http.RoundTripper
	h    *responseNotes
}

// RoundTrip implements http.RoundTripper.
func (e notesTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := e.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "text/html" && resp.StatusCode/100 == 2 && req.Method == http.MethodGet {
		_ = resp.Body.Close()
		return nil, errPage
	}
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		e.h.mu.Lock()
		e.h.date, e.h.at = date, time.Now()
		e.h.mu.Unlock()
	}
	return resp, nil
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (h *responseNotes) HandleWarningHeaderWithContext(_ context.Context, code int, _ string, text string) {
	if code != 299 || text == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.warnings {
		if w == text {
			return
		}
	}
	h.warnings = append(h.warnings, text)
}

// said returns the server's warnings as findings.
func (h *responseNotes) said() []steps.Finding {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []steps.Finding
	for _, w := range h.warnings {
		out = append(out, steps.Finding{Level: steps.Info, Say: "The server warns: " + steps.Clip(w, 300)})
	}
	return out
}

// Warnings returns what the server warned of, as findings.
func (c *Client) Warnings() []steps.Finding { return c.notes.said() }

// Now is the server's clock, or why it is not known: ages are counted between
// two times of the server, so that a laptop with a wrong clock cannot make an
// object look old.
func (c *Client) Now() (time.Time, string) {
	c.notes.mu.Lock()
	defer c.notes.mu.Unlock()
	if c.notes.date.IsZero() {
		return time.Time{}, "the server did not say what time it is"
	}
	if skew := c.Env.Now().Sub(c.notes.date.Add(time.Since(c.notes.at))); skew.Abs() > SkewTolerance {
		return time.Time{}, fmt.Sprintf("the clocks of this machine and of %s differ by %s: set the clock right first", c.Server, skew.Abs().Round(time.Second))
	}
	return c.notes.date, ""
}

// SkewTolerance is how far the clocks of server and operator may differ
// before an age is unknown.
const SkewTolerance = 2 * time.Minute
