//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// grace is how long one process gets between SIGTERM and SIGKILL. Nothing here is worth waiting longer for.
const grace = 8 * time.Second

type running struct {
	name string
	pid  int
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// start runs this same program in another role, its output in NAME.log. Must be called on the first thread.
func start(binary, dir string, p process, exits chan<- *running) (*running, error) {
	log, err := os.OpenFile(filepath.Join(dir, p.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(binary, p.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &running{name: p.Name, pid: cmd.Process.Pid, cmd: cmd, done: make(chan struct{})}
	go func() {
		r.err = cmd.Wait()
		close(r.done)
		exits <- r
	}()
	return r, nil
}

func (r *running) stop() {
	select {
	case <-r.done:
		return
	default:
	}
	// The process is our unreaped child, so the pid cannot be anybody else's.
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(grace):
		_ = r.cmd.Process.Kill()
		<-r.done
	}
}

func (r *running) how() string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprintf("exit status %d", r.cmd.ProcessState.ExitCode())
}

// tryLock opens the file and takes its lock without waiting. With current set it also insists that the path still leads
// to the locked file, since whoever removes the data directory does so under this lock.
func tryLock(path string, current bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	if current {
		held, err1 := f.Stat()
		there, err2 := os.Stat(path)
		if err1 != nil || err2 != nil || !os.SameFile(held, there) {
			f.Close()
			return nil, fmt.Errorf("%q was replaced", path)
		}
	}
	return f, nil
}
