package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/json"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	// askTime bounds one request.
	askTime = 15 * time.Second
	// tries is how often client-go asks again where the server says when: the
	// person sees "busy" instead of a screen that stands still.
	tries = 2
	// mostBytes bounds one answer: a server that answers without end must not fill
	// the memory of the machine that the incident is worked on.
	mostBytes = 256 << 20
)

// Client reads from one cluster and cannot write.
type Client struct {
	Access
	Env    steps.Env
	secret func(string) // takes what requests authenticate with
	rest   rest.Interface
	told   *cachedDiscovery
	disco  discovery.CachedDiscoveryInterface // told, as client-go takes it
	mapper meta.RESTMapper
	notes  *responseNotes

	buffers sync.Pool // of *bytes.Buffer, for pages
}

// Connect makes a client for the operator's cluster. Nothing is asked of the
// server yet. The operator's credentials are named to out, so that they are
// never stored.
func Connect(env steps.Env, out steps.Sink) (*Client, error) {
	a, err := Load(env)
	if err != nil {
		return nil, err
	}
	for _, s := range []string{a.Config.BearerToken, a.Config.Password} {
		if s != "" {
			out.Secret(s)
		}
	}
	c := &Client{Access: a, Env: env, secret: out.Secret, notes: &responseNotes{}, buffers: sync.Pool{New: func() any { return &bytes.Buffer{} }}}
	cfg := c.config(func(next http.RoundTripper) http.RoundTripper {
		return c.notes.listen(transport.Probe(next, a.Server, Stamps(env)...))
	})
	shared, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", a.Server, err)
	}
	shared.Transport = transport.Leave(shared.Transport)
	if c.rest, err = rest.UnversionedRESTClientForConfigAndClient(cfg, shared); err != nil {
		return nil, fmt.Errorf("client of %s: %w", a.Server, err)
	}
	disco, err := discovery.NewDiscoveryClientForConfigAndClient(cfg, shared)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", a.Server, err)
	}
	c.told = &cachedDiscovery{CachedDiscoveryInterface: memory.NewMemCacheClient(disco)}
	c.disco = c.told
	c.mapper = restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(c.disco), c.disco, nil)
	return c, nil
}

// patience bounds one request: what --request-timeout says, where it says less.
func (a Access) patience() time.Duration {
	if a.Config != nil && a.Config.Timeout > 0 && a.Config.Timeout < askTime {
		return a.Config.Timeout
	}
	return askTime
}

// config is the operator's configuration with no limit of the client's own, no
// warnings on the terminal, an innermost listener for what each request
// authenticates with, the pin of an incident, and a guard around every request.
func (c *Client) config(guard func(http.RoundTripper) http.RoundTripper) *rest.Config {
	cfg := rest.CopyConfig(c.Config)
	cfg.QPS = -1
	cfg.Timeout = 0 // each request has its own
	cfg.WarningHandlerWithContext = c.notes
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // what errors are told in
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport.Tell(next, func(_ context.Context, v string) { c.secret(v) })
	})
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return c.Pinned(c.Env, next) })
	cfg.Wrap(guard)
	return cfg
}

// Through makes a client of its own for the cluster, whose every request passes
// guard, a guard of steps/transport that says what may leave. It follows no
// redirect: a redirected write would be a second request.
func (c *Client) Through(guard func(http.RoundTripper) http.RoundTripper) (*http.Client, error) {
	client, err := rest.HTTPClientFor(c.config(func(next http.RoundTripper) http.RoundTripper {
		return c.notes.listen(guard(next))
	}))
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", c.Server, err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, nil
}

// Reading makes a client from a configuration that another world brings, as that
// of a state backend: every request of it is a read of one server, and what it
// authenticates with is named to out. It knows no incident, and so asks no pin.
func Reading(cfg *rest.Config, server string, env steps.Env, out steps.Sink) (*http.Client, error) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport.Tell(next, func(_ context.Context, v string) { out.Secret(v) })
	})
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport.Probe(next, server, Stamps(env)...) })
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	client.Transport = transport.Leave(client.Transport)
	return client, nil
}

// Stamps are what every request is marked with.
func Stamps(env steps.Env) []transport.Option {
	agent := "handrail"
	if env.Version != "" {
		agent += "/" + env.Version
	}
	opts := []transport.Option{transport.Agent(agent)}
	if env.Audit != nil {
		opts = append(opts, transport.Audit(env.Audit))
	}
	return opts
}

