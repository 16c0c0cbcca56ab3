package keycloak

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// mostMapped bounds the clients whose role mappings are read: each costs a request.
const mostMapped = 200

// readLive reads what the admin API serves of a realm. only is the one client that is read, "" for all.
func (s *server) readLive(ctx context.Context, realm, only string) (d document, gaps []string, err error) {
	for first := 0; ; first += pageOf {
		var page []client
		if err := s.get(ctx, &page, fmt.Sprintf("first=%d&max=%d", first, pageOf), "admin", "realms", realm, "clients"); err != nil {
			return d, nil, err
		}
		d.Clients = append(d.Clients, page...)
		if len(page) < pageOf {
			break
		}
		if len(d.Clients) > mostClients {
			return d, nil, fmt.Errorf("the realm has more than the %d clients that are read", mostClients)
		}
	}
	d.Realm = realm
	if err := s.get(ctx, &d.Scopes, "", "admin", "realms", realm, "client-scopes"); err != nil {
		return d, nil, err
	}
	if only != "" {
		d.Clients = slices.DeleteFunc(d.Clients, func(c client) bool { return c.ClientID != only })
	}
	n := 0
	d.ClientRoles, d.rolesUnread = map[string][]mapping{}, map[string]bool{}
	for _, c := range d.Clients {
		if c.full() {
			d.rolesUnread[c.ClientID] = true // it has every role by itself
			continue
		}
		if n++; n > mostMapped {
			d.rolesUnread[c.ClientID] = true
			continue
		}
		var m struct {
			Realm  []struct{ Name string } `json:"realmMappings"`
			Client map[string]struct {
				Mappings []struct{ Name string }
			} `json:"clientMappings"`
		}
		if err := s.get(ctx, &m, "", "admin", "realms", realm, "clients", c.ID, "scope-mappings"); err != nil {
			return d, nil, err
		}
		roles := func(of []struct{ Name string }) (out []string) {
			for _, r := range of {
				out = append(out, r.Name)
			}
			return out
		}
		if len(m.Realm) > 0 {
			d.RealmRoles = append(d.RealmRoles, mapping{Client: c.ClientID, Roles: roles(m.Realm)})
		}
		for _, of := range slices.Sorted(maps.Keys(m.Client)) {
			d.ClientRoles[of] = append(d.ClientRoles[of], mapping{Client: c.ClientID, Roles: roles(m.Client[of].Mappings)})
		}
	}
	if n > mostMapped {
		gaps = append(gaps, fmt.Sprintf("the role mappings of all but %d clients were not read: name one client", mostMapped))
	}
	return d, gaps, nil
}

// clientOf reads the one client of a clientId.
func (s *server) clientOf(ctx context.Context, realm, name string) (c client, there bool, err error) {
	var all []client
	for first := 0; ; first += pageOf {
		var page []client
		if err := s.get(ctx, &page, fmt.Sprintf("first=%d&max=%d", first, pageOf), "admin", "realms", realm, "clients"); err != nil {
			return client{}, false, err
		}
		all = append(all, page...)
		if len(page) < pageOf || len(all) > mostClients {
			c, there = document{Clients: all}.client(name)
			return c, there, nil
		}
	}
}

// keys are the ids of the keys that tokens of the realm are signed with.
func (s *server) keys(ctx context.Context, realm string) ([]string, error) {
	var in struct {
		Keys []struct{ Kid, Use string }
	}
	if err := s.get(ctx, &in, "", "realms", realm, "protocol", "openid-connect", "certs"); err != nil {
		return nil, err
	}
	out := []string{}
	for _, k := range in.Keys {
		if k.Use != "enc" {
			out = append(out, k.Kid)
		}
	}
	slices.Sort(out)
	return out, nil
}

// sessions counts the active sessions of all clients together. A person has one for each client.
func (s *server) sessions(ctx context.Context, realm string) (int64, error) {
	var in []struct{ Active json.RawMessage }
	if err := s.get(ctx, &in, "", "admin", "realms", realm, "client-session-stats"); err != nil {
		return 0, err
	}
	var sum int64
	for _, c := range in {
		text := string(c.Active) // a number in a string
		if unquoted, err := strconv.Unquote(text); err == nil {
			text = unquoted
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("a count of sessions is no number")
		}
		sum += n
	}
	return sum, nil
}
