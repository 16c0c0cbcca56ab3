package cli

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func trustCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Allow heavy probes, which run programs, in a directory",
		Long: `Some probes run a program in a directory, as tofu plan does. The files of that
directory decide what such a program starts: providers and external programs. So
a directory must be trusted once, and again when its configuration changed.

trust shows what is trusted: the path and the digest of all .tf, .tofu and
.tfvars files below it and of the lock file of its providers. It writes them to
trust/dirs in the state directory and runs nothing.`,
		Args: between(0, "DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return p.trust(dir)
		},
	}
}

// trust records that dir may be used by heavy probes as it is now.
func (p *program) trust(dir string) error {
	real, digest, count, err := digestDir(dir)
	if err != nil {
		return &problem{code: ExitUsage, err: err, next: "name a directory that holds .tf or .tofu files"}
	}
	list, err := p.trusted()
	if err != nil {
		return err
	}
	list[real] = digest
	if err := p.saveTrusted(list); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "Trusted %s as it is now: %s, digest %.12s. A change of any of them ends the trust.\n", safe(real), counted(count, "file"), digest)
	return nil
}

// checkTrust says whether dir is trusted as it is now; the error says what to do.
func (p *program) checkTrust(dir string) error {
	real, digest, _, err := digestDir(dir)
	if err != nil {
		return err
	}
	list, err := p.trusted()
	if err != nil {
		return err
	}
	switch known, ok := list[real]; {
	case !ok:
		return fmt.Errorf("%q is not trusted for programs that run there: look at its files, then `handrail trust %s`", real, real)
	case known != digest:
		return fmt.Errorf("%q changed since it was trusted: look at what changed, then `handrail trust %s`", real, real)
	}
	return nil
}

// maxTrusted bounds how many files a trusted directory may hold.
const maxTrusted = 10_000

// digestDir resolves dir and hashes the files that decide what a program there
// does. Links are not followed: what they name is outside.
func digestDir(dir string) (real, digest string, count int, err error) {
	if real, err = filepath.Abs(dir); err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return "", "", 0, err
	}
	if strings.ContainsAny(real, "\n\r") {
		return "", "", 0, fmt.Errorf("%q: a path with a line break cannot be trusted", real)
	}
	sum := sha256.New()
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != real && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !decides(d.Name()):
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%q is not a plain file, so it cannot be trusted", path)
		}
		if count++; count > maxTrusted {
			return fmt.Errorf("%q holds more than %d configuration files", real, maxTrusted)
		}
		return hashFile(sum, real, path)
	})
	if err == nil && count == 0 {
		err = fmt.Errorf("%q holds no .tf or .tofu file, so there is nothing to trust", real)
	}
	return real, hex.EncodeToString(sum.Sum(nil)), count, err
}

func decides(name string) bool {
	for _, end := range []string{".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".tfvars.json"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == ".terraform.lock.hcl"
}

func hashFile(sum io.Writer, root, path string) error {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	one := sha256.New()
	if _, err := io.Copy(one, f); err != nil {
		return fmt.Errorf("reading %q: %w", path, err)
	}
	fmt.Fprintf(sum, "%x  %q\n", one.Sum(nil), rel)
	return nil
}

func (p *program) trustFile() (string, error) {
	dir, err := p.stateDir()
	return filepath.Join(dir, "trust", "dirs"), err
}

// trusted reads the file of trusted directories: digest, two spaces, path, as
// sha256sum writes.
func (p *program) trusted() (map[string]string, error) {
	path, err := p.trustFile()
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
func (p *program) saveTrusted(list map[string]string) error {
	path, err := p.trustFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var b strings.Builder
	for _, dir := range sortedKeys(list) {
		fmt.Fprintf(&b, "%s  %s\n", list[dir], dir)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "dirs-*")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, b.String()); err != nil {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}
