package backend

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

// consulStore is the backend that keeps the state under a key, and the lock as a
// key beside it that belongs to a session of the run.
type consulStore struct {
	env    steps.Env
	fetch  *fetcher
	open   way
	base   url.URL
	header http.Header
	query  url.Values
	path   string // key of the state
	named  bool   // of a workspace other than default
	locks  bool
	packs  bool // the backend packs what it writes
}

func newConsul(set settings, out steps.Sink) (*consulStore, error) {
	c := &consulStore{env: set.env, path: set.w.Setting("path"), header: http.Header{}, query: url.Values{"consistent": {""}}, locks: true, packs: set.flag("gzip"), named: set.w.Space != "default"}
	if c.path == "" {
		return nil, errors.New("consul backend: its settings name no path; run tofu init there yourself")
	}
	if c.named {
		c.path += "-env:" + set.w.Space
	}
	if v, ok := set.w.Config["lock"].(bool); ok {
		c.locks = v
	}
	next, err := c.connect(set)
	if err != nil {
		return nil, err
	}
	token := set.get("access_token", "CONSUL_HTTP_TOKEN")
	if file := set.env.Getenv("CONSUL_HTTP_TOKEN_FILE"); token == "" && file != "" {
		raw, err := readFile(file)
		if err != nil {
			return nil, fmt.Errorf("consul backend: token: %w", err)
		}
		token = strings.TrimSpace(string(raw))
	}
	if token != "" {
		out.Secret(token)
		c.header.Set("X-Consul-Token", token)
	}
	if auth := set.get("http_auth", "CONSUL_HTTP_AUTH"); auth != "" {
		c.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(auth)))
	}
	for key, value := range map[string]string{"dc": set.w.Setting("datacenter"), "ns": set.env.Getenv("CONSUL_NAMESPACE"), "partition": set.env.Getenv("CONSUL_PARTITION")} {
		if value != "" {
			c.query.Set(key, value)
		}
	}
	named, unchecked := "", ""
	switch {
	case set.w.Setting("address") != "":
		named = "consul://" + set.w.Setting("address")
	case set.w.Setting("scheme") != "" || set.w.Setting("ca_file") != "":
		unchecked = c.base.Host
	}
	if err := set.refuseLoan(named, unchecked, set.lend("access_token", "CONSUL_HTTP_TOKEN"), set.lend("access_token", "CONSUL_HTTP_TOKEN_FILE"),
		set.lend("http_auth", "CONSUL_HTTP_AUTH"), set.lend("key_file", "CONSUL_CLIENT_KEY")); err != nil {
		return nil, err
	}
	c.open = func(guard guardOf) (*fetcher, error) {
		return newFetcherOver(set.env, next, guard, c.base.Scheme+"://"+c.base.Host, out), nil
	}
	c.fetch, err = c.open(transport.Entries)
	return c, err
}

// connect finds the agent and the way to it, as the client of consul does.
func (c *consulStore) connect(set settings) (http.RoundTripper, error) {
	t := trust{named: set.w.Setting("address") != "", insecure: set.env.Getenv("CONSUL_HTTP_SSL_VERIFY") == "false" || set.env.Getenv("CONSUL_HTTP_SSL_VERIFY") == "0"}
	for _, f := range []struct {
		to            *[]byte
		key, variable string
	}{{&t.ca, "ca_file", "CONSUL_CACERT"}, {&t.cert, "cert_file", "CONSUL_CLIENT_CERT"}, {&t.key, "key_file", "CONSUL_CLIENT_KEY"}} {
		raw, err := readFile(set.path(set.get(f.key, f.variable)))
		if err != nil {
			return nil, fmt.Errorf("consul backend: %s: %w", f.key, err)
		}
		*f.to = raw
	}
	next, err := t.plainTransport(set.env)
	if err != nil {
		return nil, fmt.Errorf("consul backend: %w", err)
	}
	address := cmp.Or(set.get("address", "CONSUL_HTTP_ADDR"), "127.0.0.1:8500")
	scheme := set.w.Setting("scheme")
	if on := set.env.Getenv("CONSUL_HTTP_SSL"); scheme == "" && (on == "true" || on == "1") {
		scheme = "https"
	}
	if kind, rest, ok := strings.Cut(address, "://"); ok {
		if address = rest; kind == "unix" {
			socket := rest
			next.Proxy = nil
			next.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{Timeout: askWithin}).DialContext(ctx, "unix", socket)
			}
			address, kind = "unix.socket", "http"
		}
		scheme = kind
	}
	c.base = url.URL{Scheme: cmp.Or(scheme, "http"), Host: strings.TrimSuffix(address, "/")}
	if c.base.Scheme != "http" && c.base.Scheme != "https" || strings.ContainsAny(c.base.Host, "/@?#") || c.base.Host == "" {
		return nil, fmt.Errorf("consul backend: %q is not a valid agent address", steps.Clip(address, 100))
	}
	return next, nil
}

func (c *consulStore) Name() string { return "consul" }

func (c *consulStore) Cluster(context.Context) (string, string, error) {
	return c.fetch.server(), "", nil
}

func (c *consulStore) UnlockPolicy() UnlockPolicy {
	return UnlockPolicy{Way: unlockExpires, Grammar: lockGrammar, ByHand: "wait: consul frees a lock whose session has ended by itself"}
}

func (c *consulStore) lockPath() string { return strings.TrimRight(c.path, "/") }

func (c *consulStore) where() string { return c.base.Host + " key " + c.path }

func (c *consulStore) Command(what string) string {
	if what == "lock" {
		return fmt.Sprintf("consul kv get -detailed %s; consul kv get %s", steps.Quote(c.lockPath()+"/.lock"), steps.Quote(c.lockPath()+"/.lockinfo"))
	}
	return "consul kv get " + steps.Quote(c.path)
}

