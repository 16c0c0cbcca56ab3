package own

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"handrail/steps/fault"
)

// process is a program that was started.
type process struct {
	cmd   *exec.Cmd
	mark  string        // of the environment of all that it started
	ended chan struct{} // closed when it has ended, and is not reaped yet
	free  chan struct{} // closed when the thread that started it may end
}

// start starts cmd from a thread that is confined first: what keeps a thread from
// something is handed on to what it starts, and no other thread of handrail has it. The
// thread ends with the program. Until then it is the parent whose death ends it.
func start(cmd *exec.Cmd, to confined) (*process, error) {
	ownSession(cmd)
	p := &process{cmd: cmd, mark: "TMPDIR=" + to.write, ended: make(chan struct{}), free: make(chan struct{})}
	began := make(chan error, 1)
	onThreadOfItsOwn(func(err error) { began <- err }, func() {
		err := to.confine()
		if err == nil {
			err = cmd.Start()
		}
		began <- err
		if err == nil {
			<-p.free
		}
	})
	if err := <-began; err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		defer fault.To(func(error) {}) // it is waited for all the same
		for {                          // it stays a zombie, so that the number of its group is no other's
			var info unix.Siginfo
			if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return p, nil
}

// onThreadOfItsOwn runs f on a thread that ends with it. That is never the first thread of handrail, which does
// not end, and which a signal to handrail is judged by: what f starts could send one to a thread that it shares
// its confinement with.
func onThreadOfItsOwn(fell func(error), f func()) {
	go func() {
		defer fault.To(fell)
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f() // never unlocked: the end of this goroutine is the end of its thread
			return
		}
		taken := make(chan struct{})
		go func() {
			defer fault.To(fell)
			runtime.LockOSThread() // not the first thread, which is taken until here
			close(taken)
			f()
		}()
		<-taken
		runtime.UnlockOSThread()
	}()
}

// end kills what is left of the group and returns what the program came to.
func (p *process) end() error {
	killGroup(p.cmd)
	<-p.ended
	for range 10 { // what was started while another was on its way out
		if killGroup(p.cmd); killRest(p.cmd.Process.Pid, p.mark) == 0 {
			break
		}
	}
	err := p.cmd.Wait()
	close(p.free)
	return err
}

// killRest kills what left the group of the program for another one, or for a session of
// its own with the environment that it was given, and says how many there were. What
// cleared that too stays confined, and is not found.
func killRest(leader int, mark string) (found int) {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == leader || pid == os.Getpid() {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		// After the name, which may have anything in it: state, parent, group, session.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		ours := fields[3] == strconv.Itoa(leader)
		if !ours {
			environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
			ours = err == nil && slices.Contains(strings.Split(string(environ), "\x00"), mark)
		}
		if ours && syscall.Kill(pid, syscall.SIGKILL) == nil {
			found++
		}
	}
	return found
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
