package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"handrail/drills/lab"
	"handrail/drills/lab/minio"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// records takes what a store tells.
type records struct {
	mu  sync.Mutex
	all []string
	new chan struct{}
}

func (r *records) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.all = append(r.all, string(raw))
	r.mu.Unlock()
	select {
	case r.new <- struct{}{}:
	default:
	}
}

// denied returns once a record says that a PUT was denied.
func (r *records) denied(t *testing.T) {
	t.Helper()
	for {
		r.mu.Lock()
		all := strings.Join(r.all, "\n")
		r.mu.Unlock()
		for line := range strings.Lines(all) {
			var in struct {
				API struct {
					Name, Bucket string
					StatusCode   int
				}
				AccessKey string
			}
			if json.Unmarshal([]byte(line), &in) == nil && in.API.Name == "PutObject" && in.API.StatusCode == 403 && in.AccessKey == "writer" {
				return
			}
		}
		select {
		case <-r.new:
		case <-t.Context().Done():
			t.Fatalf("no record of a denied PUT: %s", all)
		}
	}
}

// TestAuditGate: a MinIO whose audit is off, and then tells a dead address, tells a sink what it denies.
func TestAuditGate(t *testing.T) {
	t.Parallel()
	s, err := minio.Start(t.Context(), lab.Options{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sink := &records{new: make(chan struct{}, 1)}
	srv := httptest.NewServer(sink)
	defer srv.Close()
	dead := httptest.NewServer(nil)
	dead.Close()
	if err := s.User("writer", accountSecret); err != nil {
		t.Fatal(err)
	}
	h := &shop{t: t, s: &lab.Server{URL: s.URL}, dir: t.TempDir()}
	h.env = steps.Env{Dir: h.dir, Home: h.dir, Environ: append([]string{"AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(h.dir, "credentials"), "AWS_CONFIG_FILE=" + filepath.Join(h.dir, "none")}, s.Env...)}
	h.write("credentials", "[writer]\naws_access_key_id = writer\naws_secret_access_key = "+accountSecret+"\n")
	ask := func(endpoint string) steps.Params {
		return steps.Params{"endpoint": steps.StringOf(endpoint), "name": steps.StringOf("handrail")}
	}
	// A dead address is set, and what it does is said.
	p, o, err := h.act("store/audit", ask(dead.URL+"/"))
	if err != nil || o.Result != steps.Failed || !strings.Contains(o.Response, "does not reach") {
		t.Fatalf("a dead address: %+v, %v, unmet %v", o, err, p.Unmet)
	}
	if p.Prior != nil || !strings.Contains(p.Undo, "reset") || p.Phrase != "write store audit_webhook/handrail" {
		t.Errorf("undo %q, phrase %q, prior %v", p.Undo, p.Phrase, p.Prior)
	}
	p, o, err = h.act("store/audit", ask(srv.URL+"/audit"))
	if err != nil || o.Result != steps.Done {
		t.Fatalf("%+v, %v, unmet %v", o, err, p.Unmet)
	}
	if p.Prior == nil || !strings.Contains(string(p.Prior.Raw), dead.URL) || !strings.Contains(strings.Join(p.Diff, "\n"), "- audit_webhook:handrail endpoint=") {
		t.Errorf("prior %+v, diff %q", p.Prior, p.Diff)
	}
	if err := h.put("writer", "x"); err == nil {
		t.Error("a user without a policy writes")
	}
	sink.denied(t)
	o, err = h.gate("store/audit").(steps.Finder).Find(t.Context(), p.Target, steps.Params{}, stepstest.NewSink())
	if err != nil || o.Result != steps.Done {
		t.Errorf("found: %+v, %v", o, err)
	}
	for name, tc := range map[string]struct {
		in   steps.Params
		want string
	}{
		"it is on already":  {ask(srv.URL + "/other"), "of each request already"},
		"far away in clear": {ask("http://audit.example/"), "The endpoint is refused"},
	} {
		p, err := h.gate("store/audit").Preview(t.Context(), tc.in, stepstest.NewSink())
		if err != nil || !strings.Contains(strings.Join(whys(p), " "), tc.want) {
			t.Errorf("%s: %v, %v", name, p.Unmet, err)
		}
	}
	in := ask(srv.URL + "/audit")
	in["profile"] = steps.StringOf("writer")
	if _, err := h.gate("store/audit").Preview(t.Context(), in, stepstest.NewSink()); !errors.Is(err, steps.ErrDenied) {
		t.Errorf("who does not administer it: %v", err)
	}
	if restart, err := s.Set("audit_webhook:handrail enable=off"); err != nil || restart {
		t.Fatal(restart, err)
	}
	if o, err = h.gate("store/audit").(steps.Finder).Find(t.Context(), p.Target, steps.Params{}, stepstest.NewSink()); err != nil || o.Result != steps.Failed {
		t.Errorf("found after it was switched off: %+v, %v", o, err)
	}
	if _, err := s.Set(`audit_webhook:other endpoint="http://user:word-of-the-sink@127.0.0.1:1/?token=token-of-the-sink" enable=off`); err != nil {
		t.Fatal(err)
	}
	out := stepstest.NewSink()
	if _, err := h.gate("store/audit").Preview(t.Context(), ask(srv.URL+"/"), out); err != nil || !slices.Contains(out.Secrets, "word-of-the-sink") || !slices.Contains(out.Secrets, "token=token-of-the-sink") {
		t.Errorf("what another target signs in with is no secret: %q, %v", out.Secrets, err)
	}
	// A store that is none of MinIO's is no place for it.
	other := openShop(t)
	if _, err := other.gate("store/audit").Preview(t.Context(), ask(srv.URL+"/"), stepstest.NewSink()); err == nil {
		t.Error("versitygw has an audit target")
	}
}

func whys(p steps.Preview) (out []string) {
	for _, n := range p.Unmet {
		out = append(out, n.Why)
	}
	return out
}

// TestSeal: what is sealed is opened by the same secret alone, whole.
func TestSeal(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 3 * pieceSize} {
		text := bytes.Repeat([]byte("a"), n)
		raw, err := seal("secret", text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unseal("secret", raw); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
		if _, err := unseal("another", raw); !errors.Is(err, errNotSealed) {
			t.Errorf("%d bytes, another secret: %v", n, err)
		}
		if _, err := unseal("secret", raw[:len(raw)-1]); !errors.Is(err, errNotSealed) {
			t.Errorf("%d bytes, cut: %v", n, err)
		}
		if n > pieceSize {
			if _, err := unseal("secret", raw[:saltSize+1+nonceSize+pieceSize+16]); !errors.Is(err, errNotSealed) {
				t.Errorf("%d bytes, the first piece alone: %v", n, err)
			}
		}
	}
}

// TestSinks reads settings as a MinIO prints them.
func TestSinks(t *testing.T) {
	t.Parallel()
	got, err := parseSinks("audit_webhook enable=off endpoint= auth_token= queue_dir= http_timeout=5s \naudit_webhook:dead endpoint=http://127.0.0.1:1/ client_cert= \n" +
		"audit_webhook:off enable=off endpoint=\"http://a b/\" \n# MINIO_AUDIT_WEBHOOK_ENABLE_x=on\n# MINIO_AUDIT_WEBHOOK_ENDPOINT_x=http://127.0.0.1:2/\naudit_webhook:x \n\n")
	want := []sink{{"", "", false, false}, {"dead", "http://127.0.0.1:1/", true, false}, {"off", "http://a b/", false, false}, {"x", "http://127.0.0.1:2/", true, true}}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	for _, text := range []string{"api requests_max=0", "audit_webhook endpoint", `audit_webhook endpoint="x`, `audit_webhook a"b=c`} {
		if got, err := parseSinks(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// FuzzSinks: settings that are read name each target once, and one that is on has an endpoint.
func FuzzSinks(f *testing.F) {
	f.Add("audit_webhook:a endpoint=\"x y\" enable=on\n# MINIO_AUDIT_WEBHOOK_ENDPOINT_a=z")
	f.Add("audit_webhook enable=off endpoint=")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseSinks(text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, s := range list {
			if seen[s.name] || s.on && s.endpoint == "" {
				t.Fatalf("%q: %+v", text, list)
			}
			seen[s.name] = true
		}
	})
}

// FuzzUnseal: no bytes of a server end the program.
func FuzzUnseal(f *testing.F) {
	raw, err := seal("secret", []byte("text"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(make([]byte, 60))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 41 && raw[32] > 1 {
			return // a key is made for a known cipher alone
		}
		if text, err := unseal("secret", raw); err == nil && len(text) > len(raw) {
			t.Fatal("more came out than went in")
		}
	})
}
