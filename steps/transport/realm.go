package transport

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"handrail/steps"
)

// realmSignIn is where the accounts of administrators get their tokens.
const realmSignIn = "/realms/master/protocol/openid-connect/token"

// Realm returns a transport that reads from the admin API of a Keycloak at server, and asks for a
// token of the master realm, which its reads need: the one POST, and it stores nothing but a session.
func Realm(next http.RoundTripper, server string, opts ...Option) http.RoundTripper {
	return newReader(next, server, opts, func(req *http.Request, path string) string {
		if why := plainPath(req.URL); why != "" {
			return why
		}
		if req.Method == http.MethodPost {
			if path != realmSignIn || req.URL.RawQuery != "" {
				return "only a token of the master realm may be asked for"
			}
			return ""
		}
		if why := fetches(req, path); why != "" {
			return why
		}
		if !strings.HasPrefix(path, "/admin/realms/") && !strings.HasSuffix(path, "/protocol/openid-connect/certs") {
			return "it asks for something else than a realm and its keys"
		}
		query, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			return "its query cannot be read"
		}
		for name := range query {
			switch name {
			case "first", "max":
			default:
				return fmt.Sprintf("the option %q is not known to be a read", name)
			}
		}
		return ""
	})
}

// RealmGift returns a transport that sends the one request that was shown, once: a mapper that is made in a client, a
// client scope that is attached to it, or roles that are added to its scope. Nothing else passes, whatever was shown.
func RealmGift(next http.RoundTripper, server string, shown Request, opts ...Option) http.RoundTripper {
	return newReader(next, server, opts, once([]Request{shown}, maxStateBody, func(path string) string {
		if !realmGift.MatchString(shown.Method + " " + path) {
			return "it is no mapper, client scope or role for one client"
		}
		return ""
	}))
}

var realmGift = regexp.MustCompile(`^(?:POST /admin/realms/[^/]+/clients/[^/]+/(?:protocol-mappers/models|scope-mappings/realm|scope-mappings/clients/[^/]+)` +
	`|PUT /admin/realms/[^/]+/clients/[^/]+/(?:default|optional)-client-scopes/[^/]+)$`)

// RealmClient is a client of the Keycloak at an address of [AskAddress], behind one of [Realm] and [RealmGift]; done
// lets its connections go. It follows no redirect: a token goes to no other address.
func RealmClient(env steps.Env, server *url.URL, roots *x509.CertPool, guard func(next http.RoundTripper, server string) http.RoundTripper) (client *http.Client, done func()) {
	next := askRoute(env, server.Scheme, roots)
	return &http.Client{
		Transport:     guard(next, strings.TrimSuffix(server.String(), "/")),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, next.CloseIdleConnections
}
