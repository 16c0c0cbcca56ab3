package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"handrail/steps"
	"handrail/steps/transport"
)

const readStorage = "https://www.googleapis.com/auth/devstorage.read_only"

// contents is a setting that holds a text or names the file of it.
func contents(set settings, value string) string {
	if inText(value) {
		return value
	}
	if raw, err := readFile(set.path(value)); err == nil && raw != nil {
		return string(raw)
	}
	return value
}

// inText reports whether a setting holds JSON itself.
func inText(value string) bool { return strings.HasPrefix(strings.TrimSpace(value), "{") }

// googleToken finds credentials where the backend does, but for those of the
// machine itself: a machine outside of that cloud would wait for an address that
// was not named. The token it makes can read storage and nothing else.
func googleToken(ctx context.Context, set settings, named string, out steps.Sink) (oauth2.TokenSource, error) {
	if who := set.get("impersonate_service_account", "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"); who != "" && set.get("access_token", "GOOGLE_OAUTH_ACCESS_TOKEN") == "" {
		return nil, denied("gcs backend: it works as the service account %q, which handrail does not become; set GOOGLE_OAUTH_ACCESS_TOKEN to what gcloud auth print-access-token --impersonate-service-account prints", steps.Clip(who, 200))
	}
	token := set.get("access_token", "GOOGLE_OAUTH_ACCESS_TOKEN")
	// A file that the directory names may be anyone's.
	own := token != "" && token == set.w.Setting("access_token") || token == "" && inText(set.w.Setting("credentials"))
	if !own {
		if err := set.refuseLoan(serverOf(named), "", "those of Google Cloud"); err != nil {
			return nil, err
		}
	}
	if token != "" {
		out.Secret(token)
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}), nil
	}
	text := contents(set, set.get("credentials", "GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"))
	if text == "" {
		name := set.env.Getenv("GOOGLE_APPLICATION_CREDENTIALS")
		if name == "" {
			name = filepath.Join(set.env.Home, ".config", "gcloud", "application_default_credentials.json")
		}
		raw, err := readFile(name)
		if err != nil {
			return nil, denied("gcs backend: no credentials: %v; set GOOGLE_OAUTH_ACCESS_TOKEN, GOOGLE_CREDENTIALS or GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login (those of the machine itself are not asked for)", err)
		}
		text = string(raw)
	}
	var doc struct {
		Type         google.CredentialsType `json:"type"`
		PrivateKey   string                 `json:"private_key"`
		ClientSecret string                 `json:"client_secret"`
		RefreshToken string                 `json:"refresh_token"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		return nil, errors.New("gcs backend: its credentials are neither JSON nor a file that holds it")
	}
	for _, secret := range []string{doc.PrivateKey, doc.ClientSecret, doc.RefreshToken} {
		if secret != "" {
			out.Secret(secret)
		}
	}
	// Other types name addresses to ask and programs to run.
	if doc.Type != google.ServiceAccount && doc.Type != google.AuthorizedUser {
		return nil, denied("gcs backend: credentials of the type %q are not used by handrail; set GOOGLE_OAUTH_ACCESS_TOKEN to what gcloud auth print-access-token prints", steps.Clip(string(doc.Type), 60))
	}
	// Credentials name the server that makes tokens of them.
	next, err := (trust{named: true}).plainTransport(set.env)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Timeout: askWithin, Transport: transport.Limit(next, nil)})
	cred, err := google.CredentialsFromJSONWithType(ctx, []byte(text), doc.Type, readStorage)
	if err != nil {
		return nil, fmt.Errorf("gcs backend: credentials: %w", err)
	}
	return cred.TokenSource, nil
}

// tokenTrouble leaves out the answer of the token server, which may repeat what
// it was sent.
func tokenTrouble(err error) string {
	var said *oauth2.RetrieveError
	if errors.As(err, &said) {
		return fmt.Sprintf("the token server answered %s (%s)", said.Response.Status, steps.Clip(said.ErrorCode, 60))
	}
	return err.Error()
}
