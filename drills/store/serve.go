package store

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"handrail/drills/bucket"
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

// Serve runs the servers of the folder, which was made by [Prepare], until ctx ends or the folder is gone.
func Serve(ctx context.Context, dir string) (err error) {
	ctx, cancel := bucket.WhileThere(ctx, dir)
	defer cancel()
	s := &server{ctx: ctx}
	raw, err := os.ReadFile(filepath.Join(dir, filePlan))
	if err == nil {
		err = json.Unmarshal(raw, &s.Plan)
	}
	if err != nil {
		return fmt.Errorf("state of the drill: %w", err)
	}
	s.dir, s.Environ, s.Server = dir, map[string][]string{}, map[string]string{}
	s.lab = lab.Options{Source: s.Plan.Source}
	if s.log, err = openLog(dir); err != nil {
		return err
	}
	defer func() {
		for _, end := range s.end {
			end()
		}
	}()
	set := map[string]func() error{Table: s.table, PG: s.pg, Consul: s.consul, GCS: s.gcs, Azure: s.azure, HTTP: s.http}[s.Plan.Backend]
	if set == nil {
		return fmt.Errorf("a drill keeps no state on %q", s.Plan.Backend)
	}
	if err := set(); err != nil {
		return fmt.Errorf("keeping the state of the drill on %s: %w", s.Plan.Backend, err)
	}
	if err := put(filepath.Join(dir, filePlace), s.Place); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
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
