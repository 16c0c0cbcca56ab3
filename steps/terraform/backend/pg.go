package backend

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lib/pq"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
)

// pgStore is the backend that keeps the state in a row and the lock in the
// session of the run: an advisory lock on the id of the row.
type pgStore struct {
	connector    *pq.Connector
	writer       func() (*pq.Connector, error) // for the one act that writes
	server       string                        // without what signs in
	schema, rows string
	space        string // of the row: the workspace
}

func newPG(set settings, out steps.Sink) (*pgStore, error) {
	p := &pgStore{schema: set.get("schema_name", "PG_SCHEMA_NAME"), rows: set.get("table_name", "PG_TABLE_NAME"), space: set.w.Space}
	if p.schema == "" {
		p.schema = "terraform_remote_state"
	}
	if p.rows == "" {
		p.rows = "states"
	}
	var err error
	p.writer = func() (*pq.Connector, error) {
		c, server, err := pgConnector(set, out, true)
		if err == nil && server != p.server {
			err = fmt.Errorf("the backend leads to %s now, what was shown is on %s", server, p.server)
		}
		return c, err
	}
	p.connector, p.server, err = pgConnector(set, out, false)
	return p, err
}

func (p *pgStore) Name() string { return "pg" }

func (p *pgStore) Cluster(context.Context) (string, string, error) { return p.server, "", nil }

func (p *pgStore) table() string {
	return pq.QuoteIdentifier(p.schema) + "." + pq.QuoteIdentifier(p.rows)
}

func (p *pgStore) where() string { return p.table() + " row " + strconv.Quote(p.space) }

func (p *pgStore) UnlockPolicy() UnlockPolicy {
	return UnlockPolicy{Way: unlockNothing, Refuse: "On pg force-unlock exits 0 and releases nothing, whatever id it is given.",
		Cure: "the lock ends with the session of its run: end that run; where its machine hangs, the owner of the database ends the session with SELECT pg_terminate_backend(<session_id>), and the run, should it live, goes on unaware"}
}

func (p *pgStore) Command(what string) string {
	q := fmt.Sprintf("SELECT data FROM %s WHERE name = %s", p.table(), pq.QuoteLiteral(p.space))
	if what == "lock" {
		q = fmt.Sprintf("SELECT a.pid, a.client_addr, a.client_port, a.backend_start, a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.objid = (SELECT id FROM %s WHERE name = %s)", p.table(), pq.QuoteLiteral(p.space))
	}
	return "psql " + steps.Quote(p.server) + " -c " + steps.Quote(q)
}

// row finds the row of the workspace; ok is false where there is none.
func (p *pgStore) row(ctx context.Context, tx *sql.Tx) (id, size int64, ok bool, err error) {
	var n sql.NullInt64
	err = tx.QueryRowContext(ctx, "SELECT id, octet_length(data) FROM "+p.table()+" WHERE name = $1", p.space).Scan(&id, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, false, nil
	}
	return id, n.Int64, err == nil, err
}

// oldCreationKey is what tofu before 1.10 and terraform lock while a row is
// made; tofu has one for each table since.
const oldCreationKey = -1

func (p *pgStore) creationKey() int64 {
	h := fnv.New32()
	_, _ = io.WriteString(h, p.schema+"\x00"+p.rows)
	return -int64(h.Sum32())
}

// pgHolder is one session that holds an advisory lock, as the server shows it.
type pgHolder struct {
	Key         int64      `json:"key"`
	PID         int64      `json:"pid"`
	User        string     `json:"user,omitempty"`
	Addr        string     `json:"client_addr,omitempty"`
	Port        int64      `json:"client_port,omitempty"`
	Start       *time.Time `json:"backend_start,omitempty"`
	Application string     `json:"application_name,omitempty"`
	State       string     `json:"state,omitempty"`
	Asked       time.Time  `json:"asked"`
}

// The key of an advisory lock on one bigint is split over two columns, with
// objsubid 1.
const pgHolders = `SELECT (l.classid::bigint << 32) | l.objid::bigint, l.pid, coalesce(a.usename::text, ''), coalesce(host(a.client_addr), ''),
	coalesce(a.client_port, 0), a.backend_start, coalesce(a.application_name, ''), coalesce(a.state, ''), now()
FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
	AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
	AND ((l.classid::bigint << 32) | l.objid::bigint) = ANY($1)`

func (p *pgStore) holders(ctx context.Context, tx *sql.Tx, keys ...int64) (map[int64]pgHolder, error) {
	rows, err := tx.QueryContext(ctx, pgHolders, pq.Array(keys))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]pgHolder{}
	for rows.Next() {
		var h pgHolder
		if err := rows.Scan(&h.Key, &h.PID, &h.User, &h.Addr, &h.Port, &h.Start, &h.Application, &h.State, &h.Asked); err != nil {
			return nil, err
		}
		out[h.Key] = h
	}
	return out, rows.Err()
}

