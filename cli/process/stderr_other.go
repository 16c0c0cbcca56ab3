//go:build !unix

package process

import "os"

// TurnsAside says whether a descriptor can be given another meaning.
const TurnsAside = false

func Duplicate(f *os.File) (*os.File, error) { return f, nil }

// Become does nothing where descriptors cannot be exchanged.
func Become(_, _ *os.File) error { return nil }
