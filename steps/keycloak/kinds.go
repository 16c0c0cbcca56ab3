// Package keycloak asks an identity realm of Keycloak what it has, and holds that against what the
// next import would bring and against an export from before; it reads what a token says, and writes
// one mapper of one client, as the admin console does. It asks the admin API as the documentation of
// Keycloak has it (clients, client scopes, scope mappings, sessions and keys of a realm).
//
// Where the server is and who asks it stands in the environment of the operator (KEYCLOAK_URL,
// KEYCLOAK_USER, KEYCLOAK_PASSWORD): no runbook and no repository leads a password elsewhere. The
// token that it is exchanged for lives in memory alone. Of a token that is read the signature is
// dropped, and of its payload the names of the claims are kept.
//
// Vocabulary: the import is the realm in a ConfigMap, which a start of Keycloak may write over the
// live realm; the export is a file from before; what is uncommitted is live or was, and no import has
// it. Roles are those in the scope of a client; the roles of service accounts are not read.
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
		{
			Name: "keycloak/mapper", Class: steps.Repair, Params: mapperParams(),
			Doc:     "Writes one mapper of one client into the live realm, as the export or the import has it. Refuses what is there already, while the application that would overwrite it syncs by itself, and while Keycloak restarts.",
			Touches: []string{"gets what keycloak/realm gets, and the application", "posts one mapper to the admin API"},
			Rights:  mapperRights, Again: act.RereadAfter,
			Changes: func(e steps.Env) steps.Gater { return mapperGate{env: e} },
		},
	}
	return append(contexts.Anywhere(read), steps.Kind{
		Name: "keycloak/claims", Class: steps.Probe, Params: claimsParams(), Facts: claimsFacts(),
		Doc:     "Reads what one access token says: the names of its claims, to whom and when it was issued. Its signature and the values of its claims go nowhere.",
		Touches: []string{"reads the file"},
		Reads:   func(e steps.Env) steps.Prober { return claimsProbe{e} },
	})
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

func mapperRights(in steps.Params) []steps.Right {
	return append(realmRights(in), steps.Right{Group: "argoproj.io", Resource: "applications", Verbs: []string{"get"}, Wide: true, For: "Argo CD"})
}
