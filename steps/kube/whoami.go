package kube

import (
	"context"
	"encoding/json"
	"net/http"

	"handrail/steps/transport"
)

// whoami asks the server as whom it knows the operator; "unknown" with the
// reason where it does not say.
func (c *client) whoami(ctx context.Context) string {
	w, err := c.sender(func(next http.RoundTripper) http.RoundTripper {
		return transport.Probe(next, c.Server, stamps(c.env)...)
	})
	if err != nil {
		return "unknown: " + err.Error()
	}
	a, _, err := w.send(ctx, request{method: http.MethodPost, path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", media: asJSON,
		body: []byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`)})
	var review struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	switch {
	case err != nil:
		return "unknown: " + c.explain(http.MethodPost, "selfsubjectreviews", err).Error()
	case !a.ok() || json.Unmarshal(a.body, &review) != nil || review.Status.UserInfo.Username == "":
		return "unknown: the server does not say"
	}
	return review.Status.UserInfo.Username
}
