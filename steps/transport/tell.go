package transport

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Tell returns a transport that names to secret what each request authenticates
// with, before the request leaves: the tokens of credential plugins and of files
// that are renewed are known to nothing else. It must be the first wrapper of a
// rest.Config: that one is innermost, below the plugin's own.
func Tell(next http.RoundTripper, secret func(ctx context.Context, value string)) http.RoundTripper {
	return teller{next, secret}
}

type teller struct {
	next   http.RoundTripper
	secret func(context.Context, string)
}

// RoundTrip implements http.RoundTripper.
func (t teller) RoundTrip(req *http.Request) (*http.Response, error) {
	for name, values := range req.Header {
		for _, v := range values {
			for _, s := range credentials(name, v) {
				t.secret(req.Context(), s)
			}
		}
	}
	return t.next.RoundTrip(req)
}

var secretHeader = regexp.MustCompile(`(?i)token|secret|passw|api-?key|session`)

// credentials are the secrets in one header.
func credentials(name, value string) []string {
	switch {
	case name == "Authorization" || name == "Proxy-Authorization":
		scheme, rest, ok := strings.Cut(value, " ")
		if !ok {
			return []string{value}
		}
		out := []string{strings.TrimSpace(rest)}
		if strings.EqualFold(scheme, "Basic") {
			if raw, err := base64.StdEncoding.DecodeString(out[0]); err == nil {
				_, password, _ := strings.Cut(string(raw), ":")
				out = append(out, password)
			}
		}
		return out
	case name == "Cookie":
		var out []string
		for part := range strings.SplitSeq(value, ";") {
			_, v, _ := strings.Cut(strings.TrimSpace(part), "=")
			out = append(out, v)
			if plain, err := url.QueryUnescape(v); err == nil && plain != v {
				out = append(out, plain)
			}
		}
		return out
	case secretHeader.MatchString(name):
		return []string{value}
	}
	return nil
}
