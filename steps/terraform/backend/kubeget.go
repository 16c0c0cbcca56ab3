package backend

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/terraform/prose"
	"handrail/steps/transport"
)

// maxObject bounds the answer of an API server; etcd keeps objects below 2 MB.
const maxObject = 8 << 20

// errAbsent says that the object is not there.
var errAbsent = errors.New("not found")

// kubeClient reads single objects through the transport that cannot write.
type kubeClient struct {
	base string
	http *http.Client
	way  string // what stands between, "" for nothing
}

func newKubeClient(env steps.Env, cfg *rest.Config, out steps.Sink) (*kubeClient, error) {
	base := strings.TrimSuffix(cfg.Host, "/")
	client, err := cluster.Reading(cfg, base, env, out)
	if err != nil {
		return nil, fmt.Errorf("client of the kubernetes backend: %w", err)
	}
	return &kubeClient{base: base, http: client, way: wayTo(cfg, base)}, nil
}

// wayTo is what stands between us and a server, and who vouches for it.
func wayTo(cfg *rest.Config, base string) string {
	way := transport.Way(cfg.Proxy, base, cfg.ServerName)
	files := rest.CopyConfig(cfg)
	switch {
	case cfg.Insecure:
		way = strings.TrimPrefix(way+", unchecked", ", ")
	case rest.LoadTLSFiles(files) == nil && len(files.CAData) > 0: // a file that cannot be read fails the connection
		way = strings.TrimPrefix(fmt.Sprintf("%s, authority %.6x", way, sha256.Sum256(files.CAData)), ", ")
	}
	return way
}

// object names what is read, for the request and for the error.
type object struct {
	group     string // "" for core
	resource  string
	namespace string
	name      string
}

func (o object) path() string {
	p := "/api/v1"
	if o.group != "" {
		p = "/apis/" + o.group + "/v1"
	}
	if o.namespace != "" {
		p += "/namespaces/" + o.namespace
	}
	return p + "/" + o.resource + "/" + o.name
}

func (o object) String() string {
	if o.namespace == "" {
		return o.resource + "/" + o.name
	}
	return o.resource + "/" + o.name + " in namespace " + o.namespace
}

// answer is one object as the server sent it.
type answer struct {
	body     []byte
	date     time.Time // the server's clock, zero when it did not say
	warnings []string
}

// get reads one object. The error tells absent, forbidden, unauthenticated and
// unreachable apart, each with what to do next.
func (c *kubeClient) get(ctx context.Context, o object) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+o.path(), nil)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", o, err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.unreachable(ctx, o, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxObject+1))
	if err != nil {
		return answer{}, c.unreachable(ctx, o, err)
	}
	if len(body) > maxObject {
		return answer{}, fmt.Errorf("%s: the answer is over %d bytes", o, maxObject)
	}
	if resp.StatusCode != http.StatusOK {
		return answer{}, c.refused(o, resp.StatusCode, body)
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		date = time.Time{}
	}
	return answer{body: body, date: date, warnings: resp.Header.Values("Warning")}, nil
}

func (c *kubeClient) unreachable(ctx context.Context, o object, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", o, ctx.Err())
	}
	var refused *transport.RefusedError
	if errors.As(err, &refused) {
		return fmt.Errorf("%s: %w", o, refused)
	}
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return fmt.Errorf("%s: %s gave no answer within %s; check the network and that this is the right cluster", o, c.base, kubeTimeout)
		}
		err = u.Err
	}
	return fmt.Errorf("%s: %s cannot be reached: %w; check the network and that this is the right cluster", o, c.base, err)
}

func (c *kubeClient) refused(o object, code int, body []byte) error {
	var status struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &status)
	switch code {
	case http.StatusUnauthorized:
		return fmt.Errorf("%s: %s does not accept the credentials of the backend (401); they may have expired: sign in again", o, c.base)
	case http.StatusForbidden:
		return &forbiddenError{object: o, server: c.base, said: status.Message}
	case http.StatusNotFound:
		if status.Kind != "Status" {
			return fmt.Errorf("%s: %s answers, but not as a Kubernetes API server (404)", o, c.base)
		}
		return fmt.Errorf("%s: %w", o, errAbsent)
	}
	return fmt.Errorf("%s: %s answered %d: %q", o, c.base, code, prose.Clip(status.Message, 300))
}

// forbiddenError says which read RBAC refuses.
type forbiddenError struct {
	object object
	server string
	said   string
}

// Unwrap lets the session tell a refused read from a failed one.
func (e *forbiddenError) Unwrap() error { return steps.ErrDenied }

func (e *forbiddenError) Error() string {
	ns := "the whole cluster"
	if e.object.namespace != "" {
		ns = "namespace " + e.object.namespace
	}
	return fmt.Sprintf("forbidden: the backend's credentials may not get %s %q in %s on %s; ask for the verb get on %s there (the server said %q)",
		e.object.resource, e.object.name, ns, e.server, e.object.resource, prose.Clip(e.said, 300))
}
