//go:build unix

package claim

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// FileID tells a file from every copy of it: by its device, its number there, and
// when it was last changed, which no program can set.
func FileID(name string) (string, error) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return "", err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return "", fmt.Errorf("%q is not a file", name)
	}
	return fmt.Sprintf("%d-%d-%d", st.Dev, st.Ino, st.Ctim.Nano()), nil
}

// syncDir makes the names in a directory durable.
func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
