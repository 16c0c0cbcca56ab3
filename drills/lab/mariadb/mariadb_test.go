//go:build unix

package mariadb

import (
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"handrail/drills/lab"
)

// TestTheReplicaStops: the errors of a replica whose primary writes its log in another format, in the words of MariaDB.
func TestTheReplicaStops(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change Change
		says   string
	}{
		"to statement": {ToStatement, "impossible to write to binary log since BINLOG_FORMAT = STATEMENT and at least one table uses a storage engine limited to row-based logging"},
		"to row":       {ToRow, "Column 1 of table 'shop.orders' cannot be converted from type 'varbinary(64)' to type 'varbinary(36)'"},
		"to row alone": {change: RowAlone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := Start(t.Context(), lab.Options{}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}()
			for _, s := range []*Server{p.Primary, p.Replica} {
				at, err := lab.Listeners(s.running.PID())
				if err != nil || len(at) == 0 || !allLoopback(at) {
					t.Errorf("it listens on %v, %v", at, err)
				}
			}
			if err := p.Break(t.Context(), tc.change); err != nil {
				t.Fatal(err)
			}
			for _, want := range []struct {
				s      *Server
				format string
			}{{p.Primary, tc.change.Format}, {p.Replica, "STATEMENT"}} {
				if says, err := want.s.Variables(t.Context(), "binlog_format"); err != nil || says != "Variable_name\tValue\nbinlog_format\t"+want.format+"\n" {
					t.Errorf("variables: %q, %v, want %s", says, err, want.format)
				}
			}
			status, err := p.Replica.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			running := "Yes"
			if tc.says != "" {
				running = "No"
			}
			if field(status, "Slave_SQL_Running") != running || field(status, "Slave_IO_Running") != "Yes" || !strings.Contains(field(status, "Last_SQL_Error"), tc.says) {
				t.Errorf("SHOW REPLICA STATUS:\n%s", status)
			}
			if tc.says == "" {
				return
			}
			said := func() int {
				t.Helper()
				raw, err := os.ReadFile(p.Replica.ErrorLog())
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for line := range strings.Lines(string(raw)) {
					if strings.Contains(line, "[ERROR] Slave SQL: ") && strings.Contains(line, tc.says) && strings.Contains(line, "Internal MariaDB error code: "+tc.change.Errno) {
						n++
					}
				}
				return n
			}
			if n := said(); n != 1 {
				t.Errorf("its log has the error %d times", n)
			}
			again, err := At(p.dir)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := again.Retry(t.Context(), tc.change); err != nil {
					t.Fatal(err)
				}
			}
			if n := said(); n != 4 {
				t.Errorf("after three tries its log has the error %d times", n)
			}
		})
	}
}

// TestOnlyTheSocketIsRoot: no account but that of the replication gets in by TCP, which every user of this machine reaches.
func TestOnlyTheSocketIsRoot(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.Primary.Client(t.Context(), "--protocol=tcp", "--host="+p.Primary.host, "--port="+p.Primary.port, "--user=root", "--execute=SELECT 1").CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(string(out), "Access denied") && !strings.Contains(string(out), "is not allowed to connect") {
		t.Errorf("root by TCP: %s, %v", out, err)
	}
	if p.Primary.Socket() == "" || !strings.Contains(mustQuery(t, p.Replica, "SELECT reference FROM shop.orders"), "A-1") {
		t.Error("the replica does not have the row of the primary")
	}
}

func mustQuery(t *testing.T, s *Server, statements string) string {
	t.Helper()
	out, err := s.Query(t.Context(), statements)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func allLoopback(at []netip.Addr) bool {
	for _, a := range at {
		if !a.IsLoopback() {
			return false
		}
	}
	return true
}