func (p *pgStore) Lock(ctx context.Context) (Lock, error) {
	r := Lock{Where: p.where(), Media: steps.MediaJSON, noClock: "the lock does not say when it was taken",
		InfoWhy:    "PostgreSQL keeps no lock info: the lock is the session of the run, and what an error prints as Lock Info is the request of the one who asks",
		SessionWhy: NoLock}
	err := p.read(ctx, func(tx *sql.Tx) error {
		id, _, ok, err := p.row(ctx, tx)
		if err != nil {
			return err
		}
		held, err := p.holders(ctx, tx, id, p.creationKey(), oldCreationKey)
		if err != nil {
			return err
		}
		p.judge(&r, id, ok, held)
		return p.shared(ctx, tx, &r)
	})
	if errors.Is(err, errAbsent) { // no table: nothing was ever kept here
		return r, nil
	}
	if err != nil {
		return Lock{}, fmt.Errorf("lock: %w", err)
	}
	return r, nil
}

// judge says whether the state is locked. Until there is a row, a run holds the
// key for making one.
func (p *pgStore) judge(r *Lock, id int64, exists bool, held map[int64]pgHolder) {
	making, ok := held[p.creationKey()]
	if !ok {
		making, ok = held[oldCreationKey]
	}
	h, locked := held[id]
	switch {
	case exists && locked:
	case !exists && ok:
		h, locked = making, true
		r.note(steps.Warning, "There is no row yet; session %d holds the key under which rows are made, for this workspace or for another one.", making.PID)
	case ok:
		r.note(steps.Warning, "Session %d holds the key under which rows are made: until it is done, every run here ends in \"already locked for workspace creation\".", making.PID)
	}
	if !locked {
		return
	}
	r.Held = true
	r.Raw, _ = json.Marshal(h) // plain fields do not fail
	r.Session = &Session{Alive: true, ID: strconv.FormatInt(h.PID, 10)}
	switch {
	case h.Addr != "":
		r.Session.From = fmt.Sprintf("%s:%d", h.Addr, h.Port)
	case h.Start != nil:
		r.Session.From = "a socket on the server's own machine"
	}
	if h.Start == nil {
		r.note(steps.Warning, "Where session %d comes from may not be seen: ask for the role pg_read_all_stats.", h.PID)
	} else {
		r.Session.Since = *h.Start
		r.note(steps.Info, "Session %d of %s, %s, is connected since %s: its run, or its machine, is alive as far as the server can tell.",
			h.PID, prose.OrUnknown(h.User), prose.OrUnknown(r.Session.From), h.Start.UTC().Format(time.RFC3339))
	}
	r.note(steps.Warning, "force-unlock exits 0 here and releases nothing, whatever id it is given; the lock goes with session %d.", h.PID)
}

// shared warns where the id of a row is not unique in the database: its lock may
// then be that of another table.
func (p *pgStore) shared(ctx context.Context, tx *sql.Tx, r *Lock) error {
	if !r.Held {
		return nil
	}
	var from sql.NullString
	err := tx.QueryRowContext(ctx, `SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_catalog.pg_attrdef d
JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = to_regclass($1) AND a.attname = 'id'`, p.table()).Scan(&from)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if !strings.Contains(from.String, "global_states_id_seq") {
		r.note(steps.Warning, "The ids of %s come from a sequence of its own: the lock may be that of a row with the same id in another table of this database.", p.table())
	}
	return nil
}

func (p *pgStore) State(ctx context.Context) (State, error) {
	r := State{Where: p.where()}
	var first io.ReadCloser
	err := p.read(ctx, func(tx *sql.Tx) error {
		var err error
		// A row without data is no absent state: every program ends in "no state" there.
		_, r.size, r.Exists, err = p.row(ctx, tx)
		return err
	})
	if errors.Is(err, errAbsent) || err == nil && !r.Exists {
		return State{Where: p.where()}, nil
	}
	if err == nil {
		first, err = p.openState(ctx)
	}
	if err != nil {
		return State{}, fmt.Errorf("state: %w", err)
	}
	r.Body = newStateReader(ctx, first, p.openState)
	return r, nil
}

// pgPiece is how many characters of a state are fetched at a time: a row comes
// over the wire whole otherwise.
const pgPiece = 4 << 20

func (p *pgStore) openState(ctx context.Context) (io.ReadCloser, error) {
	db, tx, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	return &pgBody{ctx: ctx, p: p, db: db, tx: tx, at: 1}, nil
}

