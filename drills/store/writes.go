package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/drills/bucket"
)

// Write is one request that changes something, as the log of the servers has it.
type Write struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	What   string    `json:"what"` // method and path, or the statement
	Agent  string    `json:"agent"`
	Status int       `json:"status"`
}

// writeLog is written through, line by line.
type writeLog struct {
	mu   sync.Mutex
	file *os.File
}

func openLog(dir string) (*writeLog, error) {
	f, err := os.OpenFile(filepath.Join(dir, fileLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of the writes: %w", err)
	}
	return &writeLog{file: f}, nil
}

func (l *writeLog) add(w Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, err := json.Marshal(w)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil { // without its log nothing can be proven: the drill ends here
		fmt.Fprintln(os.Stderr, "state of the drill: log:", err)
		os.Exit(1)
	}
}

// writing reports whether a request changes something on its server.
func writing(r *http.Request) bool {
	if _, call, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok { // of a table: what is not known to read, writes
		return !slices.ContainsFunc([]string{"Get", "Query", "Scan", "Describe", "List", "BatchGet", "TransactGet"}, func(read string) bool { return strings.HasPrefix(call, read) })
	}
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// logged passes requests on and keeps those that write.
func (s *server) logged(who string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !writing(r) {
			next.ServeHTTP(w, r)
			return
		}
		at, kept := time.Now().UTC(), bucket.NewStatusWriter(w)
		next.ServeHTTP(kept, r)
		what := r.Method + " " + r.URL.Path
		if t := r.Header.Get("X-Amz-Target"); t != "" {
			what = t
		}
		s.log.add(Write{At: at, Who: who, What: what, Agent: r.UserAgent(), Status: kept.Status})
	})
}

// Writes are the writes of the servers of a folder, in their order.
func Writes(dir string) ([]Write, error) {
	p, err := Read(dir)
	if err != nil {
		return nil, err
	}
	if p.Plan.Backend == PG {
		return p.statements()
	}
	f, err := os.Open(filepath.Join(dir, fileLog))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Write
	for in := bufio.NewScanner(f); in.Scan(); {
		var w Write
		if err := json.Unmarshal(in.Bytes(), &w); err != nil {
			return nil, fmt.Errorf("log of the writes: %w", err)
		}
		if w.Status/100 == 2 {
			out = append(out, w)
		}
	}
	return out, nil
}
