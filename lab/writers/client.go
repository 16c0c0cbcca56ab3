package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

type object = map[string]any

// client speaks JSON to the API server of the lab as one account.
type client struct {
	server, token, agent string
	scheme               string // of its Authorization, "" for Bearer
	http                 *http.Client
}

// kubeconfig is the part that is needed of one; the lab writes them as JSON, which
// is YAML too.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server string `json:"server"`
			CA     []byte `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		User struct {
			Token string `json:"token"`
		} `json:"user"`
	} `json:"users"`
}

func newClient(path, agent string) (*client, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var k kubeconfig
	if err := json.Unmarshal(raw, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(k.Clusters) != 1 || len(k.Users) != 1 {
		return nil, fmt.Errorf("%s: want one cluster and one user", path)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(k.Clusters[0].Cluster.CA) {
		return nil, fmt.Errorf("%s: its certificate cannot be read", path)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	return &client{server: k.Clusters[0].Cluster.Server, token: k.Users[0].User.Token, agent: agent, http: &http.Client{Transport: transport}}, nil
}

// as is the same client with another identity.
func (c *client) as(token, agent string) *client {
	other := *c
	other.token, other.agent = token, agent
	return &other
}

// answeredError is an answer that is not a success.
type answeredError struct {
	Code            int
	Reason, Message string
}

// Error implements error.
func (e *answeredError) Error() string {
	return fmt.Sprintf("Error from server (%s): %s", e.Reason, e.Message)
}

func hasCode(err error, code int) bool {
	var a *answeredError
	return errors.As(err, &a) && a.Code == code
}

const (
	mergePatch = "application/merge-patch+json"
	plainJSON  = "application/json"
	// oneRequest bounds a request that is no watch.
	oneRequest = 10 * time.Second
	maxAnswer  = 16 << 20
)

// do sends in, when not nil, and decodes the answer into out, when not nil.
func (c *client) do(ctx context.Context, method, path, media string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, oneRequest)
	defer cancel()
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	res, err := c.send(ctx, method, path, media, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		e := &answeredError{Code: res.StatusCode}
		if json.Unmarshal(raw, e) != nil || e.Message == "" {
			e.Message = string(raw[:min(len(raw), 300)])
		}
		return e
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}

func (c *client) send(ctx context.Context, method, path, media string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", cmp.Or(c.scheme, "Bearer")+" "+c.token)
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("Accept", plainJSON)
	if body != nil {
		req.Header.Set("Content-Type", media)
	}
	return c.http.Do(req)
}
