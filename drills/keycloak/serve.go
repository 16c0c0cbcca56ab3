// Package keycloak is a stand-in for Keycloak, which this lab cannot have: one realm on loopback,
// in memory. It has what the documentation of the admin API of Keycloak describes of clients, their
// protocol mappers, client scopes, roles, scope mappings and session counts, the token endpoints of the
// master realm and of its own, and the keys of a realm. What tokens hold comes from the mappers and from
// the roles in the scope of a client. Where the documentation is silent it follows the source of
// Keycloak: a client scope that a client has as the other type is answered with 204 and left as it is,
// a role of the realm is told by its id and one of a client by its name, and an import makes the roles
// that its mappings name. All else is 404.
//
// An import at the start of a Pod, which a real one does before it listens, is a request here:
// POST /stand-in/start with the realm and the strategy, by robot alone.
//
// The folder of the server:
//
//	accounts     one of the master realm in each line: NAME PASSWORD; made by [Prepare]
//	address      host:port, once it listens
//	writes.log   one [Write] as JSON in each line
package keycloak

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"handrail/drills/bucket"
)

const largestBody = 4 << 20

// Robot is the account that may start it, and does what people did before the call.
const Robot = "robot"

// Prepare makes the folder with an account for each name, and returns their passwords.
func Prepare(dir string, names ...string) (map[string]string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	words, text := map[string]string{}, ""
	for _, name := range names {
		words[name] = random(16)
		text += name + " " + words[name] + "\n"
	}
	return words, os.WriteFile(filepath.Join(dir, "accounts"), []byte(text), 0o600)
}

// Write is a request of an account of the master realm that may have written.
type Write struct {
	At     time.Time
	Method string
	Path   string
	Who    string
	Status int
}

// Writes are those that the server of a folder answered.
func Writes(dir string) ([]Write, error) {
	return bucket.LinesOf[Write](filepath.Join(dir, "writes.log"))
}

// status sees what is answered.
type status struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (s *status) WriteHeader(code int) { s.code = code; s.ResponseWriter.WriteHeader(code) }

// Serve serves the realm of a folder until ctx ends or the folder is gone.
func Serve(ctx context.Context, dir string) error {
	ctx, cancel := bucket.WhileThere(ctx, dir)
	defer cancel()
	raw, err := os.ReadFile(filepath.Join(dir, "accounts"))
	if err != nil {
		return err
	}
	s := &standIn{accounts: map[string]string{}, tokens: map[string]string{}, key: []byte(random(16)), kid: "rsa-" + random(4)}
	for line := range strings.Lines(string(raw)) {
		name, word, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.accounts[name] = word
	}
	if s.log, err = os.OpenFile(filepath.Join(dir, "writes.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	defer s.log.Close()
	return bucket.ServeIn(ctx, dir, s)
}

// standIn is the server. Its documents are maps, so that it gives back what it was given.
type standIn struct {
	accounts map[string]string // passwords of the master realm by name
	key      []byte
	kid      string
	log      *os.File

	mu     sync.Mutex
	tokens map[string]string // of the master realm, with their account
	realm  *realm
}

// ServeHTTP implements http.Handler.
func (s *standIn) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(io.LimitReader(req.Body, largestBody))
	if err != nil {
		return // the caller is gone
	}
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	if parts[0] == "realms" {
		s.public(w, req, parts[1:], string(body))
		return
	}
	who := s.tokens[strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")]
	if who == "" {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "HTTP 401 Unauthorized"})
		return
	}
	if req.Method != http.MethodGet {
		seen := &status{ResponseWriter: w, code: http.StatusOK}
		w = seen
		at := time.Now()
		defer func() {
			raw, err := json.Marshal(Write{At: at, Method: req.Method, Path: req.URL.Path, Who: who, Status: seen.code})
			if err == nil {
				_, _ = s.log.Write(append(raw, '\n')) // a walk without it fails
			}
		}()
	}
	switch {
	case req.URL.Path == "/stand-in/start" && req.Method == http.MethodPost && who == Robot:
		s.start(w, body)
	case s.realm != nil && len(parts) > 3 && parts[0] == "admin" && parts[1] == "realms" && parts[2] == s.realm.name:
		s.realm.admin(w, req, parts[3:], body)
	default:
		notFound(w, "Realm not found.")
	}
}

// start is the start of a Pod: its init container imports the realm, by the strategy that it was given.
func (s *standIn) start(w http.ResponseWriter, body []byte) {
	var in struct {
		Realm    map[string]any
		Strategy string
		Sessions int
	}
	if err := json.Unmarshal(body, &in); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	// Unset overwrites, as most charts have it.
	if s.realm == nil || in.Strategy != "IGNORE_EXISTING" {
		next := newRealm(in.Realm)
		if s.realm != nil {
			next.keep(s.realm)
		}
		s.realm = next
	}
	if in.Sessions > 0 {
		s.realm.sessions = in.Sessions
	}
	w.WriteHeader(http.StatusNoContent)
}

// public are the endpoints that need no account.
func (s *standIn) public(w http.ResponseWriter, req *http.Request, parts []string, body string) {
	switch at := strings.Join(parts[1:], "/"); {
	case at == "protocol/openid-connect/token" && req.Method == http.MethodPost && parts[0] == "master":
		form := parseForm(body)
		word, ok := s.accounts[form.Get("username")]
		if !ok || form.Get("grant_type") != "password" || subtle.ConstantTimeCompare([]byte(word), []byte(form.Get("password"))) != 1 {
			answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_grant", "error_description": "Invalid user credentials"})
			return
		}
		token := s.sign(map[string]any{"azp": form.Get("client_id"), "preferred_username": form.Get("username")})
		s.tokens[token] = form.Get("username")
		answer(w, http.StatusOK, map[string]any{"access_token": token, "expires_in": 60, "token_type": "Bearer"})
	case s.realm == nil || parts[0] != s.realm.name:
		notFound(w, "Realm does not exist")
	case at == "protocol/openid-connect/token" && req.Method == http.MethodPost:
		form := parseForm(body)
		claims, ok := s.realm.claims(form.Get("client_id"), form.Get("client_secret"), strings.Fields(form.Get("scope")))
		if !ok {
			answer(w, http.StatusUnauthorized, map[string]any{"error": "unauthorized_client", "error_description": "Invalid client or Invalid client credentials"})
			return
		}
		answer(w, http.StatusOK, map[string]any{"access_token": s.sign(claims), "expires_in": 300, "token_type": "Bearer"})
	case at == "protocol/openid-connect/certs":
		answer(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{"kid": s.kid, "kty": "oct", "alg": "HS256", "use": "sig"}}})
	default:
		notFound(w, "HTTP 404 Not Found")
	}
}
