package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrNoAccount says that an API server does not know the account that asks: its namespace is gone, or its token has
// run out.
var ErrNoAccount = errors.New("the API server does not know this account")

// IsLab tells whether an API server is this lab, by the UID of its namespace kube-system. Injection asks first and
// refuses elsewhere. The client carries the credentials (rest.HTTPClientFor makes one), server is its address. An error
// means that it could not be found out, which is not a yes.
func (l *Lab) IsLab(ctx context.Context, with *http.Client, server string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+"/api/v1/namespaces/kube-system", nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := with.Do(req)
	if err != nil {
		return false, fmt.Errorf("asking %q which cluster it is: %w", server, err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusUnauthorized {
		return false, fmt.Errorf("asking %q which cluster it is: %w", server, ErrNoAccount)
	}
	if res.StatusCode != http.StatusOK {
		return false, fmt.Errorf("asking %q which cluster it is: status %d", server, res.StatusCode)
	}
	var ns struct{ Metadata struct{ UID string } }
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&ns); err != nil {
		return false, fmt.Errorf("asking %q which cluster it is: %w", server, err)
	}
	return l.IsLabUID(ns.Metadata.UID), nil
}

// IsLabUID is IsLab for callers that have read the UID themselves.
func (l *Lab) IsLabUID(uid string) bool { return uid != "" && uid == l.record.UID }
