//go:build !unix

package module

import (
	"errors"
	"os"
)

func WriteLocked(*os.File) (bool, int, error) {
	return false, 0, errors.New("this system has no POSIX locks: the lock cannot be read")
}

func WriteLock(*os.File) error {
	return errors.New("this system has no POSIX locks")
}
