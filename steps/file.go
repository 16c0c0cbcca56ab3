package steps

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Below is name as a path: one that is not absolute begins in dir.
func Below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// OpenRegular opens a regular file and nothing else: it never waits for the other end of a pipe.
func OpenRegular(name string) (*os.File, error) {
	return regular(os.OpenFile(name, os.O_RDONLY|Nonblock, 0))
}

// OpenRegularIn is OpenRegular for a file to which no link leads out of root.
func OpenRegularIn(root *os.Root, name string) (*os.File, error) {
	return regular(root.OpenFile(name, os.O_RDONLY|Nonblock, 0))
}

func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", f.Name())
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadFile reads a regular file of at most so many bytes. What an operator names may be a pipe, a
// device or a log of gigabytes.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, _, err := ReadAll(f, most)
	return raw, err
}

// ReadAll reads what is left of a file, at most so many bytes, and says what file it is.
func ReadAll(f *os.File, most int64) ([]byte, os.FileInfo, error) {
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		return nil, nil, fmt.Errorf("%s has more than the %s that are read", f.Name(), amount(most))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	info, err := f.Stat()
	return raw, info, err
}

// amount is a number of bytes in the largest unit of which it is a whole number.
func amount(n int64) string {
	for _, unit := range []struct {
		of   int64
		name string
	}{{1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.of && n%unit.of == 0 {
			return fmt.Sprintf("%d %s", n/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
