package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"handrail/steps"
)

// post sends one of the reviews that store nothing; the guard of the transport
// lets no other POST through.
func (c *Client) post(ctx context.Context, path string, review any, retries int) ([]byte, error) {
	raw, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	req := c.rest.Post().AbsPath(path).SetHeader("Accept", AsJSON).SetHeader("Content-Type", AsJSON).Body(raw).MaxRetries(retries).Timeout(c.patience())
	var b bytes.Buffer
	if err := c.body(ctx, &b, req); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WhoAmI asks the server as whom it knows the operator; "unknown" with the
// reason where it does not say.
func (c *Client) WhoAmI(ctx context.Context) string {
	raw, err := c.post(ctx, "/apis/authentication.k8s.io/v1/selfsubjectreviews", map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}, 0)
	var review struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	var status apierrors.APIStatus
	switch {
	case err != nil && !errors.As(err, &status):
		return "unknown: " + c.Explain(http.MethodPost, "selfsubjectreviews", err).Error()
	case err != nil || json.Unmarshal(raw, &review) != nil || review.Status.UserInfo.Username == "":
		return "unknown: the server does not say"
	}
	return review.Status.UserInfo.Username
}

// Review asks the server whether a request would be allowed, by the review of a
// kind of authorization.k8s.io.
func (c *Client) Review(ctx context.Context, plural, kind, namespace string, spec map[string]any) (allowed bool, reason string, err error) {
	body := map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
	if namespace != "" {
		body["metadata"] = map[string]any{"namespace": namespace}
	}
	path := Resource{Group: "authorization.k8s.io", Version: "v1", Plural: plural, Namespaced: namespace != ""}.Path(namespace, "")
	raw, err := c.post(ctx, path, body, tries)
	if err != nil {
		return false, "", c.Explain(http.MethodPost, path, err)
	}
	var review struct {
		Status *struct {
			Allowed         *bool  `json:"allowed"`
			Reason          string `json:"reason"`
			EvaluationError string `json:"evaluationError"`
		} `json:"status"`
	}
	switch err := json.Unmarshal(raw, &review); {
	case err != nil:
		return false, "", fmt.Errorf("%s: the answer of %s cannot be read: %w", path, c.Server, err)
	case review.Status == nil || review.Status.Allowed == nil && review.Status.EvaluationError != "":
		return false, "", errors.New("the server gave no verdict: " + steps.Clip(string(raw), 200))
	}
	s := review.Status
	allowed = s.Allowed != nil && *s.Allowed
	if !allowed && s.EvaluationError != "" {
		return false, "", fmt.Errorf("the server could not tell: %s", steps.Clip(s.EvaluationError, 300))
	}
	return allowed, s.Reason, nil
}
