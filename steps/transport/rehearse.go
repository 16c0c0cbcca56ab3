package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// What a body that is read to be judged may come to: one object of a cluster, and one state.
const (
	maxBody      = 8 << 20
	maxStateBody = 128 << 20
)

// Rehearse returns a transport for previews and rehearsing probes: it reads as Probe does, and writes
// with exactly dryRun=All in the query, which the server does not store.
// Admission webhooks run, so it is no read.
func Rehearse(next http.RoundTripper, server string, opts ...Option) http.RoundTripper {
	return newGuard(next, server, opts, func(req *http.Request, path string) string {
		switch req.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
			if t, why := parsePath(path); why != "" || !isReview(t) {
				return allowDryRun(req, t, why)
			}
		}
		return allowRead(req, path)
	})
}

func allowDryRun(req *http.Request, t target, why string) string {
	if why != "" {
		return why
	}
	if !t.api || t.resource == "" {
		return "it writes to something that is no object"
	}
	query, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return "its query cannot be read"
	}
	if got := query["dryRun"]; len(got) != 1 || got[0] != "All" {
		return "a rehearsal needs exactly dryRun=All in the query"
	}
	if req.Method == http.MethodDelete && hasBody(req) {
		return dryDelete(req)
	}
	return ""
}

// dryDelete judges the body of a DELETE: where there is one, the API server
// takes the options from it and ignores the query.
func dryDelete(req *http.Request) string {
	body, err := takeBody(req, maxBody)
	if err != nil {
		return err.Error()
	}
	if len(body) == 0 {
		return ""
	}
	if media := req.Header.Get("Content-Type"); media != "" && media != "application/json" {
		return fmt.Sprintf("options of media type %q cannot be judged", media)
	}
	const need = "the body of a rehearsed DELETE overrides the query and must hold dryRun: [All]"
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return need
	}
	var dry []string
	if json.Unmarshal(all["dryRun"], &dry) != nil || len(dry) != 1 || dry[0] != "All" || countKey(body, "dryRun") != 1 {
		return need
	}
	return ""
}

// countKey counts the top-level keys of an object that equal key in any case:
// decoders differ in which of them they take.
func countKey(body []byte, key string) int {
	dec := json.NewDecoder(bytes.NewReader(body))
	n, depth, wantKey := 0, 0, false
	for {
		tok, err := dec.Token()
		if err != nil {
			return n
		}
		switch v := tok.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
				wantKey = depth == 1
				continue
			}
			depth--
		case string:
			if depth == 1 && wantKey {
				if strings.EqualFold(v, key) {
					n++
				}
				wantKey = false
				continue
			}
		}
		if depth == 1 {
			wantKey = true
		}
	}
}

// takeBody reads the body of req and puts the bytes that were judged back.
func takeBody(req *http.Request, most int64) ([]byte, error) {
	if !hasBody(req) {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, most+1))
	_ = req.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading its body: %w", err)
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("its body is over %d bytes", most)
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return body, nil
}
