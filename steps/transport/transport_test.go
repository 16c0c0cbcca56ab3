package transport

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const server = "https://api.example:6443"

// recorder answers everything and remembers what reached it.
type recorder struct {
	mu   sync.Mutex
	sent []*http.Request
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, req)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func request(t *testing.T, method, target, body string, headers ...string) *http.Request {
	t.Helper()
	if strings.HasPrefix(target, "/") {
		target = server + target
	}
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, target, r)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header[headers[i]] = []string{headers[i+1]}
	}
	return req
}

func send(t *testing.T, rt http.RoundTripper, req *http.Request) error {
	t.Helper()
	resp, err := rt.RoundTrip(req)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

func TestProbe(t *testing.T) {
	t.Parallel()
	const ns = "/api/v1/namespaces/web"
	allowed := []struct{ name, method, target string }{
		{"empty method", "", "/api/v1/pods"},
		{"list", "GET", "/api/v1/pods?limit=500"},
		{"head", "HEAD", "/api/v1/pods"},
		{"watch", "GET", "/api/v1/pods?watch=1"},
		{"object", "GET", ns + "/pods/a"},
		{"namespace", "GET", ns},
		{"namespace named proxy", "GET", "/api/v1/namespaces/proxy"},
		{"objects of a namespace named exec", "GET", "/api/v1/namespaces/exec/pods"},
		{"object named proxy", "GET", ns + "/services/proxy"},
		{"object named token", "GET", ns + "/secrets/token"},
		{"node named proxy", "GET", "/api/v1/nodes/proxy"},
		{"status of a namespace", "GET", ns + "/status"},
		{"log", "GET", ns + "/pods/a/log?previous=true"},
		{"scale", "GET", "/apis/apps/v1/namespaces/web/deployments/a/scale"},
		{"custom resource", "GET", "/apis/argoproj.io/v1alpha1/namespaces/a/applications/b"},
		{"colon in a name", "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node"},
		{"groups", "GET", "/apis"}, {"group", "GET", "/apis/apps"}, {"resources", "GET", "/apis/apps/v1"},
		{"core", "GET", "/api"}, {"version", "GET", "/version"}, {"openapi", "GET", "/openapi/v3/apis/apps/v1"},
		{"ready", "GET", "/readyz"},
		{"review 1", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
		{"review 2", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"},
		{"review 3", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews"},
		{"review 4", "POST", "/apis/authorization.k8s.io/v1/namespaces/web/localsubjectaccessreviews"},
		{"review 5", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"},
		{"host in capitals", "GET", "https://API.example:6443/api/v1/pods"},
	}
	for _, tc := range allowed {
		t.Run("allowed/"+tc.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{}
			if err := send(t, Probe(rec, server), request(t, tc.method, tc.target, "")); err != nil {
				t.Errorf("%s %s: %v", tc.method, tc.target, err)
			}
			if len(rec.sent) != 1 {
				t.Errorf("sent %d requests, want 1", len(rec.sent))
			}
		})
	}
	refused := []struct {
		name, method, target, body string
		headers                    []string
	}{
		{"post", "POST", ns + "/pods", "{}", nil},
		{"put", "PUT", ns + "/pods/a", "{}", nil},
		{"patch", "PATCH", ns + "/pods/a", "{}", nil},
		{"delete", "DELETE", ns + "/pods/a", "", nil},
		{"delete with dryRun", "DELETE", ns + "/pods/a?dryRun=All", "", nil},
		{"options", "OPTIONS", ns + "/pods", "", nil},
		{"connect", "CONNECT", ns + "/pods", "", nil},
		{"lower case method", "get", ns + "/pods", "", nil},
		{"made up method", "GETX", ns + "/pods", "", nil},
		{"body on a get", "GET", ns + "/pods", "{}", nil},
		{"exec", "GET", ns + "/pods/a/exec?command=sh", "", nil},
		{"attach", "GET", ns + "/pods/a/attach", "", nil},
		{"portforward", "GET", ns + "/pods/a/portforward", "", nil},
		{"pod proxy", "GET", ns + "/pods/a/proxy", "", nil},
		{"pod proxy path", "GET", ns + "/pods/a/proxy/admin", "", nil},
		{"service proxy", "GET", ns + "/services/http:a:80/proxy/", "", nil},
		{"service proxy path", "GET", ns + "/services/http:a:80/proxy/x", "", nil},
		{"node proxy", "GET", "/api/v1/nodes/a/proxy/run", "", nil},
		{"exec in the namespace proxy", "GET", "/api/v1/namespaces/proxy/pods/exec/exec", "", nil},
		{"legacy proxy", "GET", "/api/v1/proxy/nodes/a", "", nil},
		{"legacy watch", "GET", "/api/v1/watch/pods", "", nil},
		{"ephemeral containers", "GET", ns + "/pods/a/ephemeralcontainers", "", nil},
		{"token", "POST", ns + "/serviceaccounts/a/token", "{}", nil},
		{"token by get", "GET", ns + "/serviceaccounts/a/token", "", nil},
		{"unknown subresource", "GET", "/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachineinstances/b/console", "", nil},
		{"deeper than a subresource", "GET", ns + "/pods/a/log/b", "", nil},
		{"token review", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", "{}", nil},
		{"review in beta", "POST", "/apis/authentication.k8s.io/v1beta1/selfsubjectreviews", "{}", nil},
		{"review with a name", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews/a", "{}", nil},
		{"review in a namespace", "POST", "/apis/authentication.k8s.io/v1/namespaces/a/selfsubjectreviews", "{}", nil},
		{"review of another group", "POST", "/apis/evil.example/v1/selfsubjectreviews", "{}", nil},
		{"local review without a namespace", "POST", "/apis/authorization.k8s.io/v1/localsubjectaccessreviews", "{}", nil},
		{"put of a review", "PUT", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", nil},
		{"argo refresh", "GET", "/apis/argoproj.io/v1alpha1/namespaces/a/applications/b?refresh=hard", "", nil},
		{"query that cannot be read", "GET", ns + "/pods?a=%zz", "", nil},
		{"upgrade", "GET", ns + "/pods", "", []string{"Upgrade", "websocket"}},
		{"upgrade in lower case", "GET", ns + "/pods", "", []string{"upgrade", "SPDY/3.1"}},
		{"connection upgrade", "GET", ns + "/pods", "", []string{"Connection", "keep-alive, Upgrade"}},
		{"method override", "GET", ns + "/pods", "", []string{"X-HTTP-Method-Override", "DELETE"}},
		{"method override in lower case", "GET", ns + "/pods", "", []string{"x-http-method", "DELETE"}},
		{"encoded slash", "GET", "/api/v1/namespaces/web%2fpods/a", "", nil},
		{"encoded letter", "GET", ns + "/pods/a/%65xec", "", nil},
		{"double encoding", "GET", ns + "/pods/a%252fexec", "", nil},
		{"doubled slash", "GET", "/api/v1//pods", "", nil},
		{"leading doubled slash", "GET", "//api/v1/pods", "", nil},
		{"dot segment", "GET", "/api/v1/./pods", "", nil},
		{"dot dot segment", "GET", "/version/../api/v1/pods", "", nil},
		{"encoded dot segment", "GET", "/version/%2e%2e/api", "", nil},
		{"trailing slash", "GET", "/api/v1/pods/", "", nil},
		{"backslash", "GET", `/api/v1\pods`, "", nil},
		{"semicolon", "GET", "/api/v1/pods;a=b", "", nil},
		{"no api path", "GET", "/debug/pprof/profile", "", nil},
		{"root", "GET", "/", "", nil},
		{"other host", "GET", "https://other.example:6443/api/v1/pods", "", nil},
		{"other port", "GET", "https://api.example/api/v1/pods", "", nil},
		{"other scheme", "GET", "http://api.example:6443/api/v1/pods", "", nil},
		{"user in the address", "GET", "https://a:b@api.example:6443/api/v1/pods", "", nil},
	}
	for _, tc := range refused {
		t.Run("refused/"+tc.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{}
			err := send(t, Probe(rec, server), request(t, tc.method, tc.target, tc.body, tc.headers...))
			var r *RefusedError
			if !errors.As(err, &r) || r.Why == "" {
				t.Errorf("%s %s = %v, want a RefusedError that says why", tc.method, tc.target, err)
			}
			if len(rec.sent) != 0 {
				t.Error("the request was sent all the same")
			}
		})
	}
}

func TestProbeChecksHostHeader(t *testing.T) {
	t.Parallel()
	req := request(t, "GET", "/api/v1/pods", "")
	req.Host = "other.example"
	var r *RefusedError
	if err := send(t, Probe(&recorder{}, server), req); !errors.As(err, &r) {
		t.Errorf("a foreign Host header = %v, want a refusal", err)
	}
}

func TestProbeWithPrefix(t *testing.T) {
	t.Parallel()
	rt := Probe(&recorder{}, "https://rancher.example/k8s/clusters/c-1/")
	for target, ok := range map[string]bool{
		"https://rancher.example/k8s/clusters/c-1/api/v1/pods":   true,
		"https://rancher.example/k8s/clusters/c-12/api/v1/pods":  false,
		"https://rancher.example/api/v1/pods":                    false,
		"https://rancher.example/k8s/clusters/c-1":               false,
		"https://rancher.example/k8s/clusters/c-1/k8s/x/version": false,
	} {
		if err := send(t, rt, request(t, "GET", target, "")); (err == nil) != ok {
			t.Errorf("GET %s = %v, want allowed %v", target, err, ok)
		}
	}
}

func TestBadServerRefusesAll(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "api.example:6443", "https://", "ftp://a", "https://a?b=c", "https://u:p@a", "::"} {
		var r *RefusedError
		if err := send(t, Probe(&recorder{}, s), request(t, "GET", "/api/v1/pods", "")); !errors.As(err, &r) {
			t.Errorf("server %q: %v, want a refusal", s, err)
		}
	}
}

func TestStamps(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	rt := Probe(rec, server, Agent("handrail/1"), Audit(func() string { return "id-1" }))
	req := request(t, "GET", "/version", "")
	if err := send(t, rt, req); err != nil {
		t.Fatal(err)
	}
	got := rec.sent[0].Header
	if got.Get("User-Agent") != "handrail/1" || got.Get("Audit-ID") != "id-1" {
		t.Errorf("headers = %v, want the agent and the audit id", got)
	}
	if len(req.Header) != 0 {
		t.Errorf("the caller's request was changed: %v", req.Header)
	}
}

func TestRehearse(t *testing.T) {
	t.Parallel()
	const pod = "/api/v1/namespaces/web/pods/a"
	js := []string{"Content-Type", "application/json"}
	for _, tc := range []struct {
		name, method, target, body string
		headers                    []string
		ok                         bool
	}{
		{"read", "GET", pod, "", nil, true},
		{"review", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", nil, true},
		{"create", "POST", "/api/v1/namespaces/web/pods?dryRun=All", "{}", nil, true},
		{"patch", "PATCH", pod + "?fieldManager=handrail&dryRun=All", "{}", nil, true},
		{"delete", "DELETE", pod + "?dryRun=All", "", nil, true},
		{"delete with dry options", "DELETE", pod + "?dryRun=All", `{"kind":"DeleteOptions","dryRun":["All"]}`, js, true},
		{"delete with other options", "DELETE", pod + "?dryRun=All", `{"kind":"DeleteOptions"}`, js, false},
		{"delete with misspelt options", "DELETE", pod + "?dryRun=All", `{"DryRun":["All"]}`, js, false},
		{"delete with options twice", "DELETE", pod + "?dryRun=All", `{"dryRun":[],"dryRun":["All"]}`, js, false},
		{"delete with nested options", "DELETE", pod + "?dryRun=All", `{"preconditions":{"dryRun":["All"]}}`, js, false},
		{"delete with options in protobuf", "DELETE", pod + "?dryRun=All", "k8s\x00", []string{"Content-Type", "application/vnd.kubernetes.protobuf"}, false},
		{"no dry run", "PATCH", pod, "{}", nil, false},
		{"dry run true", "PATCH", pod + "?dryRun=true", "{}", nil, false},
		{"dry run in lower case", "PATCH", pod + "?dryrun=All", "{}", nil, false},
		{"dry run twice", "PATCH", pod + "?dryRun=All&dryRun=", "{}", nil, false},
		{"exec", "POST", pod + "/exec?dryRun=All", "", nil, false},
		{"token", "POST", "/api/v1/namespaces/web/serviceaccounts/a/token?dryRun=All", "{}", nil, false},
		{"no object", "POST", "/version?dryRun=All", "{}", nil, false},
		{"made up method", "PURGE", pod + "?dryRun=All", "", nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{}
			err := send(t, Rehearse(rec, server), request(t, tc.method, tc.target, tc.body, tc.headers...))
			if (err == nil) != tc.ok || (len(rec.sent) == 1) != tc.ok {
				t.Errorf("%s %s = %v, want allowed %v", tc.method, tc.target, err, tc.ok)
			}
			if err == nil && tc.body != "" {
				got, _ := io.ReadAll(rec.sent[0].Body)
				if string(got) != tc.body {
					t.Errorf("body sent = %q, want %q", got, tc.body)
				}
			}
		})
	}
}

func TestAct(t *testing.T) {
	t.Parallel()
	shown := Request{Method: "PATCH", Path: "/api/v1/namespaces/web/pods/a?fieldManager=handrail", SHA256: Sum([]byte("{}"))}
	for _, tc := range []struct{ name, method, target, body string }{
		{"other method", "PUT", shown.Path, "{}"},
		{"other path", "PATCH", "/api/v1/namespaces/web/pods/b?fieldManager=handrail", "{}"},
		{"other query", "PATCH", shown.Path + "&force=true", "{}"},
		{"other body", "PATCH", shown.Path, "[]"},
		{"no body", "PATCH", shown.Path, ""},
		{"a read", "GET", "/api/v1/pods", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{}
			if err := send(t, Act(rec, server, []Request{shown}), request(t, tc.method, tc.target, tc.body)); err == nil || len(rec.sent) != 0 {
				t.Errorf("sent %d, error %v, want a refusal", len(rec.sent), err)
			}
		})
	}
	t.Run("each once", func(t *testing.T) {
		t.Parallel()
		rec := &recorder{}
		rt := Act(rec, server, []Request{shown})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { _ = send(t, rt, request(t, "PATCH", shown.Path, "{}")) })
		}
		wg.Wait()
		if len(rec.sent) != 1 {
			t.Errorf("sent %d times, want once", len(rec.sent))
		}
	})
}

// TestRealServer counts what arrives at a server, redirects included.
func TestRealServer(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	count := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Method+" "+r.URL.Path)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { count(r) }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count(r)
		switch r.URL.Path {
		case "/api/v1/elsewhere":
			http.Redirect(w, r, other.URL+"/api/v1/pods", http.StatusTemporaryRedirect)
		case "/api/v1/inside":
			http.Redirect(w, r, "/api/v1/namespaces/a/pods/b/exec", http.StatusFound)
		}
	}))
	defer srv.Close()
	client := &http.Client{Transport: Probe(http.DefaultTransport, srv.URL)}
	for _, path := range []string{"/api/v1/pods", "/api/v1/elsewhere", "/api/v1/inside"} {
		resp, err := client.Get(srv.URL + path)
		if err == nil {
			_ = resp.Body.Close()
		}
		if (err == nil) != (path == "/api/v1/pods") {
			t.Errorf("GET %s = %v", path, err)
		}
	}
	req, _ := http.NewRequest("DELETE", srv.URL+"/api/v1/namespaces/a", nil)
	if resp, err := client.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Error("DELETE went through")
	}
	want := []string{"GET /api/v1/pods", "GET /api/v1/elsewhere", "GET /api/v1/inside"}
	if !slices.Equal(seen, want) {
		t.Errorf("servers saw %q, want %q", seen, want)
	}
}

