package registry

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestImage asks the lab's real registry.
func TestImage(t *testing.T) {
	t.Parallel()
	p := startRegistry(t, false)
	const repo = "team/api"
	first := p.image(repo, "1.0", "first")
	name := p.host + "/" + repo

	t.Run("a tag that resolves", func(t *testing.T) {
		obs, out := must(t, "image", nil, map[string]string{"image": name + ":1.0"}, map[string]string{"reference": name + ":1.0", "ref_kind": "tag", "registry": "up", "reason": "none",
			"read_as": "anonymous", "digest_now": first.Digest, "digest": "?", "media_type": ociManifest, "size": fmt.Sprint(first.Size), "platforms": "?", "tag_now": "?", "expected_present": "?"})
		if digestOf(out.Artifacts["manifest"].Bytes()) != first.Digest || !strings.Contains(out.Artifacts["headers"].String(), "Docker-Content-Digest: "+first.Digest) {
			t.Errorf("kept: %v", out.Artifacts)
		}
		if len(obs.Findings)+len(obs.Gaps) > 0 {
			t.Errorf("%v %v", obs.Findings, obs.Gaps)
		}
	})
	t.Run("as promoted", func(t *testing.T) {
		must(t, "image", nil, map[string]string{"image": name + ":1.0", "expected": first.Digest}, map[string]string{"digest": "match"})
		must(t, "image", nil, map[string]string{"image": name + "@" + first.Digest}, map[string]string{"digest": "match", "ref_kind": "digest", "digest_now": first.Digest})
	})
	t.Run("moved after the promotion", func(t *testing.T) {
		old := p.image(repo, "moved", "old")
		now := p.image(repo, "moved", "new")
		obs, _ := must(t, "image", nil, map[string]string{"image": name + ":moved", "expected": old.Digest},
			map[string]string{"digest": "mismatch", "digest_now": now.Digest, "registry": "up", "expected_present": "yes"})
		if !finds(obs, "supply chain") {
			t.Errorf("%v", obs.Findings)
		}
		obs, _ = must(t, "image", nil, map[string]string{"image": name + ":moved@" + old.Digest}, map[string]string{"digest": "match", "ref_kind": "digest", "tag_now": now.Digest})
		if !finds(obs, "The tag moved is") {
			t.Errorf("%v", obs.Findings)
		}
		p.send(http.MethodDelete, "http://"+p.host+"/v2/"+repo+"/manifests/"+old.Digest, "", nil, http.StatusAccepted)
		must(t, "image", nil, map[string]string{"image": name + ":moved", "expected": old.Digest}, map[string]string{"digest": "mismatch", "expected_present": "no"})
		must(t, "image", nil, map[string]string{"image": name + "@" + old.Digest}, map[string]string{"digest": "missing", "registry": "up"})
	})
	t.Run("an index", func(t *testing.T) {
		arm := p.image(repo, "", "arm")
		index := p.manifest(repo, "many", upload{MediaType: ociIndex, Manifests: []entry{
			{MediaType: ociManifest, Digest: first.Digest, Size: first.Size, Platform: map[string]string{"os": "linux", "architecture": "amd64"}},
			{MediaType: ociManifest, Digest: arm.Digest, Size: arm.Size, Platform: map[string]string{"os": "linux", "architecture": "arm64", "variant": "v8"}}}})
		obs, _ := must(t, "image", nil, map[string]string{"image": name + ":many", "expected": arm.Digest},
			map[string]string{"digest_now": index.Digest, "media_type": ociIndex, "platforms": `["linux/amd64" "linux/arm64/v8"]`, "digest": "mismatch", "expected_present": "yes"})
		if !finds(obs, "linux/arm64/v8") {
			t.Errorf("%v", obs.Findings)
		}
	})
	t.Run("a tag that is missing", func(t *testing.T) {
		must(t, "image", nil, map[string]string{"image": name + ":none", "expected": first.Digest}, map[string]string{"registry": "up", "digest": "missing", "digest_now": "?"})
	})
	t.Run("a repository that may be hidden", func(t *testing.T) {
		obs, _ := must(t, "image", nil, map[string]string{"image": p.host + "/team/hidden:1", "expected": first.Digest}, map[string]string{"registry": "up", "digest": "?", "digest_now": "?"})
		if why := obs.Facts["digest"].Why(); !strings.Contains(why, "_UNKNOWN") || !strings.Contains(why, "it is not there, or the registry hides it") {
			t.Error(why)
		}
	})
	t.Run("nothing listens", func(t *testing.T) {
		obs, _ := must(t, "image", nil, map[string]string{"image": silentHost(t) + "/team/api:1", "expected": first.Digest}, map[string]string{"registry": "down", "reason": "unreachable", "digest": "?", "digest_now": "?"})
		if len(obs.Gaps) == 0 {
			t.Error("no gap")
		}
	})
}

