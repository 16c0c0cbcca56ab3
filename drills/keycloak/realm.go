package keycloak

import (
	"cmp"
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
	roles    []map[string]any    // of the realm and of its clients
	mapped   map[string][]string // ids of roles in the scope of a client, by its clientId
	sessions int
}

func newRealm(in map[string]any) *realm {
	r := &realm{name: text(in, "realm"), mapped: map[string][]string{}}
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
	roles, _ := in["roles"].(map[string]any)
	for _, o := range objects(roles["realm"]) {
		r.role("", text(o, "name"))["composite"] = o["composite"] == true
	}
	ofClients, _ := roles["client"].(map[string]any)
	for owner, list := range ofClients {
		for _, o := range objects(list) {
			r.role(owner, text(o, "name"))["composite"] = o["composite"] == true
		}
	}
	r.maps("", in["scopeMappings"])
	mappings, _ := in["clientScopeMappings"].(map[string]any)
	for owner, list := range mappings {
		r.maps(owner, list)
	}
	return r
}

// maps puts roles into the scope of clients. An import makes those that are not there.
func (r *realm) maps(owner string, list any) {
	for _, m := range objects(list) {
		names, _ := m["roles"].([]any)
		for _, role := range names {
			name, _ := role.(string)
			r.mapped[text(m, "client")] = append(r.mapped[text(m, "client")], text(r.role(owner, name), "id"))
		}
	}
}

// role is the one of that name, of the realm or of a client; it is made where it is not there.
func (r *realm) role(owner, name string) map[string]any {
	within := r.name
	if owner != "" {
		within = text(find(r.clients, "clientId", owner), "id")
	}
	if i := slices.IndexFunc(r.roles, func(o map[string]any) bool { return text(o, "containerId") == within && text(o, "name") == name }); i >= 0 {
		return r.roles[i]
	}
	o := map[string]any{"id": newID(), "name": name, "composite": false, "clientRole": owner != "", "containerId": within}
	r.roles = append(r.roles, o)
	return o
}

// rolesOf are those of the realm, or of the client of an id.
func (r *realm) rolesOf(within string) []map[string]any {
	return where(r.roles, func(o map[string]any) bool { return text(o, "containerId") == within })
}

// scopeOf are those of them that are in the scope of a client.
func (r *realm) scopeOf(client, within string) []map[string]any {
	return where(r.rolesOf(within), func(o map[string]any) bool { return slices.Contains(r.mapped[client], text(o, "id")) })
}

func where(list []map[string]any, holds func(map[string]any) bool) []map[string]any {
	out := []map[string]any{}
	for _, o := range list {
		if holds(o) {
			out = append(out, o)
		}
	}
	return out
}

