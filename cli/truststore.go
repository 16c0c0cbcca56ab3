package cli

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"handrail/cli/process"
)

// trustFile names the file of trusted directories: a line for each, digest, two
// spaces, path, as sha256sum writes. Beside it stands the manifest that has this
// digest; a line without one is from a handrail that looked at fewer files.
func trustFile(p *process.Program) (string, error) {
	dir, err := p.StateDir()
	return filepath.Join(dir, "trust", "dirs"), err
}

// trusted reads the file of trusted directories.
func trusted(p *process.Program) (map[string]string, error) {
	path, err := trustFile(p)
	if err != nil {
		return nil, err
	}
	list := map[string]string{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if digest, dir, ok := strings.Cut(sc.Text(), "  "); ok {
			list[dir] = digest
		}
	}
	return list, sc.Err()
}

// saveTrusted replaces the file as a whole.
func saveTrusted(p *process.Program, list map[string]string) error {
	path, err := trustFile(p)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, dir := range process.SortedKeys(list) {
		fmt.Fprintf(&b, "%s  %s\n", list[dir], dir)
	}
	return swapIn(path, b.String())
}

func manifestFile(p *process.Program, dir string) (string, error) {
	list, err := trustFile(p)
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(filepath.Dir(list), "manifests", hex.EncodeToString(sum[:])+".json"), err
}

// maxManifest bounds what is read of a manifest.
const maxManifest = 64 << 20

// manifestOf reads what a directory was when it was trusted by a digest.
func manifestOf(p *process.Program, dir, digest string) (manifest, error) {
	var m manifest
	path, err := manifestFile(p, dir)
	if err != nil {
		return m, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, errors.New("it was trusted by an older handrail, which looked at fewer files")
	}
	if err != nil {
		return m, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return m, err
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != digest || json.Unmarshal(raw, &m) != nil {
		return manifest{}, errors.New("its list of files is not the one that was trusted")
	}
	return m, nil
}

func saveManifest(p *process.Program, dir string, raw []byte) error {
	path, err := manifestFile(p, dir)
	if err != nil {
		return err
	}
	return swapIn(path, string(raw))
}

// swapIn writes a file of the operator's own as a whole.
func swapIn(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, text); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}
