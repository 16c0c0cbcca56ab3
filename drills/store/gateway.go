package store

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// silence takes what a proxy says of clients that went away.
var silence = log.New(io.Discard, "", 0)

// gateway passes requests on to a server. One that signs its requests signs the name that it asked.
func (s *server) gateway(to string, signed bool) (http.Handler, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if signed {
				r.Out.Host = r.In.Host
			}
		},
		Transport: &http.Transport{Proxy: nil}, ErrorLog: silence, ModifyResponse: s.redate, FlushInterval: -1,
	}, nil
}

// before gives each identity an address of its own before a server.
func (s *server) before(to string, signed bool, give func(who, addr string)) error {
	pass, err := s.gateway(to, signed)
	if err != nil {
		return err
	}
	for _, who := range s.Plan.People {
		addr, err := s.listen(s.logged(who, pass))
		if err != nil {
			return err
		}
		give(who, addr)
	}
	return nil
}

// objectTimes are those of an object in Cloud Storage.
var objectTimes = regexp.MustCompile(`"(timeCreated|updated)":\s*"[^"]+"`)

// redate has a server say that it wrote the lock when the drill says so. The emulators keep everything in
// memory, where no one can make it older.
func (s *server) redate(r *http.Response) error {
	raw, err := os.ReadFile(filepath.Join(s.dir, fileAged))
	if err != nil {
		return nil // it is as old as it is
	}
	at, err := time.Parse(time.RFC3339Nano, string(raw))
	if err != nil {
		return err
	}
	if r.Header.Get("Last-Modified") != "" {
		r.Header.Set("Last-Modified", at.UTC().Format(http.TimeFormat))
	}
	if !strings.Contains(r.Request.URL.Path, ".tflock") || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	if raw, err = io.ReadAll(r.Body); err != nil {
		return err
	}
	raw = objectTimes.ReplaceAll(raw, []byte(`"$1":"`+at.UTC().Format(time.RFC3339Nano)+`"`))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	r.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return nil
}
