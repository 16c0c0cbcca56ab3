// Package corpus holds what fuzzing found worth keeping, so that every test run tries it again. Only tests import it.
package corpus

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// packed is made by `make fuzz`: <target>/<name>, each in the format of Go's fuzzing ("go test fuzz v1").
//
//go:embed corpora.tar.gz
var packed []byte

// Values are the arguments of each kept input of a fuzz target, to be given to its Add.
func Values(target string) ([][]any, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var out [][]any
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if path.Base(path.Dir(h.Name)) != target || h.Typeflag != tar.TypeReg {
			continue
		}
		raw, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		values, err := parse(string(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
		out = append(out, values)
	}
}

// Target is what Seed needs of a *testing.F.
type Target interface {
	Helper()
	Name() string
	Add(args ...any)
	Fatal(args ...any)
}

// Seed gives a fuzz target what was kept of it: every test run tries it again.
func Seed(f Target) {
	f.Helper()
	all, err := Values(f.Name())
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range all {
		f.Add(v...)
	}
}

// parse reads a file of Go's fuzzing (internal/fuzz, encoding.go), as far as our targets have such arguments.
func parse(file string) ([]any, error) {
	lines := strings.Split(strings.TrimSuffix(file, "\n"), "\n")
	if lines[0] != "go test fuzz v1" {
		return nil, fmt.Errorf("begins with %q", lines[0])
	}
	var out []any
	for _, l := range lines[1:] {
		kind, rest, ok := strings.Cut(l, "(")
		text, closed := strings.CutSuffix(rest, ")")
		if !ok || !closed {
			return nil, fmt.Errorf("line %q", l)
		}
		v, err := value(kind, text)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", l, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func value(kind, text string) (any, error) {
	switch kind {
	case "[]byte":
		s, err := strconv.Unquote(text)
		return []byte(s), err
	case "string":
		return strconv.Unquote(text)
	case "int":
		return strconv.Atoi(text)
	case "byte", "uint8":
		s, err := strconv.Unquote(text)
		if err == nil {
			r := []rune(s)
			return byte(r[0]), nil
		}
		n, err := strconv.ParseUint(text, 0, 8)
		return byte(n), err
	}
	return nil, fmt.Errorf("an argument of kind %q", kind)
}
