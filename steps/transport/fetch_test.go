package transport_test

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/transport"
)

// What reads states can do nothing else, for any caller.
func TestReadersOfBackends(t *testing.T) {
	t.Parallel()
	target := func(name string) http.Header {
		return http.Header{"X-Amz-Target": {name}, "Content-Type": {"application/x-amz-json-1.0"}}
	}
	metric := func(next http.RoundTripper, server string, opts ...transport.Option) http.RoundTripper {
		return transport.Operations(next, server, []string{"POST /service/S/operation/Get"}, opts...)
	}
	identity := func(next http.RoundTripper, server string, opts ...transport.Option) http.RoundTripper {
		return transport.Operations(next, server, []string{"Action=GetCallerIdentity"}, opts...)
	}
	type maker = func(http.RoundTripper, string, ...transport.Option) http.RoundTripper
	for _, tc := range []struct {
		name   string
		make   maker
		server string
		method string
		url    string
		header http.Header
		body   string
		want   string // of the refusal, "" for none
	}{
		{"object", transport.Fetch, "http://s:9000", "GET", "http://s:9000/bucket/env%3A/prod/a%2Fb", nil, "", ""},
		{"object of any server", transport.Fetch, "", "HEAD", "https://bucket.s3.example.com/key?versionId=1", nil, "", ""},
		{"no path", transport.Fetch, "http://s:9000", "GET", "http://s:9000", nil, "", ""},
		{"put", transport.Fetch, "http://s:9000", "PUT", "http://s:9000/bucket/key", nil, "x", "writes"},
		{"post", transport.Fetch, "", "POST", "http://s:9000/bucket/key?select", nil, "", "writes"},
		{"delete", transport.Fetch, "", "DELETE", "http://s:9000/bucket/key", nil, "", "writes"},
		{"lock of the http backend", transport.Fetch, "http://s", "LOCK", "http://s/state", nil, "{}", "writes"},
		{"unlock of the http backend", transport.Fetch, "http://s", "UNLOCK", "http://s/state", nil, "", "writes"},
		{"body", transport.Fetch, "", "GET", "http://s:9000/bucket/key", nil, "x", "no body"},
		{"override", transport.Fetch, "", "GET", "http://s:9000/b/k", http.Header{"x-http-method-override": {"PUT"}}, "", "overrides"},
		{"elsewhere", transport.Fetch, "http://s:9000", "GET", "http://t:9000/bucket/key", nil, "", "another server"},
		{"no scheme", transport.Fetch, "", "GET", "ftp://s/key", nil, "", "scheme"},
		{"realm", transport.Realm, "http://k/auth", "GET", "http://k/auth/admin/realms/primary/clients?first=0&max=100", nil, "", ""},
		{"keys of a realm", transport.Realm, "http://k", "GET", "http://k/realms/primary/protocol/openid-connect/certs", nil, "", ""},
		{"sign in", transport.Realm, "http://k", "POST", "http://k/realms/master/protocol/openid-connect/token", nil, "grant_type=password", ""},
		{"token of another realm", transport.Realm, "http://k", "POST", "http://k/realms/primary/protocol/openid-connect/token", nil, "x", "only a token of the master realm"},
		{"write of a realm", transport.Realm, "http://k", "POST", "http://k/admin/realms/primary/clients", nil, "{}", "only a token of the master realm"},
		{"change of a realm", transport.Realm, "http://k", "PUT", "http://k/admin/realms/primary", nil, "{}", "writes"},
		{"deletion in a realm", transport.Realm, "http://k", "DELETE", "http://k/admin/realms/primary/clients/x", nil, "", "writes"},
		{"elsewhere in Keycloak", transport.Realm, "http://k", "GET", "http://k/realms/primary/account", nil, "", "something else"},
		{"an option of a realm", transport.Realm, "http://k", "GET", "http://k/admin/realms/primary/clients?rotate=x", nil, "", "not known to be a read"},
		{"out of a realm", transport.Realm, "http://k", "GET", "http://k/admin/realms/../x", nil, "", "dot segment"},
		{"a client scope by the reader of a realm", transport.Realm, "http://k", "PUT", "http://k/admin/realms/primary/clients/x/default-client-scopes/y", nil, "", "writes"},
		{"a role by the reader of a realm", transport.Realm, "http://k", "POST", "http://k/admin/realms/primary/clients/x/scope-mappings/realm", nil, "[]", "only a token of the master realm"},
		{"key", transport.Entries, "http://c:8500", "GET", "http://c:8500/v1/kv/tf/state/.lock?dc=one&consistent", nil, "", ""},
		{"session", transport.Entries, "http://c:8500", "GET", "http://c:8500/v1/session/info/x", nil, "", ""},
		{"acquire", transport.Entries, "http://c:8500", "GET", "http://c:8500/v1/kv/tf?acquire=x", nil, "", "not known to be a read"},
		{"put key", transport.Entries, "http://c:8500", "PUT", "http://c:8500/v1/kv/tf", nil, "x", "writes"},
		{"destroy session", transport.Entries, "http://c:8500", "PUT", "http://c:8500/v1/session/destroy/x", nil, "", "writes"},
		{"agent", transport.Entries, "http://c:8500", "GET", "http://c:8500/v1/agent/leave", nil, "", "something else"},
		{"item", transport.Items, "http://d:1", "POST", "http://d:1/", target("DynamoDB_20120810.GetItem"), "{}", ""},
		{"item without a path", transport.Items, "http://d:1", "POST", "http://d:1", target("DynamoDB_20120810.GetItem"), "{}", ""},
		{"put item", transport.Items, "http://d:1", "POST", "http://d:1/", target("DynamoDB_20120810.PutItem"), "{}", "only DynamoDB_20120810.GetItem"},
		{"two targets", transport.Items, "http://d:1", "POST", "http://d:1/", http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"DynamoDB_20120810.GetItem"}, "x-amz-target": {"DynamoDB_20120810.DeleteItem"}}, "{}", "only DynamoDB_20120810.GetItem"},
		{"no target", transport.Items, "http://d:1", "POST", "http://d:1/", nil, "{}", "names no operation"},
		{"vhosts", transport.Broker, "http://b:1", "GET", "http://b:1/api/vhosts?columns=name&page=1&page_size=500", nil, "", ""},
		{"bindings behind a prefix", transport.Broker, "http://b:1/mq", "GET", "http://b:1/mq/api/bindings/%2Fplatform", nil, "", ""},
		{"declare", transport.Broker, "http://b:1", "PUT", "http://b:1/api/queues/%2F/x", nil, "", "writes"},
		{"bind", transport.Broker, "http://b:1", "POST", "http://b:1/api/bindings/%2F/e/a/q/b", nil, "{}", "writes"},
		{"a GET that publishes", transport.Broker, "http://b:1", "GET", "http://b:1/api/aliveness-test/%2F", nil, "", "something else"},
		{"a vhost of dots", transport.Broker, "http://b:1", "GET", "http://b:1/api/bindings/..", nil, "", "dot segment"},
		{"a vhost of hidden dots", transport.Broker, "http://b:1", "GET", "http://b:1/api/bindings/%2e%2E", nil, "", "dot segment"},
		{"unknown option", transport.Broker, "http://b:1", "GET", "http://b:1/api/queues/%2F?reset=true", nil, "", "not known to be a read"},
		{"get of items", transport.Items, "http://d:1", "GET", "http://d:1/", target("DynamoDB_20120810.GetItem"), "", "no request that names"},
		{"metric", metric, "https://m:1", "POST", "https://m:1/service/S/operation/Get", http.Header{"Content-Type": {"application/cbor"}}, "x", ""},
		{"another operation by its path", metric, "https://m:1", "POST", "https://m:1/service/S/operation/Put", http.Header{"Content-Type": {"application/cbor"}}, "x", "no request that names"},
		{"a form behind a path", metric, "https://m:1", "POST", "https://m:1/service/S/operation/Get", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, "Action=Put", "two protocols"},
		{"identity", identity, "https://sts:1", "POST", "https://sts:1/", nil, "Action=GetCallerIdentity&Version=2011-06-15", ""},
		{"role", identity, "https://sts:1", "POST", "https://sts:1/", nil, "Action=AssumeRole&Version=2011-06-15", "only Action=GetCallerIdentity"},
		{"two actions", identity, "https://sts:1", "POST", "https://sts:1/", nil, "Action=GetCallerIdentity&Action=AssumeRole", "more than one"},
		{"an action in another case", identity, "https://sts:1", "POST", "https://sts:1/", nil, "Action=GetCallerIdentity&action=AssumeRole", "more than one"},
		{"an action in the address", identity, "https://sts:1", "POST", "https://sts:1/?Action=AssumeRole", nil, "Action=GetCallerIdentity", "no request that names"},
		{"a form behind a target", transport.Items, "http://d:1", "POST", "http://d:1/", http.Header{"X-Amz-Target": {"DynamoDB_20120810.GetItem"}, "Content-Type": {"application/x-www-form-urlencoded"}}, "Action=DeleteItem", "two protocols"},
		{"a form too long", identity, "https://sts:1", "POST", "https://sts:1/", nil, "Action=GetCallerIdentity&x=" + strings.Repeat("x", 70_000), "too long"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			sent := 0
			rt := tc.make(tripper(func(*http.Request) (*http.Response, error) {
				sent++
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
			}), tc.server)
			var body io.Reader
			if tc.body != "" {
				body = strings.NewReader(tc.body)
			}
			req, err := http.NewRequestWithContext(t.Context(), tc.method, tc.url, body)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range tc.header {
				req.Header[k] = v
			}
			resp, err := rt.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			var refused *transport.RefusedError
			switch {
			case tc.want == "" && (err != nil || sent != 1):
				t.Errorf("RoundTrip() = %v after %d requests, want it sent", err, sent)
			case tc.want != "" && (!errors.As(err, &refused) || sent != 0 || !strings.Contains(refused.Why, tc.want)):
				t.Errorf("RoundTrip() = %v after %d requests, want a refusal with %q", err, sent, tc.want)
			}
		})
	}
}

