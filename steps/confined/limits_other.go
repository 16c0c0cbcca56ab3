//go:build !unix

package confined

// confine does nothing: the system knows no limits of this kind.
func confine() error { return nil }
