package watchdog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// replaceFile writes a file that others read, whole or not at all: a scraper never sees half of it.
func replaceFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("writing %q: %w", name, err)
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("writing %q: %w", name, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
