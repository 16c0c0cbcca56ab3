package registry

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

const (
	labUser   = "lab"
	labSecret = "correct-horse-battery"
)

// place is a registry that a test pushes to.
type place struct {
	t              *testing.T
	host           string
	user, password string
}

// startRegistry starts the lab's real registry, open or with a password.
func startRegistry(t *testing.T, private bool) *place {
	t.Helper()
	if testing.Short() {
		t.Skip("a real registry is started")
	}
	dir := t.TempDir()
	p := &place{t: t}
	if private {
		hash, err := bcrypt.GenerateFromPassword([]byte(labSecret), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "htpasswd"), []byte(labUser+":"+string(hash)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.user, p.password = labUser, labSecret
	}
	s, err := lab.StartService(t.Context(), lab.Options{}, "registry", dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p.host = strings.TrimPrefix(s.URL, "http://")
	return p
}

// send is one request of the test itself.
func (p *place) send(method, address, kind string, body []byte, want int) *http.Response {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, address, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if p.user != "" {
		req.SetBasicAuth(p.user, p.password)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != want {
		p.t.Fatalf("%s %s = %d, want %d", method, address, resp.StatusCode, want)
	}
	return resp
}

// blob pushes a blob and returns its descriptor.
func (p *place) blob(repo, kind string, raw []byte) descriptor {
	p.t.Helper()
	at := p.send(http.MethodPost, "http://"+p.host+"/v2/"+repo+"/blobs/uploads/", "", nil, http.StatusAccepted).Header.Get("Location")
	u, err := url.Parse(at)
	if err != nil {
		p.t.Fatal(err)
	}
	u.Scheme, u.Host = "http", p.host
	q := u.Query()
	q.Set("digest", digestOf(raw))
	u.RawQuery = q.Encode()
	p.send(http.MethodPut, u.String(), "application/octet-stream", raw, http.StatusCreated)
	return descriptor{MediaType: kind, Digest: digestOf(raw), Size: int64(len(raw))}
}

// upload is a manifest or an index as a test pushes it.
type upload struct {
	SchemaVersion int     `json:"schemaVersion"`
	MediaType     string  `json:"mediaType"`
	ArtifactType  string  `json:"artifactType,omitempty"`
	Config        *entry  `json:"config,omitempty"`
	Layers        []entry `json:"layers,omitempty"`
	Manifests     []entry `json:"manifests,omitempty"`
	Subject       *entry  `json:"subject,omitempty"`
}

// entry is a descriptor that leaves out what it has not.
type entry struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType,omitempty"`
	Digest       string            `json:"digest"`
	Size         int64             `json:"size"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	Platform     map[string]string `json:"platform,omitempty"`
}

func entryOf(d descriptor, notes map[string]string) entry {
	return entry{MediaType: d.MediaType, Digest: d.Digest, Size: d.Size, Annotations: notes}
}

// manifest pushes a manifest under a tag, or under its digest where the tag is "".
func (p *place) manifest(repo, tag string, m upload) descriptor {
	p.t.Helper()
	m.SchemaVersion = 2
	raw, err := json.Marshal(m)
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(http.MethodPut, "http://"+p.host+"/v2/"+repo+"/manifests/"+orElse(tag, digestOf(raw)), m.MediaType, raw, http.StatusCreated)
	return descriptor{MediaType: m.MediaType, Digest: digestOf(raw), Size: int64(len(raw))}
}

// image pushes an image whose only layer is a text.
func (p *place) image(repo, tag, text string) descriptor {
	p.t.Helper()
	config := entryOf(p.blob(repo, "application/vnd.oci.image.config.v1+json", []byte(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`)), nil)
	layer := entryOf(p.blob(repo, "application/vnd.oci.image.layer.v1.tar", []byte(text)), nil)
	return p.manifest(repo, tag, upload{MediaType: ociManifest, Config: &config, Layers: []entry{layer}})
}

// statement is a payload and its signature.
type statement struct {
	payload   []byte
	signature string
	notes     map[string]string
}

