package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps/transport"
	"handrail/triage"
)

// askWithin bounds a question to an API server that nobody waits for.
const askWithin = 5 * time.Second

var errNoKubeconfig = errors.New("no kubeconfig names a cluster")

// cluster is what the kubeconfig says of the cluster in question; nothing was
// asked of it yet.
type cluster struct {
	context   string
	namespace string
	config    *rest.Config
}

// cluster reads the kubeconfig by kubectl's rules, from the given environment:
// --kubeconfig, KUBECONFIG, then ~/.kube/config.
func (p *program) cluster() (cluster, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: p.kubeconfig}
	if list := p.getenv("KUBECONFIG"); list != "" {
		rules.Precedence = filepath.SplitList(list)
	} else if home := p.home(); home != "" {
		rules.Precedence = []string{filepath.Join(home, ".kube", "config")}
	}
	over := &clientcmd.ConfigOverrides{CurrentContext: p.context}
	over.Context.Namespace = p.namespace
	load := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, over)
	raw, err := load.RawConfig()
	if err != nil {
		return cluster{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if len(raw.Contexts) == 0 && len(raw.Clusters) == 0 {
		// client-go would fall back to a cluster it runs in, or to localhost.
		return cluster{}, errNoKubeconfig
	}
	config, err := load.ClientConfig()
	if err != nil {
		return cluster{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	c := cluster{context: p.context, config: config}
	if c.context == "" {
		c.context = raw.CurrentContext
	}
	c.namespace, _, err = load.Namespace()
	return c, err
}

// readOnly returns a copy of the client configuration that cannot write.
func (c cluster) readOnly() *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Timeout = askWithin
	server := config.Host
	if base, _, err := rest.DefaultServerUrlFor(config); err == nil {
		server = base.String() // Host may come without a scheme
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport.Probe(next, server) })
	return config
}

// whoami asks the API server who is asking. Nothing is stored there.
func (c cluster) whoami(ctx context.Context) (triage.Person, error) {
	const question = `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`
	var review struct {
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	err := c.ask(ctx, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", question, &review)
	name := review.Status.UserInfo.Username
	if err == nil && name == "" {
		err = errors.New("the answer names nobody")
	}
	if err != nil {
		return triage.Person{}, fmt.Errorf("asking %q who acts: %w", c.config.Host, err)
	}
	return triage.Person{ID: name, Name: name, Proof: "kube", Subject: name + "@" + c.config.Host}, nil
}

// serverVersion asks the API server for its version.
func (c cluster) serverVersion(ctx context.Context) (string, error) {
	var v struct {
		GitVersion string `json:"gitVersion"`
	}
	err := c.ask(ctx, http.MethodGet, "/version", "", &v)
	if err == nil && v.GitVersion == "" {
		err = errors.New("the answer is not that of an API server")
	}
	return v.GitVersion, err
}

// ask sends one request through the transport that cannot write. Two questions
// are all that the command line has; a typed client would weigh megabytes.
func (c cluster) ask(ctx context.Context, method, path, body string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	client, err := rest.HTTPClientFor(c.readOnly())
	if err != nil {
		return err
	}
	base, _, err := rest.DefaultServerUrlFor(c.config)
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
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	const most = 1 << 20
	b, err := io.ReadAll(io.LimitReader(resp.Body, most))
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusUnauthorized:
		return errors.New("401: the credentials are expired or unknown to the server")
	case resp.StatusCode/100 != 2:
		return fmt.Errorf("%s", resp.Status)
	}
	return json.Unmarshal(b, into)
}
