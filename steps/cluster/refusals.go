package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/transport"
)

// ErrAbsent says that the object is not there. Only the API server's own 404
// about this very object becomes it.
var ErrAbsent = errors.New("not found")

// ErrBadRequest says that the server understood what was asked for, and that
// there is no such thing.
var ErrBadRequest = errors.New("bad request")

// ExpiredError says that the server no longer has the moment at which a list was
// begun.
type ExpiredError struct {
	what  string
	fresh string // continues after the last object, at a later moment; perhaps ""
}

func (e *ExpiredError) Error() string {
	return e.what + ": the list outlived what the server keeps of the past (410); read it again"
}

// IsForbidden reports whether the server refused for want of a right.
func IsForbidden(err error) bool { return errors.Is(err, steps.ErrDenied) }

// Explain says what a failed request means and what to do next.
func (c *Client) Explain(method, what string, err error) error {
	var status apierrors.APIStatus
	var guard *transport.RefusedError
	var long *transport.LongAnswerError
	var pin *steps.PinError
	switch {
	case errors.As(err, &pin):
		return pin
	case errors.Is(err, errUntold):
		return err
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s %s: %w", method, what, context.Canceled)
	case errors.As(err, &guard):
		return fmt.Errorf("%s: %w", what, guard)
	case errors.Is(err, errNoAPI):
		return fmt.Errorf("%s: what %s serves is not known: %w; check that this is the right cluster and user", what, c.Server, err)
	case errors.As(err, &long):
		return fmt.Errorf("%s of %s: %w; check that this is the right cluster", what, c.Server, long)
	case errors.Is(err, errTooLong):
		return fmt.Errorf("%s of %s: %w; ask for less", what, c.Server, err)
	case errors.As(err, &status) && status.Status().Code != 0:
		return c.answered(method, what, status)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %s gave no answer within %s; check the network and that this is the right cluster: %w", what, c.Server, c.patience(), context.DeadlineExceeded)
	}
	if errors.Is(err, errPage) {
		return fmt.Errorf("%s: the answer of %s cannot be read: %w", what, c.Server, errPage)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("%s: %s cannot be reached: %w; check the network and that this is the right cluster", what, c.Server, err)
}

func (c *Client) answered(method, what string, err apierrors.APIStatus) error {
	s := err.Status()
	said := steps.Clip(s.Message, 400)
	switch s.Code {
	case http.StatusUnauthorized:
		return fmt.Errorf("%s: %s does not accept your credentials (401); they may have expired: sign in again", what, c.Server)
	case http.StatusForbidden:
		return fmt.Errorf("%w: %s on %s (the server said %q); ask for that right, or ask someone who has it", steps.ErrDenied, what, c.Server, said)
	case http.StatusNotFound:
		if SaysAbsent(what, s) {
			return fmt.Errorf("%s: %w", what, ErrAbsent)
		}
		return fmt.Errorf("%s: %s does not know this address (404: %q)", what, c.Server, said)
	case http.StatusGone:
		return &ExpiredError{what: what, fresh: s.Continue}
	case http.StatusNotAcceptable:
		return fmt.Errorf("%s: %s cannot answer in this form (406: %q); try the other value of read", what, c.Server, said)
	case http.StatusTooManyRequests:
		return fmt.Errorf("%s: %s is busy (429) and stayed so; wait a little, then read again", what, c.Server)
	}
	if s.Code == http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s answered 400, %w: %q", method, what, c.Server, ErrBadRequest, said)
	}
	return fmt.Errorf("%s %s: %s answered %d: %q", method, what, c.Server, s.Code, said)
}

// SaysAbsent reports whether a 404 says that the object at path is absent, and not
// that a proxy or another server does not know the address.
func SaysAbsent(path string, s metav1.Status) bool {
	d := s.Details
	return d != nil && s.Reason == metav1.StatusReasonNotFound && d.Name != "" && d.Kind != "" &&
		strings.HasSuffix(path, "/"+d.Kind+"/"+d.Name) && (d.Group == "" || strings.HasPrefix(path, "/apis/"+d.Group+"/"))
}