// The forms in which a server can be asked to answer.
const (
	AsJSON     = "application/json"
	AsMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
	AsMetaList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
	AsTable    = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// Read gets one path. The error tells absent, forbidden, unauthenticated and
// unreachable apart.
func (c *Client) Read(ctx context.Context, path, accept string, query url.Values) ([]byte, error) {
	var b bytes.Buffer
	err := c.readInto(ctx, &b, path, accept, query)
	return b.Bytes(), err
}

// readInto is read into a buffer of the caller, whose content is lost.
func (c *Client) readInto(ctx context.Context, b *bytes.Buffer, path, accept string, query url.Values) error {
	req := c.rest.Get().AbsPath(path).SetHeader("Accept", accept).MaxRetries(tries).Timeout(c.patience())
	for key, values := range query {
		for _, v := range values {
			req = req.Param(key, v)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.patience())
	defer cancel()
	if err := c.body(ctx, b, req); err != nil {
		return c.Explain(http.MethodGet, path, err)
	}
	return nil
}

// Watch opens a watch of the collection at path, with bookmarks. The caller
// bounds what it reads of the stream, and closes it.
func (c *Client) Watch(ctx context.Context, path, accept string, query url.Values) (io.ReadCloser, error) {
	req := c.rest.Get().AbsPath(path).SetHeader("Accept", accept).MaxRetries(0).
		Param("watch", "1").Param("allowWatchBookmarks", "true")
	for key, values := range query {
		req = req.Param(key, values[0])
	}
	stream, err := req.Stream(ctx)
	if err != nil {
		return nil, c.Explain(http.MethodGet, path, err)
	}
	return stream, nil
}

var errTooLong = fmt.Errorf("its answer is longer than %d MB", mostBytes>>20)

func (c *Client) body(ctx context.Context, b *bytes.Buffer, req *rest.Request) error {
	r, err := req.Stream(ctx)
	if utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) {
		r, err = req.Stream(ctx) // an idle connection that the other side had closed
	}
	if err != nil {
		return err
	}
	defer r.Close()
	b.Reset()
	if _, err := b.ReadFrom(io.LimitReader(r, mostBytes+1)); err != nil {
		return err
	}
	if b.Len() > mostBytes {
		return errTooLong
	}
	return nil
}

// Object is one object as the server sent it, and read.
type Object struct {
	*unstructured.Unstructured
	Raw []byte
}

// Get reads one object whole.
func (c *Client) Get(ctx context.Context, r Resource, namespace, name string) (Object, error) {
	raw, err := c.Read(ctx, r.Path(namespace, name), AsJSON, nil)
	if err != nil {
		return Object{}, err
	}
	o, err := ParseObject(raw)
	if err != nil {
		return Object{}, fmt.Errorf("%s: the answer of %s cannot be read: %w", r.Path(namespace, name), c.Server, err)
	}
	if o.GetUID() == "" || o.GetName() != name {
		return Object{}, fmt.Errorf("%s: %s answered something else than the object", r.Path(namespace, name), c.Server)
	}
	return o, nil
}

// ParseObject reads one object as a server sends it.
func ParseObject(raw []byte) (Object, error) {
	o := Object{Unstructured: &unstructured.Unstructured{}, Raw: raw}
	// Not encoding/json: it would make floats of whole numbers, and a generation
	// of 3 would read as none.
	if err := json.Unmarshal(raw, &o.Object); err != nil {
		return Object{}, err
	}
	// The accessors of unstructured read a malformed list of finalizers as none.
	if err := json.Unmarshal(raw, &metav1.PartialObjectMetadata{}); err != nil {
		return Object{}, fmt.Errorf("its metadata: %w", err)
	}
	return o, nil
}

// UID identifies the cluster by what does not change while it lives; the
// text says why where it may not be read.
func (c *Client) UID(ctx context.Context) (string, error) {
	ns, err := c.Get(ctx, Resource{Version: "v1", Plural: "namespaces", Kind: "Namespace"}, "", "kube-system")
	switch {
	case err == nil:
		return string(ns.GetUID()), nil
	case IsForbidden(err):
		if way := c.Access.cluster().Way; way != "" {
			return "unknown (forbidden) by " + way, nil // by another one another cluster may answer
		}
		return "unknown (forbidden)", nil
	}
	return "", err
}

// FieldManager is who writes, in the object's own books.
const FieldManager = "handrail"
