package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// http is a server of the http protocol, which takes and releases a lock and never shows it.
func (s *server) http() error {
	h := &stateServer{server: s, words: map[string]string{}}
	addr, err := s.listen(h)
	if err != nil {
		return err
	}
	at := "http://" + addr + "/" + s.Plan.Unit
	s.Type, s.Block = "http", fmt.Sprintf("address        = %q\nlock_address   = %q\nunlock_address = %q\n", at, at+"/lock", at+"/lock")
	for _, who := range s.Plan.People {
		h.words[who] = word()
		s.Secrets = append(s.Secrets, h.words[who])
		s.Environ[who] = append(s.Environ[who], "TF_HTTP_USERNAME="+who, "TF_HTTP_PASSWORD="+h.words[who])
	}
	return nil
}

// stateServer keeps one state and its lock as files of the folder.
type stateServer struct {
	*server
	words map[string]string // of the identities

	mu sync.Mutex
}

// maxState bounds what one request may bring.
const maxState = 64 << 20

// ServeHTTP implements http.Handler.
func (h *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, given, ok := r.BasicAuth()
	if want := h.words[who]; !ok || want == "" || given != want {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	h.logged(who, http.HandlerFunc(h.answer)).ServeHTTP(w, r)
}

func (h *stateServer) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxState))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	state, lock := filepath.Join(h.dir, fileState), filepath.Join(h.dir, fileLock)
	held, err := os.ReadFile(lock)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	done := func(err error) {
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}
	switch r.Method {
	case http.MethodGet:
		raw, err := os.ReadFile(state)
		if errors.Is(err, fs.ErrNotExist) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if err != nil {
			done(err)
			return
		}
		_, _ = w.Write(raw)
	case http.MethodPost:
		if id := r.URL.Query().Get("ID"); held != nil && id != lockID(held) {
			w.WriteHeader(http.StatusLocked)
			return
		}
		done(os.WriteFile(state, body, 0o600))
	case "LOCK":
		if held != nil {
			w.WriteHeader(http.StatusLocked)
			_, _ = w.Write(held)
			return
		}
		done(os.WriteFile(lock, body, 0o600))
	case "UNLOCK":
		if len(bytes.TrimSpace(body)) > 0 && lockID(body) != lockID(held) {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write(held)
			return
		}
		if err := os.Remove(lock); !errors.Is(err, fs.ErrNotExist) {
			done(err)
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// lockID is the id that a run gave to its lock, "" for none.
func lockID(raw []byte) string {
	var info struct{ ID string }
	if json.Unmarshal(raw, &info) != nil {
		return ""
	}
	return info.ID
}

// Kept says whether a lock is there that its protocol never shows; ok says whether this backend is such a one.
func (p *Place) Kept() (id string, ok bool) {
	if p.Plan.Backend != HTTP {
		return "", false
	}
	raw, err := os.ReadFile(filepath.Join(p.dir, fileLock))
	if err != nil {
		return "", true
	}
	return lockID(raw), true
}
