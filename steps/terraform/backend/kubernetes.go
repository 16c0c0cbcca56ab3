package backend

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/terraform/module"
	"handrail/steps/transport"
)

const (
	lockAnnotation = "app.terraform.io/lock-info"
	// maxObject bounds the answer of an API server; etcd keeps objects below 2 MB.
	maxObject = 8 << 20
	// maxState bounds an unpacked state: a Secret of 1 MB can hold a bomb.
	maxState = 256 << 20
)

// kubernetes is the backend that keeps the state in a Secret and the lock in a
// Lease.
type kubernetes struct {
	env       steps.Env
	client    *kubeClient
	namespace string
	base      string // tfstate-<workspace>-<suffix>
}

var secrets = cluster.Resource{Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true}

var dnsName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

func newKubernetes(env steps.Env, w module.Workdir, out steps.Sink) (*kubernetes, error) {
	settings := kubeSettings{settings{env: env, w: w}}
	for _, s := range settings.secrets() {
		out.Secret(s)
	}
	k := &kubernetes{env: env, namespace: settings.get("namespace", "KUBE_NAMESPACE")}
	if k.namespace == "" {
		k.namespace = "default"
	}
	k.base = "tfstate-" + w.Space + "-" + w.Setting("secret_suffix")
	if !dnsName.MatchString(k.namespace) || !dnsName.MatchString(k.base) || len(k.base) > 248 {
		return nil, fmt.Errorf("kubernetes backend: %q in namespace %q is not a valid name of a Secret; check the workspace and secret_suffix", k.base, k.namespace)
	}
	cfg, err := settings.restConfig()
	if err != nil {
		return nil, err
	}
	for _, s := range []string{cfg.BearerToken, cfg.Password} {
		if s != "" {
			out.Secret(s)
		}
	}
	k.client, err = newKubeClient(env, cfg, out)
	return k, err
}

func (k *kubernetes) Name() string { return "kubernetes" }

func (k *kubernetes) lease() object {
	return object{cluster.Leases(), k.namespace, "lock-" + k.base}
}

func (k *kubernetes) secret() object {
	return object{secrets, k.namespace, k.base}
}

func (k *kubernetes) Command(what string) string {
	o := k.secret()
	if what == "lock" {
		o = k.lease()
	}
	return fmt.Sprintf("kubectl --server %s -n %s get %s %s -o json", steps.Quote(k.client.base), o.namespace, o.Plural, o.name)
}

// Cluster identifies the cluster by what does not change while it lives.
func (k *kubernetes) Cluster(ctx context.Context) (server, uid string, err error) {
	server = k.client.base
	a, err := k.client.get(ctx, object{Resource: cluster.Namespaces(), name: "kube-system"})
	if errors.Is(err, steps.ErrDenied) {
		return server, k.untold("forbidden"), nil
	}
	if err != nil {
		return server, "", err
	}
	var ns struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal(a.body, &ns); err != nil || ns.Metadata.UID == "" {
		return server, k.untold("unreadable"), nil
	}
	return server, ns.Metadata.UID, nil
}

// untold stands for a UID that cannot be read: the way to the server is part of
// it, since by another one another cluster may answer.
func (k *kubernetes) untold(why string) string {
	if k.client.way == "" {
		return "unknown (" + why + ")"
	}
	return "unknown (" + why + ") by " + k.client.way
}

func (k *kubernetes) Lock(ctx context.Context) (Lock, error) {
	o := k.lease()
	r := Lock{Where: o.namespace + "/" + o.name, Media: steps.MediaKubernetes}
	a, err := k.client.get(ctx, o)
	if errors.Is(err, errAbsent) {
		return r, nil
	}
	if err != nil {
		return Lock{}, fmt.Errorf("lock: %w", err)
	}
	r.Raw, r.Warnings = a.body, a.warnings
	r.at, r.noClock = agreedClock(k.env, a.date, k.client.base)
	var lease struct {
		Kind     string
		Metadata struct {
			Annotations   map[string]string
			ManagedFields []managedFields
		}
		Spec struct{ HolderIdentity string }
	}
	if err := json.Unmarshal(a.body, &lease); err != nil || lease.Kind != "Lease" {
		return Lock{}, fmt.Errorf("lock: %s answered something that is not a Lease (kind %q)", k.client.base, lease.Kind)
	}
	text, described := lease.Metadata.Annotations[lockAnnotation]
	var info *LockInfo
	r.InfoWhy = "the Lease has a holder but no " + lockAnnotation + " annotation"
	if described {
		if info, err = parseLockInfo([]byte(text)); err != nil {
			r.InfoWhy = "the annotation " + lockAnnotation + " cannot be read: " + err.Error()
		}
	}
	if r.ID = lease.Spec.HolderIdentity; r.ID == "" {
		r.Leftover = info
		return r, nil
	}
	r.Held, r.Info = true, info
	if r.wrote.at = heldSince(lease.Metadata.ManagedFields); r.wrote.at.IsZero() {
		r.wrote.why = "the managedFields of the Lease do not say who set its holder, and when"
	}
	return r, nil
}

