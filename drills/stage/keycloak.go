package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/drills/bucket"
	"handrail/drills/keycloak"
)

// KeycloakRealm is the realm of a drill.
const KeycloakRealm = "primary"

func (st *Stage) keycloakDir() string { return filepath.Join(st.Home, "keycloak") }

// TokensDir is where tokens are saved that were issued, each by the name of its client, or by the one that the drill gives it.
func (st *Stage) TokensDir() string { return filepath.Join(st.Home, "tokens") }

// ServeKeycloak starts the stand-in for Keycloak in a session of its own, with an account for robot and operator.
func (st *Stage) ServeKeycloak(ctx context.Context) error {
	if len(st.Realm) == 0 {
		return errors.New("nothing says how the identity realm of a drill is served")
	}
	words, err := keycloak.Prepare(st.keycloakDir(), NameRobot, NameOperator)
	if err != nil {
		return err
	}
	for who, word := range words {
		if err := os.WriteFile(filepath.Join(st.keycloakDir(), who+".word"), []byte(word), 0o600); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(st.TokensDir(), 0o700); err != nil {
		return err
	}
	addr := ""
	args := append(slices.Clone(st.Realm), st.keycloakDir())
	if err := st.serve(ctx, "keycloak", args, []string{"HOME=" + st.Home, "PATH=" + os.Getenv("PATH")}, func() (err error) {
		addr, err = bucket.AddressIn(st.keycloakDir())
		return err
	}); err != nil {
		return err
	}
	st.Rec.Keycloak = "http://" + addr
	return st.Save()
}

func (st *Stage) keycloakWord(who string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(st.keycloakDir(), who+".word"))
	return string(raw), err
}

// keycloakEnviron is by what a caller reads the realm, nothing where there is none.
func (st *Stage) keycloakEnviron(who string) []string {
	if st.Rec.Keycloak == "" {
		return nil
	}
	word, err := st.keycloakWord(who)
	if err != nil {
		return nil // then it refuses, and says so
	}
	return []string{"KEYCLOAK_URL=" + st.Rec.Keycloak, "KEYCLOAK_USER=" + who, "KEYCLOAK_PASSWORD=" + word}
}

// KeycloakSecrets are the passwords of its accounts.
func (st *Stage) KeycloakSecrets() ([]string, error) {
	var out []string
	for _, who := range []string{NameRobot, NameOperator} {
		word, err := st.keycloakWord(who)
		if err != nil {
			return nil, err
		}
		out = append(out, word)
	}
	return out, nil
}

// KeycloakWrites are the requests of the operator that may have written, nothing where there is no realm.
func (st *Stage) KeycloakWrites() ([]keycloak.Write, error) {
	if st.Rec.Keycloak == "" {
		return nil, nil
	}
	all, err := keycloak.Writes(st.keycloakDir())
	return slices.DeleteFunc(all, func(w keycloak.Write) bool { return w.Who != NameOperator }), err
}

// KeycloakToken exchanges a form for a token of a realm.
func (st *Stage) KeycloakToken(ctx context.Context, realm string, form url.Values) (string, error) {
	raw, err := st.askKeycloak(ctx, http.MethodPost, "/realms/"+realm+"/protocol/openid-connect/token", "", []byte(form.Encode()))
	if err != nil {
		return "", err
	}
	var in struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(raw, &in); err != nil || in.Token == "" {
		return "", errors.New("the realm of the drill gave no token")
	}
	return in.Token, nil
}

// CallKeycloak sends one request to it as robot. body nil sends none.
func (st *Stage) CallKeycloak(ctx context.Context, method, path string, body any) ([]byte, error) {
	word, err := st.keycloakWord(NameRobot)
	if err != nil {
		return nil, fmt.Errorf("this drill has no Keycloak: begin with keycloak.run: %w", err)
	}
	token, err := st.KeycloakToken(ctx, "master", url.Values{"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {NameRobot}, "password": {word}})
	if err != nil {
		return nil, err
	}
	var raw []byte
	if body != nil {
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	return st.askKeycloak(ctx, method, path, token, raw)
}

func (st *Stage) askKeycloak(ctx context.Context, method, path, token string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, st.Rec.Keycloak+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if token == "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	} else {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("realm of the drill: %w", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, MaxAnswer))
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("realm of the drill: %s %s answered %d: %s", method, path, res.StatusCode, strings.TrimSpace(Tail(raw)))
	}
	return raw, err
}
