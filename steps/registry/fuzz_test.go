package registry

import (
	"regexp"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// FuzzReference reads references: what is taken reads the same once it is written out, and makes no other path.
func FuzzReference(f *testing.F) {
	sum := "sha256:" + strings.Repeat("0a", 32)
	for _, s := range []string{"nginx", "nginx:1.25", "team/api", "registry.example.com/team/api:1.4.2", "localhost/a:b", "127.0.0.1:5000/a@" + sum, "[::1]:5000/a/b:c@" + sum,
		"docker.io/nginx", "index.docker.io/library/nginx", "a/../b", "a//b", "host:99/A", "x@sha512:00", "h.example/a:b:c", "user:pass@host/a", "é/a", "a%2f/b", "h.example/a?b", "UPPER/a"} {
		f.Add(s)
	}
	image := regexp.MustCompile(`^(?:` + imageForm + `)$`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseReference(text)
		if err != nil {
			return
		}
		again, err := parseReference(r.String())
		if err != nil || again != r {
			t.Fatalf("%q reads as %+v, and that as %+v, %v", text, r, again, err)
		}
		if !image.MatchString(text) {
			t.Fatalf("%q is taken and no parameter may be it", text)
		}
		c := client{reference: r}
		path := c.path("manifests", r.pulled())
		if strings.ContainsAny(path, "?#%\\ ") || strings.Contains(path, "..") || strings.Count(path, "/manifests/") != 1+strings.Count("/"+r.name+"/", "/manifests/") {
			t.Fatalf("%q asks for %q", text, path)
		}
		if u, err := r.base(); err == nil && (u.User != nil || u.Scheme == "http" && !onThisMachine(u.Host)) {
			t.Fatalf("%q is asked at %s", text, u)
		}
	})
}

// FuzzManifest feeds manifests and indexes, with the type of their header.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(smallManifest), ociManifest)
	f.Add([]byte(`{"schemaVersion":2,"mediaType":"`+ociIndex+`","manifests":[{"digest":"sha256:ab","size":1,"platform":{"os":"linux","architecture":"arm64","variant":"v8"}}]}`), ociIndex+"; charset=utf-8")
	f.Add([]byte(`{"manifests":[{"digest":"sha256:ab","size":-1}]}`), dockerList)
	f.Add([]byte(`{"layers":[{}]}`), "text/html")
	f.Add([]byte("null"), "")
	f.Fuzz(func(t *testing.T, raw []byte, kind string) {
		m, err := parseManifest(raw, kind)
		if err != nil {
			return
		}
		if len(m.Layers)+len(m.Manifests) > mostEntries || m.index() && len(m.Layers) > 0 || !m.index() && len(m.Manifests) > 0 {
			t.Fatalf("%+v", m)
		}
		a := inquiry{client: &client{}, f: steps.NewFacts(imageFacts())}
		a.tellManifest(response{manifest: m, raw: raw, digest: digestOf(raw)})
		if err := stepstest.Declared(imageFacts(), a.f.Rest("it was not read")); err != nil {
			t.Fatal(err)
		}
		for _, d := range m.Manifests {
			if p := d.platform(); strings.ContainsAny(p, "\n\r") || len(p) > 110 {
				t.Fatalf("platform %q", p)
			}
		}
		at := attachments{predicates: map[string]bool{}}
		for _, l := range m.Layers {
			at.envelope(l.Annotations[predicateNote])
		}
		for p := range at.predicates {
			if strings.ContainsAny(p, "\n\r") || len(p) > 210 {
				t.Fatalf("predicate %q", p)
			}
		}
	})
}

// FuzzEnvelope feeds envelopes and bundles: whatever comes, no key holds over it.
func FuzzEnvelope(f *testing.F) {
	key, err := parseKey([]byte("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEiLCJzdWJqZWN0IjpbeyJkaWdlc3QiOnsic2hhMjU2IjoiYWEifX1dfQ==","signatures":[{"sig":"AAAA"}]}`))
	f.Add([]byte(`{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"publicKey":{"hint":"k"}},"messageSignature":{}}`))
	f.Add([]byte(`{"dsseEnvelope":null,"signatures":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := parseEnvelope(raw)
		if err != nil {
			return
		}
		if e.signedBy(key) || len(e.digests) > mostSubjects || e.about("sha256:x") == "sha256:x" {
			t.Fatalf("%+v", e)
		}
	})
}

