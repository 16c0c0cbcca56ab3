package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// debian unpacks packages of Debian into a folder, for programs that need not be
// installed. It needs no rights: where the machine has no lists of packages, it
// fetches some of its own.
type debian struct {
	ctx  context.Context
	home string
	own  []string // options of apt for lists of our own
}

func (d *debian) run(name string, args ...string) (string, error) {
	if strings.HasPrefix(name, "apt-") {
		args = append(slices.Clone(d.own), args...)
	}
	cmd := exec.CommandContext(d.ctx, name, args...)
	cmd.Dir = d.home
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	ownGroup(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

var postgresPackage = regexp.MustCompile(`(?m)^\s*Depends: postgresql-(\d+)\s*$`)

// postgres unpacks the version of PostgreSQL that Debian means by postgresql.
func (d *debian) postgres(src string) error {
	return d.packages(src, func(list string) (string, error) {
		says, err := d.run("apt-cache", "depends", "postgresql")
		if err != nil {
			return "", err
		}
		m := postgresPackage.FindStringSubmatch(says)
		if m == nil {
			return "", errors.New("apt-cache names no version of postgresql")
		}
		return strings.ReplaceAll(list, "%s", m[1]), nil
	})
}

// packages unpacks what packages.txt in src names, once filled has put in what
// only the lists of Debian know.
func (d *debian) packages(src string, filled func(list string) (string, error)) error {
	raw, err := os.ReadFile(filepath.Join(src, "packages.txt"))
	if err != nil {
		return err
	}
	return d.anew(func() error {
		list, err := filled(string(raw))
		if err != nil {
			return err
		}
		return d.unpack(strings.Fields(list)...)
	})
}

// anew fetches into an empty folder, with lists of our own where those of the machine do not do:
// absent ones know no package, old ones one that is gone.
func (d *debian) anew(fetch func() error) error {
	if err := errors.Join(os.RemoveAll(d.home), os.MkdirAll(d.home, 0o755)); err != nil {
		return err
	}
	if err := fetch(); err == nil || d.ctx.Err() != nil {
		return err
	}
	if err := d.lists(); err != nil {
		return err
	}
	return fetch()
}

// lists fetches lists of packages into a folder of ours.
func (d *debian) lists() error {
	for _, dir := range []string{"apt/state/lists/partial", "apt/cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(d.home, dir), 0o755); err != nil {
			return err
		}
	}
	d.own = []string{"-o", "Dir::State=" + filepath.Join(d.home, "apt/state"), "-o", "Dir::Cache=" + filepath.Join(d.home, "apt/cache"),
		"-o", "Dir::State::status=/var/lib/dpkg/status", "-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=true"}
	_, err := d.run("apt-get", "-qq", "update")
	return err
}

func (d *debian) unpack(names ...string) error {
	if _, err := d.run("apt-get", append([]string{"-o", "APT::Sandbox::User=", "download"}, names...)...); err != nil {
		return err
	}
	packages, _ := filepath.Glob(filepath.Join(d.home, "*.deb"))
	for _, name := range packages {
		if _, err := d.run("dpkg", "-x", name, d.home); err != nil {
			return err
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// paths are the folders of libraries that were unpacked.
func (d *debian) paths() []string {
	var out []string
	for _, pattern := range []string{"usr/lib/*/lib*.so*", "lib/*/lib*.so*"} {
		found, _ := filepath.Glob(filepath.Join(d.home, pattern))
		for _, name := range found {
			out = append(out, filepath.Dir(name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	absentLibrary = regexp.MustCompile(`=> not found`)
	// What is one with the kernel or the compiler, and what is large and not called.
	leftOut = regexp.MustCompile(`^(libc6|libgcc-s1|libstdc\+\+6|libcrypt1|libllvm.*|libperl.*|lib.*-perl)$`)
)

// libraries unpacks those that the programs need and the machine lacks, of what
// the packages depend on.
func (d *debian) libraries(programs []string, packages ...string) error {
	absent := func() bool {
		for _, name := range programs {
			cmd := exec.CommandContext(d.ctx, "ldd", name)
			cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+strings.Join(d.paths(), ":"))
			if out, err := cmd.CombinedOutput(); err != nil || absentLibrary.Match(out) {
				return true
			}
		}
		return false
	}
	if !absent() {
		return nil
	}
	says, err := d.run("apt-cache", append([]string{"depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances"}, packages...)...)
	if err != nil {
		return err
	}
	var names []string
	for name := range strings.Lines(says) { // those that others depend on stand at the start of their own line
		if name = strings.TrimRight(name, "\n"); strings.HasPrefix(name, "lib") && !leftOut.MatchString(name) {
			names = append(names, name)
		}
	}
	if err := d.unpack(names...); err != nil {
		return err
	}
	if absent() {
		return errors.New("a library is missing that Debian's packages do not hold either")
	}
	return nil
}

// strip removes what nothing runs of: it would only fill the disk.
func (d *debian) strip(patterns ...string) error {
	for _, pattern := range append(patterns, "apt", "usr/share/doc", "usr/share/locale", "usr/share/man") {
		found, _ := filepath.Glob(filepath.Join(d.home, pattern))
		for _, name := range found {
			if err := os.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// debianProgram writes a launcher of the program that part names as its target: of this machine, else of the packages
// of Debian that packages.txt in src names, unpacked beside the launcher and not installed. The first one has it.
func debianProgram(ctx context.Context, part Part, src, path string) error {
	if found, err := exec.LookPath(part.target); err == nil {
		return os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nexec %q \"$@\"\n", found), 0o700)
	}
	wrap := func(err error) error {
		return fmt.Errorf("%s was not found in PATH, and apt-get cannot fetch it: install the package %[1]s; it needs not run (%w)", part.target, err)
	}
	d := debian{ctx: ctx, home: filepath.Join(filepath.Dir(path), unpacked)}
	if err := d.packages(src, func(list string) (string, error) { return list, nil }); err != nil {
		return wrap(err)
	}
	program := filepath.Join(d.home, "usr", "bin", part.target)
	if err := errors.Join(d.libraries([]string{program}, part.target), d.strip()); err != nil {
		return wrap(err)
	}
	return os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nexport LD_LIBRARY_PATH=%q\nexec %q \"$@\"\n", strings.Join(d.paths(), ":"), program), 0o700)
}
