//go:build unix

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// NoFollow keeps a planted link from leading a write elsewhere, and a planted FIFO from blocking the open.
const NoFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// SyncDir makes the names in a directory durable.
func (OS) SyncDir(name string) error {
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