// pgBody reads one column in pieces, all of one snapshot.
type pgBody struct {
	ctx   context.Context
	p     *pgStore
	db    *sql.DB
	tx    *sql.Tx
	at    int // next character, from 1
	piece bytes.Reader
	end   bool
}

func (b *pgBody) Read(into []byte) (int, error) {
	for b.piece.Len() == 0 {
		if b.end {
			return 0, io.EOF
		}
		var raw []byte
		err := b.tx.QueryRowContext(b.ctx, "SELECT substr(data, $2::integer, $3::integer) FROM "+b.p.table()+" WHERE name = $1", b.p.space, b.at, pgPiece).Scan(&raw)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, errors.New("the state is gone")
		}
		if err != nil {
			return 0, b.p.why(b.ctx, err)
		}
		n := utf8.RuneCount(raw)
		b.at, b.end = b.at+n, n < pgPiece
		b.piece.Reset(raw)
	}
	return b.piece.Read(into)
}

func (b *pgBody) Close() error {
	_ = b.tx.Rollback() // nothing was written
	return b.db.Close()
}

// Repair implements Repairer: the row anew, in one transaction that has the lock of the state and
// found the row as it was read.
func (p *pgStore) Repair(ctx context.Context, _ module.Workdir, now Found, content []byte, _ steps.Sink) (Repair, error) {
	if !now.Broken {
		return Repair{}, errWhole
	}
	var id int64
	err := p.read(ctx, func(tx *sql.Tx) error {
		var ok bool
		var err error
		if id, _, ok, err = p.row(ctx, tx); err == nil && !ok {
			err = errors.New("the row is gone")
		}
		return err
	})
	if err != nil {
		return Repair{}, err
	}
	body, err := p.openState(ctx)
	if err == nil {
		defer body.Close()
		err = still(body, now)
	}
	if err != nil {
		return Repair{}, fmt.Errorf("%s: %w", p.where(), err)
	}
	return Repair{
		Request: fmt.Sprintf("in one transaction on %s: take the advisory lock %d, the one of the state; read %s, to see that it is what was found; UPDATE its data to %d bytes (SHA-256 %s)", p.server, id, p.where(), len(content), sumOfBytes(content)),
		Command: fmt.Sprintf("echo %s | psql %s -v new=\"$(cat FILE)\"", steps.Quote(fmt.Sprintf("UPDATE %s SET data = :'new' WHERE name = %s AND md5(data) = 'MD5-OF-WHAT-IS-THERE' AND pg_try_advisory_xact_lock(%d)", p.table(), pq.QuoteLiteral(p.space), id)), steps.Quote(p.server)),
		Do:      func(ctx context.Context) (string, error) { return p.replace(ctx, id, now.Raw, content) },
	}, nil
}

func (p *pgStore) replace(ctx context.Context, id int64, was, content []byte) (string, error) {
	c, err := p.writer()
	if err != nil {
		return "", err
	}
	if err := steps.Begin(ctx); err != nil {
		return "", err
	}
	db := sql.OpenDB(c)
	defer db.Close()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return "", p.why(ctx, err)
	}
	defer tx.Rollback() // after a commit it does nothing
	var free, same bool
	// The key that a run holds for as long as it has the state; ours ends with the transaction.
	if err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock($1)", id).Scan(&free); err != nil {
		return "", p.why(ctx, err)
	}
	if !free {
		return "", errors.New("a run holds the lock of the state now, and nothing was written")
	}
	err = tx.QueryRowContext(ctx, "SELECT coalesce(data, '') = $1 FROM "+p.table()+" WHERE id = $2 AND name = $3 FOR UPDATE", string(was), id, p.space).Scan(&same)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !same {
		return "", fmt.Errorf("%s was written meanwhile, and is left as it is", p.where())
	}
	if err != nil {
		return "", p.why(ctx, err)
	}
	done, err := tx.ExecContext(ctx, "UPDATE "+p.table()+" SET data = $1 WHERE id = $2 AND name = $3", string(content), id, p.space)
	if err != nil {
		return "", p.unwritten(ctx, err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return "", errors.Join(fmt.Errorf("%d rows would be written, and none was", n), err)
	}
	if err := tx.Commit(); err != nil {
		return "", p.why(ctx, err)
	}
	return "The row holds a state again.", nil
}

// unwritten is why for a statement that writes.
func (p *pgStore) unwritten(ctx context.Context, err error) error {
	err = p.why(ctx, err)
	if errors.Is(err, steps.ErrDenied) {
		return denied("forbidden: the backend's user may not write %s on %s; ask for UPDATE on the table", p.table(), p.server)
	}
	return err
}
