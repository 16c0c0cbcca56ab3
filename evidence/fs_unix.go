//go:build unix

package evidence

import (
	"os"

	"golang.org/x/sys/unix"
)

// openNoFollow keeps a planted link from leading a write elsewhere, and a planted FIFO from blocking the open.
const openNoFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

func (osFS) SyncDir(name string) error {
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
