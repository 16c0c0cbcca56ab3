package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
)

// robot speaks to the lab as the ServiceAccount robot. Injection needs a handful
// of requests, which do not earn the weight of a clientset.
type robot struct {
	client *http.Client
	server string
}

// MaxAnswer is more than an API server stores in one object.
const MaxAnswer = 16 << 20

// newRobot makes the client of the injection, only for the lab: whatever stands
// behind that kubeconfig, nothing is injected into another cluster.
func newRobot(ctx context.Context, l *lab.Lab, kubeconfig, cluster string) (*robot, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of robot: %w", err)
	}
	cfg.UserAgent = "handrail-drill"
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of robot: %w", err)
	}
	ours, err := l.IsLab(ctx, client, cfg.Host)
	if err != nil {
		return nil, err
	}
	if !ours || l.UID() != cluster {
		return nil, fmt.Errorf("the cluster at %q is not the lab of this drill: nothing is injected there", cfg.Host)
	}
	return &robot{client: client, server: strings.TrimSuffix(cfg.Host, "/")}, nil
}

func (r *robot) Get(ctx context.Context, path string, out any) error {
	return r.Do(ctx, http.MethodGet, path, "", nil, out)
}

// Patch sends a merge patch.
func (r *robot) Patch(ctx context.Context, path string, patch any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return r.Do(ctx, http.MethodPatch, path, "application/merge-patch+json", body, nil)
}

// Create posts an object; a field that the server does not know is an error.
func (r *robot) Create(ctx context.Context, collection string, object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return r.Do(ctx, http.MethodPost, collection+"?fieldValidation=Strict", "application/json", body, nil)
}

// Remove asks for a deletion as kubectl does, with the children in the
// background.
func (r *robot) Remove(ctx context.Context, path string) error {
	body := []byte(`{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`)
	return r.Do(ctx, http.MethodDelete, path, "application/json", body, nil)
}

// answeredError is an answer that is not a success.
type answeredError struct {
	Method, Path string
	Code         int
	Text         []byte
}

// Error implements error.
func (e *answeredError) Error() string {
	return fmt.Sprintf("%s %s: the API server answered %d: %q", e.Method, e.Path, e.Code, e.Text)
}

// HasCode reports whether an error is an answer of the API server with this code.
func HasCode(err error, code int) bool {
	var a *answeredError
	return errors.As(err, &a) && a.Code == code
}

func (r *robot) Do(ctx context.Context, method, path, media string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, r.server+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	res, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, MaxAnswer))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if res.StatusCode/100 != 2 {
		return &answeredError{method, path, res.StatusCode, answer[:min(len(answer), 300)]}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
