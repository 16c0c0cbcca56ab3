package backend

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"handrail/steps"
	"handrail/steps/transport"
)

// httpStore is the backend of a server that follows the http protocol of states.
// Its lock cannot be read: asking for it takes it.
type httpStore struct {
	env     steps.Env
	fetch   *fetcher
	open    way
	address string // without user and password
	header  http.Header
	locks   bool // lock_address is set
	writes  httpWrites

	withheld bool // the directory names headers, and is not trusted
}

// gitlab is where GitLab keeps states.
var gitlab = regexp.MustCompile(`/api/v4/projects/[^/]+/terraform/state/[^/]+/?$`)

func newHTTP(set settings, out steps.Sink) (*httpStore, error) {
	address := set.get("address", "TF_HTTP_ADDRESS")
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("http backend: its settings name no address; set TF_HTTP_ADDRESS as for the run that failed")
	}
	if set.w.Space != "default" {
		return nil, fmt.Errorf("http backend: it has no workspaces, but %q is in effect: unset TF_WORKSPACE", set.w.Space)
	}
	user, password := set.get("username", "TF_HTTP_USERNAME"), set.get("password", "TF_HTTP_PASSWORD")
	if p, ok := u.User.Password(); ok && user == "" {
		user, password = u.User.Username(), p
	}
	if password != "" {
		out.Secret(password)
	}
	u.User = nil
	h := &httpStore{env: set.env, address: u.String(), header: http.Header{}, writes: writesOf(set)}
	h.locks = h.writes.lock != ""
	if headers, ok := set.w.Config["headers"].(map[string]any); ok && len(headers) > 0 {
		h.withheld = !set.trusted()
		for name, v := range headers {
			if text, ok := v.(string); ok && !h.withheld {
				h.header.Set(name, text)
			}
		}
	}
	if user != "" {
		h.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	}
	t := trust{
		insecure: set.flag("skip_cert_verification"),
		named:    set.w.Setting("address") != "",
		ca:       []byte(set.get("client_ca_certificate_pem", "TF_HTTP_CLIENT_CA_CERTIFICATE_PEM")),
		cert:     []byte(set.get("client_certificate_pem", "TF_HTTP_CLIENT_CERTIFICATE_PEM")),
		key:      []byte(set.get("client_private_key_pem", "TF_HTTP_CLIENT_PRIVATE_KEY_PEM")),
	}
	if len(t.key) > 0 {
		out.Secret(string(t.key))
	}
	named, unchecked := serverOf(set.w.Setting("address")), ""
	if t.insecure || set.w.Setting("client_ca_certificate_pem") != "" {
		unchecked = u.Scheme + "://" + u.Host
	}
	if err := set.refuseLoan(named, unchecked, set.lend("password", "TF_HTTP_PASSWORD"), set.lend("client_private_key_pem", "TF_HTTP_CLIENT_PRIVATE_KEY_PEM")); err != nil {
		return nil, err
	}
	h.open = func(guard guardOf) (*fetcher, error) {
		return newFetcher(set.env, t, guard, u.Scheme+"://"+u.Host, out)
	}
	h.fetch, err = h.open(transport.Fetch)
	return h, err
}

func (h *httpStore) Name() string { return "http" }

func (h *httpStore) Cluster(context.Context) (string, string, error) {
	return h.fetch.server(), "", nil
}

func (h *httpStore) UnlockPolicy() UnlockPolicy {
	return UnlockPolicy{Way: unlockAnyID, Refuse: "The lock of an http backend cannot be read, and terraform sends no id with a force-unlock: whichever lock is there then would go.",
		Cure: "look at the lock and release it with the tools of that server (in GitLab the page Terraform states, which names user and job), once the run is known to be dead"}
}

func (h *httpStore) Command(what string) string {
	if what == "lock" && gitlab.MatchString(h.address) {
		return "look at the page Terraform states of the project: it names who locked the state"
	}
	if what == "lock" {
		return "ask the owner of " + steps.Quote(h.address) + ": the protocol has no way to read a lock"
	}
	return "curl -fsS -u \"$TF_HTTP_USERNAME\" " + steps.Quote(h.address)
}

