package terraform

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/change"
)

func openPG(t *testing.T, source string) *sql.DB {
	t.Helper()
	c, err := pq.NewConnector(source)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// pgBlock names a schema of its own: without it all tests would be taken for runs
// on one state.
func pgBlock(t *testing.T) string {
	return fmt.Sprintf("schema_name = %q", strings.ReplaceAll(statePath(t), "/", "_"))
}

// TestPG looks at every state of a lock on a real server, with both programs'
// way of locking, and proves from the log that it wrote nothing.
func TestPG(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := service(t, "postgres", dir)
	block := pgBlock(t)
	w := newBackend(t, "pg", block, quick, server.Env...)
	w.look().wantFree(t, false)

	// The first apply makes the row, and holds another key until it is there.
	w.write("pg", block, sixSlow)
	cmd, _ := w.apply()
	first := w.look()
	if f := first.lock.Facts; !f["held"].Bool() || f["session"].Text() != "alive" || !says(first.lock, "There is no row yet") || first.state.Facts["exists"].Bool() {
		t.Errorf("a first apply = %v %v", f, first.lock.Findings)
	}
	w.kill(cmd)
	w.write("pg", block, quick)
	w.until("apply", "-auto-approve", "-input=false") // the server sees the death when it next writes
	free := w.look()
	free.wantFree(t, true)
	if f := free.state.Facts; f["resources"].Int() != 1 || !f["lineage"].Known() || f["written"].Known() {
		t.Errorf("state = %v", f)
	}

	w.write("pg", block, sixSlow)
	cmd, _ = w.apply()
	live := w.look()
	f := live.lock.Facts
	if !f["held"].Bool() || f["session"].Text() != "alive" || !strings.HasPrefix(f["session_from"].Text(), "127.0.0.1:") || !f["session_since"].Known() ||
		f["unlock"].Text() != "nothing" || f["id"].Known() || f["own"].Known() || f["who"].Known() || !says(live.lock, "releases nothing") {
		t.Errorf("lock of a live apply = %v %v", f, live.lock.Findings)
	}
	// force-unlock says that all is well and releases nothing.
	w.run("force-unlock", "-force", "00000000-0000-0000-0000-000000000000")
	if again := w.look().lock.Facts; !again["held"].Bool() || again["session_id"].Text() != f["session_id"].Text() {
		t.Errorf("after a force-unlock the lock is %v", again)
	}
	p, err := change.UnlockGate{Env: w.env}.Preview(t.Context(), steps.Params{"lock_id": steps.IdentOf("00000000-0000-0000-0000-000000000000")}, stepstest.NewSink())
	if err != nil {
		t.Fatal(err)
	}
	wantUnmet(t, p, "exits 0 and releases nothing")

	// The owner of the database ends the session: the lock is gone, the run is not.
	db := openPG(t, strings.Join(connection(server.Env), " "))
	pid, _ := strconv.Atoi(f["session_id"].Text())
	if _, err := db.Exec("SELECT pg_terminate_backend($1, 5000)", pid); err != nil {
		t.Fatal(err)
	}
	w.look().wantFree(t, true)
	if h := w.probe("terraform/holder", steps.Params{"who": text(w.env.User + "@" + w.env.Host), "created": steps.TimeOf(time.Now())}); h.Facts["processes"].Int() == 0 {
		t.Errorf("the run ended with its session: %v", h.Facts)
	}
	w.kill(cmd)

	// A key that old versions lock while they make a row.
	if _, err := db.Exec("SELECT pg_advisory_lock(-1)"); err != nil {
		t.Fatal(err)
	}
	if d := w.look(); d.lock.Facts["held"].Bool() || !says(d.lock, "already locked for workspace creation") {
		t.Errorf("the key of old versions = %v %v", d.lock.Facts, d.lock.Findings)
	}

	raw, err := os.ReadFile(filepath.Join(dir, "postgres.log"))
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for line := range strings.Lines(string(raw)) {
		_, said, ok := strings.Cut(line, "[handrail] ")
		if !ok {
			continue
		}
		if strings.HasPrefix(said, "LOG:  execute") || strings.HasPrefix(said, "LOG:  statement") {
			ours++
		}
		for _, bad := range []string{"INSERT", "UPDATE", "DELETE", "CREATE", "pg_advisory", "pg_try", "pg_terminate", "COMMIT"} {
			if strings.Contains(said, bad) {
				t.Errorf("the log of the server has %s", line)
			}
		}
	}
	if ours == 0 {
		t.Errorf("the log has no statement of handrail:\n%.2000s", raw)
	}
}

// connection makes a connection string of the variables.
func connection(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		for _, o := range [][2]string{{"host", "PGHOST"}, {"port", "PGPORT"}, {"dbname", "PGDATABASE"}, {"user", "PGUSER"}, {"password", "PGPASSWORD"}, {"sslmode", "PGSSLMODE"}, {"sslrootcert", "PGSSLROOTCERT"}} {
			if o[1] == name {
				out = append(out, o[0]+"="+value)
			}
		}
	}
	return out
}

