package inject

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"handrail/drills/lab"
	"handrail/drills/lab/gitops"
	"handrail/drills/stage"
)

const (
	externalPath = "/apis/external-secrets.io/v1/namespaces/%s/"
	storeName    = "vault"
	storeReader  = "reader"
	storeToken   = "vault-token"
	asksNow      = "asked-at" // any annotation that changes makes an ExternalSecret ask its store
)

// runStore is the verb store.run: External Secrets for the drill's namespace, and a namespace
// beside it that is the store which it reads.
type runStore struct{}

func (runStore) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting External Secrets; it is built the first time, which takes minutes")
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	ns := st.Rec.Namespace.Name
	beside, err := st.World.Beside(ctx, ns)
	if err != nil {
		return err
	}
	roles := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + beside
	for path, body := range map[string]map[string]any{
		roles + "/roles": {"metadata": map[string]any{"name": storeReader}, "rules": []map[string]any{{"apiGroups": []string{""}, "resources": []string{"secrets"}, "verbs": []string{"get", "list", "watch"}}}},
		roles + "/rolebindings": {"metadata": map[string]any{"name": storeReader}, "subjects": []map[string]any{{"kind": "ServiceAccount", "name": storeReader, "namespace": beside}},
			"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": storeReader}},
	} {
		if err := st.World.Request(ctx, http.MethodPost, path, "application/json", body, nil); err != nil {
			return err
		}
	}
	home, err := os.MkdirTemp("", "handrail-store-")
	if err != nil {
		return err
	}
	st.Rec.Folders = append(st.Rec.Folders, home)
	if err := st.Save(); err != nil {
		return err
	}
	part, err := gitops.PlanExternalSecrets(ctx, st.World, home, ns)
	if err != nil {
		return err
	}
	if err := st.Attend(ctx, part); err != nil {
		return err
	}
	if err := signIn(ctx, st); err != nil {
		return err
	}
	store := map[string]any{"apiVersion": "external-secrets.io/v1", "kind": "SecretStore", "metadata": map[string]any{"name": storeName},
		"spec": map[string]any{"provider": map[string]any{"kubernetes": map[string]any{"remoteNamespace": beside,
			"server": map[string]any{"url": st.World.URL(), "caProvider": map[string]any{"type": "ConfigMap", "name": "kube-root-ca.crt", "key": "ca.crt"}},
			"auth":   map[string]any{"token": map[string]any{"bearerToken": map[string]any{"name": storeToken, "key": "token"}}}}}}}
	if err := st.World.Request(ctx, http.MethodPost, fmt.Sprintf(externalPath, ns)+"secretstores", "application/json", store, nil); err != nil {
		return err
	}
	inside := []lab.Rule{{Group: "external-secrets.io", Resources: []string{"externalsecrets"}, Verbs: []string{"get", "list", "watch", "patch"}},
		{Group: "external-secrets.io", Resources: []string{"secretstores"}, Verbs: []string{"get", "list"}}}
	if err := st.Admit(ctx, stage.NameOperator, inside, nil); err != nil {
		return err
	}
	return storeIs(ctx, st, "True")
}

// signIn makes the account of the store anew, and puts a token of it where the store looks.
func signIn(ctx context.Context, st *stage.Stage) error {
	accounts := "/api/v1/namespaces/" + lab.Beside(st.Rec.Namespace.Name) + "/serviceaccounts"
	if err := st.World.Request(ctx, http.MethodPost, accounts, "application/json", map[string]any{"metadata": map[string]any{"name": storeReader}}, nil); err != nil {
		return err
	}
	var minted struct{ Status struct{ Token string } }
	ask := map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{"expirationSeconds": 24 * 3600}}
	if err := st.World.Request(ctx, http.MethodPost, accounts+"/"+storeReader+"/token", "application/json", ask, &minted); err != nil {
		return err
	}
	return keepSecret(ctx, st, st.Rec.Namespace.Name, storeToken, map[string]string{"token": minted.Status.Token})
}

// keepSecret makes a Secret, or writes over the one that is there.
func keepSecret(ctx context.Context, st *stage.Stage, ns, name string, keys map[string]string) error {
	path := "/api/v1/namespaces/" + ns + "/secrets/" + name + "?fieldManager=owner&force=true"
	body := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "stringData": keys}
	return st.World.Request(ctx, http.MethodPatch, path, "application/apply-patch+yaml", body, nil)
}

// storeIs waits until the store says of itself whether it is ready.
func storeIs(ctx context.Context, st *stage.Stage, ready string) error {
	return st.Wait(ctx, "the store did not come to be Ready="+ready, func() (bool, error) {
		return conditioned(ctx, st, "secretstores/"+storeName, ready)
	})
}

func conditioned(ctx context.Context, st *stage.Stage, what, ready string) (bool, error) {
	var o struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	err := st.World.Request(ctx, http.MethodGet, fmt.Sprintf(externalPath, st.Rec.Namespace.Name)+what, "", nil, &o)
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == ready, err
		}
	}
	return false, err
}

// putVersion is the verb store.put: the owner of a value makes one of its versions current in the
// store. A value is made from the drill and the name of its version, so that the version from
// before has the value from before, and no document holds any.
type putVersion struct {
	Name    string `key:"name,required" as:"id"`
	Key     string `key:"key,required" as:"id"`
	Version string `key:"version,required" as:"id"`
}

