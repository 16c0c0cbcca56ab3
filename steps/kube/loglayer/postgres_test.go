package loglayer

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/lib/pq"

	"handrail/drills/lab"
)

// What a real PostgreSQL says to a program, and writes into its own log, is put on
// the right layer.
func TestRefusalsOfPostgres(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := lab.StartService(t.Context(), lab.Options{}, "postgres", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	env := map[string]string{}
	for _, kv := range s.Env {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	for _, tc := range []struct {
		user, password, port, database, query string
		layer                                 Layer
		says                                  string
	}{
		{env["PGUSER"], env["PGPASSWORD"], env["PGPORT"], "shop-internal", "SELECT 1", NotFound, `database "shop-internal" does not exist`},
		{env["PGUSER"], env["PGPASSWORD"], env["PGPORT"], "postgres", "SELECT * FROM tables_v3", NotFound, `relation "tables_v3" does not exist`},
		{env["PGUSER"], "wrong", env["PGPORT"], "postgres", "SELECT 1", Auth, `password authentication failed for user "lab"`},
		{"shop", "wrong", env["PGPORT"], "postgres", "SELECT 1", Auth, `password authentication failed for user "shop"`},
		{env["PGUSER"], env["PGPASSWORD"], "1", "postgres", "SELECT 1", Refused, "connection refused"},
	} {
		db, err := sql.Open("postgres", fmt.Sprintf("host=%s port=%s user=%s password=%s dbname=%s sslmode=disable", env["PGHOST"], tc.port, tc.user, tc.password, tc.database))
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), tc.query)
		_ = db.Close()
		if err == nil {
			t.Fatalf("%s: no error", tc.says)
		}
		if got, _ := Of([]string{"starting", err.Error()}); got != tc.layer || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%v is on layer %s, want %s with %q", err, got, tc.layer, tc.says)
		}
	}
	// TLS, which this one does not speak.
	db, err := sql.Open("postgres", fmt.Sprintf("host=%s port=%s user=lab password=x dbname=postgres sslmode=require", env["PGHOST"], env["PGPORT"]))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.PingContext(t.Context()); err == nil {
		t.Error("it speaks TLS")
	} else if got, _ := Of([]string{err.Error()}); got != TLS {
		t.Errorf("%v is on layer %s, want %s", err, got, TLS)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for line := range strings.Lines(string(raw)) {
		for text, want := range map[string]Layer{"does not exist": NotFound, "password authentication failed": Auth} {
			if !strings.Contains(line, "FATAL") || !strings.Contains(line, text) {
				continue
			}
			told++
			if got, _ := Of([]string{line}); got != want {
				t.Errorf("%q is on layer %s, want %s", line, got, want)
			}
		}
	}
	if told < 3 {
		t.Errorf("%d lines of the log were looked at:\n%s", told, raw)
	}
}
