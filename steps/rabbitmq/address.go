package rabbitmq

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"handrail/steps"
)

// parseBase reads the address of a management API, in one spelling: two that mean
// the same are equal.
func parseBase(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return nil, fmt.Errorf("%q is not the address of a management API: write https://HOST:PORT", steps.Clip(redacted(text), 200))
	case u.User != nil:
		return nil, errors.New("the address of the management API holds credentials: take them out, they belong into brokers.yaml")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.RawPath != "" || strings.ContainsAny(u.Path, "%;\\"):
		return nil, fmt.Errorf("the address %q has parts that no management API needs", steps.Clip(text, 200))
	}
	for part := range strings.SplitSeq(strings.Trim(u.Path, "/"), "/") {
		if part == "." || part == ".." {
			return nil, fmt.Errorf("the path of the address %q can be read in two ways", steps.Clip(text, 200))
		}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	prefix := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/api")
	return &url.URL{Scheme: u.Scheme, Host: net.JoinHostPort(strings.ToLower(u.Hostname()), port), Path: prefix}, nil
}

// redacted is text without what stands before an @.
func redacted(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return "…" + text[at:]
	}
	return text
}

// loopback reports whether what is sent to u stays on this machine.
func loopback(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
