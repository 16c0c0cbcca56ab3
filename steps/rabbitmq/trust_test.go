package rabbitmq

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"handrail/steps"
)

// Probes read and do nothing else: by what passes a proxy, and by the log that
// the broker keeps itself.
func TestProbesOnlyGet(t *testing.T) {
	t.Parallel()
	w := brokerOf(t)
	var mu sync.Mutex
	var passed []string
	early := false
	out := &sink{}
	url := front(t, w, func(rw http.ResponseWriter, r *http.Request, broker http.Handler) {
		mu.Lock()
		passed = append(passed, r.Method+" "+r.URL.EscapedPath())
		out.mu.Lock()
		early = early || !slices.Contains(out.secrets, viewerWord)
		out.mu.Unlock()
		mu.Unlock()
		broker.ServeHTTP(rw, r)
	})
	env := operator(t, url, viewer, viewerWord)
	env.Version = "log-of-the-broker"
	for _, k := range Kinds() {
		in := steps.Params{"url": steps.StringOf(url), "wanted": steps.StringOf("/"), "vhost": steps.StringOf("/platform"), "declared": steps.StringOf(declaredParcels)}
		if _, err := k.Reads(env).Probe(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"GET /api/whoami", "GET /api/vhosts", "GET /api/bindings/%2Fplatform", "GET /api/exchanges/%2Fplatform", "GET /api/queues/%2Fplatform",
		"GET /api/vhosts", "GET /api/whoami"}
	// Then single names in other virtual hosts, of which tests make some beside.
	beside := slices.ContainsFunc(passed[min(len(want), len(passed)):], func(r string) bool {
		return !strings.HasPrefix(r, "GET /api/queues/") && !strings.HasPrefix(r, "GET /api/exchanges/")
	})
	if len(passed) < len(want) || !slices.Equal(passed[:len(want)], want) || beside || len(passed) > len(want)+mostVhosts*mostNamed || early {
		t.Errorf("%q passed, want %q; before the password was told: %v", passed, want, early)
	}
	// The broker writes its log beside its answers.
	for look := time.NewTicker(50 * time.Millisecond); logged(t, w) < len(want); {
		select {
		case <-look.C:
		case <-t.Context().Done():
			t.Fatal("the broker does not log what handrail asked")
		}
	}
}

// logged counts the requests of this test in the log of the broker, each a GET.
func logged(t *testing.T, w world) (seen int) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(w.Dir, "http", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range logs {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if !strings.Contains(line, "handrail/log-of-the-broker") || !strings.HasSuffix(line, "\n") {
				continue
			}
			if seen++; !strings.Contains(line, `"GET `) {
				t.Errorf("the broker logged %s", line)
			}
		}
	}
	return seen
}

