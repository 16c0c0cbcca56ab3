package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Lab is a running lab. Its methods are safe for use by several goroutines.
type Lab struct {
	dir    string
	record record
	client *client
	bins   Binaries
	lease  *Lease
	source string // as Options had it: some programs are built when they are wanted
}

const (
	portTries  = 5
	startLimit = 5 * time.Minute  // a loaded laptop; idle cores need some seconds
	reuseLimit = 20 * time.Second // a lab that runs answers at once or is broken
)

// Up builds what is missing and returns the lab of the data directory: the one that runs, or a new one when there is
// none or only half of one. It blocks until the API server is ready and a ServiceAccount can be used. Cancelling
// ends what was begun; being killed leaves what the next Up takes over. The lab survives this process.
func Up(ctx context.Context, o Options) (*Lab, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	bins, err := Build(ctx, o)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	lock, err := lockFile(ctx, filepath.Join(o.Dir, fileLock), func() {
		o.Progress(Progress{Part: "lab", Stage: StageWait, Text: "another handrail is starting or stopping the lab"})
	})
	if err != nil {
		return nil, fmt.Errorf("waiting to start the lab: %w", err)
	}
	defer lock.Close()

	l := &Lab{dir: o.Dir, bins: bins, source: o.Source}
	o.Progress(Progress{Part: "lab", Stage: StageStart})
	if err := l.adopt(ctx, o); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := l.create(ctx, o); err != nil {
			return nil, fmt.Errorf("starting the lab: %w", err)
		}
	}
	if err := l.keep(ctx, o); err != nil {
		return nil, err
	}
	o.Progress(Progress{Part: "lab", Stage: StageReady, Elapsed: time.Since(started), Text: l.record.URL})
	return l, nil
}

// keep settles how long the lab stays. The caller holds the lock, so it cannot expire in between.
func (l *Lab) keep(ctx context.Context, o Options) error {
	if !o.Ephemeral {
		if err := replace(filepath.Join(l.dir, fileStay), nil); err != nil {
			return err
		}
	}
	if o.Lease == "" {
		return nil
	}
	var err error
	l.lease, err = takeLease(ctx, l.dir, o.Lease)
	return err
}

// adopt takes over the lab that runs, even one whose starter was killed half way.
func (l *Lab) adopt(ctx context.Context, o Options) error {
	if !supervised(l.dir) {
		return ErrNotRunning
	}
	var s state
	if err := read(l.dir, fileState, &s); err != nil {
		return err
	}
	if o.Ephemeral && s.Binary != "" && s.Binary != l.bins["cluster"] && !l.inUse() {
		return fmt.Errorf("the lab runs %q, which is not the pinned one", s.Binary)
	}
	limit := startLimit
	if s.Phase == phaseRunning {
		limit = reuseLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the lab does not become ready within %s", limit))
	defer cancel()
	return l.await(ctx, nil)
}

// create clears what is left of an earlier lab and starts a new one, with other ports when one was taken.
func (l *Lab) create(ctx context.Context, o Options) error {
	for try := 1; ; try++ {
		if err := halt(ctx, l.dir); err != nil {
			return err
		}
		err := l.createOnce(ctx, o)
		if err == nil {
			return nil
		}
		if try == portTries || !errors.Is(err, ErrPortTaken) {
			return err
		}
	}
}

func (l *Lab) createOnce(ctx context.Context, o Options) error {
	if err := empty(l.dir); err != nil {
		return err
	}
	nonce, err := l.prepare(o)
	if err != nil {
		return err
	}
	ended, err := spawn(l.bins["cluster"], l.dir, nonce)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not ready within %s", startLimit))
	defer cancel()
	if err := l.await(limited, ended); err != nil {
		if ctx.Err() == nil && portTaken(l.dir) {
			return ErrPortTaken
		}
		// What we started and do not hand out must not stay, even when the reason is that ctx ended.
		return errors.Join(err, halt(context.WithoutCancel(ctx), l.dir))
	}
	return nil
}

// prepare writes everything that the supervisor and its servers read.
func (l *Lab) prepare(o Options) (nonce string, err error) {
	free, err := o.ports(4)
	if err != nil {
		return "", err
	}
	p := ports{etcd: free[0], peer: free[1], api: free[2], controllers: free[3]}
	nonce = randomHex(8)
	for _, dir := range []string{dirLeases, dirAccount} {
		if err := os.MkdirAll(filepath.Join(l.dir, dir), 0o700); err != nil {
			return "", err
		}
	}
	if err := writeCredentials(l.dir, p.url()); err != nil {
		return "", err
	}
	if err := writeJSON(filepath.Join(l.dir, fileRecord), record{Nonce: nonce, URL: p.url(), EtcdURL: local("https", p.etcd)}); err != nil {
		return "", err
	}
	if !o.Ephemeral { // at once: should we be killed, the lab that was asked to stay stays
		if err := replace(filepath.Join(l.dir, fileStay), nil); err != nil {
			return "", err
		}
	}
	alive, err := os.OpenFile(filepath.Join(l.dir, fileAlive), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	if err := alive.Close(); err != nil {
		return "", err
	}
	pl := plan{Nonce: nonce, Linger: o.Linger, Processes: processes(l.dir, p)}
	return nonce, writeJSON(filepath.Join(l.dir, filePlan), pl)
}

// spawn starts the supervisor apart from us. The channel closes when it ends while we still live.
func spawn(binary, dir, nonce string) (<-chan struct{}, error) {
	log, err := os.OpenFile(filepath.Join(dir, "supervisor.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the supervisor has it
	cmd := exec.Command(binary, "supervise", dir, nonce)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	// Not our environment: a proxy variable or a kubeconfig in it could lead the servers off this machine.
	cmd.Env = append(GoEnv(), "PATH="+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+os.TempDir(), "NO_PROXY=*")
	detached(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() { // ends with the supervisor; without it a dead one would stay in the process table
		_ = cmd.Wait()
		close(ended)
	}()
	return ended, nil
}

// empty clears the data directory but for the files that locks are held on.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	kept := []string{fileLock, fileAlive}
	for _, e := range entries {
		if slices.Contains(kept, e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