var (
	reviews = regexp.MustCompile(`^/apis/(authorization\.k8s\.io/v1/(selfsubjectaccessreviews|selfsubjectrulesreviews|subjectaccessreviews|namespaces/[^/]+/localsubjectaccessreviews)|authentication\.k8s\.io/v1/selfsubjectreviews)$`)
	inside  = regexp.MustCompile(`^/(api/[^/]+|apis/[^/]+/[^/]+)/namespaces/[^/]+/[^/]+/[^/]+/(exec|attach|portforward|proxy|ephemeralcontainers|token)(/|$)`)
	outside = regexp.MustCompile(`^/(api/[^/]+|apis/[^/]+/[^/]+)/([^/]+)/[^/]+/(exec|attach|portforward|proxy|ephemeralcontainers|token)(/|$)`)
)

func FuzzProbe(f *testing.F) {
	f.Add("GET", "/api/v1/pods", "", "", "")
	f.Add("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "Upgrade", "x", "{}")
	f.Add("GET", "/api/v1/namespaces/proxy/pods/a/exec?x=1", "X-HTTP-Method-Override", "PUT", "")
	f.Add("DELETE", "/api/v1/namespaces/a?dryRun=All", "Connection", "upgrade", "")
	f.Add("GET", "/api/v1/nodes/a/%70roxy/", "", "", "")
	f.Fuzz(func(t *testing.T, method, target, name, value, body string) {
		u, err := url.Parse(server + target)
		if err != nil {
			return
		}
		req := &http.Request{Method: method, URL: u, Header: http.Header{}}
		if name != "" {
			req.Header[name] = []string{value}
		}
		if body != "" {
			req.Body = io.NopCloser(strings.NewReader(body))
		}
		rec := &recorder{}
		if err := send(t, Probe(rec, server), req); err != nil {
			return
		}
		got := rec.sent[0]
		path := got.URL.EscapedPath()
		read := got.Method == "" || got.Method == "GET" || got.Method == "HEAD"
		if !read && !(got.Method == "POST" && reviews.MatchString(path)) {
			t.Fatalf("%s %s went through", got.Method, path)
		}
		if read && got.Body != nil {
			t.Fatalf("a read with a body went through")
		}
		if m := outside.FindStringSubmatch(path); inside.MatchString(path) || (m != nil && m[2] != "namespaces") {
			t.Fatalf("%s went through", path)
		}
		if got.URL.Host != "api.example:6443" && !strings.EqualFold(got.URL.Host, "api.example:6443") {
			t.Fatalf("%s is another host", got.URL.Host)
		}
		for h := range got.Header {
			if l := strings.ToLower(h); l == "upgrade" || strings.Contains(l, "method-override") {
				t.Fatalf("header %s went through", h)
			}
		}
	})
}
