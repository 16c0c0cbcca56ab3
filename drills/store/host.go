package store

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"handrail/drills/lab"
	"handrail/steps/fault"
)

// server is one process that keeps the state of a drill.
type server struct {
	Place
	log *writeLog
	lab lab.Options
	ctx context.Context
	end []func()
}

// start starts a service of the lab, with its data in the folder.
func (s *server) start(name string) (*lab.Server, error) {
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	one, err := lab.StartService(s.ctx, s.lab, name, dir)
	if err != nil {
		return nil, err
	}
	s.end = append(s.end, func() { _ = one.Close() })
	return one, nil
}

// listen serves on an address of loopback, and returns it.
func (s *server) listen(h http.Handler) (addr string, err error) {
	at, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.serve(at, h)
	return at.Addr().String(), nil
}

func (s *server) serve(at net.Listener, h http.Handler) {
	web := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: silence}
	go func() { // ends with Close
		defer fault.To(func(error) { _ = at.Close() })
		_ = web.Serve(at)
	}()
	s.end = append(s.end, func() { _ = web.Close() })
}
