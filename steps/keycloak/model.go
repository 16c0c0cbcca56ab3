package keycloak

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// document is what of a realm is compared, in the form of an export and of an import
// (RealmRepresentation of the admin API). Users, keys and identity providers are not read.
type document struct {
	Realm         string               `json:"realm,omitempty"`
	Clients       []client             `json:"clients"`
	Scopes        []scope              `json:"clientScopes,omitempty"`
	RealmRoles    []mapping            `json:"scopeMappings,omitempty"`
	ClientRoles   map[string][]mapping `json:"clientScopeMappings,omitempty"` // by the client whose roles these are
	scopesUnknown bool
	rolesUnread   map[string]bool // clients whose role mappings were not read
}

type client struct {
	ID               string   `json:"id,omitempty"`
	ClientID         string   `json:"clientId"`
	Protocol         string   `json:"protocol,omitempty"`
	Enabled          *bool    `json:"enabled,omitempty"`
	Public           *bool    `json:"publicClient,omitempty"`
	ServiceAccount   *bool    `json:"serviceAccountsEnabled,omitempty"`
	FullScope        *bool    `json:"fullScopeAllowed,omitempty"`
	Secret           string   `json:"secret,omitempty"`
	Mappers          []mapper `json:"protocolMappers,omitempty"`
	DefaultScopes    []string `json:"defaultClientScopes"` // null where the document leaves them to the realm
	OptionalScopes   []string `json:"optionalClientScopes"`
	RegistrationWord string   `json:"registrationAccessToken,omitempty"`
}

type scope struct {
	ID       string   `json:"id,omitempty"`
	Name     string   `json:"name"`
	Protocol string   `json:"protocol,omitempty"`
	Mappers  []mapper `json:"protocolMappers,omitempty"`
}

// mapper is ProtocolMapperRepresentation.
type mapper struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Protocol string         `json:"protocol"`
	Type     string         `json:"protocolMapper"`
	Consent  bool           `json:"consentRequired,omitempty"`
	Config   map[string]any `json:"config"`
}

// mapping gives a client, or a client scope, roles.
type mapping struct {
	Client string   `json:"client,omitempty"`
	Scope  string   `json:"clientScope,omitempty"`
	Roles  []string `json:"roles"`
}

