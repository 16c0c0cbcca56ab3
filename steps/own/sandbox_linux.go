package own

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernel says what this machine can keep a program from.
func kernel() sandbox {
	s := sandbox{calls: canFilter()}
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == 0:
		s.landlock = int(version)
	case errors.Is(errno, unix.EOPNOTSUPP):
		s.why = "Landlock is switched off in this kernel"
		return s
	default:
		s.why = "this kernel has no Landlock"
		return s
	}
	switch {
	case s.landlock < leastLandlock:
		s.why = fmt.Sprintf("Landlock %d of this kernel lets a program empty files", s.landlock)
	case !s.calls:
		s.why = "which calls change something is not known of this kind of machine"
	}
	// Before its second correction a confined thread could not signal another thread of
	// its own process, as the scheduler of Go does.
	errata, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	s.signals = s.landlock >= 6 && errno == 0 && errata&2 != 0
	return s
}

const (
	mayRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayUse  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	// ofFiles are the rights that a rule about a file that is no directory may give.
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlock keeps the thread from every file but those that it may read, and from writing
// but where it may.
func (c confined) landlock() error {
	// Rights that came with a version: all of the first three, and then ioctl of devices.
	all := uint64(1<<15 - 1)
	if c.in.landlock >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: all}
	if c.in.landlock >= 4 && c.alone {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if c.in.landlock >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if c.in.signals {
		attr.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Offsetof(attr.Scoped)+unsafe.Sizeof(attr.Scoped), 0)
	if errno != 0 {
		return fmt.Errorf("keeping the program from writing: %w", errno)
	}
	defer unix.Close(int(fd))
	rules := map[string]uint64{c.write: all}
	for _, path := range []string{"/dev/null", "/dev/zero", "/dev/full"} {
		rules[path] = mayUse
	}
	for _, path := range append([]string{"/dev/random", "/dev/urandom"}, c.read...) {
		rules[path] |= mayRead
	}
	for path, rights := range rules {
		if err := allow(int(fd), path, rights&all); err != nil {
			return fmt.Errorf("letting the program read %s: %w", path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("keeping the program from writing: %w", errno)
	}
	return nil
}

// allow adds a rule. What is not there, or may not be looked at, needs none.
func allow(set int, path string, rights uint64) error {
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // the program could not reach it either
	}
	defer unix.Close(at)
	var info unix.Stat_t
	if err := unix.Fstat(at, &info); err != nil {
		return err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(at)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// readable lists what covers the whole file system but what is hidden. A rule gives what
// lies below a path and takes nothing back, so each directory above something hidden is
// given by its entries. Links are left out: a rule would be about where they lead, which
// has its own.
func readable(hide []string) []string {
	var hidden []string
	for _, path := range hide {
		if path == "" {
			continue
		}
		for _, p := range []string{path, realPath(path)} {
			if p = filepath.Clean(p); p != "/" && filepath.IsAbs(p) && !slices.Contains(hidden, p) {
				hidden = append(hidden, p)
			}
		}
	}
	var out []string
	var list func(dir string)
	list = func(dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // what cannot be listed is not given
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case e.Type()&os.ModeSymlink != 0 || slices.Contains(hidden, path):
			case e.IsDir() && slices.ContainsFunc(hidden, func(h string) bool { return below(h, path) }):
				list(path)
			default:
				out = append(out, path)
			}
		}
	}
	list("/")
	return out
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// below reports whether path is dir or below it. Both are real paths.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
