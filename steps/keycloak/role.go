package keycloak

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

func roleParams() []steps.Field {
	return giveParams(
		steps.Field{Name: "role", Type: steps.String, Required: true, Pattern: mapperName, Doc: "name of the one role"},
		steps.Field{Name: "role_of", Type: steps.String, Pattern: clientName, Doc: "clientId of the client whose role it is; without one it is a role of the realm"})
}

// The keys that the target of a role has besides.
const (
	keyRoleName = "name of the role"
	keyRoleID   = "id of the role"
	keyOwner    = "client of the role"
	keyOwnerID  = "id of the client of the role"
)

const mostRoles = 5000

// role is RoleRepresentation, as a mapping takes it.
type role struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Composite bool   `json:"composite"`
	OfClient  bool   `json:"clientRole"`
	Container string `json:"containerId"`
}

// aRole is a role of the realm or of a client, in the scope of a client.
func aRole() thing {
	return thing{
		kind: ofRole,
		read: func(ctx context.Context, s *server, of *scene, in steps.Params) error {
			realm, name := in.Text("realm"), in.Text("role")
			path := []string{"admin", "realms", realm}
			if owner := in.Text("role_of"); owner != "" {
				c, there, err := s.clientOf(ctx, realm, owner)
				if err != nil || !there || !cluster.Plain(c.ID) {
					return err
				}
				of.owner, path = &c, append(path, "clients", c.ID)
			}
			all, err := s.roles(ctx, append(path, "roles")...)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(all, func(r role) bool { return r.Name == name }); i >= 0 {
				of.role = &all[i]
			}
			if !of.there || !cluster.Plain(of.c.ID) {
				return nil
			}
			of.has, err = s.inScope(ctx, realm, of.c.ID, ownerID(of.owner), name)
			return err
		},
		wish: roleWish,
		found: func(ctx context.Context, s *server, c client, target []steps.KV) (string, []steps.KV, error) {
			has, err := s.inScope(ctx, steps.Find(target, keyRealm), c.ID, steps.Find(target, keyOwnerID), steps.Find(target, keyRoleName))
			return roleStands(has), nil, err
		},
	}
}

func ownerID(owner *client) string {
	if owner == nil {
		return ""
	}
	return owner.ID
}

func roleStands(has bool) string {
	if has {
		return asWant
	}
	return absent
}

// mappingsOf is where the roles of the realm, or of one client, are in the scope of a client.
func mappingsOf(owner string) []string {
	if owner == "" {
		return []string{"scope-mappings", "realm"}
	}
	return []string{"scope-mappings", "clients", owner}
}

// inScope reports whether a role is in the scope of a client itself, not by way of another role.
func (s *server) inScope(ctx context.Context, realm, id, owner, name string) (bool, error) {
	var all []role
	err := s.get(ctx, &all, "", append([]string{"admin", "realms", realm, "clients", id}, mappingsOf(owner)...)...)
	return slices.ContainsFunc(all, func(r role) bool { return r.Name == name }), err
}

// roles are those of the realm, or of a client, by the path of either.
func (s *server) roles(ctx context.Context, path ...string) (all []role, err error) {
	for first := 0; ; first += pageOf {
		var page []role
		if err := s.get(ctx, &page, fmt.Sprintf("first=%d&max=%d", first, pageOf), path...); err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < pageOf {
			return all, nil
		}
		if len(all) > mostRoles {
			return nil, fmt.Errorf("there are more than the %d roles that are read", mostRoles)
		}
	}
}

func roleWish(of scene, in steps.Params) wish {
	realm, name, called, owner := in.Text("realm"), in.Text("client"), in.Text("role"), in.Text("role_of")
	e := entry{client: name, kind: ofRole, name: called, owner: owner}
	_, from, _ := of.sides.said(e)
	w := wish{name: e.title(), from: from, act: "add the role " + e.title() + " to the scope of", now: roleStands(of.has)}
	w.claims = []string{roleClaim(owner)}
	w.say = " with that role, for each account that has it"
	w.order = order{method: http.MethodPost, path: of.at(realm, mappingsOf(ownerID(of.owner))...)}
	var r role
	if of.role != nil {
		r = *of.role
		w.order.body, _ = json.Marshal([]role{r}) // strings always marshal
		w.json = w.order.body
	}
	w.target = []steps.KV{{Key: keyRoleName, Value: called}, {Key: keyRoleID, Value: report.OrNothing(r.ID)}}
	if owner != "" {
		w.target = append(w.target, steps.KV{Key: keyOwner, Value: owner}, steps.KV{Key: keyOwnerID, Value: ownerID(of.owner)})
	}
	if r.Composite {
		w.say += ", and with the roles that it is composed of"
	}
	w.undo = "Take it out again, which leaves the role itself: DELETE " + of.base.JoinPath(w.order.path).String() + " with the same body."
	switch {
	case owner != "" && of.owner == nil:
		w.need("find out who took the client away", "The live realm %s has no client %s, whose role it is.", realm, owner)
	case of.role == nil:
		w.need("make it by hand first, as the export has it", "The live realm %s has no role %s, and none is created here.", realm, e.title())
	}
	if of.there && w.now != asWant && of.c.full() {
		w.need("nothing for this role; look whether fullScopeAllowed is as the export has it", "The client %s has every role in its scope (fullScopeAllowed).", name)
	}
	return w
}

// roleClaim is the claim that a role of the realm, or of a client, stands in.
func roleClaim(owner string) string {
	if owner != "" {
		return "resource_access"
	}
	return "realm_access"
}
