package kube

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/steps"
	kubeact "handrail/steps/kube/act"
)

// road is what lies between the gate and its server: what it does with the
// request of an act.
type road int

const (
	resetBefore road = iota // cut before the server has it
	resetAfter              // cut when the server has done it
	silent                  // done, and never answered
	abandoned               // done, and the person turns away before the answer
	badGateway              // done, and answered with 502
	busy                    // 429, not done
	elsewhere               // redirected
	dark                    // done, cut, and no read goes through from then on
)

// onward passes requests on to the real API server, with what they authenticate
// with.
func (s *stage) onward() *httputil.ReverseProxy {
	s.t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", s.lab.Kubeconfig())
	if err != nil {
		s.t.Fatal(err)
	}
	through, err := rest.TransportFor(rest.AnonymousClientConfig(cfg)) // the operator brings a token
	if err != nil {
		s.t.Fatal(err)
	}
	target, err := url.Parse(s.lab.URL())
	if err != nil {
		s.t.Fatal(err)
	}
	return &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }, Transport: through}
}

// between puts a proxy between the gate and the real API server. It calls acted
// when it has treated the act.
func (s *stage) between(r road, acted func()) (env steps.Env, acts *atomic.Int32) {
	s.t.Helper()
	acts = &atomic.Int32{}
	proxy := s.onward()
	cut := func(w http.ResponseWriter) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0)
			_ = conn.(*tls.Conn).NetConn().Close()
		}
	}
	var out atomic.Bool
	end := make(chan struct{})
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		act := (req.Method == http.MethodPatch || req.Method == http.MethodDelete || req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/configmaps")) && req.URL.Query().Get("dryRun") == ""
		if out.Load() {
			cut(w)
			return
		}
		if !act {
			proxy.ServeHTTP(w, req)
			return
		}
		acts.Add(1)
		if r != resetBefore && r != busy && r != elsewhere {
			done := httptest.NewRecorder()
			if proxy.ServeHTTP(done, req); done.Code/100 != 2 {
				s.t.Errorf("the server answered the act with %d %s", done.Code, done.Body)
			}
		}
		acted()
		switch r {
		case dark:
			out.Store(true)
			cut(w)
		case resetBefore, resetAfter:
			cut(w)
		case silent, abandoned:
			select {
			case <-req.Context().Done():
			case <-end:
			}
		case badGateway:
			http.Error(w, "bad gateway", http.StatusBadGateway)
		case busy:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "try later", http.StatusTooManyRequests)
		case elsewhere:
			http.Redirect(w, req, req.URL.String()+"&again=1", http.StatusTemporaryRedirect)
		}
	}))
	s.t.Cleanup(srv.Close)
	s.t.Cleanup(func() { close(end) })
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	return s.as("", srv.URL, ca), acts
}

// TestLostAnswer finds out what a request came to whose answer never came.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	var mu sync.Mutex
	outcomes := map[string]string{} // object to what was said of an act that was done
	t.Run("roads", func(t *testing.T) {
		stage.lost(t, func(name, said string) { mu.Lock(); outcomes[name] = said; mu.Unlock() })
	})
	for _, w := range stage.writes() {
		if said, ok := outcomes[w.Name]; !ok || !strings.Contains(said, w.ID) {
			t.Errorf("%s of %s with Audit-ID %s: the outcome says %q", w.Verb, w.Name, w.ID, said)
		}
		delete(outcomes, w.Name)
	}
	if len(outcomes) > 0 {
		t.Errorf("the server knows of no act for %v", outcomes)
	}
}

func (s *stage) lost(t *testing.T, done func(name, said string)) {
	stage := s
	for _, tc := range []struct {
		name   string
		road   road
		result string
		said   string
		stays  bool
	}{
		{"cut after it was done", resetAfter, steps.Done, "audit log of the server can prove", false},
		{"never answered", silent, steps.Done, "audit log of the server can prove", false},
		{"person turned away", abandoned, steps.Done, "audit log of the server can prove", false},
		{"answered by a gateway", badGateway, steps.Done, "answered 502", false},
		{"cut before the server had it", resetBefore, steps.Failed, "did not take effect", true},
		{"busy", busy, steps.Refused, "(429)", true},
		{"redirected", elsewhere, steps.Refused, "(307)", true},
		{"nothing can be read", dark, "", "read it again before anything else", false},
	} {
		for _, kind := range []string{"strip", "strip terminating", "delete"} {
			if tc.road == silent && kind != "strip" {
				continue // it takes as long as an answer may
			}
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s := *stage
				s.t = t
				name := strings.ReplaceAll(tc.name+"-"+kind, " ", "-")
				ctx, turnAway := context.WithCancel(t.Context())
				defer turnAway()
				var late atomic.Bool
				env, acts := s.between(tc.road, func() {
					if late.Store(true); tc.road == abandoned {
						turnAway()
					}
				})
				// What the server did not do while it could, it will not do.
				env.Now = func() time.Time {
					if late.Load() {
						return time.Now().Add(time.Minute)
					}
					return time.Now()
				}
				th := thingMade{resource: "configmaps", name: name, finalizers: []string{cleaner}}
				if kind == "delete" {
					th.finalizers = nil
				}
				uid := s.make(th)
				var g steps.Gater = gateOf("kube/strip-finalizer", env)
				in := s.stripParams("configmap", name, uid)
				switch kind {
				case "delete":
					g, in = gateOf("kube/delete", env), deleteParams("configmap", name, uid)
				case "strip terminating":
					s.condemn("configmaps", name)
				}
				p, a := s.approve(g, in)
				before := s.content("configmaps", name)
				o, err := g.Act(ctx, a, &scrap{})
				said := o.Response
				if err != nil {
					said = err.Error()
				}
				if o.Result != tc.result || (err != nil) != (tc.result == "") || !strings.Contains(said, tc.said) {
					t.Errorf("Act() = %+v, %v, want %q with %q", o, err, tc.result, tc.said)
				}
				if acts.Load() != 1 {
					t.Errorf("the act was sent %d times, want once", acts.Load())
				}
				if got := s.content("configmaps", name); (got == before) != tc.stays {
					t.Errorf("content = %s, was %s", got, before)
				}
				want := steps.Done
				if tc.stays {
					want = steps.Failed
				} else {
					// After is where an act that went well names it.
					done(name, said+steps.Find(o.After, kubeact.KeyAudit))
				}
				finder := g.(steps.Finder)
				found, err := finder.Find(t.Context(), slices.Concat(p.Target, p.Shown), in, &scrap{})
				if tc.road == dark {
					if err == nil {
						t.Errorf("Find() = %+v, want an error: nothing can be read", found)
					}
				} else if err != nil || found.Result != want {
					t.Errorf("Find() = %+v, %v, want %s", found, err, want)
				}
			})
		}
	}
}

