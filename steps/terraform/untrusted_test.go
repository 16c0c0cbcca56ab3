package terraform

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/state"
	"handrail/steps/transport"
)

const operatorsKubeconfig = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://kube.example:6443"}}]
users: [{name: u, user: {token: mine-and-mine-alone}}]
`

var errUntrusted = errors.New("not trusted")

// clone makes a root module of a stranger with one backend.
func clone(t *testing.T, kind, config string) steps.Env {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"`+kind+`","config":{`+config+`}}}`)
	return steps.Env{Dir: dir, Home: t.TempDir(), Now: time.Now, Trusted: func(string) error { return errUntrusted }}
}

// listener is a server that keeps what it was asked.
type listener struct {
	*httptest.Server
	mu   sync.Mutex
	reqs []*http.Request
}

func listen(t *testing.T) *listener {
	t.Helper()
	h := &listener{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.reqs = append(h.reqs, r)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *listener) all() []*http.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reqs
}

// theirs are settings of each backend that name the server at host by themselves,
// with credentials of their own.
func theirs(host string) map[string]string {
	keys := `"bucket":"b","key":"k","region":"r-1","access_key":"A","secret_key":"S"`
	return map[string]string{
		"http":       `"address":"http://` + host + `/x?y=1","headers":{"X-Api":"z"}`,
		"s3":         keys + `,"use_path_style":true,"endpoints":{"s3":"http://` + host + `"}`,
		"consul":     `"address":"` + host + `","path":"p"`,
		"gcs":        `"bucket":"b","access_token":"t","storage_custom_endpoint":"http://` + host + `/storage/v1"`,
		"pg":         `"conn_str":"postgres://u:p@` + host + `/d?sslmode=disable"`,
		"kubernetes": `"host":"http://` + host + `","token":"t","secret_suffix":"s"`,
	}
}

// TestStrangersCloneAsksNothingByItself opens the command centre in a clone that
// is not trusted, with each backend: its server hears of it when a person asks,
// and not before.
func TestStrangersCloneAsksNothingByItself(t *testing.T) {
	t.Parallel()
	for kind, config := range theirs("") {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := listen(t)
			config = theirs(strings.TrimPrefix(h.URL, "http://"))[kind]
			env := clone(t, kind, config)
			for _, q := range []string{steps.LockedRuns, steps.PartialApplies} {
				a, ok := state.Ask(t.Context(), env, q, func(string) {})
				if !ok || len(h.all()) > 0 {
					t.Fatalf("%s sent %d requests by itself", q, len(h.all()))
				}
				if len(a.Gaps) != 1 || a.Gaps[0].Kind != steps.NotAsked || !strings.Contains(a.Gaps[0].Say, "handrail trust") {
					t.Errorf("%s says %+v, want that it was not asked and how it would be", q, a.Gaps)
				}
			}
			if kind == "pg" {
				return // no HTTP to be heard
			}
			_, _ = probe(t.Context(), env, "terraform/state", nil, stepstest.NewSink())
			reqs := h.all()
			if len(reqs) == 0 {
				t.Fatal("a person asked, and nothing was sent")
			}
			for _, r := range reqs {
				if r.Header.Get("X-Api") != "" {
					t.Errorf("%s %s has the header of the clone", r.Method, r.URL)
				}
			}
			env.Trusted = func(string) error { return nil }
			if _, err := probe(t.Context(), env, "terraform/state", nil, stepstest.NewSink()); kind == "http" && (err != nil || h.all()[len(h.all())-1].Header.Get("X-Api") != "z") {
				t.Errorf("trusted, the header is not sent: %v", err)
			}
			before := len(h.all())
			_, _ = state.Ask(t.Context(), env, steps.PartialApplies, func(string) {})
			if len(h.all()) == before {
				t.Error("trusted, the command centre does not ask")
			}
		})
	}
}

// TestCloudsOfAStrangerAreNotAskedEither: a bucket and an account are addresses
// as well, and a signed read tells its owner who asked.
func TestCloudsOfAStrangerAreNotAskedEither(t *testing.T) {
	t.Parallel()
	for kind, config := range map[string]string{
		"s3": `"bucket":"theirs","key":"k","region":"eu-central-1"`, "gcs": `"bucket":"theirs"`,
		"azurerm":    `"storage_account_name":"theirs","container_name":"c","key":"k"`,
		"kubernetes": `"config_context":"theirs","secret_suffix":"s"`,
	} {
		env := clone(t, kind, config)
		a, _ := state.Ask(t.Context(), env, steps.LockedRuns, func(string) {})
		if len(a.Gaps) != 1 || a.Gaps[0].Kind != steps.NotAsked || !strings.Contains(a.Gaps[0].Say, "theirs") {
			t.Errorf("%s: %+v, want that the bucket was not asked", kind, a)
		}
	}
}

