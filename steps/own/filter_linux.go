//go:build amd64 || arm64

package own

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock is about the contents and the names of files. The filter is about the rest by
// which a program changes something outside of itself: owners, modes, times and
// attributes of files, the sockets of other programs (a docker.sock is a root, an agent a
// key), memory and messages shared with them, keys of the kernel, and io_uring, whose
// calls no filter sees.

// forbidden are the calls that fail with EPERM, beside those that only some machines
// have.
func forbidden() []uint32 {
	return append(oldCalls(),
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
		463, 466, 469, // setxattrat, removexattrat, file_setattr
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGCTL, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_SEMGET, unix.SYS_SEMCTL, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP,
		unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_IO_URING_SETUP, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_SETPRIORITY, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_IOPRIO_SET,
	)
}

// Offsets in what a filter is shown of a call, of a machine that begins with the low byte.
const (
	callNumber  = 0
	callMachine = 4
	firstLow    = 16
	firstHigh   = 20
)

// program is the filter as the kernel runs it.
func (c confined) program() []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K
	)
	allowed := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW}
	refused := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	p := []unix.SockFilter{
		{Code: load, K: callMachine},
		{Code: equal, K: machine, Jt: 1}, refused, // a call of another machine has other numbers
		{Code: load, K: callNumber},
		{Code: least, K: 0x40000000, Jf: 1}, refused, // x32
	}
	for _, call := range forbidden() {
		p = append(p, unix.SockFilter{Code: equal, K: call, Jf: 1}, refused)
	}
	// A limit of another program: prlimit64 about any but the caller itself.
	p = append(p,
		unix.SockFilter{Code: equal, K: unix.SYS_PRLIMIT64, Jf: 6},
		unix.SockFilter{Code: load, K: firstLow},
		unix.SockFilter{Code: equal, K: 0, Jf: 2},
		unix.SockFilter{Code: load, K: firstHigh},
		unix.SockFilter{Code: equal, K: 0, Jt: 1},
		refused, allowed)
	families := []uint32{unix.AF_NETLINK} // by which a resolver asks for the addresses of the machine
	if !c.alone {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	p = append(p, unix.SockFilter{Code: equal, K: unix.SYS_SOCKET, Jt: 1}, allowed, unix.SockFilter{Code: load, K: firstLow})
	for _, f := range families {
		p = append(p, unix.SockFilter{Code: equal, K: f, Jf: 1}, allowed)
	}
	return append(p, refused)
}

// filter makes the thread, and all that it starts, ask the filter for each call.
func (c confined) filter() error {
	p := c.program()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("keeping the program from calls that change something: %w", errno)
	}
	return nil
}

// canFilter reports whether the kernel takes filters.
func canFilter() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
