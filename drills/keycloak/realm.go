package keycloak

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// realm is what an import gives and the admin API changes.
type realm struct {
	name     string
	clients  []map[string]any
	scopes   []map[string]any
	roles    map[string][]string // of the realm, in the scope of a client
	sessions int
}

func newRealm(in map[string]any) *realm {
	r := &realm{name: text(in, "realm"), roles: map[string][]string{}}
	for _, c := range objects(in["clients"]) {
		if text(c, "id") == "" {
			c["id"] = newID()
		}
		identify(c)
		r.clients = append(r.clients, c)
	}
	for _, s := range objects(in["clientScopes"]) {
		if text(s, "id") == "" {
			s["id"] = newID()
		}
		identify(s)
		r.scopes = append(r.scopes, s)
	}
	for _, m := range objects(in["scopeMappings"]) {
		list, _ := m["roles"].([]any)
		for _, role := range list {
			name, _ := role.(string)
			r.roles[text(m, "client")] = append(r.roles[text(m, "client")], name)
		}
	}
	return r
}

// keep takes over what an import of a realm that is there does not touch.
func (r *realm) keep(was *realm) {
	r.sessions = was.sessions
	for _, c := range r.clients {
		if old := find(was.clients, "clientId", text(c, "clientId")); old != nil {
			c["id"] = old["id"]
		}
	}
}

func identify(of map[string]any) {
	for _, m := range objects(of["protocolMappers"]) {
		if text(m, "id") == "" {
			m["id"] = newID()
		}
	}
}