// TestOwnServersAreAskedByThemselves: what the operator's environment names is
// theirs, whatever directory they stand in.
func TestOwnServersAreAskedByThemselves(t *testing.T) {
	t.Parallel()
	h := listen(t)
	env := clone(t, "http", "")
	env.Environ = []string{"TF_HTTP_ADDRESS=" + h.URL + "/s"}
	_, _ = state.Ask(t.Context(), env, steps.PartialApplies, func(string) {})
	if len(h.all()) == 0 {
		t.Error("the operator's own server was not asked")
	}
}

// TestMetadataIsRefusedAlways: no directory, trusted or not, makes handrail ask an
// address at which a machine gets its credentials, by itself or through a proxy.
func TestMetadataIsRefusedAlways(t *testing.T) {
	t.Parallel()
	for kind := range theirs("") {
		for _, form := range []string{"169.254.169.254", "2852039166", "metadata.google.internal"} {
			for _, proxied := range []bool{false, true} {
				if proxied && kind == "pg" {
					continue // it knows no proxy
				}
				t.Run(fmt.Sprintf("%s/%s/%t", kind, form, proxied), func(t *testing.T) {
					t.Parallel()
					env := clone(t, kind, theirs(form)[kind])
					env.Trusted = func(string) error { return nil }
					proxy := listen(t)
					if proxied {
						env.Environ = []string{"HTTP_PROXY=" + proxy.URL, "HTTPS_PROXY=" + proxy.URL}
					}
					_, err := probe(t.Context(), env, "terraform/state", nil, stepstest.NewSink())
					if refused := (*transport.MetadataError)(nil); !errors.As(err, &refused) {
						t.Errorf("%v, want a refusal", err)
					}
					if n := len(proxy.all()); n > 0 {
						t.Errorf("the proxy was asked %d times", n)
					}
				})
			}
		}
	}
}

// TestProfilesOfADirectoryRunNothing: a credential_process runs from the
// operator's own files alone.
func TestProfilesOfADirectoryRunNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		profile string // in the file of the directory, RUN stands for the program
		refused bool
	}{
		{"plain", "[default]\ncredential_process = RUN\n", true},
		{"through a source", "[default]\nrole_arn = arn:aws:iam::123456789012:role/r\nsource_profile = two\n[two]\ncredential_process = RUN\n", true},
		{"keys alone", "[default]\naws_access_key_id = A\naws_secret_access_key = S\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, setting := range []string{"shared_credentials_files", "shared_config_files"} {
				env := clone(t, "s3", `"bucket":"b","key":"k","region":"r-1","endpoints":{"s3":"http://127.0.0.1:1"},"`+setting+`":["profiles"]`)
				env.Trusted = func(string) error { return nil }
				ran := filepath.Join(env.Dir, "ran")
				text := strings.ReplaceAll(tc.profile, "RUN", fmt.Sprintf(`touch %s`, ran))
				if setting == "shared_config_files" {
					text = strings.ReplaceAll(text, "[two]", "[profile two]")
				}
				writeFile(t, env.Dir, "profiles", text)
				_, _, err := backend.OpenAt(t.Context(), env, nil, stepstest.NewSink())
				if _, gone := os.Stat(ran); gone == nil {
					t.Fatalf("%s: the program of the directory ran", setting)
				}
				if tc.refused != (err != nil && strings.Contains(err.Error(), "credential_process")) {
					t.Errorf("%s: %v, want a refusal: %t", setting, err, tc.refused)
				}
			}
		})
	}
}

// TestOwnProfileMayRunAProgram: the operator's own file is theirs, also where the
// directory names it.
func TestOwnProfileMayRunAProgram(t *testing.T) {
	t.Parallel()
	env := clone(t, "s3", `"bucket":"b","key":"k","region":"r-1","shared_config_files":["~/.aws/config"]`)
	env.Trusted = func(string) error { return nil }
	writeFile(t, env.Home, "keys", `{"Version":1,"AccessKeyId":"A","SecretAccessKey":"own-secret"}`)
	writeFile(t, env.Home, ".aws/config", "[default]\ncredential_process = cat "+filepath.Join(env.Home, "keys")+"\n")
	sink := stepstest.NewSink()
	if _, _, err := backend.OpenAt(t.Context(), env, nil, sink); err != nil {
		t.Fatal(err)
	}
	if !contains(sink.Secrets, "own-secret") {
		t.Error("the operator's own program was not asked")
	}
}