// managedFields is what an API server keeps of one writer of an object.
type managedFields struct {
	Time     time.Time
	FieldsV1 struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
}

// heldSince is when the API server saw the holder of a Lease being set.
func heldSince(writers []managedFields) (at time.Time) {
	for _, w := range writers {
		if _, ok := w.FieldsV1.Spec["f:holderIdentity"]; ok && w.Time.After(at) {
			at = w.Time
		}
	}
	return at
}

func (k *kubernetes) State(ctx context.Context) (State, error) {
	o := k.secret()
	r := State{Where: o.namespace + "/" + o.name}
	a, err := k.client.get(ctx, o)
	if errors.Is(err, errAbsent) {
		return r, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("state: %w", err)
	}
	var secret struct {
		Kind     string
		Metadata struct{ ManagedFields []struct{ Time time.Time } }
		Data     map[string][]byte
	}
	if err := json.Unmarshal(a.body, &secret); err != nil || secret.Kind != "Secret" {
		return State{}, fmt.Errorf("state: %s answered something that is not a Secret (kind %q)", k.client.base, secret.Kind)
	}
	packed, ok := secret.Data["tfstate"]
	if !ok {
		// The backend takes a Secret without the key for no state.
		return r, nil
	}
	r.Exists = true
	for _, f := range secret.Metadata.ManagedFields {
		if f.Time.After(r.Written) {
			r.Written = f.Time
		}
	}
	raw, err := unpack(packed)
	if err != nil {
		r.Broken, r.Stored = "the Secret does not unpack: "+err.Error(), packed
		part := o
		part.name += "-part-1"
		if _, partErr := k.client.get(ctx, part); partErr == nil {
			r.Split = true
			r.Broken = "terraform split the state into several Secrets (" + part.name + " exists): tofu cannot read it"
		}
		return r, nil
	}
	r.Body = nopCloser{bytes.NewReader(raw)}
	return r, nil
}

func unpack(packed []byte) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(zr, maxState+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxState {
		return nil, fmt.Errorf("over %d bytes", maxState)
	}
	return raw, nil
}

type nopCloser struct{ *bytes.Reader }

func (nopCloser) Close() error { return nil }

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
	cluster.Resource
	namespace, name string
}

func (o object) path() string { return o.Path(o.namespace, o.name) }

func (o object) String() string {
	if o.namespace == "" {
		return o.Plural + "/" + o.name
	}
	return o.Plural + "/" + o.name + " in namespace " + o.namespace
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
	return c.send(c.http, req, o)
}

// send sends one request about o through a client that lets it pass.
func (c *kubeClient) send(client *http.Client, req *http.Request, o object) (answer, error) {
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", cluster.AsJSON)
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", o, unreachable(req.Context(), c.base, err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxObject+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("%s: %w", o, unreachable(req.Context(), c.base, err))
	case len(body) > maxObject:
		return answer{}, fmt.Errorf("%s: the answer is over %d bytes", o, maxObject)
	case resp.StatusCode != http.StatusOK:
		return answer{}, c.refused(o, resp.StatusCode, body)
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		date = time.Time{}
	}
	return answer{body: body, date: date, warnings: resp.Header.Values("Warning")}, nil
}

func (c *kubeClient) refused(o object, code int, body []byte) error {
	var status metav1.Status
	_ = json.Unmarshal(body, &status)
	switch code {
	case http.StatusUnauthorized:
		return fmt.Errorf("%s: %s does not accept the credentials of the backend (401); they may have expired: sign in again", o, c.base)
	case http.StatusForbidden:
		where := "the whole cluster"
		if o.namespace != "" {
			where = "namespace " + o.namespace
		}
		return denied("forbidden: the backend's credentials may not get %s %q in %s on %s; ask for the verb get on %s there (the server said %q)",
			o.Plural, o.name, where, c.base, o.Plural, steps.Clip(status.Message, 300))
	case http.StatusNotFound:
		switch {
		case status.Kind != "Status":
			return fmt.Errorf("%s: %s answers, but not as a Kubernetes API server (404)", o, c.base)
		case cluster.SaysAbsent(o.path(), status):
			return fmt.Errorf("%s: %w", o, errAbsent)
		}
		return fmt.Errorf("%s: %s does not know this address (404: %q); check the address of the backend", o, c.base, steps.Clip(status.Message, 300))
	}
	return fmt.Errorf("%s: %s answered %d: %q", o, c.base, code, steps.Clip(status.Message, 300))
}

func (k *kubernetes) UnlockPolicy() UnlockPolicy {
	return UnlockPolicy{Way: unlockByID, Grammar: lockGrammar, ByHand: "clear holderIdentity of the Lease by hand if the lock must go"}
}
