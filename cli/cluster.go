package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/transport"
	"handrail/triage"
)

// askWithin bounds a question to an API server that runs in the background.
const askWithin = 5 * time.Second

// apiServer is the cluster in question. Nothing was asked of it yet.
type apiServer struct {
	cluster.Access
	env    steps.Env
	within time.Duration // of a whole question, what a credential plugin takes included
	client http.RoundTripper
	heard  func(date string, sent, got time.Time) // told what the server says of its clock; nil for none
}

// clusterOf reads the kubeconfig by kubectl's rules.
func clusterOf(env steps.Env) (apiServer, error) {
	a, err := cluster.Load(env)
	if err != nil {
		return apiServer{}, err
	}
	c := apiServer{Access: a, env: env, within: askWithin}
	if a.Config.Timeout > 0 {
		c.within = a.Config.Timeout // --request-timeout
	}
	return c, nil
}

// connect gives the cluster a client that cannot write. A request of it waits
// for a credential plugin, whatever its context says.
func (c apiServer) connect() (apiServer, error) {
	within := c.within
	config := rest.CopyConfig(c.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport.Tell(next, steps.TellSecret) })
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport.Probe(c.Pinned(c.env, deadline{next, within}), c.Server)
	})
	var err error
	if c.client, err = rest.TransportFor(config); err != nil {
		return c, fmt.Errorf("client of %s: %w", c.Server, err)
	}
	return c, nil
}

// plugin is the program that gets the credentials and may ask a person for
// something, "" for none.
func (c apiServer) plugin() string {
	e, tls := c.Config.ExecProvider, c.Config.TLSClientConfig
	given := c.Config.BearerToken != "" || c.Config.BearerTokenFile != "" || c.Config.Username != "" || tls.CertFile != "" || len(tls.CertData) > 0
	if e == nil || given || e.InteractiveMode == clientcmdapi.NeverExecInteractiveMode {
		return ""
	}
	return e.Command
}

// name is how a person knows the cluster.
func (c apiServer) name() string {
	if c.Context == "" {
		return c.Server
	}
	return c.Context + " (" + c.Server + ")"
}

// The question who is asking.
const (
	whoPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	whoBody = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
)

// whoami asks the API server who is asking. Nothing is stored there.
func (c apiServer) whoami(ctx context.Context) (triage.Person, error) {
	var review struct {
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	err := c.ask(ctx, http.MethodPost, whoPath, whoBody, &review)
	name := review.Status.UserInfo.Username
	if err == nil && name == "" {
		err = errors.New("the answer names no user")
	}
	if err != nil {
		return triage.Person{}, fmt.Errorf("asking %q who acts: %w", c.Server, err)
	}
	return triage.Person{ID: name, Name: name, Proof: "kube", Subject: name + "@" + c.Server}, nil
}

// whoActs is whoami for the cluster of an incident.
func whoActs(ctx context.Context, env steps.Env) (triage.Person, error) {
	c, err := clusterOf(env)
	if err != nil {
		return triage.Person{}, err
	}
	return c.whoami(ctx)
}

// serverVersion asks the API server for its version.
func (c apiServer) serverVersion(ctx context.Context) (string, error) {
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	err := c.ask(ctx, http.MethodGet, "/version", "", &v)
	if err == nil && v.GitVersion == "" {
		err = errors.New("the answer is not that of an API server")
	}
	return v.GitVersion, err
}

// errUnauthorized says that the server does not accept the credentials.
var errUnauthorized = errors.New("401: the credentials are expired or unknown to the server")

// ask sends one request through the transport that cannot write. Two questions
// are all that the command line has; a typed client would weigh megabytes. Where
// there is no client yet, a credential plugin that does not end holds up nothing.
func (c apiServer) ask(ctx context.Context, method, path, body string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	client := http.Client{Transport: c.client}
	if c.client == nil {
		made, err := c.connect()
		if err != nil {
			return err
		}
		client.Transport = transport.Leave(made.client)
	}
	base, err := url.Parse(c.Server)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, base.JoinPath(path).String(), nil)
	if err != nil {
		return err
	}
	if body != "" {
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if id := steps.NextAudit(ctx); id != "" {
		req.Header.Set("Audit-ID", id)
	}
	asked := time.Now()
	resp, err := client.Do(req)
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err // who asks what is said by the caller
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if c.heard != nil {
		c.heard(resp.Header.Get("Date"), asked, time.Now())
	}
	const most = 1 << 20
	b, err := io.ReadAll(io.LimitReader(resp.Body, most))
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusUnauthorized:
		return errUnauthorized
	case resp.StatusCode/100 != 2:
		return fmt.Errorf("%s", resp.Status)
	}
	return json.Unmarshal(b, into)
}

// deadline bounds what a request takes once the credentials are there.
type deadline struct {
	next   http.RoundTripper
	within time.Duration
}

// RoundTrip implements http.RoundTripper.
func (d deadline) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), d.within, fmt.Errorf("no answer within %s", d.within))
	resp, err := d.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if req.Context().Err() == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		cancel()
		return nil, err
	}
	resp.Body = release{resp.Body, cancel}
	return resp, nil
}

// release ends the deadline of a request with its body.
type release struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (r release) Close() error {
	defer r.cancel()
	return r.ReadCloser.Close()
}