// TestPGTrouble asks servers that answer with a refusal.
func TestPGTrouble(t *testing.T) {
	t.Parallel()
	server := service(t, "postgres", t.TempDir())
	db := openPG(t, strings.Join(connection(server.Env), " "))
	for _, q := range []string{
		"CREATE ROLE blind LOGIN PASSWORD 'blind-password'", "CREATE SCHEMA own", "CREATE TABLE own.states (id serial primary key, name text unique, data text)",
		"INSERT INTO own.states (name, data) VALUES ('default', repeat('ä', 10) || '{')", "GRANT USAGE ON SCHEMA own TO PUBLIC", "GRANT SELECT ON own.states TO PUBLIC",
		"CREATE SCHEMA closed", "CREATE TABLE closed.states (id bigint, name text, data text)",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, conn, schema string
		environ            []string
		err                string
		denied             bool
		trust              error
		check              func(o steps.Observation) bool
	}{
		{name: "wrong password", environ: []string{"PGPASSWORD=wrong"}, err: "does not accept the credentials", denied: true},
		{name: "no such database", environ: []string{"PGDATABASE=nowhere"}, err: "database does not exist"},
		{name: "no server", environ: []string{"PGPORT=1"}, err: "cannot be reached"},
		{name: "no schema", schema: "nobody", check: func(o steps.Observation) bool { return o.Facts["held"].Known() && !o.Facts["held"].Bool() }},
		{name: "closed schema", schema: "closed", environ: []string{"PGUSER=blind", "PGPASSWORD=blind-password"}, err: "ask for USAGE", denied: true},
		{name: "unreadable address", conn: "postgres://u:pa ss%zz@h", err: "no address"},
		{name: "unreadable string", conn: "host=", environ: []string{"PGSSLMODE=never"}, err: "cannot be read"},
		{name: "lent password", conn: "host=127.0.0.1", trust: os.ErrPermission, err: "trust the directory first"},
		{name: "may not see whose", schema: "own", environ: []string{"PGUSER=blind", "PGPASSWORD=blind-password"}, check: func(o steps.Observation) bool {
			return o.Facts["held"].Bool() && o.Facts["session_id"].Known() && !o.Facts["session_from"].Known() && !o.Facts["session_since"].Known() &&
				says(o, "pg_read_all_stats") && says(o, "another table of this database")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"pg","config":{"conn_str":`+strconv.Quote(tc.conn)+`,"schema_name":`+strconv.Quote(tc.schema)+`}}}`)
			env := steps.Env{Dir: dir, Environ: append(server.Env[:len(server.Env):len(server.Env)], tc.environ...), Now: time.Now, Trusted: func(string) error { return tc.trust }}
			if tc.name == "may not see whose" {
				if _, err := db.Exec("SELECT pg_advisory_lock(1)"); err != nil {
					t.Fatal(err)
				}
			}
			obs, err := probe(t.Context(), env, "terraform/lock", nil, stepstest.NewSink())
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || isDenied(err) != tc.denied || strings.Contains(err.Error(), "pa ss") {
					t.Errorf("lock = %v, denied %v; want %q", err, isDenied(err), tc.err)
				}
				return
			}
			if err != nil || !tc.check(obs) {
				t.Errorf("lock = %v %v, %v", obs.Facts, obs.Findings, err)
			}
		})
	}
}

// TestPGPieces reads a state that comes in many pieces, with characters of more
// than one byte.
func TestPGPieces(t *testing.T) {
	t.Parallel()
	server := service(t, "postgres", t.TempDir())
	db := openPG(t, strings.Join(connection(server.Env), " "))
	for _, q := range []string{
		"CREATE SCHEMA terraform_remote_state", "CREATE TABLE terraform_remote_state.states (id bigint primary key, name text unique, data text)",
		`INSERT INTO terraform_remote_state.states VALUES (7, 'default', '{"version":4,"serial":9,"lineage":"l","outputs":{"o":{"value":"' || repeat('äö€', 2000000) || '","type":"string"}},"resources":[]}')`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"pg","config":{}}}`)
	sink := stepstest.NewSink()
	obs, err := probe(t.Context(), steps.Env{Dir: dir, Environ: server.Env, Now: time.Now}, "terraform/state", nil, sink)
	if err != nil || obs.Facts["serial"].Int() != 9 || len(obs.Gaps) > 0 {
		t.Fatalf("state = %v %v, %v", obs.Facts, obs.Gaps, err)
	}
	if n, want := sink.Artifacts["state"].Len(), 2000000*7+106; n < want-20 || n > want+20 {
		t.Errorf("the artifact has %d bytes, want about %d", n, want)
	}
}
