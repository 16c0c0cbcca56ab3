//go:build !unix

package claim

// FileID knows no file from its copy here, so that no slot proves anything.
func FileID(string) (string, error) { return "", nil }

// syncDir does nothing where directories cannot be synced.
func syncDir(string) error { return nil }
