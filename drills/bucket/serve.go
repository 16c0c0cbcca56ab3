package bucket

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// server answers for the one bucket of a folder.
type server struct {
	dir  string
	keys map[string]account // by access key
	now  func() time.Time

	mu  sync.Mutex // one request at a time: a condition holds while its write is made
	log *os.File
}

// glance is how often a server looks whether its folder is still there.
const glance = time.Second

// WhileThere ends with ctx, or soon after the folder is gone: a drill whose files were removed by
// hand has no record left by which its servers could be ended.
func WhileThere(ctx context.Context, dir string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(glance)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}

// Serve listens on loopback until ctx ends or the folder is gone. The folder was made by [Prepare].
func Serve(ctx context.Context, dir string) error {
	ctx, cancel := WhileThere(ctx, dir)
	defer cancel()
	keys, err := readKeys(dir)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, fileLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log of the bucket: %w", err)
	}
	defer func() { _ = log.Close() }() // each line was written through
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	s := &server{dir: dir, keys: keys, now: time.Now, log: log}
	web := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	// Renamed into place: a reader of the file sees all of it.
	name := filepath.Join(dir, fileAddress)
	err = errors.Join(os.WriteFile(name+".tmp", []byte(listener.Addr().String()), 0o600), os.Rename(name+".tmp", name))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = web.Close() })
	defer stop()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// fault is an answer that refuses, as S3 words it.
type fault struct {
	status     int
	code, text string
}

// Error implements error.
func (f fault) Error() string { return f.code + ": " + f.text }

// call is one request while it is answered.
type call struct {
	w           *StatusWriter
	r           *http.Request
	bucket, key string
	id          string
}

// maxBody bounds what one request may bring.
const maxBody = 64 << 20

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := call{w: NewStatusWriter(w), r: r, id: requestID()}
	c.bucket, c.key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	w.Header().Set("X-Amz-Request-Id", c.id)
	who, body, err := s.signed(r) // before the lock: a client may stop in the middle of its body
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.answer(c, body)
	}
	var f fault
	switch {
	case errors.As(err, &f):
	case err != nil:
		f = fault{http.StatusInternalServerError, "InternalError", err.Error()}
	}
	if err != nil {
		c.refuse(f)
	}
	line, err := json.Marshal(Request{At: s.now().UTC(), ID: c.id, Who: who, Agent: r.UserAgent(), Method: r.Method,
		Object: strings.TrimSuffix(c.bucket+"/"+c.key, "/"), Status: c.w.Status})
	if err == nil {
		_, err = s.log.Write(append(line, '\n'))
	}
	if err != nil { // without its log nothing can be proven: the drill ends here
		fmt.Fprintln(os.Stderr, "bucket: log:", err)
		os.Exit(1)
	}
}

func (c call) refuse(f fault) {
	c.w.Header().Set("Content-Type", "application/xml")
	c.w.WriteHeader(f.status)
	if c.r.Method != http.MethodHead {
		writeXML(c.w, errorDocument{Code: f.code, Message: f.text, Resource: c.r.URL.Path, RequestID: c.id})
	}
}

func (s *server) answer(c call, body []byte) error {
	info, err := os.Stat(filepath.Join(s.dir, dirObjects, c.bucket))
	if c.bucket == "" || !plain(c.bucket) || err != nil || !info.IsDir() {
		return fault{http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist"}
	}
	if c.key == "" {
		return s.ofBucket(c)
	}
	if !filepath.IsLocal(filepath.FromSlash(c.key)) || strings.HasSuffix(c.key, "/") {
		return fault{http.StatusBadRequest, "InvalidArgument", "The drill keeps no object of this name"}
	}
	for name := range c.r.URL.Query() {
		if name != "x-id" && !(name == "versionId" && c.r.URL.Query().Get(name) == "null") {
			return notImplemented
		}
	}
	switch c.r.Method {
	case http.MethodGet, http.MethodHead:
		return s.get(c)
	case http.MethodPut:
		return s.put(c, body)
	case http.MethodDelete:
		return s.remove(c)
	}
	return notImplemented
}

var notImplemented = fault{http.StatusNotImplemented, "NotImplemented", "The bucket of a drill has objects and lists of them, and nothing else"}

// plain reports whether a name is one of a file here.
func plain(name string) bool { return filepath.IsLocal(name) && filepath.Base(name) == name }

func requestID() string {
	key := randomBytes()
	return hex.EncodeToString(key[:8])
}
