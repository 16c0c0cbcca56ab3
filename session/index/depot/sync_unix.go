//go:build unix

package depot

import "os"

// syncDir makes the names in a directory durable.
func syncDir(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
