package stepstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"handrail/steps"
)

// Finder is a gate that can find out what it came to.
type Finder interface {
	steps.Gater
	steps.Finder
}

// World is a server in which a gate over HTTP may act once.
type World struct {
	Gate      Finder
	In        steps.Params
	Preview   func(ctx context.Context) (steps.Preview, error) // of that gate, nil for its own
	Elsewhere steps.Finder                                     // the same gate whose environment names another server
	Writes    int                                              // requests that it sends, 0 for one
	Secrets   []string                                         // keys and tokens that no preview and no outcome may hold

	// Do confirms what is previewed with its phrase, and acts twice with the one approval. The test does it: no package that is not
	// one confirms a gate.
	Do func(ctx context.Context, p steps.Preview, out steps.Sink) (o steps.Outcome, err, again error)
}

// Case is one way in which a server, or the line to it, takes what a gate sends.
type Case struct {
	Name   string
	writes fault // of what is sent to write
	after  fault // of what is asked once something was
	result string
	found  string // by Find, once the line is whole again
}

// APICases hold a gate that writes over HTTP outside of Kubernetes to the contract of docs/safety.md, "Gates over HTTP". Each takes a
// world of its own, whose gate reaches a real server by [Line.Before].
func APICases() []Case {
	return []Case{
		{Name: "done", result: steps.Done, found: steps.Done},
		{Name: "refused", writes: forbidden, result: steps.Refused, found: steps.Failed},
		{Name: "sent elsewhere", writes: redirected, result: steps.Refused, found: steps.Failed},
		{Name: "no answer, and done", writes: lost, found: steps.Done},
		{Name: "another answer, and not done", writes: broken, found: steps.Failed},
		{Name: "answered, and not done", writes: pretended, result: steps.Failed, found: steps.Failed},
		{Name: "done, and not read again", after: unread, found: steps.Done},
	}
}

// Line is what stands before the server of a case.
func (c Case) Line() *Line { return &Line{writes: c.writes, after: c.after} }

// Check runs the gate of a world in this case, and says what of the contract it does not keep.
func (c Case) Check(ctx context.Context, l *Line, w World) (broken []string) {
	say := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	l.begin(max(1, w.Writes))
	out := NewSink()
	preview := w.Preview
	if preview == nil {
		preview = func(ctx context.Context) (steps.Preview, error) { return w.Gate.Preview(ctx, w.In, out) }
	}
	p, err := preview(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	if again, err := preview(ctx); err != nil || again.Digest("i", "s") != p.Digest("i", "s") {
		say("two previews differ: %v\n%+v\n%+v", err, p.Target, again.Target)
	}
	if len(p.Unmet) > 0 || len(p.Target) < 2 || p.Effect == "" || p.Request == "" || p.Command == "" || p.Undo == "" || !strings.Contains(p.Phrase, " ") {
		say("the preview lacks something: %+v", p)
		return broken
	}
	if o, err := w.Gate.Find(ctx, p.Target, w.In, out); err != nil || o.Result == steps.Done {
		say("before it: %+v, %v", o, err)
	}
	if sent := l.sent(); len(sent) > 0 {
		say("it writes before it was approved: %v", sent)
	}
	o, err, second := w.Do(ctx, p, out)
	if (err != nil) != (c.result == "") || o.Result != c.result {
		say("it came to %+v, %v, want %q", o, err, c.result)
	}
	if c.result == steps.Done && len(o.After) == 0 || c.result != "" && o.Response == "" {
		say("it does not say what it came to: %+v", o)
	}
	sent := l.sent()
	for _, s := range sent {
		method, path, _ := strings.Cut(s, " ")
		if !strings.Contains(p.Request, method) || !shown(p.Request, path) {
			say("%s was sent, and %q was shown", s, p.Request)
		}
	}
	if len(sent) == 0 || len(sent) > max(1, w.Writes) || !errors.Is(second, steps.ErrSpent) {
		say("%d requests were sent: %v; a second time: %v", len(sent), sent, second)
	}
	l.mend()
	if found, err := w.Gate.Find(ctx, p.Target, w.In, out); err != nil || found.Result != c.found {
		say("found: %+v, %v, want %s", found, err, c.found)
	}
	if _, err := w.Elsewhere.Find(ctx, p.Target, w.In, out); err == nil {
		say("it is found on another server")
	}
	p.Args = nil
	words, err := json.Marshal(map[string]any{"preview": p, "outcome": o})
	if err != nil {
		return append(broken, err.Error())
	}
	for _, s := range w.Secrets {
		if strings.Contains(string(words), s) {
			say("a secret is in what is recorded: %s", words)
		}
	}
	return broken
}

// shown reports whether a request names a path, from its second part on at least: what stands before it may be that of the server.
func shown(request, path string) bool {
	for {
		if strings.Contains(request, path) {
			return true
		}
		i := strings.IndexByte(path[1:], '/')
		if i < 0 {
			return false
		}
		path = path[1+i:]
	}
}

// fault is what becomes of a request.
type fault string

const (
	forbidden  fault = "403, not passed on"
	redirected fault = "307, not passed on"
	lost       fault = "passed on, and cut off"
	broken     fault = "502, not passed on"
	pretended  fault = "201, not passed on"
	unread     fault = "cut off once something was written"
)

// Line stands before a server, and counts what is sent to write.
type Line struct {
	// IsWrite tells a request that writes, nil for one that is no GET and no HEAD. It leaves the body as it was.
	IsWrite func(*http.Request) bool

	mu            sync.Mutex
	writing       int // requests that are expected, 0 before it is watched
	writes, after fault
	seen          []string
	open          []*httptest.Server
}

func (l *Line) begin(writing int) { l.mu.Lock(); l.writing = writing; l.mu.Unlock() }

func (l *Line) mend() { l.mu.Lock(); l.writes, l.after = "", ""; l.mu.Unlock() }

func (l *Line) sent() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.seen...)
}

// Close ends it.
func (l *Line) Close() {
	for _, srv := range l.open {
		srv.Close()
	}
}

// Before gives an address that leads to a server.
func (l *Line) Before(server string) string {
	to, err := url.Parse(server)
	if err != nil {
		panic(err) // a test names it
	}
	next := httputil.NewSingleHostReverseProxy(to) // the name of the host stays: it is signed
	next.Transport = &http.Transport{Proxy: nil, DisableKeepAlives: true}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writes := r.Method != http.MethodGet && r.Method != http.MethodHead && !strings.HasSuffix(r.URL.Path, "/protocol/openid-connect/token")
		if l.IsWrite != nil {
			writes = l.IsWrite(r)
		}
		l.mu.Lock()
		what := fault("")
		switch {
		case l.writing == 0:
		case writes:
			l.seen = append(l.seen, r.Method+" "+r.URL.EscapedPath())
			if what = l.writes; what == lost && len(l.seen) < l.writing {
				what = "" // the last answer is lost
			}
		case len(l.seen) > 0:
			what = l.after
		}
		l.mu.Unlock()
		switch what {
		case "":
			next.ServeHTTP(w, r)
		case forbidden:
			w.WriteHeader(http.StatusForbidden)
		case redirected:
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
		case broken:
			w.WriteHeader(http.StatusBadGateway)
		case pretended:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, "{}")
		case lost:
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case unread:
			panic(http.ErrAbortHandler)
		}
	}))
	l.open = append(l.open, srv)
	return srv.URL
}