// TestUnsent holds an act that cannot reach its server, or that was tampered
// with, to sending nothing.
func TestUnsent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	uid := s.make(thingMade{resource: "configmaps", name: "held", finalizers: []string{cleaner}})
	g, in := gateOf("kube/strip-finalizer", s.env), s.stripParams("configmap", "held", uid)
	shown := s.preview(g, in)
	edit := func(key, value string) func(*steps.Preview) {
		return func(p *steps.Preview) {
			for _, kvs := range [][]steps.KV{p.Target, p.Shown} {
				for i := range kvs {
					if kvs[i].Key == key {
						kvs[i].Value = value
					}
				}
			}
		}
	}
	for _, tc := range []struct {
		name string
		edit func(*steps.Preview)
		said string
	}{
		{"redacted version", edit(kubeact.KeyVersion, "<redacted:token:0123456789abcdef>"), "was redacted"},
		{"no version", edit(kubeact.KeyVersion, ""), "which is invalid"},
		{"redacted uid", edit(kubeact.KeyUID, "<redacted:token:0123456789abcdef>"), "was redacted"},
		{"redacted finalizer", edit(kubeact.KeyFinalizer, "<redacted:token:0123456789abcdef>"), "was redacted"},
		{"another finalizer", edit(kubeact.KeyFinalizer, another), "not one of the finalizers"},
		{"another path", edit(kubeact.KeyPath, s.path("configmaps", "other")), "not the one that was shown"},
		{"path outside of the API", edit(kubeact.KeyPath, "/api/v1/namespaces/a/pods/b/eviction"), "which is invalid"},
		{"path upwards", edit(kubeact.KeyPath, "/api/v1/namespaces/a/pods/../b"), "which is invalid"},
		{"another server", edit(kubeact.KeyServer, "https://127.0.0.1:1"), "the kubeconfig leads to"},
		{"another request", func(p *steps.Preview) { p.Request = "DELETE everything" }, "not the one that was shown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := shown
			p.Target, p.Shown = slices.Clone(shown.Target), slices.Clone(shown.Shown)
			tc.edit(&p)
			o, err := g.Act(t.Context(), s.confirm(p, p.Digest("i", "s")), &scrap{})
			if err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, "Nothing was sent") || !strings.Contains(o.Response, tc.said) {
				t.Errorf("Act() = %+v, %v, want refused with %q", o, err, tc.said)
			}
		})
	}
	for key, value := range map[string]string{kubeact.KeyServer: "https://127.0.0.1:1", kubeact.KeyCluster: "another", kubeact.KeyUID: ""} {
		p := shown
		p.Target = slices.Clone(shown.Target)
		edit(key, value)(&p)
		if o, err := g.Find(t.Context(), slices.Concat(p.Target, p.Shown), in, &scrap{}); err == nil {
			t.Errorf("Find() of what was done on another %s = %+v, want an error", key, o)
		}
	}
	t.Run("no server listens", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := "https://" + l.Addr().String()
		_ = l.Close()
		p := shown
		p.Target = slices.Clone(shown.Target)
		edit(kubeact.KeyServer, addr)(&p)
		o, err := gateOf("kube/strip-finalizer", s.as("", addr, nil)).Act(t.Context(), s.confirm(p, p.Digest("i", "s")), &scrap{})
		if err != nil || o.Result != steps.Refused || !strings.Contains(o.Response, "Nothing was sent") {
			t.Errorf("Act() = %+v, %v", o, err)
		}
	})
	for name, a := range map[string]*steps.Approval{"nil": nil, "zero": {}} {
		if _, err := g.Act(t.Context(), a, &scrap{}); !errors.Is(err, steps.ErrSpent) {
			t.Errorf("Act(%s) = %v, want ErrSpent", name, err)
		}
	}
	if w := s.writes(); len(w) != 0 {
		t.Errorf("writes = %v", w)
	}
}
