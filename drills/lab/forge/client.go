package forge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// User is an account, which acts with its token.
type User struct {
	Name  string
	Token string

	password string // "" for the administrator
	forge    *Forge
}

// RefusedError is an answer of Gitea that is no success.
type RefusedError struct {
	Method, Path string
	Status       int
	Says         string // the words of Gitea
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s: the forge answers %d: %s", e.Method, e.Path, e.Status, e.Says)
}

// object is a body of JSON.
type object map[string]any

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	mostIn = 8 << 20
)

// do sends one request below /api/v1 with the token of the user, and reads the answer into out, which may be nil.
func (u *User) do(ctx context.Context, method, path string, in, out any) error {
	return u.forge.send(ctx, method, "/api/v1"+path, func(r *http.Request) { r.Header.Set("Authorization", "token "+u.Token) }, in, out)
}

// client reaches the forge, and nothing through a proxy of this machine.
var client = &http.Client{Timeout: 3 * time.Minute, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}

func (f *Forge) send(ctx context.Context, method, path string, sign func(*http.Request), in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, f.URL+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	sign(req)
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, mostIn))
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		var said struct{ Message string }
		if json.Unmarshal(raw, &said) != nil || said.Message == "" {
			said.Message = strings.TrimSpace(string(raw[:min(len(raw), 300)]))
		}
		return &RefusedError{method, path, answer.StatusCode, said.Message}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// NewToken makes another token of the account, which may do what its scopes say: read:repository and the like.
func (u *User) NewToken(ctx context.Context, scopes ...string) (string, error) {
	var out struct {
		Token string `json:"sha1"`
	}
	err := u.forge.send(ctx, post, "/api/v1/users/"+url.PathEscape(u.Name)+"/tokens", func(r *http.Request) { r.SetBasicAuth(u.Name, u.password) },
		object{"name": "lab-" + word()[:8], "scopes": scopes}, &out)
	return out.Token, err
}

// Org makes an organisation that the user owns.
func (u *User) Org(ctx context.Context, name string) error {
	return u.do(ctx, post, "/orgs", object{"username": name, "visibility": "private"}, nil)
}

// Repository makes a private repository of an organisation with a first commit on main.
func (u *User) Repository(ctx context.Context, org, name string) (*Repo, error) {
	err := u.do(ctx, post, "/orgs/"+url.PathEscape(org)+"/repos", object{"name": name, "private": true, "auto_init": true, "default_branch": "main"}, nil)
	if err != nil {
		return nil, err
	}
	return &Repo{Owner: org, Name: name, forge: u.forge}, nil
}

// word is a password that no one has to remember.
func word() string {
	b := make([]byte, 20)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}
