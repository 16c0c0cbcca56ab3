package inject

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"handrail/drills/stage"
	"handrail/steps/strict"
)

// runKeycloak is the verb keycloak.run: a stand-in for Keycloak, with a realm as it is before the incident.
type runKeycloak struct {
	Realm    []byte `key:"file,required" as:"file"`
	Sessions int    `key:"sessions" range:"0 1000000"`
}

func (k runKeycloak) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting a stand-in for Keycloak")
	if err := st.ServeKeycloak(ctx); err != nil {
		return err
	}
	return start(ctx, st, k.Realm, "OVERWRITE_EXISTING", k.Sessions)
}

// start does what the start of a Pod does.
func start(ctx context.Context, st *stage.Stage, realm []byte, strategy string, sessions int) error {
	_, err := st.CallKeycloak(ctx, http.MethodPost, "/stand-in/start", map[string]any{"realm": json.RawMessage(realm), "strategy": strategy, "sessions": sessions})
	return err
}

// startKeycloak is the verb keycloak.start.
type startKeycloak struct {
	Import   string `key:"import,required" as:"id"`   // ConfigMap with realm.json
	Settings string `key:"settings,required" as:"id"` // ConfigMap with KEYCLOAK_IMPORT_STRATEGY
}

func (k startKeycloak) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a Pod of Keycloak starts, and imports the realm")
	data := func(name string) (map[string]string, error) {
		var o struct{ Data map[string]string }
		err := st.Robot.Get(ctx, objectKind{"v1", "ConfigMap", "configmaps"}.path(st.Rec.Namespace.Name, name), &o)
		return o.Data, err
	}
	realm, err := data(k.Import)
	if err != nil {
		return err
	}
	settings, err := data(k.Settings)
	if err != nil {
		return err
	}
	return start(ctx, st, []byte(realm["realm.json"]), settings["KEYCLOAK_IMPORT_STRATEGY"], 0)
}

// callKeycloak is the verb keycloak.call.
type callKeycloak struct {
	Client string `key:"client,required" as:"id"`
	Method string `key:"method,required" oneof:"POST PUT DELETE"`
	At     string `key:"at,required"` // below the client
	Body   any    `key:"body" as:"json"`
}

func (k callKeycloak) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("editing the client %s in the console", k.Client)
	c, err := clientOf(ctx, st, k.Client)
	if err != nil {
		return err
	}
	_, err = st.CallKeycloak(ctx, k.Method, clientsPath+"/"+c.ID+"/"+k.At, k.Body)
	return err
}

const clientsPath = "/admin/realms/" + stage.KeycloakRealm + "/clients"

type keycloakClient struct{ ID, ClientID, Secret string }

func clientOf(ctx context.Context, st *stage.Stage, name string) (keycloakClient, error) {
	raw, err := st.CallKeycloak(ctx, http.MethodGet, clientsPath, nil)
	if err != nil {
		return keycloakClient{}, err
	}
	var all []keycloakClient
	if err := json.Unmarshal(raw, &all); err != nil {
		return keycloakClient{}, err
	}
	for _, c := range all {
		if c.ClientID == name {
			return c, nil
		}
	}
	return keycloakClient{}, fmt.Errorf("the realm of the drill has no client %s", name)
}

// issueToken is the verb keycloak.token: a person has a token issued, by client credentials.
type issueToken struct {
	Client string `key:"client,required" as:"id"`
	As     string `key:"as" as:"id"` // name of the file, instead of that of the client
}

func (k issueToken) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("a token is issued for %s", k.Client)
	c, err := clientOf(ctx, st, k.Client)
	if err != nil {
		return err
	}
	token, err := st.KeycloakToken(ctx, stage.KeycloakRealm, url.Values{"grant_type": {"client_credentials"}, "client_id": {k.Client}, "client_secret": {c.Secret}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(st.TokensDir(), cmp.Or(k.As, k.Client)), []byte(token+"\n"), 0o600)
}

// applied is the verb git.applied: kubectl apply of one manifest.
type applied struct {
	Repository string `key:"repository,required" as:"id"`
	File       string `key:"file,required"`
}

func (a applied) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("applying %s by hand", a.File)
	if !filepath.IsLocal(a.File) {
		return errors.New("the file leads out of the repository")
	}
	raw, err := os.ReadFile(filepath.Join(st.GitDir(), a.Repository, filepath.FromSlash(a.File)))
	if err != nil {
		return err
	}
	root, err := strict.Single(raw)
	if err != nil {
		return err
	}
	var o map[string]any
	if err := root.Decode(&o); err != nil {
		return err
	}
	kind, _ := o["kind"].(string)
	meta, _ := o["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	for _, k := range objectKinds() {
		if k.kind == kind {
			return st.Robot.Patch(ctx, k.path(st.Rec.Namespace.Name, name)+"?fieldManager=kubectl-client-side-apply", o)
		}
	}
	return fmt.Errorf("%s is of no kind that a drill makes: %s", a.File, strings.TrimSpace(kind))
}

// compared is the verb argocd.synced: a person refreshes an application, and waits until it finds no difference.
type compared struct {
	Name string `key:"name,required" as:"id"`
}

func (c compared) apply(ctx context.Context, st *stage.Stage) error {
	return awaitRefreshed(ctx, st, "find no difference", func(a argoApp) bool { return a.Metadata.Name != c.Name || a.Status.Sync.Status == "Synced" })
}
