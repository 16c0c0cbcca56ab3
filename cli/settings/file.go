package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"handrail/steps/strict"
)

// read reads a file of settings into the struct that into points at; found says whether there is one. What is not
// understood whole is an error.
func read(name, what, kind string, forms map[string]strict.Form, into any) (found bool, err error) {
	src, found, err := readSource(name, what)
	if err != nil || !found {
		return found, err
	}
	return true, (&strict.Reader{File: name, What: what, Forms: forms}).Envelope(src, kind, into)
}

// readSource reads the bytes of a file of settings.
func readSource(name, what string) (src []byte, found bool, err error) {
	src, err = ReadUpTo(name, strict.MaxSize+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("reading %s: %w", what, err)
	}
	return src, true, nil
}

// ReadUpTo reads a regular file of at most so many bytes.
func ReadUpTo(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%q is not a file of at most %d bytes", name, limit)
	}
	return os.ReadFile(name)
}
