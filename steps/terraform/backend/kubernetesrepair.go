package backend

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/terraform/module"
	"handrail/steps/transport"
)

// Repair implements Repairer: one patch of the Secret, which the server refuses
// where it was written since.
func (k *kubernetes) Repair(ctx context.Context, w module.Workdir, now Found, content []byte, out steps.Sink) (Repair, error) {
	if !now.Broken {
		return Repair{}, errors.New("the Secret holds a state")
	}
	o := k.secret()
	a, err := k.client.get(ctx, o)
	if err != nil {
		return Repair{}, err
	}
	var secret struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(a.body, &secret); err != nil || secret.Metadata.ResourceVersion == "" {
		return Repair{}, fmt.Errorf("%s has no resourceVersion", o)
	}
	var packed bytes.Buffer
	zw := gzip.NewWriter(&packed)
	_, err = zw.Write(content)
	if err := errors.Join(err, zw.Close()); err != nil {
		return Repair{}, err
	}
	body, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": secret.Metadata.ResourceVersion},
		{"op": "replace", "path": "/data/tfstate", "value": packed.Bytes()},
	})
	if err != nil {
		return Repair{}, err
	}
	return Repair{
		Request: fmt.Sprintf("PATCH %s%s: replace data.tfstate with %d bytes (SHA-256 of the body %s) if resourceVersion is still %s", k.client.base, o.path(), packed.Len(), transport.Sum(body), secret.Metadata.ResourceVersion),
		Command: fmt.Sprintf("kubectl --server %s -n %s patch secret %s --type=json --patch-file PATCH", steps.Quote(k.client.base), steps.Quote(o.namespace), steps.Quote(o.name)),
		Do:      func(ctx context.Context) (string, error) { return k.patch(ctx, w, o, body, out) },
	}, nil
}

// patch sends one patch, once, with the credentials of the backend.
func (k *kubernetes) patch(ctx context.Context, w module.Workdir, o object, body []byte, out steps.Sink) (string, error) {
	cfg, err := kubeSettings{settings{env: k.env, w: w}}.restConfig()
	if err != nil {
		return "", err
	}
	base := strings.TrimSuffix(cfg.Host, "/")
	if base != k.client.base {
		return "", fmt.Errorf("the backend leads to %s now, what was shown is on %s", base, k.client.base)
	}
	allowed := []transport.Request{{Method: http.MethodPatch, Path: o.path(), SHA256: transport.Sum(body)}}
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return transport.Tell(rt, func(_ context.Context, v string) { out.Secret(v) })
	})
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return transport.Act(rt, base, allowed, cluster.Stamps(k.env)...)
	})
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return "", err
	}
	client.Transport = transport.Leave(client.Transport)
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, base+o.path(), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json-patch+json")
	if _, err := k.client.send(client, req, o); err != nil {
		return "", err
	}
	return fmt.Sprintf("The Secret %s/%s holds a state again.", o.namespace, o.name), nil
}

// GiveBack is what gives a lock back that was taken from a run which turns out
// to live, nil where the backend has no such way. The server refuses it once
// another run holds the lock.
func GiveBack(s Store, l Lock) *steps.Prior {
	k, ok := s.(*kubernetes)
	var lease struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			HolderIdentity string `json:"holderIdentity"`
		} `json:"spec"`
	}
	if !ok || !l.Held || json.Unmarshal(l.Raw, &lease) != nil || lease.Spec.HolderIdentity == "" {
		return nil
	}
	raw, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/spec/holderIdentity", "value": nil},
		{"op": "add", "path": "/spec/holderIdentity", "value": lease.Spec.HolderIdentity},
		{"op": "add", "path": "/metadata/annotations", "value": lease.Metadata.Annotations},
	})
	if err != nil {
		return nil
	}
	o := k.lease()
	return &steps.Prior{
		Media: steps.MediaJSON, Raw: raw, Optional: true,
		Back: fmt.Sprintf("kubectl --server %s -n %s patch %s %s --type=json --patch-file /dev/stdin", steps.Quote(k.client.base), steps.Quote(o.namespace), o.Plural, steps.Quote(o.name)),
	}
}
