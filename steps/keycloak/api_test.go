package keycloak

import (
	"context"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// TestGatesKeepTheContract: each gate of this package, on the stand-in behind a line that fails. What could undo the act, which is
// read of a cluster, is calm.
func TestGatesKeepTheContract(t *testing.T) {
	t.Parallel()
	const lost = `{"realm":"primary","roles":{"realm":[{"name":"reader"}]},"clients":[
{"clientId":"gateway","fullScopeAllowed":false,"secret":"live-secret-of-gate","protocolMappers":[],"defaultClientScopes":["roles"],"optionalClientScopes":[]}],
"clientScopes":[{"name":"roles"},{"name":"verified","protocolMappers":[` + groups + `]}]}`
	const had = `{"realm":"primary","clients":[{"clientId":"gateway","protocolMappers":[` + groups + `],"defaultClientScopes":["roles","verified"]}],"scopeMappings":[{"client":"gateway","roles":["reader"]}]}`
	for kind, tc := range map[string]struct {
		of           thing
		param, value string
	}{
		"keycloak/mapper": {aMapper(), "mapper", "groups"},
		"keycloak/scope":  {aScope(), "scope", "verified"},
		"keycloak/role":   {aRole(), "role", "reader"},
	} {
		keeps(t, kind, func(t *testing.T, through func(string) string) stepstest.World {
			env, out := standIn(t)
			s, err := signIn(t.Context(), env, nil, out)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.done)
			started(t, s, 1, lost)
			at := func(address string) steps.Env {
				env := env
				env.Environ = append(append([]string(nil), env.Environ...), "KEYCLOAK_URL="+address)
				return env
			}
			address := through(s.base.String())
			in := steps.Params{"realm": steps.StringOf("primary"), "client": steps.StringOf("gateway"), tc.param: steps.StringOf(tc.value)}
			look := func(ctx context.Context) (steps.Preview, error) {
				s, err := signIn(ctx, at(address), nil, out)
				if err != nil {
					return steps.Preview{}, err
				}
				defer s.done()
				of := calmScene(t)
				of.base, of.sides = s.base, sides{before: doc(t, had)}
				if of.c, of.there, err = s.clientOf(ctx, "primary", "gateway"); err == nil {
					err = tc.of.read(ctx, s, &of, in)
				}
				return of.preview(tc.of, in), err
			}
			return stepstest.World{Gate: giveGate{thing: tc.of, env: at(address)}, Elsewhere: giveGate{thing: tc.of, env: at("http://127.0.0.1:1")}, In: in, Preview: look,
				Secrets: []string{"live-secret-of-gate", env.Getenv("KEYCLOAK_PASSWORD"), s.token}}
		})
	}
}

// keeps holds a gate to the contract of gates over HTTP, case by case.
func keeps(t *testing.T, kind string, open func(t *testing.T, through func(server string) string) stepstest.World) {
	t.Helper()
	for _, c := range stepstest.APICases() {
		t.Run(kind+"/"+c.Name, func(t *testing.T) {
			l := c.Line()
			defer l.Close()
			w := open(t, l.Before)
			w.Do = func(ctx context.Context, p steps.Preview, out steps.Sink) (o steps.Outcome, err, again error) {
				a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
				if err != nil {
					return o, err, nil
				}
				o, err = w.Gate.Act(ctx, a, out)
				_, again = w.Gate.Act(ctx, a, out)
				return o, err, again
			}
			for _, why := range c.Check(t.Context(), l, w) {
				t.Error(why)
			}
		})
	}
}
