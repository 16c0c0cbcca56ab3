package settings

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"handrail/cli/process"
)

// What a person trusted is kept in trust/ of the state directory: a list of directories and
// one of runbooks, a line for each, digest, two spaces, path, as sha256sum writes.

// The lists.
const (
	TrustedDirs     = "dirs"
	TrustedRunbooks = "runbooks"
)

// TrustFile names a list, or another file beside the lists.
func TrustFile(p *process.Program, name ...string) (string, error) {
	dir, err := p.StateDir()
	return filepath.Join(append([]string{dir, "trust"}, name...)...), err
}

// Trusted reads a list: digests by path.
func Trusted(p *process.Program, list string) (map[string]string, error) {
	path, err := TrustFile(p, list)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if digest, path, ok := strings.Cut(sc.Text(), "  "); ok {
			out[path] = digest
		}
	}
	return out, sc.Err()
}

// SaveTrusted replaces a list as a whole.
func SaveTrusted(p *process.Program, list string, trusted map[string]string) error {
	path, err := TrustFile(p, list)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, of := range process.SortedKeys(trusted) {
		fmt.Fprintf(&b, "%s  %s\n", trusted[of], of)
	}
	return process.SwapIn(path, b.String())
}
