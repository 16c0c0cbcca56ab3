package cloud

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// The words are those of MySQL 8.0's message catalogue (share/messages_to_clients.txt, 1666) in the lines of its error log.
const mysqlRefuses = `2026-02-23T02:10:00.010000Z 12 [ERROR] [MY-010584] [Repl] Replica SQL for channel '': Error executing row event: 'Cannot execute statement: impossible to write to binary log since statement is in row format and BINLOG_FORMAT = STATEMENT.', Error_code: MY-001666
2026-02-23T02:10:00.060000Z 13 [ERROR] [MY-010584] [Repl] Replica SQL for channel '': Error executing row event: 'Cannot execute statement: impossible to write to binary log since statement is in row format and BINLOG_FORMAT = STATEMENT.', Error_code: MY-001666
2026-02-23T02:10:00.110000Z 14 [ERROR] [MY-010584] [Repl] Replica SQL for channel '': Error executing row event: 'Cannot execute statement: impossible to write to binary log since statement is in row format and BINLOG_FORMAT = STATEMENT.', Error_code: MY-001666
`

// TestReplicationLog reads what real servers wrote (testdata, by MariaDB 10.11) and what MySQL documents.
func TestReplicationLog(t *testing.T) {
	t.Parallel()
	from := func(name string) string {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for name, tc := range map[string]struct {
		text string
		want map[string]string
		err  string
	}{
		"MariaDB, rows that its table does not take":  {from("mariadb-row.log"), map[string]string{"error": "row-image", "code": "1677", "times": "4", "says": "cannot be converted from type", "every": "0s"}, ""},
		"MariaDB, a statement where it must log rows": {from("mariadb-statement.log"), map[string]string{"error": "binlog-format", "code": "1665", "times": "4", "says": "BINLOG_FORMAT = STATEMENT"}, ""},
		"the status of MariaDB":                       {from("mariadb-row.status"), map[string]string{"error": "row-image", "code": "1677", "times": "1", "every": "?", "last": "?"}, ""},
		"MySQL, each 50 ms":                           {mysqlRefuses, map[string]string{"error": "binlog-format", "code": "1666", "times": "3", "every": "50ms", "last": "2026-02-23T02:10:00.110000"}, ""},
		"another error":                               {"2026-02-23  2:10:00 7 [ERROR] Slave SQL: Could not execute Delete_rows_v1 event on table a.b; Can't find record in 'b', Error_code: 1032; handler error HA_ERR_KEY_NOT_FOUND, Internal MariaDB error code: 1032\n", map[string]string{"error": "other", "code": "1032", "times": "1"}, ""},
		"its IO thread":                               {"2026-02-23T02:10:00Z 7 [ERROR] [MY-010584] [Repl] Replica I/O for channel '': error connecting to master, Error_code: MY-002003\n", map[string]string{"error": "other", "code": "2003"}, ""},
		"a log without one":                           {"2026-02-23 2:10:00 0 [Note] Starting MariaDB\n", map[string]string{"error": "none", "times": "0", "code": "?"}, ""},
		"it recovered from one and has another":       {mysqlRefuses + "2026-02-23T02:12:00Z 7 [ERROR] [MY-010584] [Repl] Slave SQL: Could not execute, Error_code: MY-001032\n", map[string]string{"error": "other", "code": "1032", "times": "4"}, ""},
		"no log of a server":                          {"the replica is broken\n", nil, "no error log"},
		"an empty file":                               {"", nil, "no error log"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "log"), []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		obs, err := stepstest.Observe(t.Context(), replicationLog{steps.Env{Dir: dir}}, replicationLogFacts(), steps.Params{"file": steps.PathOf("log")}, stepstest.NewSink())
		if tc.err != "" || err != nil {
			if tc.err == "" || err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v, want %q", name, err, tc.err)
			}
			continue
		}
		t.Log(name)
		wants(t, obs, tc.want)
	}
}

func FuzzReplicationLog(f *testing.F) {
	f.Add(mysqlRefuses)
	f.Add("[ERROR] Slave SQL: x\n2026-02-23  [ERROR] replica: y")
	f.Fuzz(func(t *testing.T, text string) {
		for _, one := range failures(text) {
			if one.says == "" || one.kind() == "none" {
				t.Errorf("%+v", one)
			}
		}
	})
}
