// Package keycloak asks an identity realm of Keycloak what it has, and holds that against what the
// next import would bring and against an export from before; it reads what a token says, and gives
// one thing back to one client, as the admin console does. It asks the admin API as the documentation of
// Keycloak has it (clients, client scopes, roles, scope mappings, sessions and keys of a realm).
//
// Where the server is and who asks it stands in the environment of the operator (KEYCLOAK_URL,
// KEYCLOAK_USER, KEYCLOAK_PASSWORD): no runbook and no repository leads a password elsewhere. The
// token that it is exchanged for lives in memory alone. Of a token that is read the signature is
// dropped, and of its payload the names of the claims are kept.
//
// Vocabulary: the import is the realm in a ConfigMap, which a start of Keycloak may write over the
// live realm; the export is a file from before; what is uncommitted is live or was, and no import has
// it. Roles are those in the scope of a client; the roles of service accounts are not read. A client with
// fullScopeAllowed has every role in its scope: its mappings are not read, and none of them is missing.
//
// Three gates give back one thing each:
//
//	keycloak/mapper  POST clients/ID/protocol-mappers/models           the mapper, as a side has it
//	keycloak/scope   PUT  clients/ID/default-client-scopes/SCOPE       or optional-client-scopes, as a side has it
//	keycloak/role    POST clients/ID/scope-mappings/realm              or scope-mappings/clients/OWNER, the role as it is live
//
// All of them have these floors. The export or the import has the thing, and where both have it they have the same: what it
// was is never typed. The client lacks it, in the preview and in its re-read directly before the act. A claim is named that a
// fresh token can be held to. The Application that delivers the import syncs by itself no more (auto-sync off, and
// with it self-heal) and no operation of it runs; what runs Keycloak is named and at rest. The client is live.
//
// A client scope and a role must be in the live realm besides: neither is created, and a scope is not given its mappers. A
// client scope that the client has as the other type is refused with both types named, and one of another protocol
// is too: Keycloak answers both with 204 and does nothing. A role is refused where the client has every role in its scope.
//
// The claim of a client scope is one of those that its live mappers put into access tokens, since an account has seldom
// all of them; that of a role is realm_access or resource_access, with the role in it. After the act the client is read again: a
// success of the server that is not seen there is a failed act. 30 seconds later it is read once more, because an import
// that ran meanwhile takes the thing away. What is undone is undone with the DELETE that the preview names.
package keycloak

import (
	"handrail/steps"
	"handrail/steps/kube/act"
	"handrail/steps/kube/contexts"
)

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	read := []steps.Kind{
		{
			Name: "keycloak/realm", Class: steps.Probe, Params: realmParams(), Facts: realmFacts(),
			Doc:     "Holds the clients of a live realm against those of the next import and of an export from before: which mappers, client scopes and roles each lacks, what no import has, what an import does, and whether Keycloak restarts.",
			Touches: []string{"asks the master realm for a token, which stays in memory", "gets the clients, client scopes, scope mappings, sessions and keys of the realm", "gets the ConfigMap of the import and the workload, lists its Pods", "reads the export; secrets of clients are tokens"},
			Rights:  realmRights,
			Reads:   func(e steps.Env) steps.Prober { return realmProbe{env: e} },
		},
		give(aMapper(), mapperParams(),
			"Writes one mapper of one client into the live realm, as the export or the import has it. Refuses what is there already, while the application that would overwrite it syncs by itself, and while Keycloak restarts.",
			"posts one mapper to the admin API"),
		give(aScope(), scopeParams(),
			"Attaches one client scope that the live realm has to one client, as default or optional, as the export or the import has it. Creates none, and moves none from one type to the other. Refuses what keycloak/mapper refuses.",
			"puts one client scope to the client at the admin API"),
		give(aRole(), roleParams(),
			"Adds one role that the live realm has, of the realm or of a client, to the scope of one client, as the export or the import has it. Creates none, and gives no account a role. Refuses what keycloak/mapper refuses.",
			"posts one role to the scope mappings of the client at the admin API"),
	}
	return append(contexts.Anywhere(read), steps.Kind{
		Name: "keycloak/claims", Class: steps.Probe, Params: claimsParams(), Facts: claimsFacts(),
		Doc:     "Reads what one access token says: the names of its claims, to whom and when it was issued. Its signature and the values of its claims go nowhere.",
		Touches: []string{"reads the file"},
		Reads:   func(e steps.Env) steps.Prober { return claimsProbe{e} },
	})
}

// give is the gate of one kind of things.
func give(t thing, params []steps.Field, doc, sends string) steps.Kind {
	return steps.Kind{
		Name: "keycloak/" + t.kind, Class: steps.Repair, Params: params, Doc: doc,
		Touches: []string{"gets what keycloak/realm gets, the roles of the realm or of a client, and the application", sends},
		Rights:  giveRights, Again: act.RereadAfter,
		Changes: func(e steps.Env) steps.Gater { return giveGate{thing: t, env: e} },
	}
}

// realmRights are what is asked of a cluster.
func realmRights(steps.Params) []steps.Right {
	return []steps.Right{
		{Resource: "namespaces", Verbs: []string{"get"}, Name: "kube-system", Wide: true},
		{Resource: "configmaps", Verbs: []string{"get"}},
		{Resource: "pods", Verbs: []string{"list"}},
		{Group: "apps", Resource: "deployments", Verbs: []string{"get"}, For: "what runs Keycloak"},
		{Group: "apps", Resource: "statefulsets", Verbs: []string{"get"}, For: "what runs Keycloak"},
	}
}

func giveRights(in steps.Params) []steps.Right {
	return append(realmRights(in), steps.Right{Group: "argoproj.io", Resource: "applications", Verbs: []string{"get"}, Wide: true, For: "Argo CD"})
}