// ask gets one path; errAbsent says that there is nothing.
func (c *consulStore) ask(ctx context.Context, path string, raw bool) (*http.Response, error) {
	u := c.base
	u.Path = path
	query := url.Values{}
	for k, v := range c.query {
		query[k] = v
	}
	if raw {
		query.Set("raw", "")
	}
	u.RawQuery = query.Encode()
	resp, err := c.fetch.get(ctx, http.MethodGet, u.String(), c.header)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	said, _ := small(resp)
	switch resp.StatusCode {
	case http.StatusNotFound:
		return nil, errAbsent
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, denied("forbidden: %s refuses to show %s (%d: %q); ask for the policy key_prefix read on it and session_prefix read, or set CONSUL_HTTP_TOKEN as for the run that failed", c.fetch.server(), path, resp.StatusCode, steps.Clip(string(said), 200))
	}
	return nil, fmt.Errorf("%s answered %d for %s: %q", c.fetch.server(), resp.StatusCode, path, steps.Clip(string(said), 200))
}

// consulKey is what consul says of one key.
type consulKey struct {
	Session     string
	ModifyIndex uint64
}

func parseConsulKey(raw []byte) (consulKey, error) {
	var list []consulKey
	if err := json.Unmarshal(raw, &list); err != nil {
		return consulKey{}, fmt.Errorf("the key .lock: %w", err)
	}
	if len(list) != 1 {
		return consulKey{}, fmt.Errorf("the key .lock: %d answers for one key", len(list))
	}
	return list[0], nil
}

// consulSession is what consul says of a session.
type consulSession struct {
	ID   string
	Node string
	TTL  string
}

func (c *consulStore) Lock(ctx context.Context) (Lock, error) {
	r := Lock{Where: c.base.Host + " key " + c.lockPath() + "/.lock", Media: steps.MediaJSON, SessionWhy: NoLock}
	key, err := c.lockKey(ctx)
	if err != nil {
		return Lock{}, fmt.Errorf("lock: %w", err)
	}
	r.InfoWhy = "nothing describes the lock: the key .lockinfo is absent"
	var info *LockInfo
	resp, err := c.ask(ctx, "/v1/kv/"+c.lockPath()+"/.lockinfo", true)
	switch {
	case err == nil:
		if r.Raw, err = small(resp); err == nil {
			info, err = parseLockInfo(r.Raw)
		}
		if err != nil {
			r.InfoWhy = "the key .lockinfo cannot be read: " + err.Error()
		}
	case !errors.Is(err, errAbsent):
		return Lock{}, fmt.Errorf("lock: %w", err)
	}
	r.at, r.noClock = c.fetch.clock(c.env)
	if !c.locks {
		r.note(steps.Warning, "This backend has lock = false: its runs take no lock at all.")
	}
	if key.Session == "" {
		r.Leftover = info
		return r, nil
	}
	r.Held, r.ID, r.Info = true, key.Session, info
	return r, c.aboutSession(ctx, &r)
}

func (c *consulStore) lockKey(ctx context.Context) (consulKey, error) {
	resp, err := c.ask(ctx, "/v1/kv/"+c.lockPath()+"/.lock", false)
	if errors.Is(err, errAbsent) {
		return consulKey{}, nil
	}
	if err != nil {
		return consulKey{}, err
	}
	raw, err := small(resp)
	if err != nil {
		return consulKey{}, err
	}
	return parseConsulKey(raw)
}

// aboutSession asks whether the session that holds the lock lives.
func (c *consulStore) aboutSession(ctx context.Context, r *Lock) error {
	var list []consulSession
	resp, err := c.ask(ctx, "/v1/session/info/"+r.ID, false)
	if err == nil {
		var raw []byte
		if raw, err = small(resp); err == nil {
			err = json.Unmarshal(raw, &list)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.SessionWhy = "the session of the lock could not be read: " + err.Error()
		r.Stuck, r.StuckCure = "Whether the session of the holder lives may not be read.", "ask for session_prefix read"
	case len(list) == 0:
		r.Session = &Session{ID: r.ID}
		r.note(steps.Info, "The session %s has ended: consul frees the lock by itself after its lock delay.", r.ID)
		r.Stuck, r.StuckCure = "The session of the holder has ended already.", "wait some seconds: consul frees the lock by itself, then read it again"
	default:
		r.Session = &Session{Alive: true, ID: r.ID, From: "node " + list[0].Node}
		c.renewed(r, list[0].TTL)
	}
	if c.named && r.Stuck == "" {
		r.Stuck, r.StuckCure = "Opening a named workspace takes its lock first, so force-unlock does not get past one that is held.", "end the session with consul, once its run is known to be dead"
	}
	return nil
}

// renewed judges a live session: one with a time to live is renewed by the process that
// holds it, or it would be gone.
func (c *consulStore) renewed(r *Lock, ttl string) {
	d, err := time.ParseDuration(ttl)
	if err != nil || d <= 0 {
		r.note(steps.Warning, "The session %s has no time to live: the lock stays until the session is ended.", r.ID)
		return
	}
	r.note(steps.Info, "The session %s lives. Its holder renews it, or consul ends it within %s and frees the lock by itself: wait that long and read it again.", r.ID, 2*d)
	r.Stuck = fmt.Sprintf("The session of the holder lives and has a time to live of %s: its holder renews it, or the lock goes by itself.", d)
	r.StuckCure = fmt.Sprintf("end the run, or wait %s and read the lock again: consul frees that of a dead holder", 2*d)
}