// ValueMark begins each value of a store, so that a test finds one wherever it was kept.
const ValueMark = "drilled-"

// valueOf is the value of a version in one running drill.
func valueOf(st *stage.Stage, name, key, version string) string {
	sum := sha256.Sum256([]byte(st.Rec.Nonce + "/" + name + "/" + key + "/" + version))
	return ValueMark + hex.EncodeToString(sum[:12])
}

func (p putVersion) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("version %s of %s is made current in the store", p.Version, p.Name)
	if err := keepSecret(ctx, st, lab.Beside(st.Rec.Namespace.Name), p.Name, map[string]string{p.Key: valueOf(st, p.Name, p.Key, p.Version)}); err != nil {
		return err
	}
	// Books count in seconds: what was delivered before must not look delivered now.
	made := time.Now().Unix()
	return st.Wait(ctx, "the next second did not come", func() (bool, error) { return time.Now().Unix() > made, nil })
}

// bringSecret is the verb store.deliver: an ExternalSecret for one value of the store, brought to
// its end. It asks again in an hour, or sooner when it is told to.
type bringSecret struct {
	Name string `key:"name,required" as:"id"`
	Key  string `key:"key,required" as:"id"`
	Ends string `key:"ends" oneof:"True False"` // of its condition Ready; True
}

func (b bringSecret) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("externalsecret %s", b.Name)
	end := b.Ends
	if end == "" {
		end = "True"
	}
	at := fmt.Sprintf(externalPath, st.Rec.Namespace.Name) + "externalsecrets"
	es := map[string]any{"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "metadata": map[string]any{"name": b.Name},
		"spec": map[string]any{"refreshInterval": "1h", "secretStoreRef": map[string]any{"kind": "SecretStore", "name": storeName},
			"target": map[string]any{"name": b.Name},
			"data":   []map[string]any{{"secretKey": b.Key, "remoteRef": map[string]any{"key": b.Name, "property": b.Key}}}}}
	if err := st.World.Request(ctx, http.MethodPost, at, "application/json", es, nil); err != nil {
		return err
	}
	return st.Wait(ctx, "the ExternalSecret did not come to be Ready="+end, func() (bool, error) {
		return conditioned(ctx, st, "externalsecrets/"+b.Name, end)
	})
}

// syncSecret is the verb store.sync: an ExternalSecret asks its store now, as at the end of its
// interval.
type syncSecret struct {
	Name string `key:"name,required" as:"id"`
}

func (s syncSecret) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("externalsecret %s asks its store", s.Name)
	at := fmt.Sprintf(externalPath, st.Rec.Namespace.Name) + "externalsecrets/" + s.Name
	type read struct{ Status struct{ RefreshTime string } }
	var before, now read
	if err := st.World.Request(ctx, http.MethodGet, at, "", nil, &before); err != nil {
		return err
	}
	// The time of a fetch counts in seconds.
	if err := st.Wait(ctx, "the next second did not come", func() (bool, error) {
		was, err := time.Parse(time.RFC3339, before.Status.RefreshTime)
		return time.Since(was) > time.Second, err
	}); err != nil {
		return err
	}
	note := map[string]any{"metadata": map[string]any{"annotations": map[string]any{asksNow: before.Status.RefreshTime}}}
	if err := st.World.Request(ctx, http.MethodPatch, at, "application/merge-patch+json", note, nil); err != nil {
		return err
	}
	return st.Wait(ctx, "the ExternalSecret did not ask its store", func() (bool, error) {
		err := st.World.Request(ctx, http.MethodGet, at, "", nil, &now)
		return now.Status.RefreshTime != before.Status.RefreshTime, err
	})
}

// denyStore is the verb store.deny: the account of the store goes, and its token with it. The store
// goes on to say that it is ready, and an ExternalSecret that asks it is refused. The server
// remembers a token for seconds, so that it asks until it is.
type denyStore struct {
	Name string `key:"name,required" as:"id"` // the ExternalSecret
}

func (d denyStore) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the credential of the store is revoked")
	path := "/api/v1/namespaces/" + lab.Beside(st.Rec.Namespace.Name) + "/serviceaccounts/" + storeReader
	if err := st.World.Request(ctx, http.MethodDelete, path, "", nil, nil); err != nil {
		return err
	}
	at := fmt.Sprintf(externalPath, st.Rec.Namespace.Name) + "externalsecrets/" + d.Name
	var asked time.Time
	return st.Wait(ctx, "the ExternalSecret was not refused", func() (bool, error) {
		if now := st.Now(); now.Sub(asked) > 2*time.Second {
			asked = now
			note := map[string]any{"metadata": map[string]any{"annotations": map[string]any{asksNow: now.Format(time.RFC3339)}}}
			if err := st.World.Request(ctx, http.MethodPatch, at, "application/merge-patch+json", note, nil); err != nil {
				return false, err
			}
		}
		return conditioned(ctx, st, "externalsecrets/"+d.Name, "False")
	})
}

// admitStore is the verb store.admit: the owner of the store gives it a new credential.
type admitStore struct{}

func (admitStore) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the store gets a new credential")
	if err := signIn(ctx, st); err != nil {
		return err
	}
	return storeIs(ctx, st, "True")
}
