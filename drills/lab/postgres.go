package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoPostgres says that PostgreSQL cannot be had here.
var ErrNoPostgres = errors.New("PostgreSQL was not found in PATH nor where Debian puts it, and apt-get cannot fetch it: install the package postgresql; it needs not run")

// unpacked is the folder of what Debian's packages hold, beside a launcher.
const unpacked = "debian"

// postgresProgram writes a launcher that runs the tool of PostgreSQL that its
// first argument names: of this machine, else of the packages of Debian that
// packages.txt in src names, unpacked beside the launcher and not installed.
func postgresProgram(ctx context.Context, _ Part, src, path string) error {
	bin := installedPostgres()
	if bin != "" {
		return os.WriteFile(path, []byte(postgresLauncher(bin, nil)), 0o700)
	}
	home := filepath.Join(filepath.Dir(path), unpacked)
	d := debian{ctx: ctx, home: home}
	if err := d.postgres(src); err != nil {
		return fmt.Errorf("%w (%v)", ErrNoPostgres, err)
	}
	if bin = newestPostgres(filepath.Join(home, "usr", "lib", "postgresql")); bin == "" {
		return ErrNoPostgres
	}
	version, programs := filepath.Base(filepath.Dir(bin)), []string{"postgres", "initdb", "pg_isready"}
	for i, name := range programs {
		programs[i] = filepath.Join(bin, name)
	}
	// What is stripped each server of a test running as root would get a copy of.
	if err := errors.Join(d.libraries(programs, "postgresql-"+version, "postgresql-client-"+version), d.strip("usr/lib/postgresql/*/lib/bitcode")); err != nil {
		return fmt.Errorf("%w (%v)", ErrNoPostgres, err)
	}
	return os.WriteFile(path, []byte(postgresLauncher(bin, d.paths())), 0o700)
}

func postgresLauncher(bin string, libs []string) string {
	launcher := "#!/bin/sh\n"
	if len(libs) > 0 {
		launcher += fmt.Sprintf("export LD_LIBRARY_PATH=%q\n", strings.Join(libs, ":"))
	}
	return launcher + fmt.Sprintf("tool=$1; shift\nexec %q/\"$tool\" \"$@\"\n", bin)
}

// reachable copies what Debian's packages hold to where a user without rights
// may go, and returns a launcher for there.
func reachable(program, to string) (string, error) {
	script, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	from := filepath.Join(filepath.Dir(program), unpacked)
	if !strings.Contains(string(script), from) || os.Geteuid() != 0 {
		return string(script), nil
	}
	to = filepath.Join(to, unpacked)
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return "", err
	}
	err = filepath.WalkDir(to, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chmod(name, 0o755) // public programs, for a user without rights
	})
	return strings.ReplaceAll(string(script), from, to), err
}

func installedPostgres() string {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && isProgram(filepath.Join(filepath.Dir(path), "initdb")) {
			return filepath.Dir(path)
		}
	}
	return newestPostgres("/usr/lib/postgresql")
}

// newestPostgres finds the programs of the highest version below dir.
func newestPostgres(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "*", "bin", "postgres"))
	major := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	slices.SortFunc(found, func(a, b string) int { return major(b) - major(a) })
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

// servePostgres keeps a cluster of databases in a folder of its own: it does not
// run as root, and cannot reach into the folder of a test. Each statement stands
// in the log, behind its time and the name of the application.
func servePostgres(_, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	home, err := os.MkdirTemp("", "handrail-postgres")
	if err != nil {
		return launch{}, err
	}
	password, data := randomHex(12), filepath.Join(home, "data")
	file := filepath.Join(home, "password")
	if err := errors.Join(os.Mkdir(data, 0o700), os.WriteFile(file, []byte(password), 0o600), giveToNobody(home), giveToNobody(data), giveToNobody(file)); err != nil {
		return launch{}, errors.Join(err, os.RemoveAll(home))
	}
	return launch{
		first: []string{"initdb", "-D", data, "-U", "lab", "-A", "scram-sha-256", "--pwfile", file, "-E", "UTF8", "--no-locale", "--no-sync"},
		args: []string{"postgres", "-D", data, "-p", port, "-c", "listen_addresses=" + host, "-c", "unix_socket_directories=", "-c", "fsync=off",
			"-c", "log_statement=all", "-c", "log_line_prefix=%m [%a] ", "-c", "max_connections=40"},
		asks: []string{"pg_isready", "-q", "-h", host, "-p", port}, nobody: true, quits: true, gone: home,
		tell: []string{"PGHOST=" + host, "PGPORT=" + port, "PGUSER=lab", "PGPASSWORD=" + password, "PGDATABASE=postgres", "PGSSLMODE=disable"},
	}, nil
}
