//go:build !unix

package cli

import "os"

// turnsAside says whether a descriptor can be given another meaning.
const turnsAside = false

func duplicate(f *os.File) (*os.File, error) { return f, nil }

// become does nothing where descriptors cannot be exchanged.
func become(_, _ *os.File) error { return nil }
