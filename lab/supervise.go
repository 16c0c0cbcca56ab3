package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// supervisor keeps the processes of one data directory together: when one dies all end, because half a cluster misleads
// more than none. It outlives whoever started it, and they outlive nobody: on Linux the kernel ends them with it.
type supervisor struct {
	dir      string
	plan     plan
	state    state
	children []*running
	exits    chan *running
}

var errStopped = errors.New("asked to stop")

// supervise runs until it is told to stop (SIGTERM), a process ends, or an ephemeral lab has had no lease for long
// enough; in the last case it removes the data directory as well.
func supervise(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: handrail-lab supervise DATADIR NONCE")
	}
	dir, nonce := args[0], args[1]
	// Held for life: whoever finds it locked knows that a supervisor is alive, whatever the pids say.
	alive, err := patientLock(filepath.Join(dir, "alive"))
	if err != nil {
		return fmt.Errorf("another supervisor runs in %q: %w", dir, err)
	}
	defer alive.Close()
	p, err := readPlan(dir, nonce)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	signal.Ignore(syscall.SIGHUP)

	s := &supervisor{dir: dir, plan: p, exits: make(chan *running, len(p.Processes))}
	return s.run(ctx)
}

// patientLock tries for two seconds, since somebody who only looks whether the file is locked holds it for a moment.
func patientLock(path string) (*os.File, error) {
	for tries := 20; ; tries-- {
		f, err := tryLock(path, false)
		if err == nil || tries == 0 || !errors.Is(err, syscall.EWOULDBLOCK) {
			return f, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *supervisor) run(ctx context.Context) error {
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	s.state = state{
		Nonce: s.plan.Nonce, Phase: phaseStarting, BootID: bootID(), Binary: binary,
		Started:    time.Now().UTC().Format(time.RFC3339Nano),
		Supervisor: child{Name: "supervisor", PID: os.Getpid(), Start: startMark(os.Getpid())},
	}
	if err := s.save(); err != nil {
		return err
	}
	err = s.startAll(ctx)
	if err == nil {
		s.state.Phase = phaseRunning
		if err = s.save(); err == nil {
			err = s.watch(ctx)
		}
	}
	return s.end(err)
}

// end stops what runs, in reverse order, and leaves the reason behind (or nothing at all, when the lab expired).
func (s *supervisor) end(cause error) error {
	if s.state.Phase != phaseStopping {
		s.state.Phase = phaseStopping
		s.state.Why = cause.Error()
		if err := s.save(); err != nil {
			fmt.Fprintln(os.Stderr, "supervise:", err) // stopping matters more than telling
		}
	}
	for i := len(s.children) - 1; i >= 0; i-- {
		s.children[i].stop()
	}
	var gone *expired
	switch {
	case errors.As(cause, &gone):
		defer gone.lock.Close()
		return os.RemoveAll(s.dir)
	case errors.Is(cause, errStopped):
		return nil
	}
	s.state.Phase = phaseFailed
	return errors.Join(cause, s.save())
}

func (s *supervisor) save() error { return writeJSON(filepath.Join(s.dir, "state.json"), s.state) }

func (s *supervisor) startAll(ctx context.Context) error {
	for _, p := range s.plan.Processes {
		if p.Await != "" {
			if err := s.await(ctx, p.Await, p.AwaitCA); err != nil {
				return err
			}
		}
		r, err := start(s.state.Binary, s.dir, p, s.exits)
		if err != nil {
			return fmt.Errorf("starting %s: %w", p.Name, err)
		}
		s.children = append(s.children, r)
		s.state.Processes = append(s.state.Processes, child{Name: p.Name, PID: r.pid, Start: startMark(r.pid)})
		if err := s.save(); err != nil {
			return err
		}
	}
	return nil
}

// watch returns why the lab ends.
func (s *supervisor) watch(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return errStopped
		case r := <-s.exits:
			return fmt.Errorf("%s ended: %s; see %s.log", r.name, r.how(), r.name)
		case now := <-tick.C:
			if s.wanted() {
				last = now
			} else if now.Sub(last) >= s.plan.Linger {
				if err := s.expire(); err != nil {
					return err
				}
			}
		}
	}
}

// await polls until the address answers 200; the file with the root appears only once the server has written it.
func (s *supervisor) await(ctx context.Context, url, ca string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var client *http.Client
	for {
		if client == nil {
			if pem, err := os.ReadFile(ca); err == nil {
				pool := x509.NewCertPool()
				if pool.AppendCertsFromPEM(pem) {
					client = &http.Client{
						Timeout:   5 * time.Second,
						Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, Proxy: nil},
					}
				}
			}
		}
		if client != nil && answers(ctx, client, url) {
			client.CloseIdleConnections()
			return nil
		}
		select {
		case <-ctx.Done():
			return errStopped
		case r := <-s.exits:
			return fmt.Errorf("%s ended: %s; see %s.log", r.name, r.how(), r.name)
		case <-tick.C:
		}
	}
}

func answers(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}