// Credentials go to the address that they are written beside, and nowhere else.
func TestCredentialsStay(t *testing.T) {
	t.Parallel()
	asked := 0
	stranger := front(t, world{Server: brokerOf(t).Server}, func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) {
		asked++
		rw.WriteHeader(http.StatusTeapot)
	})
	ours := front(t, brokerOf(t), func(rw http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(rw, r, stranger+"/api/whoami", http.StatusTemporaryRedirect)
	})
	env := operator(t, ours, viewer, viewerWord)
	for name, tc := range map[string]struct{ url, want string }{
		"another address":   {stranger, "this broker was not named"},
		"another prefix":    {ours + "/mq", "this broker was not named"},
		"credentials in it": {strings.Replace(stranger, "://", "://a:b@", 1), "holds credentials"},
		"another name":      {strings.Replace(ours, "127.0.0.1", "localhost", 1), "this broker was not named"},
		"a redirect":        {ours, "another server"},
		"no address":        {"broker", "not the address"},
		"dots":              {ours + "/x/..", "two ways"},
	} {
		if _, _, err := probe(t, env, "rabbitmq/vhosts", map[string]string{"url": tc.url}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	if asked > 0 {
		t.Errorf("the stranger was asked %d times", asked)
	}
	// A file of the directory that is worked in is no file of the operator.
	for _, name := range []string{"brokers.yaml", ".config/handrail/brokers.yaml"} {
		write(t, filepath.Join(env.Dir, name), "apiVersion: handrail/v1\nkind: Brokers\nbrokers: [{url: "+stranger+", user: x, password_env: HOME}]\n")
	}
	if _, _, err := probe(t, env, "rabbitmq/vhosts", map[string]string{"url": stranger}); err == nil || asked > 0 {
		t.Errorf("the stranger was asked, %v", err)
	}
	env.Environ = []string{brokersVariable + "=brokers.yaml"}
	if _, _, err := probe(t, env, "rabbitmq/vhosts", map[string]string{"url": stranger}); err == nil || !strings.Contains(err.Error(), "whole path") || asked > 0 {
		t.Errorf("a file that depends on the directory: %v", err)
	}
	env.Environ = nil
	env.Home = ""
	if _, _, err := probe(t, env, "rabbitmq/vhosts", map[string]string{"url": ours}); err == nil {
		t.Error("without a home a broker was found")
	}
}

func TestParseBrokers(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: handrail/v1\nkind: Brokers\nbrokers:\n"
	getenv := func(name string) string { return map[string]string{"WORD": "from-the-environment"}[name] }
	for _, tc := range []struct{ text, want string }{
		{head + "- {url: https://broker.example:15671, user: oncall, password_env: WORD}\n", ""},
		{head + "- {url: 'http://[::1]:15672/mq/', user: oncall, password_env: WORD}\n", ""},
		{head + "- {url: http://10.0.0.7:15672, user: oncall, password_env: WORD, plain_http: true}\n", ""},
		{head + "  []\n", ""},
		{head + "- {url: http://10.0.0.7:15672, user: oncall, password_env: WORD}\n", "plain_http: true"},
		{head + "- {url: http://127.evil.example:15672, user: oncall, password_env: WORD}\n", "plain_http: true"},
		{head + "- {url: https://broker, user: oncall}\n", "password_file"},
		{head + "- {url: https://broker, user: oncall, password_env: A, password_file: b}\n", "password_file"},
		{head + "- {url: https://broker, user: 'a:b', password_env: WORD}\n", "colon"},
		{head + "- {url: https://broker, user: a, password: in-the-file}\n", `no key "password"`},
		{head + "- {url: https://broker, user: a, password_env: WORD}\n- {url: HTTPS://BROKER:443/api, user: b, password_env: WORD}\n", "again"},
		{head + "- {url: https://broker, url: https://other, user: a, password_env: WORD}\n", "twice"},
		{head + "- &a {url: https://broker, user: a, password_env: WORD}\n- *a\n", "mapping"},
		{head + "- {url: https://broker, user: a, password_env: WORD, plain_http: maybe}\n", "true or false"},
		{head + "- {url: https://broker, user: a, password_env: WORD, ca_file: /nowhere/ca.pem}\n", "no such file"},
		{"kind: Brokers\n", "apiVersion"},
		{head + "- a\n---\nb: c\n", "one document"},
		{"\tx", "not a file of brokers"},
		{"", "not a file of brokers"},
	} {
		_, err := parseBrokers([]byte(tc.text), t.TempDir(), getenv)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %q", tc.text, err, tc.want)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "word"), "two\nlines\n")
	all, err := parseBrokers([]byte(head+"- {url: https://a, user: u, password_file: word}\n- {url: https://b, user: u, password_env: NONE}\n- {url: https://c, user: u, password_env: WORD}\n"), dir, getenv)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"on one line", "is not set", ""} {
		if word, err := all[i].password(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && word != "from-the-environment" {
			t.Errorf("%s: %q %v", all[i].base, word, err)
		}
	}
}
