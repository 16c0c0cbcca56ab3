//go:build !unix

package depot

// syncDir does nothing where directories cannot be synced.
func syncDir(string) error { return nil }