// signatures pushes a manifest of signatures, composed after cosign's SIGNATURE_SPEC.md.
func (p *place) signatures(repo, tag string, subject *entry, list ...statement) descriptor {
	p.t.Helper()
	config := entryOf(p.blob(repo, "application/vnd.oci.image.config.v1+json", []byte(`{"architecture":"","os":""}`)), nil)
	m := upload{MediaType: ociManifest, Config: &config, Subject: subject}
	if subject != nil {
		m.ArtifactType = signArtifact
	}
	for _, s := range list {
		notes := map[string]string{signatureNote: s.signature}
		for k, v := range s.notes {
			notes[k] = v
		}
		m.Layers = append(m.Layers, entryOf(p.blob(repo, simpleSigning, s.payload), notes))
	}
	return p.manifest(repo, tag, m)
}

func sigTag(digest, end string) string { return strings.Replace(digest, ":", "-", 1) + end }

// signer is a key pair whose public half lies in a file.
type signer struct {
	key  crypto.Signer
	file string
}

func newSigner(t *testing.T, kind string) signer {
	t.Helper()
	var (
		key crypto.Signer
		err error
	)
	switch kind {
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "cosign.pub")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return signer{key, name}
}

func (s signer) sign(t *testing.T, payload []byte) statement {
	t.Helper()
	sum := sha256.Sum256(payload)
	message, opts := sum[:], crypto.SignerOpts(crypto.SHA256)
	if _, is := s.key.(ed25519.PrivateKey); is {
		message, opts = payload, crypto.Hash(0)
	}
	sig, err := s.key.Sign(rand.Reader, message, opts)
	if err != nil {
		t.Fatal(err)
	}
	return statement{payload: payload, signature: base64.StdEncoding.EncodeToString(sig)}
}

// attest is an envelope of DSSE over a statement on a digest.
func (s signer) attest(t *testing.T, predicate, digest string) []byte {
	t.Helper()
	payload := fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v1","predicateType":%q,"subject":[{"name":"x","digest":{"sha256":%q}}],"predicate":{}}`, predicate, strings.TrimPrefix(digest, "sha256:"))
	signed := s.sign(t, fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(statementType), statementType, len(payload), payload))
	return fmt.Appendf(nil, `{"payloadType":%q,"payload":%q,"signatures":[{"keyid":"","sig":%q}]}`, statementType, base64.StdEncoding.EncodeToString(payload), signed.signature)
}

// dockerConfig writes a config.json and returns the environment that names it.
func dockerEnv(t *testing.T, config string) []string {
	t.Helper()
	dir := t.TempDir()
	if config != "" {
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"DOCKER_CONFIG=" + dir}
}

func authOf(host, user, password string) string {
	return `{"auths":{"` + host + `":{"auth":"` + base64.StdEncoding.EncodeToString([]byte(user+":"+password)) + `"}}}`
}

// look runs a kind.
func look(t *testing.T, kind string, environ []string, in map[string]string) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == "registry/"+kind })
	k := Kinds()[i]
	params := steps.Params{}
	for name, text := range in {
		params[name] = steps.StringOf(text)
	}
	if environ == nil {
		environ = dockerEnv(t, "")
	}
	out := stepstest.NewSink()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	obs, err := stepstest.Observe(ctx, k.Reads(steps.Env{Environ: environ, Dir: t.TempDir()}), k.Facts, params, out)
	return obs, out, err
}

// must is look of what gives facts, "?" being unknown and "*" any value.
func must(t *testing.T, kind string, environ []string, in, want map[string]string) (steps.Observation, *stepstest.Sink) {
	t.Helper()
	obs, out, err := look(t, kind, environ, in)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		v, ok := obs.Facts[name]
		switch {
		case !ok:
			t.Errorf("no fact %s", name)
		case text == "?" && (v.Known() || v.Why() == ""):
			t.Errorf("%s = %s (%q), want unknown with a reason", name, v.Text(), v.Why())
		case text == "*" && !v.Known():
			t.Errorf("%s is unknown (%s), want a value", name, v.Why())
		case text != "?" && text != "*" && v.Text() != text:
			t.Errorf("%s = %s (%s), want %s", name, v.Text(), v.Why(), text)
		}
	}
	return obs, out
}

// finds tells whether a finding has a text in it.
func finds(obs steps.Observation, text string) bool {
	return slices.ContainsFunc(obs.Findings, func(f steps.Finding) bool { return strings.Contains(f.Say, text) })
}

// silentHost is an address at which nothing listens.
func silentHost(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