// TestRegionIsNoAddress: a region is a part of the name that is asked for
// credentials.
func TestRegionIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, region := range []string{"evil.example#", "x@evil.example/", "evil.example:80/", "a b"} {
		for _, key := range []string{"region", "sts_region"} {
			config := map[string]string{"region": "r-1", key: region}
			env := clone(t, "s3", fmt.Sprintf(`"bucket":"b","key":"k","access_key":"A","secret_key":"S","region":%q,"sts_region":%q`, config["region"], config["sts_region"]))
			if _, _, err := backend.OpenAt(t.Context(), env, nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), "not a region") {
				t.Errorf("%s %q: %v, want a refusal", key, region, err)
			}
		}
	}
}

// TestPassFileWithAWildcardIsLent: a line for every host is for every host that a
// stranger names.
func TestPassFileWithAWildcardIsLent(t *testing.T) {
	t.Parallel()
	for text, lent := range map[string]bool{"*:*:*:*:mine": true, "db.example:*:*:*:mine": false, "# *:*:*:*:x": false} {
		env := clone(t, "pg", `"conn_str":"postgres://u@db.example/d"`)
		writeFile(t, env.Home, ".pgpass", text)
		_, _, err := backend.OpenAt(t.Context(), env, nil, stepstest.NewSink())
		if got := err != nil && strings.Contains(err.Error(), "credentials of yours"); got != lent {
			t.Errorf("%q: %v, want a refusal: %t", text, err, lent)
		}
	}
}

// TestKubeconfigBesideOnesOwnBorrowsNoToken: a context of the clone's kubeconfig
// may name a user of the operator's.
func TestKubeconfigBesideOnesOwnBorrowsNoToken(t *testing.T) {
	t.Parallel()
	var sent atomic.Value
	far := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent.Store(r.Header.Get("Authorization")) }))
	t.Cleanup(far.Close)
	env := clone(t, "kubernetes", `"config_paths":["~/.kube/config","theirs"],"config_context":"theirs","secret_suffix":"s"`)
	writeFile(t, env.Home, ".kube/config", operatorsKubeconfig)
	writeFile(t, env.Dir, "theirs", `{apiVersion: v1, kind: Config, contexts: [{name: theirs, context: {cluster: theirs, user: u}}], clusters: [{name: theirs, cluster: {server: "`+far.URL+`", insecure-skip-tls-verify: true}}]}`)
	if _, err := probe(t.Context(), env, "terraform/state", nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), "credentials of yours") {
		t.Errorf("%v, want that the token is not lent", err)
	}
	if v := sent.Load(); v != nil {
		t.Errorf("%q was sent", v)
	}
}

// TestDirectoryRunsNoPlugin: neither the settings nor a kubeconfig of a directory
// have a read run a program, trusted or not.
func TestDirectoryRunsNoPlugin(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"settings":   `"host":"https://127.0.0.1:1","secret_suffix":"s","exec":[{"api_version":"client.authentication.k8s.io/v1","command":"touch","args":["RAN"]}]`,
		"kubeconfig": `"config_path":"theirs","secret_suffix":"s"`,
		"beside":     `"config_paths":["~/.kube/config","theirs"],"config_context":"theirs","secret_suffix":"s"`,
	} {
		ran := filepath.Join(t.TempDir(), "ran")
		env := clone(t, "kubernetes", strings.ReplaceAll(config, "RAN", ran))
		env.Trusted = func(string) error { return nil }
		writeFile(t, env.Home, ".kube/config", operatorsKubeconfig)
		writeFile(t, env.Dir, "theirs", `{apiVersion: v1, kind: Config, current-context: theirs, contexts: [{name: theirs, context: {cluster: c, user: theirs}}], clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}],
 users: [{name: theirs, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: ["`+ran+`"], interactiveMode: Never}}}]}`)
		if _, err := probe(t.Context(), env, "terraform/state", nil, stepstest.NewSink()); err == nil || name != "settings" && !strings.Contains(err.Error(), "for your own kubeconfig only") {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s: the program ran", name)
		}
	}
}
