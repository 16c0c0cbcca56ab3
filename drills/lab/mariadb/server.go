package mariadb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"

	"handrail/drills/lab"
)

// Server is one of a pair.
type Server struct {
	Addr string // 127.0.0.1:PORT

	process    lab.Process
	host, port string
	running    *lab.Server // nil where the caller runs it
}

func newServer(p lab.Process) (*Server, error) {
	at, err := url.Parse(p.Ready)
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: at.Host, process: p}
	s.host, s.port, err = net.SplitHostPort(at.Host)
	return s, err
}

// ErrorLog is the path of the log of errors, which is what the server prints. It is emptied when the server starts.
func (s *Server) ErrorLog() string {
	return filepath.Join(s.process.Dir, s.process.Name+".log")
}

// Socket is the path of the Unix socket. Who may reach it may do everything.
func (s *Server) Socket() string { return filepath.Join(s.process.Dir, "data", "mysql.sock") }

// Client is how the client of the packages is called, which asks the server as its root through the socket. It takes the arguments
// of mariadb.
func (s *Server) Client(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.process.Program, append([]string{"client", "--defaults-file=" + filepath.Join(s.process.Dir, "my.cnf")}, args...)...)
	// By a short name: the path of a Unix socket has at most 107 bytes.
	cmd.Dir, cmd.Env = filepath.Join(s.process.Dir, "data"), append(s.process.Env, "MARIADB_HISTFILE=/dev/null")
	return cmd
}

// Query runs statements, and returns the answers as the client prints them into a file: columns between tabs, their names first.
func (s *Server) Query(ctx context.Context, statements string) (string, error) {
	return s.ask(ctx, statements)
}

// Status is the answer to SHOW REPLICA STATUS\G, a name and a value on each line. It is empty for a server that is no replica.
func (s *Server) Status(ctx context.Context) (string, error) {
	return s.ask(ctx, `SHOW REPLICA STATUS\G`)
}

// Variables is the answer to SHOW GLOBAL VARIABLES LIKE a pattern.
func (s *Server) Variables(ctx context.Context, like string) (string, error) {
	return s.ask(ctx, "SHOW GLOBAL VARIABLES LIKE '"+strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(like)+"'")
}

func (s *Server) ask(ctx context.Context, statements string) (string, error) {
	cmd := s.Client(ctx)
	cmd.Stdin = strings.NewReader(statements) // not an argument: those of a process stand open to every user
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("asking MariaDB: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return out.String(), nil
}

// column is the value of a column of the only row, or one of a status.
func (s *Server) column(ctx context.Context, statement string) (string, error) {
	out, err := s.ask(ctx, statement)
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n") // a value may be empty: a replica without a position yet
	if len(lines) != 2 {
		return "", errors.New("asking MariaDB: the answer has more than a row, or none")
	}
	return lines[1], nil
}

// field is one of SHOW REPLICA STATUS.
func field(status, name string) string {
	for line := range strings.Lines(status) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
