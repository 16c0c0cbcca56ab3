package main

import (
	"os"
	"path/filepath"
)

// expired carries the lock of the data directory from the decision to its removal, so that nobody takes a lease on a
// lab that is about to go.
type expired struct{ lock *os.File }

func (*expired) Error() string { return "no lease for long enough" }

// wanted tells whether somebody needs the lab: the file "stay" (it came from lab up), or a lease whose holder lives.
// A holder keeps its lease file locked; the kernel unlocks it when the holder dies, however it dies.
func (s *supervisor) wanted() bool {
	if _, err := os.Stat(filepath.Join(s.dir, "stay")); err == nil {
		return true
	}
	leases, err := filepath.Glob(filepath.Join(s.dir, "leases", "*.lease"))
	if err != nil {
		return true
	}
	for _, path := range leases {
		f, err := tryLock(path, false)
		if err != nil {
			return true
		}
		f.Close()
	}
	return false
}

// expire returns *expired when the lab may go, nil when somebody is just looking at it: then the next tick asks again.
func (s *supervisor) expire() error {
	lock, err := tryLock(filepath.Join(s.dir, "lock"), true)
	if err != nil {
		return nil
	}
	if s.wanted() {
		lock.Close()
		return nil
	}
	return &expired{lock: lock}
}
