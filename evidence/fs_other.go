//go:build !unix

package evidence

const openNoFollow = 0

// SyncDir does nothing: directories cannot be synced here, which is why writing on such systems is unproven.
func (osFS) SyncDir(string) error { return nil }
