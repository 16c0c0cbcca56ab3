package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Refusals counts the requests that the API of the drill refused for their rate,
// -1 where it does not answer.
func (st *Stage) Refusals(ctx context.Context) int {
	raw, err := st.CallAPI(ctx, http.MethodGet, "/log", nil)
	if err != nil {
		return -1
	}
	var log struct{ Requests []struct{ Status int } }
	if json.Unmarshal(raw, &log) != nil {
		return -1
	}
	n := 0
	for _, r := range log.Requests {
		if r.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

// The callers of the API of the bad provider.
const (
	NameRobot    = "robot"
	NameOperator = "operator"
)

// TokenVariable is where the bad provider looks for its credentials.
const TokenVariable = "TF_TOKEN_lab_example"

// APIDir is the directory of the API of the bad provider.
func (st *Stage) APIDir() string { return filepath.Join(st.Home, "api") }

// Token is the word by which the API knows a caller. It is kept in a file of the
// drill, never in its record.
func (st *Stage) Token(who string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(st.APIDir(), "tokens"))
	if err != nil {
		return "", fmt.Errorf("tokens of the API: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if token, ok := strings.CutPrefix(strings.TrimSpace(line), who+" "); ok {
			return token, nil
		}
	}
	return "", fmt.Errorf("the API of the drill knows no %s", who)
}

// apiEnviron is what the bad provider needs to know, nothing where the drill has
// no API.
func (st *Stage) apiEnviron(who string) []string {
	if st.Rec.API == "" {
		return nil
	}
	token, err := st.Token(who)
	if err != nil {
		return nil // then the API refuses, and says so
	}
	// The name is one that handrail passes on to the tofu of a gate.
	return []string{"RECORDS_API=" + st.Rec.API, TokenVariable + "=" + token}
}

// CallAPI sends one request to the API as robot.
func (st *Stage) CallAPI(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	if st.Rec.API == "" {
		return nil, errors.New("this drill has no API: begin with records.api")
	}
	token, err := st.Token(NameRobot)
	if err != nil {
		return nil, err
	}
	return AskAPI(ctx, method, st.Rec.API+path, token, body)
}

// AskAPI sends one request to the API with a token.
func AskAPI(ctx context.Context, method, url, token string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the API of the drill: %w", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, MaxAnswer))
	if err != nil {
		return nil, fmt.Errorf("asking the API of the drill: %w", err)
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("asking the API of the drill: %s %s answered %d: %s", method, pathOf(url), res.StatusCode, Tail(raw))
	}
	return raw, nil
}

// pathOf is what comes after the host.
func pathOf(url string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return "/" + rest
}
