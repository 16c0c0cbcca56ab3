package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"

	"handrail/steps"
	"handrail/steps/transport"
)

// errUntold says that the cluster could not be asked what it is.
var errUntold = errors.New("it is not known which cluster this is")

// KubeSystem is the namespace whose UID tells clusters apart.
const KubeSystem = "/api/v1/namespaces/kube-system"

// mostNamespace bounds the metadata of one namespace.
const mostNamespace = 1 << 20

// Pinned lets no request to next before the incident has agreed to the cluster
// that the context leads to. It stands below the guard, so that no request,
// reading or writing, comes around it, and asks once for each client: the file
// may lead elsewhere a moment later.
func (a Access) Pinned(env steps.Env, next http.RoundTripper) http.RoundTripper {
	if env.Pin == nil {
		return next
	}
	return &pinTransport{Access: a, env: env, next: next, read: transport.Probe(next, a.Server, Stamps(env)...), turn: make(chan struct{}, 1)}
}

type pinTransport struct {
	Access
	env  steps.Env
	next http.RoundTripper
	read http.RoundTripper // next, for reads alone

	turn    chan struct{} // held by who reads or changes the rest
	agreed  bool
	refused error
}

// RoundTrip implements http.RoundTripper.
func (p *pinTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	instead, err := p.agree(req)
	if instead == nil && err == nil {
		return p.next.RoundTrip(req)
	}
	if req.Body != nil {
		_ = req.Body.Close() // it is not sent
	}
	return instead, err
}

// agree returns nothing where the request may be sent, or what answers in its
// place.
func (p *pinTransport) agree(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.agreed || p.refused != nil {
		return nil, p.refused
	}
	seen, instead, err := p.look(req)
	if instead != nil || err != nil {
		return instead, err
	}
	err = p.env.Pin(ctx, seen)
	if pin := (*steps.PinError)(nil); errors.As(err, &pin) {
		p.refused = err
	}
	p.agreed = err == nil
	return nil, err
}

// look asks the server what it is, with the credentials of req. A read whose
// credentials are stale, or that comes at a busy moment, gets that very answer,
// so that the code outside that renews and waits can.
func (p *pinTransport) look(req *http.Request) (steps.Cluster, *http.Response, error) {
	seen := p.cluster()
	seen.Own = !p.env.Other
	resp, err := p.ask(req)
	if err != nil {
		if req.Context().Err() != nil {
			err = req.Context().Err()
		}
		return seen, nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostNamespace))
	_ = resp.Body.Close()
	reads := req.Method == http.MethodGet || req.Method == http.MethodHead
	switch {
	case err != nil:
		return seen, nil, fmt.Errorf("%w: the answer of %s broke off: %w; try again", errUntold, seen.Server, err)
	case resp.StatusCode == http.StatusOK:
		seen.UID, seen.Unread = ClusterUID(body)
	case resp.StatusCode == http.StatusForbidden:
		seen.Unread = "the namespace kube-system may not be read (403)"
	case resp.StatusCode == http.StatusNotFound:
		seen.Unread = "it has no namespace kube-system (404)"
	case reads && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusTooManyRequests):
		resp.Body, resp.Request = io.NopCloser(bytes.NewReader(body)), req
		return seen, resp, nil
	default:
		return seen, nil, fmt.Errorf("%w: %s answered %d when asked for the namespace kube-system; try again", errUntold, seen.Server, resp.StatusCode)
	}
	return seen, nil, nil
}

// ask reads the metadata of kube-system. What waits for the connection of req is
// not told of ours: it would take the request for sent.
func (p *pinTransport) ask(req *http.Request) (*http.Response, error) {
	base, err := url.Parse(p.Server)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(req.Context(), cancel)
	mine, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath(KubeSystem).String(), nil)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	for key, values := range req.Header {
		if key == "Authorization" || key == "User-Agent" || strings.HasPrefix(key, "Impersonate-") {
			mine.Header[key] = values
		}
	}
	mine.Header.Set("Accept", AsMetadata)
	if id := steps.NextAudit(req.Context()); id != "" {
		mine.Header.Set("Audit-ID", id)
	}
	resp, err := p.read.RoundTrip(mine)
	if err != nil {
		stop()
		cancel()
		return nil, err
	}
	resp.Body = bodyCloser{resp.Body, func() { stop(); cancel() }}
	return resp, nil
}

// bodyCloser calls end once its body is closed.
type bodyCloser struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (e bodyCloser) Close() error {
	defer e.end()
	return e.ReadCloser.Close()
}

// ClusterUID reads the UID out of the metadata of kube-system, or says why it
// cannot be.
func ClusterUID(body []byte) (uid, unread string) {
	var ns struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"metadata"`
	}
	if json.Unmarshal(body, &ns) != nil || ns.Metadata.Name != "kube-system" || !Matches(UIDText, ns.Metadata.UID) {
		return "", "it answered something else than the namespace kube-system"
	}
	return ns.Metadata.UID, ""
}

// cluster is what the kubeconfig says of the cluster. Nothing was asked of it.
func (a Access) cluster() steps.Cluster {
	c := steps.Cluster{Context: a.Context, Server: a.Server, User: a.User, Way: transport.Way(a.Config.Proxy, a.Server, a.Config.ServerName)}
	cfg := rest.CopyConfig(a.Config)
	// A file that cannot be read fails every connection, and says so there.
	if !cfg.Insecure && strings.HasPrefix(a.Server, "https://") && rest.LoadTLSFiles(cfg) == nil && len(cfg.CAData) > 0 {
		sum := sha256.Sum256(cfg.CAData)
		c.CA = hex.EncodeToString(sum[:])
	}
	return c
}