// TestDenied asks the lab's real registry with a password.
func TestDenied(t *testing.T) {
	t.Parallel()
	p := startRegistry(t, true)
	d := p.image("team/api", "1.0", "first")
	in := map[string]string{"image": p.host + "/team/api:1.0", "expected": d.Digest}
	unread := map[string]string{"registry": "denied", "reason": "unauthenticated", "digest": "?", "digest_now": "?"}
	for what, environ := range map[string][]string{
		"no account":            nil,
		"an account elsewhere":  dockerEnv(t, authOf("127.0.0.1:1", labUser, labSecret)),
		"another password":      dockerEnv(t, authOf(p.host, labUser, "not-the-passphrase")),
		"a program has it":      dockerEnv(t, `{"credsStore":"handrail-must-not-run","auths":{"`+p.host+`":{}}}`),
		"a program of the host": dockerEnv(t, `{"credHelpers":{"`+p.host+`":"handrail-must-not-run"}}`),
	} {
		obs, _ := must(t, "image", environ, in, unread)
		if strings.HasPrefix(what, "a program") && !strings.Contains(strings.Join(obs.Gaps, " "), "docker-credential-handrail-must-not-run, which a probe does not run") {
			t.Errorf("%s: %v", what, obs.Gaps)
		}
	}
	obs, out := must(t, "image", dockerEnv(t, authOf(p.host, labUser, labSecret)), in, map[string]string{"registry": "up", "digest": "match", "read_as": "account"})
	if !slices.Contains(out.Secrets, labSecret) || strings.Contains(obs.Command, labSecret) {
		t.Errorf("secrets %q, command %q", out.Secrets, obs.Command)
	}
	must(t, "image", dockerEnv(t, authOf(p.host, labUser, labSecret)), map[string]string{"image": p.host + "/team/none:1"}, map[string]string{"digest": "missing", "read_as": "account"})
}