// A transport without a server stays with the first it went to.
func TestFetchStaysWithTheFirstServer(t *testing.T) {
	t.Parallel()
	rt := transport.Fetch(tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}), "")
	for i, tc := range []struct {
		url string
		ok  bool
	}{{"https://a.example.com/x", true}, {"https://b.example.com/x", false}, {"http://a.example.com/x", false}, {"https://a.example.com/y", true}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tc.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if (err == nil) != tc.ok {
			t.Errorf("%d: %s = %v, want allowed %v", i, tc.url, err, tc.ok)
		}
	}
}

// TestRealmGift: one mapper, client scope or role of one client passes, once and as it was shown; nothing else does,
// though it was shown.
func TestRealmGift(t *testing.T) {
	t.Parallel()
	const of = "/admin/realms/primary/clients/c-1/"
	for _, tc := range []struct {
		method, shown, sent, body string
		want                      string
	}{
		{"POST", of + "protocol-mappers/models", "", "{}", ""},
		{"PUT", of + "default-client-scopes/s-1", "", "", ""},
		{"PUT", of + "optional-client-scopes/s-1", "", "", ""},
		{"POST", of + "scope-mappings/realm", "", "[]", ""},
		{"POST", of + "scope-mappings/clients/c-2", "", "[]", ""},
		{"PUT", of + "default-client-scopes/s-1", of + "default-client-scopes/s-2", "", "not a request that was shown"},
		{"DELETE", of + "default-client-scopes/s-1", "", "", "no mapper, client scope or role"},
		{"PUT", of + "protocol-mappers/models/m-1", "", "{}", "no mapper, client scope or role"},
		{"POST", of + "protocol-mappers/add-models", "", "[]", "no mapper, client scope or role"},
		{"PUT", of + "default-client-scopes/s-1/x", "", "", "no mapper, client scope or role"},
		{"POST", of + "scope-mappings/clients/c-2/x", "", "[]", "no mapper, client scope or role"},
		{"POST", of + "client-secret", "", "", "no mapper, client scope or role"},
		{"POST", "/admin/realms/primary/client-scopes", "", "{}", "no mapper, client scope or role"},
		{"POST", "/admin/realms/primary/roles", "", "{}", "no mapper, client scope or role"},
		{"POST", "/admin/realms/primary/client-scopes/s-1/protocol-mappers/models", "", "{}", "no mapper, client scope or role"},
		{"PUT", "/admin/realms/primary", "", "{}", "no mapper, client scope or role"},
	} {
		sent := 0
		rt := transport.RealmGift(tripper(func(*http.Request) (*http.Response, error) {
			sent++
			return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
		}), "http://k", transport.Request{Method: tc.method, Path: tc.shown, SHA256: transport.Sum([]byte(tc.body))})
		send := func() string {
			req, err := http.NewRequestWithContext(t.Context(), tc.method, "http://k"+cmp.Or(tc.sent, tc.shown), strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := rt.RoundTrip(req)
			if err != nil {
				return err.Error()
			}
			_ = resp.Body.Close()
			return ""
		}
		if got := send(); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s %s: %q, want %q", tc.method, tc.shown, got, tc.want)
		}
		if got := send(); got == "" || sent > 1 || tc.want != "" && sent > 0 {
			t.Errorf("%s %s was sent %d times", tc.method, tc.shown, sent)
		}
	}
}

// A refused redirect names the other server and no more: a signed address lets its reader in.
func TestRefusedRedirectIsNotTold(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://logs.example.net/job.txt?sig=a-signature", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, done := transport.FetchClient(steps.Env{}, u, nil)
	defer done()
	resp, err := client.Get(server.URL + "/logs")
	if err == nil {
		resp.Body.Close()
	}
	var refused *transport.RefusedError
	if !errors.As(err, &refused) || refused.To != "https://logs.example.net" || strings.Contains(err.Error(), "sig") {
		t.Errorf("a redirect to another server: %v", err)
	}
	if resp, err = client.Post(server.URL+"/logs", "text/plain", strings.NewReader("x")); err == nil {
		resp.Body.Close()
		t.Error("a client that fetches posts")
	}
}