func newID() string {
	h := random(16)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func objects(v any) []map[string]any {
	list, _ := v.([]any)
	out := []map[string]any{}
	for _, o := range list {
		if m, ok := o.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func text(of map[string]any, key string) string { s, _ := of[key].(string); return s }

func find(list []map[string]any, key, want string) map[string]any {
	if i := slices.IndexFunc(list, func(o map[string]any) bool { return text(o, key) == want }); i >= 0 {
		return list[i]
	}
	return nil
}

// admin is /admin/realms/REALM.
func (r *realm) admin(w http.ResponseWriter, req *http.Request, at []string, body []byte) {
	switch {
	case req.Method == http.MethodGet && len(at) == 1 && at[0] == "clients":
		first, most := number(req, "first", 0), number(req, "max", len(r.clients))
		from := min(first, len(r.clients))
		answer(w, http.StatusOK, r.clients[from:min(from+most, len(r.clients))])
	case req.Method == http.MethodGet && len(at) == 1 && at[0] == "client-scopes":
		answer(w, http.StatusOK, r.scopes)
	case req.Method == http.MethodGet && len(at) == 1 && at[0] == "client-session-stats":
		answer(w, http.StatusOK, []any{map[string]any{"clientId": "timeline", "active": strconv.Itoa(r.sessions), "offline": "0"}})
	case len(at) >= 3 && at[0] == "clients":
		if c := find(r.clients, "id", at[1]); c != nil {
			r.client(w, req, c, at[2:], body)
			return
		}
		notFound(w, "Could not find client")
	default:
		notFound(w, "HTTP 404 Not Found")
	}
}

func number(req *http.Request, name string, otherwise int) int {
	if n, err := strconv.Atoi(req.URL.Query().Get(name)); err == nil && n >= 0 {
		return n
	}
	return otherwise
}

// client is /admin/realms/REALM/clients/ID.
func (r *realm) client(w http.ResponseWriter, req *http.Request, c map[string]any, at []string, body []byte) {
	mappers, _ := c["protocolMappers"].([]any)
	name := text(c, "clientId")
	switch path := req.Method + " " + strings.Join(at, "/"); {
	case path == "GET protocol-mappers/models":
		answer(w, http.StatusOK, objects(c["protocolMappers"]))
	case path == "POST protocol-mappers/models":
		var m map[string]any
		if json.Unmarshal(body, &m) != nil || text(m, "name") == "" || text(m, "protocolMapper") == "" {
			answer(w, http.StatusBadRequest, map[string]any{"error": "Bad request"})
			return
		}
		if find(objects(c["protocolMappers"]), "name", text(m, "name")) != nil {
			answer(w, http.StatusConflict, map[string]any{"errorMessage": "Protocol mapper exists with same name"})
			return
		}
		m["id"] = newID()
		c["protocolMappers"] = append(mappers, m)
		w.Header().Set("Location", "http://"+req.Host+req.URL.Path+"/"+text(m, "id"))
		w.WriteHeader(http.StatusCreated)
	case req.Method == http.MethodDelete && len(at) == 3 && at[1] == "models":
		c["protocolMappers"] = slices.DeleteFunc(mappers, func(m any) bool { o, _ := m.(map[string]any); return text(o, "id") == at[2] })
		w.WriteHeader(http.StatusNoContent)
	case req.Method == http.MethodPut && len(at) == 2 && at[0] == "default-client-scopes":
		s := find(r.scopes, "id", at[1])
		if s == nil {
			notFound(w, "Client scope not found")
			return
		}
		list, _ := c["defaultClientScopes"].([]any)
		c["defaultClientScopes"] = append(list, text(s, "name"))
		w.WriteHeader(http.StatusNoContent)
	case path == "GET scope-mappings":
		list := []any{}
		for _, role := range r.roles[name] {
			list = append(list, map[string]any{"name": role})
		}
		answer(w, http.StatusOK, map[string]any{"realmMappings": list})
	case path == "DELETE scope-mappings/realm":
		delete(r.roles, name)
		w.WriteHeader(http.StatusNoContent)
	case path == "POST scope-mappings/realm":
		var roles []struct{ Name string }
		if json.Unmarshal(body, &roles) != nil {
			answer(w, http.StatusBadRequest, map[string]any{"error": "Bad request"})
			return
		}
		for _, role := range roles {
			r.roles[name] = append(r.roles[name], role.Name)
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		notFound(w, "HTTP 404 Not Found")
	}
}

// claims are what an access token of a client says: those of its own mappers and of its client scopes.
func (r *realm) claims(name, secret string) (map[string]any, bool) {
	c := find(r.clients, "clientId", name)
	if c == nil || text(c, "secret") == "" || text(c, "secret") != secret {
		return nil, false
	}
	mappers := objects(c["protocolMappers"])
	scopes, _ := c["defaultClientScopes"].([]any)
	for _, s := range scopes {
		of, _ := s.(string)
		if scope := find(r.scopes, "name", of); scope != nil {
			mappers = append(mappers, objects(scope["protocolMappers"])...)
		}
	}
	out := map[string]any{"azp": name, "aud": "account", "sub": newID(), "scope": "openid"}
	for _, m := range mappers {
		config, _ := m["config"].(map[string]any)
		if text(config, "access.token.claim") == "false" {
			continue
		}
		switch claim := text(config, "claim.name"); {
		case text(m, "protocolMapper") == "oidc-audience-mapper":
			out["aud"] = []any{"account", text(config, "included.client.audience")}
		case claim != "":
			out[claim] = []any{"/operations"}
		}
	}
	if roles := r.roles[name]; len(roles) > 0 {
		out["realm_access"] = map[string]any{"roles": roles}
	}
	return out, true
}

// sign makes a token of claims.
func (s *standIn) sign(claims map[string]any) string {
	now := time.Now()
	claims["iat"], claims["exp"], claims["jti"] = now.Unix(), now.Add(5*time.Minute).Unix(), newID()
	part := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	unsigned := part(map[string]any{"alg": "HS256", "typ": "JWT", "kid": s.kid}) + "." + part(claims)
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(unsigned))
	return unsigned + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// parseForm reads a form; what cannot be read holds nothing.
func parseForm(body string) url.Values {
	v, err := url.ParseQuery(body)
	if err != nil {
		return url.Values{}
	}
	return v
}