// handler is a small registry of this test, for answers that a real one does not give.
func handler(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

const smallManifest = `{"schemaVersion":2,"mediaType":"` + ociManifest + `","config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}`

// TestRefusals holds the answers of a small handler to what they mean.
func TestRefusals(t *testing.T) {
	t.Parallel()
	other := "sha256:" + strings.Repeat("ab", 32)
	for what, tc := range map[string]struct {
		status int
		body   string
		header map[string]string
		want   map[string]string
	}{
		"a header that lies":       {200, smallManifest, map[string]string{"Content-Type": ociManifest, "Docker-Content-Digest": other}, map[string]string{"registry": "up", "digest_now": "?", "digest": "?"}},
		"a header without digest":  {200, smallManifest, map[string]string{"Content-Type": ociManifest}, map[string]string{"registry": "up", "digest_now": digestOf([]byte(smallManifest)), "digest": "mismatch"}},
		"two media types":          {200, smallManifest, map[string]string{"Content-Type": ociIndex}, map[string]string{"registry": "up", "digest_now": "?", "digest": "?"}},
		"a page of a web server":   {200, "<html>", map[string]string{"Content-Type": "text/html"}, map[string]string{"digest_now": "?", "digest": "?"}},
		"too long":                 {200, strings.Repeat(" ", mostManifest+1), nil, map[string]string{"registry": "?", "digest": "?"}},
		"404 of a web server":      {404, "not found", nil, map[string]string{"registry": "?", "digest": "?"}},
		"forbidden":                {403, `{"errors":[{"code":"DENIED","message":"no"}]}`, nil, map[string]string{"registry": "denied", "reason": "forbidden", "digest": "?"}},
		"asked too often":          {429, `{"errors":[{"code":"TOOMANYREQUESTS","message":"slow"}]}`, map[string]string{"Retry-After": "60"}, map[string]string{"registry": "down", "reason": "too-many-requests", "digest": "?"}},
		"server error":             {503, "", nil, map[string]string{"registry": "down", "reason": "server-error", "digest": "?"}},
		"no challenge":             {401, "", nil, map[string]string{"registry": "denied", "reason": "unauthenticated", "digest": "?"}},
		"a challenge of nonsense":  {401, "", map[string]string{"WWW-Authenticate": `Bearer realm="`}, map[string]string{"registry": "?", "digest": "?"}},
		"a realm elsewhere":        {401, "", map[string]string{"WWW-Authenticate": `Bearer realm="https://tokens.example.net/token",service="x"`}, map[string]string{"registry": "?", "digest": "?", "read_as": "anonymous"}},
		"a realm of a machine":     {401, "", map[string]string{"WWW-Authenticate": `Bearer realm="http://169.254.169.254/token"`}, map[string]string{"registry": "?", "digest": "?", "read_as": "anonymous"}},
		"a redirect elsewhere":     {307, "", map[string]string{"Location": "https://blobs.example.net/x?sig=secret"}, map[string]string{"registry": "?", "digest": "?"}},
		"a redirect to the same":   {307, "", map[string]string{"Location": "/again"}, map[string]string{"registry": "?", "digest": "?"}},
		"packed, though not asked": {200, smallManifest, map[string]string{"Content-Type": ociManifest, "Content-Encoding": "br"}, map[string]string{"registry": "?", "digest": "?"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			host := handler(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range tc.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.body)
			})
			// With an account, which must not reach another realm.
			obs, _ := must(t, "image", dockerEnv(t, authOf(host, labUser, labSecret)), map[string]string{"image": host + "/team/api:1", "expected": other}, tc.want)
			if what == "a header that lies" && !finds(obs, "hands out other bytes than it names") {
				t.Errorf("%v", obs.Findings)
			}
			if text := fmt.Sprint(obs.Summary, obs.Gaps); strings.Contains(text, "sig=secret") {
				t.Error(text)
			}
			for name, v := range obs.Facts {
				if v.Text() == missing {
					t.Errorf("%s = %s", name, v.Text())
				}
			}
			key := newSigner(t, "ecdsa")
			if tc.want["digest_now"] == "?" || tc.want["registry"] != "up" {
				must(t, "signature", nil, map[string]string{"image": host + "/team/api:1", "key": key.file}, map[string]string{"signature": "?", "attestations": "?", "sbom": "?", "provenance": "?", "signers": "?"})
			}
		})
	}
}

// TestToken asks a small handler that gives out tokens, as most registries do.
func TestToken(t *testing.T) {
	t.Parallel()
	var host string
	host = handler(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, basic := r.BasicAuth()
		switch {
		case r.Method != http.MethodGet:
			t.Errorf("%s %s", r.Method, r.URL)
		case r.URL.Path == "/token" && (r.URL.Query().Get("scope") != "repository:team/api:pull" || r.URL.Query().Get("service") != "lab, inc"):
			w.WriteHeader(http.StatusBadRequest)
		case r.URL.Path == "/token" && (!basic || user == labUser && password == labSecret):
			fmt.Fprintf(w, `{"token":"token-of-%s-0123456789"}`, user)
		case r.URL.Path == "/token":
			w.WriteHeader(http.StatusUnauthorized)
		case r.Header.Get("Authorization") == "Bearer token-of-lab-0123456789":
			w.Header().Set("Content-Type", ociManifest)
			fmt.Fprint(w, smallManifest)
		case r.Header.Get("Authorization") != "":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"errors":[{"code":"UNAUTHORIZED","message":"%s may not"}]}`, r.Header.Get("Authorization"))
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+host+`/token",service="lab, inc",scope="repository:team/api:pull,push"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	in := map[string]string{"image": host + "/team/api:1"}
	_, out := must(t, "image", dockerEnv(t, authOf(host, labUser, labSecret)), in, map[string]string{"registry": "up", "read_as": "account", "digest_now": digestOf([]byte(smallManifest))})
	for _, secret := range []string{labSecret, "token-of-lab-0123456789"} {
		if !slices.Contains(out.Secrets, secret) {
			t.Errorf("%s is no secret of the incident: %q", secret, out.Secrets)
		}
	}
	must(t, "image", nil, in, map[string]string{"registry": "denied", "reason": "unauthenticated", "read_as": "anonymous", "digest_now": "?"})
	must(t, "image", dockerEnv(t, authOf(host, labUser, "wrong")), in, map[string]string{"registry": "denied", "reason": "unauthenticated", "read_as": "account"})
}
