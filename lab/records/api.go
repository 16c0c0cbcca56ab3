package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// entry is what the API keeps under a name.
type entry struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Revision int    `json:"revision"`
	Parts    int    `json:"parts"`
}

// request is one line of the log.
type request struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	Status int       `json:"status"`
}

// knobs are what can be turned while it runs.
type knobs struct {
	Writes int    `json:"writes"`
	Hidden int    `json:"hidden"`
	Rate   int    `json:"rate"`
	Late   string `json:"late"`
	Busy   string `json:"busy"`
}

// api is the service that the provider speaks to.
type api struct {
	mu      sync.Mutex
	tokens  map[string]string // token to name
	entries map[string]*entry
	hidden  map[string]int // reads that an entry is still hidden for
	knobs   knobs
	second  int64 // that the rate is counted in
	count   int
	past    []request
	log     *os.File
}

const robot = "robot"

// serveAPI serves until it is killed.
func serveAPI(dir, addr string) error {
	if dir == "" {
		return errors.New("--dir is missing")
	}
	a := &api{tokens: map[string]string{}, entries: map[string]*entry{}, hidden: map[string]int{}, knobs: knobs{Writes: -1}}
	raw, err := os.ReadFile(filepath.Join(dir, "tokens"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(raw)) {
		if name, token, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			a.tokens[token] = name
		}
	}
	if a.log, err = os.OpenFile(filepath.Join(dir, "requests.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	defer a.log.Close()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	// Renamed into place: whoever sees the file sees all of it.
	name := filepath.Join(dir, "address")
	if err := os.WriteFile(name+".tmp", []byte(listener.Addr().String()), 0o600); err != nil {
		return err
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		return err
	}
	server := &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}

// ServeHTTP answers one request at a time, so that the log has their order.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	who := a.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	status, body := a.answer(who, r)
	line := request{At: time.Now().UTC(), Who: who, Method: r.Method, Path: r.URL.RequestURI(), Status: status}
	a.past = append(a.past, line)
	if raw, err := json.Marshal(line); err == nil {
		_, _ = a.log.Write(append(raw, '\n')) // the answer is worth more than its log
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body)
	}
}

type fault struct {
	Error string `json:"error"`
}

func (a *api) answer(who string, r *http.Request) (int, any) {
	if r.URL.Path == "/ready" {
		return http.StatusOK, nil
	}
	if who == "" {
		return http.StatusUnauthorized, fault{"ExpiredToken: the token is not known here"}
	}
	read := r.Method == http.MethodGet
	switch path := r.URL.Path; {
	case path == "/log" && read:
		return http.StatusOK, map[string]any{"requests": a.past}
	case path == "/control":
		return a.control(who, r)
	case path == "/entries" && read:
		all := make([]*entry, 0, len(a.entries))
		for _, e := range a.entries {
			all = append(all, e)
		}
		slices.SortFunc(all, func(x, y *entry) int { return strings.Compare(x.Name, y.Name) })
		return http.StatusOK, map[string]any{"entries": all}
	case strings.HasPrefix(path, "/entries/"):
		if name := strings.TrimPrefix(path, "/entries/"); !read && name == a.knobs.Busy || a.throttled(!read) {
			return http.StatusTooManyRequests, fault{"ThrottlingException: Rate exceeded"}
		}
		return a.entry(strings.TrimPrefix(path, "/entries/"), r)
	}
	return http.StatusNotFound, fault{"there is no " + r.URL.Path}
}

func (a *api) control(who string, r *http.Request) (int, any) {
	if r.Method == http.MethodPatch && who == robot {
		next := a.knobs
		if err := json.NewDecoder(r.Body).Decode(&next); err != nil {
			return http.StatusBadRequest, fault{err.Error()}
		}
		a.knobs = next
	} else if r.Method != http.MethodGet {
		return http.StatusForbidden, fault{"robot alone turns the knobs"}
	}
	return http.StatusOK, a.knobs
}

// throttled counts a request and says whether it is one too many.
func (a *api) throttled(write bool) bool {
	if now := time.Now().Unix(); now != a.second {
		a.second, a.count = now, 0
	}
	if a.count++; a.knobs.Rate > 0 && a.count > a.knobs.Rate {
		return true
	}
	if !write || a.knobs.Writes < 0 {
		return false
	}
	if a.knobs.Writes == 0 {
		return true
	}
	a.knobs.Writes--
	return false
}

func (a *api) entry(name string, r *http.Request) (int, any) {
	e := a.entries[name]
	switch r.Method {
	case http.MethodGet:
		if e != nil && a.hidden[name] > 0 {
			a.hidden[name]--
			e = nil
		}
		if e == nil {
			return http.StatusNotFound, fault{fmt.Sprintf("NotFound: entry %q does not exist", name)}
		}
		return http.StatusOK, e
	case http.MethodPut:
		return a.put(name, e, r)
	case http.MethodDelete:
		if e == nil {
			return http.StatusNotFound, fault{fmt.Sprintf("NotFound: entry %q does not exist", name)}
		}
		if part, err := strconv.Atoi(r.URL.Query().Get("part")); err == nil && part < e.Parts {
			e.Parts, e.Revision = e.Parts-1, e.Revision+1
			return http.StatusOK, e
		}
		delete(a.entries, name)
		return http.StatusNoContent, nil
	}
	return http.StatusMethodNotAllowed, fault{"GET, PUT and DELETE"}
}

func (a *api) put(name string, e *entry, r *http.Request) (int, any) {
	var in struct {
		Value string `json:"value"`
		Part  int    `json:"part"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return http.StatusBadRequest, fault{err.Error()}
	}
	if e != nil && r.Header.Get("If-None-Match") == "*" {
		return http.StatusConflict, fault{fmt.Sprintf("EntityAlreadyExists: entry %q already exists", name)}
	}
	if e == nil {
		e = &entry{Name: name}
		a.entries[name] = e
		if a.knobs.Late == "" || a.knobs.Late == name {
			a.hidden[name] = a.knobs.Hidden
		}
	}
	e.Value, e.Revision, e.Parts = in.Value, e.Revision+1, max(e.Parts, in.Part)
	return http.StatusOK, e
}
