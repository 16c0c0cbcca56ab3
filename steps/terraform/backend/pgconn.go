package backend

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"handrail/steps"
	"handrail/steps/transport"
)

// pgPatience bounds one statement on the server.
const pgPatience = 15 * time.Second

// pgOptions are the options of a connection string that the environment can
// give. It is the driver of the backend itself that reads them.
var pgOptions = [][2]string{
	{"host", "PGHOST"}, {"hostaddr", "PGHOSTADDR"}, {"port", "PGPORT"}, {"dbname", "PGDATABASE"}, {"user", "PGUSER"}, {"password", "PGPASSWORD"},
	{"passfile", "PGPASSFILE"}, {"service", "PGSERVICE"}, {"sslmode", "PGSSLMODE"}, {"sslcert", "PGSSLCERT"}, {"sslkey", "PGSSLKEY"},
	{"sslrootcert", "PGSSLROOTCERT"}, {"connect_timeout", "PGCONNECT_TIMEOUT"}, {"target_session_attrs", "PGTARGETSESSIONATTRS"},
}

// pgSource joins a connection string and the environment, as the driver does
// with that of a process: what the string says wins.
func pgSource(env steps.Env, given string) (string, error) {
	if strings.HasPrefix(given, "postgres://") || strings.HasPrefix(given, "postgresql://") {
		u, err := url.Parse(given)
		if err != nil {
			return "", errors.New("its connection string is no address") // the error would hold the password
		}
		q := u.Query()
		_, password := u.User.Password()
		there := map[string]bool{"host": u.Hostname() != "", "hostaddr": u.Hostname() != "", "port": u.Port() != "", "user": u.User.Username() != "", "password": password, "dbname": strings.Trim(u.Path, "/") != ""}
		for _, o := range pgOptions {
			if v := env.Getenv(o[1]); v != "" && !there[o[0]] && !q.Has(o[0]) {
				q.Set(o[0], v)
			}
		}
		u.RawQuery = q.Encode()
		return u.String(), nil
	}
	var b strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	for _, o := range pgOptions {
		if v := env.Getenv(o[1]); v != "" {
			fmt.Fprintf(&b, "%s='%s' ", o[0], quote.Replace(v))
		}
	}
	return b.String() + given, nil
}

// pgConnector returns connections on which no statement runs for long. Without writes each transaction
// on them is read-only, whatever is asked.
func pgConnector(set settings, out steps.Sink, writes bool) (*pq.Connector, string, error) {
	given := set.get("conn_str", "PG_CONN_STR")
	if u, err := url.Parse(given); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			out.Secret(password)
		}
	}
	source, err := pgSource(set.env, given)
	if err != nil {
		return nil, "", fmt.Errorf("pg backend: %w", err)
	}
	cfg, err := pq.NewConfig(source)
	if err != nil {
		// What the driver says may hold a part of the connection string.
		return nil, "", errors.New("pg backend: its connection string cannot be read; check conn_str, PG_CONN_STR and the PG variables")
	}
	if cfg.Password != "" {
		out.Secret(cfg.Password)
	}
	at := fmt.Sprintf("%s:%d", cfg.Host, cfg.Port)
	if set.w.Setting("conn_str") != "" {
		var lent []string
		for _, o := range pgOptions {
			if v := set.env.Getenv(o[1]); v != "" && (o[0] == "password" && v == cfg.Password || o[0] == "sslkey" && v == cfg.SSLKey) && !strings.Contains(given, v) {
				lent = append(lent, o[1])
			}
		}
		// One that the directory names may be anyone's.
		if cfg.Passfile != "" && strings.Contains(given, cfg.Passfile) {
			lent = append(lent, "the passwords of "+steps.Clip(cfg.Passfile, 100))
		}
		if cfg.Service != "" && strings.Contains(given, cfg.Service) {
			lent = append(lent, "the service "+steps.Clip(cfg.Service, 100)+" of your service file")
		}
		if cfg.Password == "" && cfg.Passfile == "" {
			lent = append(lent, passForAll(filepath.Join(set.env.Home, ".pgpass")))
		}
		if err := set.refuseLoan(pgServer(cfg), "", lent...); err != nil {
			return nil, "", err
		}
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = askWithin
	}
	cfg.ApplicationName = "handrail"
	if cfg.Runtime == nil {
		cfg.Runtime = map[string]string{}
	}
	ms := fmt.Sprint(pgPatience.Milliseconds())
	for name, value := range map[string]string{
		"default_transaction_read_only": "on", "statement_timeout": ms, "lock_timeout": ms, "idle_in_transaction_session_timeout": fmt.Sprint(10 * pgPatience.Milliseconds()),
	} {
		cfg.Runtime[name] = value
	}
	if writes {
		cfg.Runtime["default_transaction_read_only"] = "off"
	}
	c, err := pq.NewConnectorConfig(cfg)
	if err != nil {
		return nil, "", fmt.Errorf("pg backend: %w", err)
	}
	if set.w.Setting("conn_str") != "" {
		c.Dialer(transport.NewGuardedDialer())
	}
	return c, "postgres://" + at + "/" + cfg.Database, nil
}

// read runs f in a read-only transaction on a connection of its own.
func (p *pgStore) read(ctx context.Context, f func(*sql.Tx) error) error {
	db, tx, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	defer tx.Rollback() // nothing was written
	if err := f(tx); err != nil {
		return p.why(ctx, err)
	}
	return nil
}

func (p *pgStore) begin(ctx context.Context) (*sql.DB, *sql.Tx, error) {
	db := sql.OpenDB(p.connector)
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	if err != nil {
		_ = db.Close()
		return nil, nil, p.why(ctx, err)
	}
	return db, tx, nil
}

// why tells what is absent, refused, too slow and out of reach apart.
func (p *pgStore) why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var never *transport.MetadataError
	if errors.As(err, &never) {
		return never
	}
	var said *pq.Error
	if !errors.As(err, &said) {
		return fmt.Errorf("%s cannot be reached: %w; check the network, the address and the PG variables", p.server, err)
	}
	text := steps.Clip(said.Message, 300)
	switch said.Code {
	case pqerror.UndefinedTable, pqerror.InvalidSchemaName:
		return errAbsent
	case pqerror.InvalidPassword, pqerror.InvalidAuthorizationSpecification:
		return denied("%s does not accept the credentials (%q); check user and password, they may have expired", p.server, text)
	case pqerror.InsufficientPrivilege:
		return denied("forbidden: the backend's user may not read %s on %s (%q); ask for USAGE on the schema and SELECT on the table", p.table(), p.server, text)
	case pqerror.InvalidCatalogName:
		return fmt.Errorf("%s: the database does not exist (%q): check conn_str and PGDATABASE", p.server, text)
	case pqerror.QueryCanceled:
		return fmt.Errorf("%s did not answer within %s (%q)", p.server, pgPatience, text)
	}
	return fmt.Errorf("%s said %s: %q", p.server, said.Code, text)
}

// passForAll names a file of passwords that has one for every host: that of a
// stranger would get it as well.
func passForAll(name string) string {
	raw, err := readFile(name)
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if strings.HasPrefix(line, "*:") {
			return "the password for every host of " + name
		}
	}
	return ""
}