// keep takes over what an import of a realm that is there does not touch.
func (r *realm) keep(was *realm) {
	r.sessions = was.sessions
	for _, c := range r.clients {
		if old := find(was.clients, "clientId", text(c, "clientId")); old != nil {
			for _, role := range r.rolesOf(text(c, "id")) {
				role["containerId"] = old["id"]
			}
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
		answer(w, http.StatusOK, page(req, r.clients))
	case req.Method == http.MethodGet && len(at) == 1 && at[0] == "client-scopes":
		answer(w, http.StatusOK, r.scopes)
	case req.Method == http.MethodGet && len(at) == 1 && at[0] == "roles":
		answer(w, http.StatusOK, page(req, r.rolesOf(r.name)))
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

func page(req *http.Request, all []map[string]any) []map[string]any {
	from := min(number(req, "first", 0), len(all))
	return all[from:min(from+number(req, "max", len(all)), len(all))]
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
	case len(at) == 2 && (at[0] == "default-client-scopes" || at[0] == "optional-client-scopes") && (req.Method == http.MethodPut || req.Method == http.MethodDelete):
		r.attach(w, req.Method == http.MethodPut, c, at[0], at[1])
	case path == "GET roles":
		answer(w, http.StatusOK, page(req, r.rolesOf(text(c, "id"))))
	case path == "GET scope-mappings":
		answer(w, http.StatusOK, r.mappings(name))
	case path == "GET scope-mappings/realm":
		answer(w, http.StatusOK, r.scopeOf(name, r.name))
	case path == "POST scope-mappings/realm" || path == "DELETE scope-mappings/realm":
		r.remap(w, req.Method == http.MethodPost, name, r.name, "id", body)
	case len(at) == 3 && at[0] == "scope-mappings" && at[1] == "clients":
		switch owner := find(r.clients, "id", at[2]); {
		case owner == nil:
			notFound(w, "Could not find client")
		case req.Method == http.MethodGet:
			answer(w, http.StatusOK, r.scopeOf(name, at[2]))
		case req.Method == http.MethodPost || req.Method == http.MethodDelete:
			r.remap(w, req.Method == http.MethodPost, name, at[2], "name", body)
		default:
			notFound(w, "HTTP 404 Not Found")
		}
	default:
		notFound(w, "HTTP 404 Not Found")
	}
}

// attach attaches a client scope to a client, or detaches it. One that the client has as the other type, and one of another
// protocol, is passed over: the answer is the same.
func (r *realm) attach(w http.ResponseWriter, add bool, c map[string]any, list, id string) {
	s := find(r.scopes, "id", id)
	if s == nil {
		notFound(w, "Client scope not found")
		return
	}
	has, key := false, map[string]string{"default-client-scopes": "defaultClientScopes", "optional-client-scopes": "optionalClientScopes"}[list]
	for _, of := range []string{"defaultClientScopes", "optionalClientScopes"} {
		names, _ := c[of].([]any)
		has = has || slices.Contains(names, any(text(s, "name")))
		if !add && len(names) > 0 {
			c[of] = slices.DeleteFunc(names, func(n any) bool { return n == text(s, "name") })
		}
	}
	if names, _ := c[key].([]any); add && !has && protocol(s) == protocol(c) {
		c[key] = append(names, text(s, "name"))
	}
	w.WriteHeader(http.StatusNoContent)
}

func protocol(of map[string]any) string { return cmp.Or(text(of, "protocol"), "openid-connect") }

// remap adds roles to the scope of a client, or takes them out. Those of the realm are told by their id, those of a
// client by their name; no list takes all of them out.
func (r *realm) remap(w http.ResponseWriter, add bool, client, within, by string, body []byte) {
	var roles []map[string]any
	if err := json.Unmarshal(body, &roles); err != nil && (add || len(body) > 0) {
		answer(w, http.StatusBadRequest, map[string]any{"error": "unknown_error"})
		return
	}
	ids := []string{}
	for _, told := range roles {
		role := find(r.rolesOf(within), by, text(told, by))
		if role == nil {
			notFound(w, "Role not found")
			return
		}
		ids = append(ids, text(role, "id"))
	}
	if len(body) == 0 {
		for _, role := range r.scopeOf(client, within) {
			ids = append(ids, text(role, "id"))
		}
	}
	r.mapped[client] = slices.DeleteFunc(r.mapped[client], func(id string) bool { return slices.Contains(ids, id) })
	if add {
		r.mapped[client] = append(r.mapped[client], ids...)
	}
	w.WriteHeader(http.StatusNoContent)
}

// mappings are the roles in the scope of a client, as MappingsRepresentation.
func (r *realm) mappings(client string) map[string]any {
	out, ofClients := map[string]any{}, map[string]any{}
	if list := r.scopeOf(client, r.name); len(list) > 0 {
		out["realmMappings"] = list
	}
	for _, c := range r.clients {
		if list := r.scopeOf(client, text(c, "id")); len(list) > 0 {
			ofClients[text(c, "clientId")] = map[string]any{"id": c["id"], "client": c["clientId"], "mappings": list}
		}
	}
	if len(ofClients) > 0 {
		out["clientMappings"] = ofClients
	}
	return out
}

// claims are what an access token of a client says: those of its own mappers and of its client scopes.
func (r *realm) claims(name, secret string, asked []string) (map[string]any, bool) {
	c := find(r.clients, "clientId", name)
	if c == nil || text(c, "secret") == "" || text(c, "secret") != secret {
		return nil, false
	}
	mappers := objects(c["protocolMappers"])
	scopes, _ := c["defaultClientScopes"].([]any)
	optional, _ := c["optionalClientScopes"].([]any)
	scopes = append(slices.Clone(scopes), slices.DeleteFunc(slices.Clone(optional), func(o any) bool { s, _ := o.(string); return !slices.Contains(asked, s) })...)
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
	names := func(list []map[string]any) (names []string) {
		for _, role := range list {
			names = append(names, text(role, "name"))
		}
		return names
	}
	if roles := names(r.scopeOf(name, r.name)); len(roles) > 0 {
		out["realm_access"] = map[string]any{"roles": roles}
	}
	access := map[string]any{}
	for _, c := range r.clients {
		if roles := names(r.scopeOf(name, text(c, "id"))); len(roles) > 0 {
			access[text(c, "clientId")] = map[string]any{"roles": roles}
		}
	}
	if len(access) > 0 {
		out["resource_access"] = access
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
