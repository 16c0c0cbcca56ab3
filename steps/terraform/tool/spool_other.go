//go:build !linux

package tool

import (
	"errors"
	"os"
)

// MemoryFile makes a file without a name: no other process can open it, and it is gone
// with the two processes. There are no files in memory here.
func MemoryFile() (*os.File, error) {
	f, err := os.CreateTemp("", "handrail-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (s *Spool) forget() {}
