package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Lease says that the lab is in use. It ends with Release or with the process that holds it.
type Lease struct{ file *os.File }

var leaseName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// Lease takes a lease on the lab; while it lives an ephemeral lab does not end.
func (l *Lab) Lease(ctx context.Context, name string) (*Lease, error) {
	lock, err := lockFile(ctx, filepath.Join(l.dir, fileLock), nil)
	if err != nil {
		return nil, fmt.Errorf("leasing the lab: %w", err)
	}
	defer lock.Close()
	var now record
	if err := read(l.dir, fileRecord, &now); err != nil {
		return nil, err
	}
	if now.Nonce != l.record.Nonce || !supervised(l.dir) {
		return nil, ErrNotRunning
	}
	return takeLease(ctx, l.dir, name)
}

// takeLease needs the lock of the directory: the supervisor holds it when it decides to end.
func takeLease(ctx context.Context, dir, name string) (*Lease, error) {
	if !leaseName.MatchString(name) {
		return nil, fmt.Errorf("lease name %q: want lower-case letters, digits and hyphens", name)
	}
	for _, dead := range deadLeases(dir) {
		if err := remove(dead); err != nil {
			return nil, err
		}
	}
	// Waiting, since the supervisor may be looking at the new file in this very moment.
	f, err := lockFile(ctx, filepath.Join(dir, dirLeases, name+"."+randomHex(4)+".lease"), nil)
	if err != nil {
		return nil, fmt.Errorf("leasing the lab: %w", err)
	}
	return &Lease{file: f}, nil
}

// Release ends the lease. A second call does nothing.
func (le *Lease) Release() error {
	if le == nil || le.file == nil {
		return nil
	}
	f := le.file
	le.file = nil
	return errors.Join(remove(f.Name()), f.Close())
}

// Close releases the lease that Up took; the lab goes on.
func (l *Lab) Close() error { return l.lease.Release() }

func (l *Lab) inUse() bool { return len(liveLeases(l.dir)) > 0 }

func liveLeases(dir string) []string { return leases(dir, true) }
func deadLeases(dir string) []string { return leases(dir, false) }

// leases lists the lease files that are locked, or those that are not.
func leases(dir string, held bool) []string {
	paths, err := filepath.Glob(filepath.Join(dir, dirLeases, "*.lease"))
	if err != nil {
		return nil
	}
	var found []string
	for _, path := range paths {
		if isHeld(path) == held {
			found = append(found, path)
		}
	}
	return found
}

// leaseLabel is the name that the holder gave.
func leaseLabel(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}