// parse reads an export or an import. What else it holds is left alone.
func parse(raw []byte) (document, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	var d document
	if err := dec.Decode(&d); err != nil {
		return document{}, errForm(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return document{}, errors.New("something follows the realm")
	}
	if d.Clients == nil {
		return document{}, errors.New("it has no clients: it is no export of a realm with its clients")
	}
	d.scopesUnknown = d.Scopes == nil
	seen := map[string]bool{}
	for _, c := range d.Clients {
		if c.ClientID == "" || seen[c.ClientID] {
			return document{}, fmt.Errorf("a client of it has no clientId, or that of another one: %q", c.ClientID)
		}
		seen[c.ClientID] = true
	}
	return d, nil
}

// secrets are the values of it that no one is to see.
func (d document) secrets() (out []string) {
	for _, c := range d.Clients {
		for _, s := range []string{c.Secret, c.RegistrationWord} {
			if s != "" && strings.Trim(s, "*") != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// client is the one of that clientId.
func (d document) client(name string) (client, bool) {
	if i := slices.IndexFunc(d.Clients, func(c client) bool { return c.ClientID == name }); i >= 0 {
		return d.Clients[i], true
	}
	return client{}, false
}

// scope is the client scope of that name, an empty one where it has none.
func (d document) scope(name string) scope {
	if i := slices.IndexFunc(d.Scopes, func(s scope) bool { return s.Name == name }); i >= 0 {
		return d.Scopes[i]
	}
	return scope{}
}

// mapper is one mapper of a client.
func (c client) mapper(name string) (mapper, bool) {
	if i := slices.IndexFunc(c.Mappers, func(m mapper) bool { return m.Name == name }); i >= 0 {
		return c.Mappers[i], true
	}
	return mapper{}, false
}

// body is what makes it anew. Keys of JSON objects are sorted, so that equal ones have equal bodies.
func (m mapper) body() []byte {
	m.ID = ""
	if m.Config == nil {
		m.Config = map[string]any{}
	}
	m.Protocol = cmp.Or(m.Protocol, openID)
	raw, err := json.Marshal(m)
	if err != nil {
		return nil // strings and what JSON held before always marshal
	}
	return raw
}

// openID is the protocol of what names none.
const openID = "openid-connect"

func (c client) protocol() string { return cmp.Or(c.Protocol, openID) }
func (s scope) protocol() string  { return cmp.Or(s.Protocol, openID) }

// full reports whether it has every role in its scope by itself. Keycloak leaves that to true.
func (c client) full() bool { return c.FullScope == nil || *c.FullScope }

// claim is the claim that it puts into a token, "" where it names none. A dot leads into an object: the claim is
// what stands before it.
func (m mapper) claim() string {
	name, _ := m.Config["claim.name"].(string)
	for i := range len(name) {
		if name[i] == '.' && i > 0 && name[i-1] != '\\' {
			name = name[:i]
			break
		}
	}
	if name = strings.ReplaceAll(name, `\.`, "."); name != "" {
		return name
	}
	if m.Type == "oidc-audience-mapper" {
		return "aud"
	}
	return ""
}

// claims are those that its mappers put into access tokens.
func (s scope) claims() []string {
	out := []string{}
	for _, m := range s.Mappers {
		if in, _ := m.Config["access.token.claim"].(string); in != "false" && m.claim() != "" {
			out = append(out, m.claim())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The kinds of what a client has.
const (
	ofMapper  = "mapper"
	ofScope   = "scope"
	ofRole    = "role"
	ofSetting = "setting"
)

// entry is one thing that a client has. owner is the client whose role it is, "" for one of the realm.
type entry struct{ client, kind, name, owner string }

func (e entry) String() string { return e.client + ": " + e.kind + " " + e.title() }

// title is its name, with that of the client whose role it is.
func (e entry) title() string {
	if e.owner != "" {
		return e.owner + "/" + e.name
	}
	return e.name
}

// entries are what the clients of a side have, each with what it is.
func (d document) entries() map[entry]string {
	out := map[entry]string{}
	for _, c := range d.Clients {
		for _, m := range c.Mappers {
			out[entry{client: c.ClientID, kind: ofMapper, name: m.Name}] = string(m.body())
		}
		for _, name := range c.DefaultScopes {
			out[entry{client: c.ClientID, kind: ofScope, name: name}] = byDefault
		}
		for _, name := range c.OptionalScopes {
			out[entry{client: c.ClientID, kind: ofScope, name: name}] = byOption
		}
		for name, on := range map[string]*bool{"enabled": c.Enabled, "publicClient": c.Public, "serviceAccountsEnabled": c.ServiceAccount, "fullScopeAllowed": c.FullScope} {
			if on != nil {
				out[entry{client: c.ClientID, kind: ofSetting, name: name}] = fmt.Sprint(*on)
			}
		}
		if strings.Trim(c.Secret, "*") != "" { // an export masks it
			out[entry{client: c.ClientID, kind: ofSetting, name: "secret"}] = c.Secret
		}
	}
	for _, s := range d.Scopes {
		for _, m := range s.Mappers {
			out[entry{client: "client scope " + s.Name, kind: ofMapper, name: m.Name}] = string(m.body())
		}
	}
	add := func(of string, list []mapping) {
		for _, m := range list {
			for _, role := range m.Roles {
				if m.Client != "" {
					out[entry{client: m.Client, kind: ofRole, name: role, owner: of}] = "assigned"
				}
			}
		}
	}
	add("", d.RealmRoles)
	for _, of := range slices.Sorted(maps.Keys(d.ClientRoles)) {
		add(of, d.ClientRoles[of])
	}
	return out
}

// silent reports whether the document does not say what e is, and leaves it to the realm.
func (d document) silent(e entry) bool {
	if of, ok := strings.CutPrefix(e.client, "client scope "); ok {
		return d.scopesUnknown || !slices.ContainsFunc(d.Scopes, func(s scope) bool { return s.Name == of })
	}
	c, ok := d.client(e.client)
	switch {
	case !ok:
		return slices.Contains(builtIn, e.client)
	case e.kind == ofScope:
		return c.DefaultScopes == nil && c.OptionalScopes == nil
	}
	return e.kind == ofSetting
}

// builtIn are the clients that each realm has by itself.
var builtIn = []string{"account", "account-console", "admin-cli", "broker", "realm-management", "security-admin-console"}
