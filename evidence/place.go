package evidence

import (
	"fmt"

	"handrail/evidence/disk"
)

// takeLock takes the lock, and owes the journal a word where a lock and a sync may mean nothing.
func (b *Bundle) takeLock() (err error) {
	if b.opts.noLock {
		return nil
	}
	if b.lock, err = disk.TakeLock(b.path, b.opts.Boot, b.opts.Host); err != nil {
		return err
	}
	if kind := disk.Remote(b.path); kind != "" {
		b.remote = kind
		b.owe("filesystem", kind)
	}
	return nil
}

// owe lets an env entry say this before the next entry.
func (b *Bundle) owe(key, value string) {
	if b.owed == nil {
		b.owed = map[string]string{}
	}
	b.owed[key] = value
}

// Warning says what the operator should know about the place of the bundle, "" for nothing.
func (b *Bundle) Warning() string { return warning(b.path, b.remote) }

// PlaceWarning says the same of a directory before a bundle is made in it.
func PlaceWarning(dir string) string { return warning(dir, disk.Remote(dir)) }

func warning(path, kind string) string {
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("%q is on a network or shared file system (%s): another host may write a bundle there at the same time, and "+
		"what was synced may still be lost; keep it on a local disk", path, kind)
}
