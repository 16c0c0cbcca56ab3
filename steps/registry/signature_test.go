package registry

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// composed is a payload after cosign's SIGNATURE_SPEC.md, Simple Signing.
func composed(identity, digest, kind string) []byte {
	return []byte(`{"critical":{"identity":{"docker-reference":"` + identity + `"},"image":{"docker-manifest-digest":"` + digest + `"},"type":"` + kind + `"},"optional":{"by":"a test"}}`)
}

// TestSignature reads signatures from the lab's real registry. They are composed after cosign's SIGNATURE_SPEC.md and made by
// Go's crypto, not by cosign's program.
func TestSignature(t *testing.T) {
	t.Parallel()
	p := startRegistry(t, false)
	const repo = "team/api"
	name := p.host + "/" + repo
	mine, other := newSigner(t, "ecdsa"), newSigner(t, "ecdsa")
	n := 0
	// push makes an image of its own for each case, with these signatures.
	push := func(t *testing.T, list func(digest string) []statement) string {
		t.Helper()
		n++
		d := p.image(repo, fmt.Sprintf("v%d", n), fmt.Sprintf("image %d", n))
		if list != nil {
			p.signatures(repo, sigTag(d.Digest, ".sig"), nil, list(d.Digest)...)
		}
		return d.Digest
	}
	ask := func(key signer, digest string) map[string]string {
		return map[string]string{"image": name + "@" + digest, "key": key.file}
	}

	for _, kind := range []string{"ecdsa", "rsa", "ed25519"} {
		t.Run("ok by "+kind, func(t *testing.T) {
			key := newSigner(t, kind)
			d := push(t, func(d string) []statement { return []statement{key.sign(t, composed(name, d, signatureType))} })
			want := map[string]string{"registry": "up", "signature": "ok", "signed_digest": d, "digest": d, "signers": "1", "attestations": "no", "provenance": "no", "sbom": "no", "predicate_types": "[]"}
			obs, _ := must(t, "signature", nil, ask(key, d), want)
			if len(obs.Findings)+len(obs.Gaps) > 0 {
				t.Errorf("%v %v", obs.Findings, obs.Gaps)
			}
			must(t, "signature", nil, map[string]string{"image": name + fmt.Sprintf(":v%d", n), "key": key.file}, want)
			must(t, "signature", nil, map[string]string{"image": name + ":gone", "digest": d, "key": key.file}, want)
		})
	}
	t.Run("by another key", func(t *testing.T) {
		d := push(t, func(d string) []statement { return []statement{other.sign(t, composed(name, d, signatureType))} })
		must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "identity-mismatch", "signers": "1", "signed_digest": "?"})
	})
	t.Run("among others", func(t *testing.T) {
		d := push(t, func(d string) []statement {
			a, b := other.sign(t, composed(name, d, signatureType)), mine.sign(t, composed("registry.example.net/else/where", d, signatureType))
			a.notes = map[string]string{certificateNote: "-----BEGIN CERTIFICATE-----"}
			return []statement{a, b}
		})
		obs, _ := must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "ok", "signers": "2"})
		if !finds(obs, "names another repository") || !finds(obs, "1 signatures carry a certificate") {
			t.Errorf("%v", obs.Findings)
		}
	})
	t.Run("for another digest", func(t *testing.T) {
		elsewhere := "sha256:" + strings.Repeat("cd", 32)
		d := push(t, func(string) []statement { return []statement{mine.sign(t, composed(name, elsewhere, signatureType))} })
		must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "bad", "signed_digest": elsewhere})
	})
	t.Run("of another type", func(t *testing.T) {
		d := push(t, func(d string) []statement {
			return []statement{mine.sign(t, composed(name, d, "atomic container signature"))}
		})
		must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "bad"})
	})
	t.Run("signature without its payload's bytes", func(t *testing.T) {
		d := push(t, func(d string) []statement {
			s := mine.sign(t, composed(name, d, signatureType))
			s.payload = composed(name+"/x", d, signatureType)
			return []statement{s}
		})
		must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "identity-mismatch"})
	})
	t.Run("none", func(t *testing.T) {
		obs, _ := must(t, "signature", nil, ask(mine, push(t, nil)), map[string]string{"signature": "absent", "signers": "0", "attestations": "no"})
		if !finds(obs, "is not signed") {
			t.Errorf("%v", obs.Findings)
		}
	})
	t.Run("an image that is not there", func(t *testing.T) {
		must(t, "signature", nil, ask(mine, "sha256:"+strings.Repeat("ef", 32)), map[string]string{"registry": "up", "signature": "?", "attestations": "?"})
	})
	t.Run("nothing listens", func(t *testing.T) {
		must(t, "signature", nil, map[string]string{"image": silentHost(t) + "/team/api:1", "key": mine.file}, map[string]string{"registry": "down", "reason": "unreachable", "signature": "?", "attestations": "?", "sbom": "?"})
	})
	t.Run("attestations and an SBOM", func(t *testing.T) {
		d := push(t, nil)
		config := entryOf(p.blob(repo, "application/vnd.oci.image.config.v1+json", []byte(`{}`)), nil)
		envelope := p.blob(repo, "application/vnd.dsse.envelope.v1+json", []byte(`{"payloadType":"application/vnd.in-toto+json"}`))
		p.manifest(repo, sigTag(d, ".att"), upload{MediaType: ociManifest, Config: &config, Layers: []entry{entryOf(envelope, map[string]string{predicateNote: slsaProvenance + "v1"})}})
		p.manifest(repo, sigTag(d, ".sbom"), upload{MediaType: ociManifest, Config: &config, Layers: []entry{entryOf(p.blob(repo, "text/spdx+json", []byte(`{}`)), nil)}})
		must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "absent", "attestations": "yes", "attested": "?", "provenance": "yes", "sbom": "yes", "predicate_types": `["` + slsaProvenance + `v1"]`})
		bare := push(t, nil)
		p.manifest(repo, sigTag(bare, ".att"), upload{MediaType: ociManifest, Config: &config, Layers: []entry{entryOf(envelope, nil)}})
		must(t, "signature", nil, ask(mine, bare), map[string]string{"attestations": "yes", "provenance": "?", "sbom": "?"})
	})
	t.Run("referrers by their tag", func(t *testing.T) { // distribution has no list of them
		d := push(t, nil)
		subject := &entry{MediaType: ociManifest, Digest: d, Size: 1}
		sig := p.signatures(repo, "", subject, mine.sign(t, composed(name, d, signatureType)))
		p.manifest(repo, sigTag(d, ""), upload{MediaType: ociIndex, Manifests: []entry{{MediaType: ociManifest, ArtifactType: signArtifact, Digest: sig.Digest, Size: sig.Size}}})
		must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "ok", "signers": "1"})
		must(t, "signature", nil, ask(other, d), map[string]string{"signature": "identity-mismatch"})
	})
	t.Run("attestations by the key", func(t *testing.T) {
		d, other := push(t, nil), newSigner(t, "rsa")
		elsewhere := "sha256:" + strings.Repeat("cd", 32)
		config := entryOf(p.blob(repo, "application/vnd.oci.image.config.v1+json", []byte(`{}`)), nil)
		layer := func(raw []byte, predicate string) entry {
			return entryOf(p.blob(repo, envelopeType, raw), map[string]string{predicateNote: predicate})
		}
		p.manifest(repo, sigTag(d, ".att"), upload{MediaType: ociManifest, Config: &config, Layers: []entry{
			layer(mine.attest(t, slsaProvenance+"v1", d), slsaProvenance+"v1"), layer(other.attest(t, spdxPredicate, d), spdxPredicate)}})
		obs, out := must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "absent", "attestations": "yes", "attested": `["` + slsaProvenance + `v1"]`, "provenance": "yes", "sbom": "yes"})
		if !finds(obs, "1 attestations are not by the key") {
			t.Errorf("%v", obs.Findings)
		}
		if len(out.Artifacts) < 3 {
			t.Errorf("the statements are not kept: %d artifacts", len(out.Artifacts))
		}
		must(t, "signature", nil, ask(other, d), map[string]string{"attested": `["` + spdxPredicate + `"]`})
		moved := push(t, nil)
		p.manifest(repo, sigTag(moved, ".att"), upload{MediaType: ociManifest, Config: &config, Layers: []entry{layer(mine.attest(t, slsaProvenance+"v1", elsewhere), slsaProvenance+"v1")}})
		obs, _ = must(t, "signature", nil, ask(mine, moved), map[string]string{"attestations": "yes", "attested": "[]"})
		if !finds(obs, "attests something else") {
			t.Errorf("%v", obs.Findings)
		}
	})
	t.Run("bundles", func(t *testing.T) {
		// bundle pushes a bundle and the tag that lists it, since distribution has no list of referrers.
		bundle := func(d, predicate string, raw []byte) {
			config := entryOf(p.blob(repo, "application/vnd.oci.empty.v1+json", []byte(`{}`)), nil)
			kind := bundleArtifact + ".v0.3+json"
			m := p.manifest(repo, "", upload{MediaType: ociManifest, ArtifactType: kind, Config: &config, Subject: &entry{MediaType: ociManifest, Digest: d, Size: 1}, Layers: []entry{entryOf(p.blob(repo, kind, raw), nil)}})
			p.manifest(repo, sigTag(d, ""), upload{MediaType: ociIndex, Manifests: []entry{{MediaType: ociManifest, ArtifactType: kind, Digest: m.Digest, Size: m.Size, Annotations: map[string]string{bundlePredicate: predicate}}}})
		}
		of := func(key signer, predicate, d string) []byte {
			return fmt.Appendf(nil, `{"mediaType":%q,"verificationMaterial":{"publicKey":{"hint":"k"}},"dsseEnvelope":%s}`, bundleArtifact+".v0.3+json", key.attest(t, predicate, d))
		}
		d := push(t, nil)
		bundle(d, bundleSignature, of(mine, bundleSignature, d))
		must(t, "signature", nil, ask(mine, d), map[string]string{"signature": "ok", "signed_digest": d, "signers": "1", "attestations": "no", "attested": "[]"})
		must(t, "signature", nil, ask(other, d), map[string]string{"signature": "identity-mismatch", "signers": "1"})
		moved := push(t, nil)
		bundle(moved, bundleSignature, of(mine, bundleSignature, d))
		must(t, "signature", nil, ask(mine, moved), map[string]string{"signature": "bad", "signed_digest": d})
		attested := push(t, nil)
		bundle(attested, slsaProvenance+"v1", of(mine, slsaProvenance+"v1", attested))
		must(t, "signature", nil, ask(mine, attested), map[string]string{"signature": "absent", "attestations": "yes", "attested": `["` + slsaProvenance + `v1"]`})
		// The annotation calls a signature what the key signed as an attestation: what was signed counts.
		renamed := push(t, nil)
		bundle(renamed, bundleSignature, of(mine, slsaProvenance+"v1", renamed))
		must(t, "signature", nil, ask(mine, renamed), map[string]string{"signature": "absent", "attested": `["` + slsaProvenance + `v1"]`})
		message := push(t, nil)
		bundle(message, "", []byte(`{"mediaType":"x","verificationMaterial":{},"messageSignature":{"signature":"AA=="}}`))
		obs, _ := must(t, "signature", nil, ask(mine, message), map[string]string{"signature": "?", "signers": "1"})
		if !strings.Contains(obs.Facts["signature"].Why(), "message signature") {
			t.Error(obs.Facts["signature"].Why())
		}
	})

	// What a real registry does not do is done by a handler before it.
	target, err := url.Parse("http://" + p.host)
	if err != nil {
		t.Fatal(err)
	}
	behind := httputil.NewSingleHostReverseProxy(target)
	before := func(t *testing.T, part string, answer http.HandlerFunc) string {
		return handler(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, part) {
				answer(w, r)
				return
			}
			behind.ServeHTTP(w, r)
		})
	}
	d := push(t, func(d string) []statement {
		return []statement{mine.sign(t, usualPayload(name, d)), mine.sign(t, composed(name, d, signatureType))}
	})
	t.Run("payloads that were altered", func(t *testing.T) {
		host := before(t, "/blobs/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"critical":null}`) })
		must(t, "signature", nil, map[string]string{"image": host + "/" + repo + "@" + d, "key": mine.file}, map[string]string{"signature": "bad"})
	})
	t.Run("payloads on another server", func(t *testing.T) {
		away := func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://blobs.example.net/x?sig=secret", http.StatusTemporaryRedirect)
		}
		host := before(t, "/blobs/", away)
		in := map[string]string{"image": host + "/" + repo + "@" + d, "key": mine.file}
		must(t, "signature", nil, in, map[string]string{"signature": "?", "signers": "2"}) // composed for the other host
		usual := push(t, nil)
		p.signatures(repo, sigTag(usual, ".sig"), nil, mine.sign(t, usualPayload(host+"/"+repo, usual)))
		in["image"] = host + "/" + repo + "@" + usual
		must(t, "signature", nil, in, map[string]string{"signature": "ok", "signed_digest": usual})
	})
	for what, status := range map[string]int{"the signatures are denied": 403, "the signatures fail": 503, "the signatures are gone in the words of a web server": 404} {
		t.Run(what, func(t *testing.T) {
			host := before(t, ".sig", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			must(t, "signature", nil, map[string]string{"image": host + "/" + repo + "@" + d, "key": mine.file}, map[string]string{"registry": "up", "signature": "?", "signers": "?"})
		})
	}
}

// TestUsualPayload holds the payload that is made anew to the form that cosign's documentation shows.
func TestUsualPayload(t *testing.T) {
	t.Parallel()
	const want = `{"critical":{"identity":{"docker-reference":"index.docker.io/library/nginx"},"image":{"docker-manifest-digest":"sha256:1"},"type":"cosign container image signature"},"optional":null}`
	r, err := parseReference("nginx")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(usualPayload(r.namesOf()[0], "sha256:1")); got != want {
		t.Errorf("%s", got)
	}
}

// TestKeys refuses what is no one public key.
func TestKeys(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile(newSigner(t, "ecdsa").file)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"": "no PEM block", string(good) + string(good): "more than one key", strings.ReplaceAll(string(good), "PUBLIC KEY", "PRIVATE KEY"): "no PUBLIC KEY",
		"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n": "cannot be read",
	} {
		name := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(name, []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := look(t, "signature", nil, map[string]string{"image": "127.0.0.1:1/a:1", "key": name}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v, want %q", what, err, text)
		}
	}
}
