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
		first: [][]string{{"initdb", "-D", data, "-U", "lab", "-A", "scram-sha-256", "--pwfile", file, "-E", "UTF8", "--no-locale", "--no-sync"}},
		args: []string{"postgres", "-D", data, "-p", port, "-c", "listen_addresses=" + host, "-c", "unix_socket_directories=", "-c", "fsync=off",
			"-c", "log_statement=all", "-c", "log_line_prefix=%m [%a] ", "-c", "max_connections=40"},
		asks: []string{"pg_isready", "-q", "-h", host, "-p", port}, nobody: true, quits: true, gone: home,
		tell: []string{"PGHOST=" + host, "PGPORT=" + port, "PGUSER=lab", "PGPASSWORD=" + password, "PGDATABASE=postgres", "PGSSLMODE=disable"},
	}, nil
}

// ErrNoMaria says that MariaDB cannot be had here.
var ErrNoMaria = errors.New("MariaDB was not found in PATH nor where Debian puts it, and apt-get cannot fetch it: install the packages mariadb-server-core and mariadb-client-core; they need not run")

// mariaProgram writes a launcher whose first argument says what it is to do: install makes a folder of data with no account but
// the root of its socket, server serves it, client asks it. The programs are those of this machine, else of the packages of Debian
// that packages.txt in src names, unpacked beside the launcher and not installed.
func mariaProgram(ctx context.Context, part Part, src, path string) error {
	usr, libs := "/usr", []string(nil)
	whole := func() bool {
		return isProgram(filepath.Join(usr, "sbin", part.target)) && isProgram(filepath.Join(usr, "bin", "mariadb")) && isFile(filepath.Join(usr, "share/mysql/mysql_system_tables.sql"))
	}
	if !whole() {
		d := debian{ctx: ctx, home: filepath.Join(filepath.Dir(path), unpacked)}
		wrap := func(err error) error { return fmt.Errorf("%w (%v)", ErrNoMaria, err) }
		if err := d.packages(src, func(list string) (string, error) { return list, nil }); err != nil {
			return wrap(err)
		}
		if usr = filepath.Join(d.home, "usr"); !whole() {
			return wrap(errors.New("its packages hold something else than was expected"))
		}
		programs := []string{filepath.Join(usr, "sbin", part.target), filepath.Join(usr, "bin", "mariadb")}
		if err := errors.Join(d.libraries(programs, "mariadb-server-core", "mariadb-client-core"), d.strip()); err != nil {
			return wrap(err)
		}
		libs = d.paths()
	}
	return os.WriteFile(path, []byte(mariaLauncher(usr, part.target, libs)), 0o700)
}

func mariaLauncher(usr, server string, libs []string) string {
	launcher := "#!/bin/sh\n"
	if len(libs) > 0 {
		launcher += fmt.Sprintf("export LD_LIBRARY_PATH=%q\n", strings.Join(libs, ":"))
	}
	// Its tables grant root@127.0.0.1 everything without a password: loopback is open to every user of this machine, the folder of
	// the socket is not.
	return launcher + fmt.Sprintf(`usr=%q
tool=$1; shift; config=$1; shift
server() { exec "$usr/sbin/%s" "$config" --basedir="$usr" --lc-messages-dir="$usr/share/mysql" --character-sets-dir="$usr/share/mysql/charsets" "$@"; }
case $tool in
install)
	{
		echo 'CREATE DATABASE mysql;'; echo 'USE mysql;'
		cat "$usr/share/mysql/mysql_system_tables.sql" "$usr/share/mysql/mysql_system_tables_data.sql" "$usr/share/mysql/mysql_performance_tables.sql"
		echo "DELETE FROM global_priv WHERE Host <> 'localhost';"
	} | server --bootstrap --skip-log-bin ;;
server) server "$@" ;;
client) exec "$usr/bin/mariadb" "$config" "$@" ;;
*) echo "no tool $tool" >&2; exit 2 ;;
esac
`, usr, server)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// serveMaria keeps a database in dir/data and its settings in dir/my.cnf, whose end the caller may add to before the server
// starts. Any process that reaches the socket in dir/data is its root.
func serveMaria(dir, addr string) (launch, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return launch{}, err
	}
	data, config := filepath.Join(dir, "data"), filepath.Join(dir, "my.cnf")
	text := fmt.Sprintf(`[client]
socket=mysql.sock
[mariadbd]
datadir=%[1]q
tmpdir=%[1]q
bind-address=%[2]s
port=%[3]s
socket=mysql.sock
pid-file=mysql.pid
skip-name-resolve
performance-schema=OFF
innodb-buffer-pool-size=16M
innodb-log-file-size=4M
innodb-flush-log-at-trx-commit=0
`, data, host, port)
	if os.Geteuid() == 0 {
		text += "user=root\n" // it refuses to run as root where it is not told to
	}
	if err := errors.Join(os.MkdirAll(data, 0o700), replace(config, []byte(text))); err != nil {
		return launch{}, err
	}
	at := "--defaults-file=" + config
	return launch{args: []string{"server", at}, first: [][]string{{"install", at}}, tell: []string{"MARIADB_CONFIG=" + config}}, nil
}