// FuzzPayload feeds payloads, keys and signatures.
func FuzzPayload(f *testing.F) {
	f.Add([]byte(`{"critical":{"identity":{"docker-reference":"testing/manifest"},"image":{"Docker-manifest-digest":"sha256:20be"},"type":"cosign container image signature"},"optional":{"creator":"atomic"}}`), "MEUCIBKI9FIC", []byte("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"))
	f.Add([]byte(`{"critical":null}`), "", []byte("-----BEGIN RSA PUBLIC KEY-----\nAA==\n-----END RSA PUBLIC KEY-----"))
	f.Add([]byte(`[]`), "====", []byte{})
	f.Fuzz(func(t *testing.T, raw []byte, signature string, key []byte) {
		if p, err := parsePayload(raw); err == nil {
			_ = reference{domain: hubName, name: "library/a"}.sameRepository(p.reference)
		} else if p != (payload{}) {
			t.Fatalf("%v and %+v", err, p)
		}
		v, err := parseKey(key)
		if err != nil {
			return
		}
		if !digestForm.MatchString(v.fingerprint) {
			t.Fatalf("fingerprint %q", v.fingerprint)
		}
		_ = v.holds(signature, raw)
	})
}

// FuzzChallenge feeds WWW-Authenticate, and what a realm and an error answer.
func FuzzChallenge(f *testing.F) {
	for _, s := range []string{`Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:library/nginx:pull"`, `Basic realm="lab", Bearer realm=x`, `Basic`, `Basic, Bearer realm="a\"b"`,
		`Negotiate abc==`, `Bearer realm="`, `Bearer realm="a",realm="b"`, `,,,`, `{"token":"a b"}`, `{"errors":[{"code":"DENIED","message":"a\nb"}]}`, "Bearer realm=\"a\x00\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseChallenges([]string{text, text})
		if err != nil && list != nil || len(list) > mostChallenges {
			t.Fatalf("%v %v", list, err)
		}
		for _, c := range list {
			if c.scheme == "" || c.scheme != strings.ToLower(c.scheme) {
				t.Fatalf("scheme %q", c.scheme)
			}
			for name, v := range c.params {
				if name == "" || strings.ContainsAny(v, "\n\r\x00") {
					t.Fatalf("%q = %q", name, v)
				}
			}
		}
		if token, err := parseToken([]byte(text)); err == nil && (token == "" || strings.ContainsFunc(token, outsideHeader)) {
			t.Fatalf("token %q", token)
		}
		if _, says := saidBy([]byte(text)); says == "" || len(says) > 210 || strings.ContainsAny(says, "\n\r") {
			t.Fatalf("says %q", says)
		}
	})
}

// FuzzConfig feeds docker's configuration: an account is taken for its own host alone.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{authOf("registry.example.com", "a", "b"), authOf("https://index.docker.io/v1/", "a", "b"), `{"credsStore":"x"}`, `{"credHelpers":{"registry.example.com":"x"},"auths":{"registry.example.com":{"identitytoken":"x"}}}`,
		`{"auths":{"registry.example.com":{"auth":"!"}}}`, `{"auths":{"https://registry.example.com/v1/":{"username":"a","password":"b"}}}`, "null"} {
		f.Add([]byte(s), "registry.example.com")
		f.Add([]byte(s), hubName)
	}
	f.Fuzz(func(t *testing.T, raw []byte, domain string) {
		a, err := parseConfig(raw, domain)
		if err != nil && !a.empty() {
			t.Fatalf("%+v and %v", a, err)
		}
		if !a.empty() && !strings.Contains(strings.ToLower(string(raw)), "auth") {
			t.Fatalf("an account of nothing: %+v", a)
		}
	})
}