func (h *httpStore) Lock(context.Context) (Lock, error) {
	r := Lock{Where: h.address, Taken: h.locks}
	switch {
	case gitlab.MatchString(h.address):
		r.Unread = "GitLab tells who holds it through its GraphQL API (terraformStates: lockedAt, lockedByUser), which handrail does not ask; look at the page Terraform states of the project"
	case !h.locks:
		r.Unread = "its settings have no lock_address, so runs from here take no lock, and whether others do cannot be seen"
	default:
		r.Unread = "the http protocol has no way to read a lock: asking for it takes it"
	}
	r.InfoWhy = r.Unread
	r.note(steps.Warning, "The Lock Info that terraform before 1.15 prints for this backend is its own request, not the holder; and its force-unlock sends no id, so that any id releases whichever lock is there.")
	if !h.locks {
		r.note(steps.Warning, "Without lock_address two runs from here do not see each other.")
	}
	return r, nil
}

// openState asks for the state; nil means that there is none.
func (h *httpStore) openState(ctx context.Context) (*http.Response, error) {
	resp, err := h.fetch.get(ctx, http.MethodGet, h.address, h.header)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	_ = resp.Body.Close()
	switch code := resp.StatusCode; {
	case h.withheld && code != http.StatusNoContent:
		return nil, denied("%s answered %d without the headers that the directory names, which are sent once it is trusted: look at its settings, then `handrail trust`", h.address, code)
	case code == http.StatusNotFound || code == http.StatusNoContent:
		return nil, nil
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return nil, denied("%s does not accept the credentials (%d); set TF_HTTP_USERNAME and TF_HTTP_PASSWORD as for the run that failed, a token may have expired", h.address, code)
	case code >= 300 && code < 400:
		return nil, fmt.Errorf("%s answered %d and names another address, to which handrail does not go: %q", h.address, code, steps.Clip(resp.Header.Get("Location"), 200))
	default:
		return nil, fmt.Errorf("%s answered %d", h.address, code)
	}
}

func (h *httpStore) State(ctx context.Context) (State, error) {
	r := State{Where: h.address}
	first, err := h.openState(ctx)
	if err != nil {
		return r, fmt.Errorf("state: %w", err)
	}
	if first == nil || first.ContentLength == 0 {
		if first != nil {
			_ = first.Body.Close()
		}
		return r, nil // the backend takes nothing for no state
	}
	r.Exists, r.Version = true, strings.Trim(first.Header.Get("ETag"), `"`)
	if at, err := http.ParseTime(first.Header.Get("Last-Modified")); err == nil {
		r.Written = at
	}
	r.Body = newStateReader(ctx, first.Body, func(ctx context.Context) (io.ReadCloser, error) {
		again, err := h.openState(ctx)
		if err == nil && again == nil {
			err = errors.New("the state is gone")
		}
		if err != nil {
			return nil, fmt.Errorf("the state, a second time: %w", err)
		}
		return again.Body, nil
	})
	return r, nil
}

// writesOf reads them from the settings of the backend.
func writesOf(set settings) httpWrites {
	method := func(key, variable, usual string) string {
		if m := set.get(key, variable); m != "" {
			return m
		}
		return usual
	}
	// Without user and password, which go into a header.
	address := func(key, variable string) string {
		u, err := url.Parse(set.get(key, variable))
		if err != nil {
			return ""
		}
		u.User = nil
		return u.String()
	}
	return httpWrites{
		lock: address("lock_address", "TF_HTTP_LOCK_ADDRESS"), unlock: address("unlock_address", "TF_HTTP_UNLOCK_ADDRESS"),
		locks: method("lock_method", "TF_HTTP_LOCK_METHOD", "LOCK"), unlocks: method("unlock_method", "TF_HTTP_UNLOCK_METHOD", "UNLOCK"),
		replaces: method("update_method", "TF_HTTP_UPDATE_METHOD", http.MethodPost),
	}
}
