package store

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOlderKeepsEveryOtherByte: a table releases a lock only as the run wrote it.
func TestOlderKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	raw := `{"ID":"1","Operation":"OperationTypeApply","Info":"","Who":"ci@runner-7","Created":"2026-11-24T17:00:00.000000001Z","Path":"net"}`
	aged, then, err := older([]byte(raw), 47*time.Minute)
	if want := strings.Replace(raw, "17:00:00", "16:13:00", 1); err != nil || string(aged) != want || then.Format(time.TimeOnly) != "16:13:00" {
		t.Errorf("older() = %s, %s, %v, want %s", aged, then, err, want)
	}
	if _, _, err := older([]byte(`{"ID":"1"}`), time.Minute); err == nil {
		t.Error("a lock without a time has become older")
	}
}

// TestStatementsThatWrite reads the log of a database: what changed a row, by whom, and nothing else.
func TestStatementsThatWrite(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "postgres.log")
	text := `2026-11-24 17:00:00.120 GMT [operator] LOG:  statement: CREATE SCHEMA IF NOT EXISTS net
2026-11-24 17:00:01.500 GMT [operator] LOG:  execute <unnamed>: SELECT data FROM net.states WHERE name = $1
2026-11-24 17:00:02.750 GMT [operator] LOG:  execute <unnamed>: INSERT INTO net.states (name, data) VALUES ($1, $2)
2026-11-24 17:00:02.750 GMT [operator] DETAIL:  parameters: $1 = 'UPDATE', $2 = '{}'
2026-11-24 17:00:03.000 GMT [robot] LOG:  statement: update net.states set data = ''
2026-11-24 17:00:04.000 GMT [handrail] LOG:  execute <unnamed>: SELECT 'DELETE'
`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := (&Place{Server: map[string]string{"log": name}}).statements()
	if err != nil || len(got) != 2 || got[0].Who != "operator" || got[0].What != "INSERT" || got[1].Who != "robot" || got[0].At.Format(time.StampMilli) != "Nov 24 17:00:02.750" {
		t.Errorf("statements() = %+v, %v", got, err)
	}
}

// serving is a store without a server of the lab.
func serving(t *testing.T, backend string) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{ctx: t.Context(), Place: Place{Plan: Plan{Backend: backend, Unit: "net", People: []string{"robot", "operator"}}, Environ: map[string][]string{}, Server: map[string]string{}, dir: dir}}
	var err error
	if s.log, err = openLog(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range s.end {
			end()
		}
	})
	return s
}

// TestTheProtocolOfHTTP: one lock at a time, released by its own id, and a write that came past a gate is in the log.
func TestTheProtocolOfHTTP(t *testing.T) {
	t.Parallel()
	s := serving(t, HTTP)
	if err := s.http(); err != nil {
		t.Fatal(err)
	}
	if err := put(filepath.Join(s.dir, filePlace), s.Place); err != nil {
		t.Fatal(err)
	}
	at := strings.Fields(s.Block)[2]
	at = strings.Trim(at, `"`)
	do := func(who, method, path, body string) int {
		t.Helper()
		req, err := http.NewRequest(method, at+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth(who, valueOf(s.Environ[who], "TF_HTTP_PASSWORD"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	p, err := Read(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	got = append(got, do("stranger", http.MethodGet, "", ""), do("operator", http.MethodGet, "", ""), do("robot", "LOCK", "/lock", `{"ID":"1"}`))
	if id, ok := p.Kept(); id != "1" || !ok {
		t.Errorf("Kept() = %q, %v", id, ok)
	}
	got = append(got, do("operator", "LOCK", "/lock", `{"ID":"2"}`), do("operator", http.MethodPost, "?ID=2", "{}"), do("operator", "UNLOCK", "/lock", `{"ID":"2"}`),
		do("robot", http.MethodPost, "?ID=1", "{}"), do("robot", "UNLOCK", "/lock", `{"ID":"1"}`), do("operator", http.MethodPost, "", "{}"))
	if want := []int{401, 404, 200, 423, 423, 409, 200, 200, 200}; !slices.Equal(got, want) {
		t.Errorf("answers %v, want %v", got, want)
	}
	list, err := Writes(s.dir)
	if err != nil || len(list) != 4 || list[3].Who != "operator" || list[3].What != "POST /net" {
		t.Errorf("Writes() = %+v, %v, want the four that went through, the last by the operator", list, err)
	}
	if err := p.Release(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a free lock was released: %v", err)
	}
}

// TestWhatWrites: of a table the calls, elsewhere the methods.
func TestWhatWrites(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		method, target string
		want           bool
	}{
		{"POST", "DynamoDB_20120810.GetItem", false}, {"POST", "DynamoDB_20120810.Query", false}, {"POST", "DynamoDB_20120810.PutItem", true},
		{"POST", "DynamoDB_20120810.UpdateItem", true}, {"POST", "DynamoDB_20120810.DeleteItem", true}, {"POST", "DynamoDB_20120810.BatchWriteItem", true},
		{"POST", "DynamoDB_20120810.TransactWriteItems", true},
		{"GET", "", false}, {"HEAD", "", false}, {"PUT", "", true}, {"LOCK", "", true}, {"DELETE", "", true},
	} {
		r, err := http.NewRequestWithContext(context.Background(), tc.method, "http://x/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if tc.target != "" {
			r.Header.Set("X-Amz-Target", tc.target)
		}
		if got := writing(r); got != tc.want {
			t.Errorf("%s %s writes: %v, want %v", tc.method, tc.target, got, tc.want)
		}
	}
}
