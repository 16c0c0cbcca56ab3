//go:build !unix

package terraform

import (
	"errors"
	"os"
)

const nonblock = 0

func writeLocked(*os.File) (bool, int, error) {
	return false, 0, errors.New("this system has no POSIX locks: the lock cannot be read")
}

func writeLock(*os.File) error {
	return errors.New("this system has no POSIX locks")
}
