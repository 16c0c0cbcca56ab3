package keycloak

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

func scopeParams() []steps.Field {
	return giveParams(steps.Field{Name: "scope", Type: steps.String, Required: true, Pattern: scopeName, Doc: "name of the one client scope; whether it is default or optional, the export or the import says"})
}

// As what a client has a client scope: of each token, or of those that ask for it.
const (
	byDefault  = "default"
	byOption   = "optional"
	keyType    = "type"
	keyScopeID = "id of the scope"
)

// aScope is a client scope of the realm, attached to a client.
func aScope() thing {
	return thing{
		kind: ofScope,
		read: func(ctx context.Context, s *server, of *scene, in steps.Params) error {
			var all []scope
			if err := s.get(ctx, &all, "", "admin", "realms", in.Text("realm"), "client-scopes"); err != nil {
				return err
			}
			if i := slices.IndexFunc(all, func(o scope) bool { return o.Name == in.Text("scope") }); i >= 0 {
				of.scope = &all[i]
			}
			return nil
		},
		wish: scopeWish,
		found: func(_ context.Context, _ *server, c client, target []steps.KV) (string, []steps.KV, error) {
			return scopeStands(c, steps.Find(target, ofScope), steps.Find(target, keyType)), nil, nil
		},
	}
}

func scopeWish(of scene, in steps.Params) wish {
	realm, name, called := in.Text("realm"), in.Text("client"), in.Text("scope")
	as, from, two := of.sides.said(entry{client: name, kind: ofScope, name: called})
	key := map[string]string{byDefault: "defaultClientScopes", byOption: "optionalClientScopes"}[as]
	w := wish{name: called, from: from, act: "attach the client scope " + called + " as " + report.OrNothing(as) + " to", now: scopeStands(of.c, called, as)}
	w.json, _ = json.Marshal(map[string][]string{key: {called}}) // strings always marshal
	if two {
		w.two = ": in one it is " + byDefault + ", in the other " + byOption
	}
	id := ""
	if of.scope != nil {
		id, w.claims = of.scope.ID, of.scope.claims()
	}
	w.order = order{method: http.MethodPut, path: of.at(realm, map[string]string{byOption: "optional-client-scopes"}[as], id)}
	if as != byOption {
		w.order.path = of.at(realm, "default-client-scopes", id)
	}
	w.target = []steps.KV{{Key: keyType, Value: report.OrNothing(as)}, {Key: keyScopeID, Value: report.OrNothing(id)}}
	w.undo = "Detach it again, which leaves the client scope itself: DELETE " + of.base.JoinPath(w.order.path).String()
	if as == byOption {
		w.say = ", where they are asked for with scope=" + called
	}
	switch {
	case of.scope == nil:
		w.need("make it by hand first, as the export has it, with its mappers", "The live realm %s has no client scope %s, and none is created here.", realm, called)
	case !cluster.Plain(id):
		w.need("attach it by hand", "The id of the client scope is of a form that no path takes: %q.", steps.Clip(id, 100))
	case of.there && of.scope.protocol() != of.c.protocol():
		w.need("find out which client it is for", "The client scope %s is of %s, and the client %s of %s: Keycloak answers that with 204, and attaches nothing.", called, of.scope.protocol(), name, of.c.protocol())
	case len(w.claims) == 0:
		w.need("give it its mappers first, where it lost them; else attach it by hand", "The client scope %s has no mapper with a claim that a fresh token could be held to.", called)
	}
	if has := scopeTypes(of.c, called); w.now != asWant && len(has) > 0 && from != "" {
		w.need("let its owner say which one is meant; Keycloak answers with 204, and changes nothing, until it is detached", "The client %s has the client scope %s as %s already, and the %s has it as %s.", name, called, has[0], from, as)
	}
	return w
}

// scopeTypes are those as which a client has a client scope.
func scopeTypes(c client, name string) (types []string) {
	if slices.Contains(c.DefaultScopes, name) {
		types = append(types, byDefault)
	}
	if slices.Contains(c.OptionalScopes, name) {
		types = append(types, byOption)
	}
	return types
}

// scopeStands is how a client scope stands in a client.
func scopeStands(c client, name, as string) string {
	switch types := scopeTypes(c, name); {
	case len(types) == 0:
		return absent
	case len(types) == 1 && types[0] == as:
		return asWant
	default:
		return "it is there, as " + types[0]
	}
}
