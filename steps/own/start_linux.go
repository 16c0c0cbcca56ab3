package own

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"handrail/steps/fault"
)

// process is a program that was started.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended, and is not reaped yet
	free  chan struct{} // closed when the thread that started it may end
}

// start starts cmd from a thread that is confined first: what keeps a thread from
// something is handed on to what it starts, and no other thread of handrail has it. The
// thread ends with the program. Until then it is the parent whose death ends it.
func start(cmd *exec.Cmd, to confined) (*process, error) {
	ownSession(cmd)
	p := &process{cmd: cmd, ended: make(chan struct{}), free: make(chan struct{})}
	began := make(chan error, 1)
	go func() {
		// Never unlocked: the end of this goroutine is the end of its thread.
		runtime.LockOSThread()
		err := to.confine()
		if err == nil {
			err = cmd.Start()
		}
		began <- err
		if err == nil {
			<-p.free
		}
	}()
	if err := <-began; err != nil {
		return nil, err
	}
	go func() {
		var failed error
		defer fault.Into(&failed)
		defer close(p.ended)
		for { // it stays a zombie, so that the number of its group is no other's
			var info unix.Siginfo
			if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return p, nil
}

// end kills what is left of the group and returns what the program came to.
func (p *process) end() error {
	killGroup(p.cmd)
	<-p.ended
	killGroup(p.cmd) // what it started while the first was on its way
	err := p.cmd.Wait()
	close(p.free)
	return err
}

func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// confine keeps the calling thread, and all that it starts, to c. There is no way back.
func (c confined) confine() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new rights: %w", err)
	}
	dropRights()
	if c.in.landlock >= leastLandlock {
		if err := c.landlock(); err != nil {
			return err
		}
	}
	if c.in.calls {
		return c.filter()
	}
	return nil
}

// dropRights keeps a root from having its rights again in the program. Who is not root
// has none to drop.
func dropRights() {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for right := uintptr(0); right < 64; right++ {
		if unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0) != nil {
			return
		}
	}
}
