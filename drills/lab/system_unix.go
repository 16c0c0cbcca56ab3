//go:build unix

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// lockFile takes the lock of a file, creating the file and its folder; waiting is told once when it has to wait.
// The file may be removed by the holder of the lock, so a lock on a name that is gone is taken again.
func lockFile(ctx context.Context, path string, waiting func()) (*os.File, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for told := false; ; {
		f, err := tryLock(path)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) {
			return f, err
		}
		if !told && waiting != nil {
			waiting()
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// tryLock fails with EWOULDBLOCK when another process holds the lock.
func tryLock(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("locking %q: %w", path, err)
	}
	held, err1 := f.Stat()
	there, err2 := os.Stat(path)
	if err1 != nil || err2 != nil || !os.SameFile(held, there) {
		_ = f.Close()
		return nil, fmt.Errorf("%q was removed: %w", path, syscall.EWOULDBLOCK)
	}
	return f, nil
}

// isHeld tells whether the lock of a file is held, without creating it. It takes the lock for a moment, so
// a caller that wants to keep it must try more than once.
func isHeld(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// ownGroup lets the end of ctx, and on Linux our own death, reach the compilers as well.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
}

// endGroup ends what a cancelled go command left behind. The group outlives its leader as long as it has members, and
// a pid is not reused while it names a group.
func endGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// detached starts the supervisor in a session of its own: neither a closed terminal nor Ctrl-C reaches it.
func detached(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

const (
	endPolitely = syscall.SIGTERM
	endNow      = syscall.SIGKILL
)

// endQuickly asks a server to end without waiting for its clients.
var endQuickly os.Signal = syscall.SIGQUIT

// nobody is the user and group without rights on every system here.
const nobody = 65534

// asNobody starts cmd without the rights of root, where we have them.
func asNobody(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
}

// giveToNobody hands a folder over to whom asNobody starts.
func giveToNobody(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(dir, nobody, nobody)
}
