package lab

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// client speaks JSON to one API server. The lab needs a dozen requests, which do not earn a dependency.
type client struct {
	url, token string
	ca         []byte
	http       *http.Client
}

// UserAgent of the lab's own requests, as the audit log shows it.
const UserAgent = "handrail-lab"

func newClient(url string, ca []byte, token string) (*client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the certificate of the lab's API server cannot be read")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	return &client{url: url, token: token, ca: ca, http: &http.Client{Transport: transport, Timeout: 2 * time.Minute}}, nil
}

// as is the same client with another identity.
func (c *client) as(token string) *client {
	other := *c
	other.token = token
	return &other
}

// statusError is an answer that is not a success.
type statusError struct {
	Method, Path string
	Code         int
	Text         string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: the API server answered %d: %q", e.Method, e.Path, e.Code, e.Text)
}

// Missing says of an error of the API server that what was asked about is not there.
func Missing(err error) bool { return hasCode(err, http.StatusNotFound) }

func hasCode(err error, code int) bool {
	var r *statusError
	return errors.As(err, &r) && r.Code == code
}

// do sends in, when not nil, and decodes the answer into out, when not nil.
func (c *client) do(ctx context.Context, method, path string, in, out any) error {
	return c.send(ctx, method, path, "application/json", in, out)
}

// Request asks the API server of the lab as its admin: in is sent as JSON, or as it is where it is bytes; out is filled
// from the answer. Either may be nil.
func (l *Lab) Request(ctx context.Context, method, path, media string, in, out any) error {
	return l.client.send(ctx, method, path, media, in, out)
}

// patch sends a strategic merge patch.
func (c *client) patch(ctx context.Context, path string, in any) error {
	return c.send(ctx, http.MethodPatch, path, "application/strategic-merge-patch+json", in, nil)
}

func (c *client) send(ctx context.Context, method, path, media string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, ok := in.([]byte)
		if !ok {
			var err error
			if raw, err = json.Marshal(in); err != nil {
				return err
			}
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return err
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("User-Agent", UserAgent)
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", media)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if res.StatusCode/100 != 2 {
		var status struct{ Message string }
		if json.Unmarshal(raw, &status) != nil || status.Message == "" {
			status.Message = string(raw[:min(len(raw), 300)])
		}
		return &statusError{Method: method, Path: path, Code: res.StatusCode, Text: status.Message}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

func (c *client) kubeSystemUID(ctx context.Context) (string, error) {
	var ns struct{ Metadata struct{ UID string } }
	if err := c.do(ctx, http.MethodGet, "/api/v1/namespaces/kube-system", nil, &ns); err != nil {
		return "", err
	}
	if ns.Metadata.UID == "" {
		return "", errors.New("the namespace kube-system has no UID")
	}
	return ns.Metadata.UID, nil
}
