package own

import "golang.org/x/sys/unix"

const machine = unix.AUDIT_ARCH_X86_64

// oldCalls are forms of calls that newer machines do without.
func oldCalls() []uint32 {
	return []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
}
