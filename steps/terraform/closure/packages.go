package closure

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps/terraform/providerlock"
)

// lockedPackages are the providers whose packages tofu holds to a checksum of the
// lock file before it starts one, as host/namespace/type/version.
func lockedPackages(root string) map[string]bool {
	out := map[string]bool{}
	name := filepath.Join(root, ".terraform.lock.hcl")
	raw, err := os.ReadFile(name)
	if err != nil {
		return out
	}
	list, err := providerlock.ParseLock(name, raw)
	if err != nil {
		return out
	}
	for _, p := range list {
		if slices.ContainsFunc(p.Hashes, func(h string) bool { return strings.HasPrefix(h, "h1:") }) {
			out[p.Address+"/"+p.Version] = true
		}
	}
	return out
}

// packages takes the selection of providers, host/namespace/type/version/platform:
// which there are and where links lead. What no checksum of the lock file holds is
// read whole.
func (w *walker) packages(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		parts := strings.Split(filepath.ToSlash(rel), "/")
		switch {
		case rel == ".":
			return nil
		case len(parts) < 5 && d.IsDir():
			return nil
		case len(parts) < 5:
			return w.loose(path, d)
		}
		says := "package"
		if to, err := os.Readlink(path); err == nil {
			says = "package at " + to
		}
		if !w.mine(filepath.Dir(dir)) || !w.locks[strings.Join(parts[:4], "/")] {
			sum, err := w.whole(path)
			if err != nil {
				return err
			}
			says += " " + sum
		}
		w.sums[w.name(path)] = says
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// loose is what stands among packages and is none.
func (w *walker) loose(path string, d fs.DirEntry) error {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		return fmt.Errorf("the link %q leads out of what would be trusted; run tofu init there yourself", path)
	case !d.Type().IsRegular():
		return fmt.Errorf("%q is not a plain file, so what it says cannot be trusted", path)
	}
	w.files[w.name(path)] = path
	return nil
}

// whole is the digest of all files of a package, links in it resolved.
func (w *walker) whole(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Absent, nil // tofu finds none either
	}
	h := sha256.New()
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(real, path)
		if err != nil {
			return err
		}
		sum, _, err := w.sum(path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(h, "%s  %q\n", sum, rel)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
