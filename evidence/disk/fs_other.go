//go:build !unix

package disk

// NoFollow is nothing here.
const NoFollow = 0

// SyncDir does nothing: directories cannot be synced here, which is why writing on such systems is unproven.
func (OS) SyncDir(string) error { return nil }
