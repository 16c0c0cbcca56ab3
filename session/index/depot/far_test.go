package depot_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/crypto/bcrypt"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"handrail/drills/lab"
	"handrail/evidence"
	"handrail/session/index/depot"
	"handrail/session/index/depot/bucket"
	"handrail/session/index/depot/registry"
)

// TestMain keeps the settings of the user out of the tests.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "DOCKER_CONFIG": os.DevNull} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	for _, name := range []string{"AWS_PROFILE", "AWS_CA_BUNDLE", "AWS_ENDPOINT_URL", "AWS_EC2_METADATA_DISABLED"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if shared.dir != "" {
		if err := os.RemoveAll(shared.dir); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// shared holds the large bundles, which are dear to make and only read.
var shared struct {
	sync.Mutex
	dir string
}

// Packed, the first has two parts and the second three.
const (
	twoParts   = "two-parts"
	threeParts = "three-parts"
)

// largeBundle is one of the shared bundles.
func largeBundle(t *testing.T, id string) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.dir == "" {
		dir, err := os.MkdirTemp("", "depot")
		if err != nil {
			t.Fatal(err)
		}
		shared.dir = dir
	}
	path := filepath.Join(shared.dir, id+".hrb")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return incident(t, shared.dir, id, map[string]int{twoParts: 8, threeParts: 15}[id])
}

// far is a real server with a place for bundles on it.
type far struct {
	store func(t *testing.T) depot.Store               // a new connection to the place
	wrong func(t *testing.T) depot.Store               // with a password that is not the one
	none  func(t *testing.T) depot.Store               // a bucket or a repository that does not exist
	stray func(t *testing.T, name string)              // something that is no bundle
	swap  func(t *testing.T, id string, packed []byte) // what anybody else who may write can do
	harm  func(t *testing.T, id string, packed []byte) // behind the back of the server
	read  func(t *testing.T, id string) []byte         // the packed bundle, by other means
	sent  func() int64                                 // bytes of contents that went to the server
}

const (
	labUser   = "lab"
	labSecret = "correct-horse-battery"
	wrongOne  = "not-the-passphrase-at-all"
)

func serve(t *testing.T, name, dir string) *lab.Server {
	t.Helper()
	s, err := lab.StartService(t.Context(), lab.Options{}, name, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// counted is a way to a server that counts what is sent over it.
func counted(t *testing.T, to string) (string, *atomic.Int64) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
		if r.Out.Body != nil && r.In.Method != http.MethodPost {
			r.Out.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Out.Body, counter{&n}), r.Out.Body}
		}
	}}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL, &n
}

type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) { c.n.Add(int64(len(b))); return len(b), nil }

func envOf(t *testing.T, s *lab.Server, key string) string {
	t.Helper()
	for _, kv := range s.Env {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			return v
		}
	}
	t.Fatalf("%s does not tell %s", s.Name, key)
	return ""
}

func s3(t *testing.T) far {
	t.Helper()
	dir := t.TempDir()
	s := serve(t, "s3", dir)
	here := filepath.Join(dir, "buckets", "team")
	if err := os.MkdirAll(filepath.Join(here, "in", "cidents"), 0o700); err != nil {
		t.Fatal(err)
	}
	via, n := counted(t, s.URL)
	open := func(place, secret string) func(t *testing.T) depot.Store {
		return func(t *testing.T) depot.Store {
			t.Helper()
			b, err := bucket.Open(t.Context(), place, config.WithBaseEndpoint(via), config.WithRegion("us-east-1"),
				config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(envOf(t, s, "AWS_ACCESS_KEY_ID"), secret, "")))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	object := func(id string) string { return filepath.Join(here, "in", "cidents", id+depot.Suffix) }
	write := func(t *testing.T, name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return far{
		store: open("s3://team/in/cidents", envOf(t, s, "AWS_SECRET_ACCESS_KEY")),
		wrong: open("s3://team/in/cidents", wrongOne),
		none:  open("s3://nobodys/in", envOf(t, s, "AWS_SECRET_ACCESS_KEY")),
		stray: func(t *testing.T, name string) {
			write(t, filepath.Join(here, "in", "cidents", name), []byte("a note"))
		},
		swap: func(t *testing.T, id string, b []byte) { write(t, object(id), b) },
		harm: func(t *testing.T, id string, b []byte) { write(t, object(id), b) },
		read: func(t *testing.T, id string) []byte {
			t.Helper()
			b, err := os.ReadFile(object(id))
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		sent: n.Load,
	}
}

func oci(t *testing.T) far {
	t.Helper()
	dir := t.TempDir()
	hash, err := bcrypt.GenerateFromPassword([]byte(labSecret), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "htpasswd"), []byte(labUser+":"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "registry", dir)
	via, n := counted(t, s.URL)
	host := strings.TrimPrefix(via, "http://")
	who := func(password string) auth.CredentialFunc {
		return auth.StaticCredential(host, auth.Credential{Username: labUser, Password: password})
	}
	open := func(repo, password string) func(t *testing.T) depot.Store {
		return func(t *testing.T) depot.Store {
			t.Helper()
			r, err := registry.OpenAs("oci://"+host+"/"+repo, who(password))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
	raw, err := remote.NewRepository(host + "/team/incidents")
	if err != nil {
		t.Fatal(err)
	}
	raw.PlainHTTP, raw.Client = true, &auth.Client{Credential: who(labSecret)}
	put := func(t *testing.T, tag, kind string, layers ...ocispec.Descriptor) {
		t.Helper()
		d, err := oras.PackManifest(t.Context(), raw, oras.PackManifestVersion1_1, kind, oras.PackManifestOptions{Layers: layers})
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Tag(t.Context(), d, tag); err != nil {
			t.Fatal(err)
		}
	}
	layers := func(t *testing.T, id string) []ocispec.Descriptor {
		t.Helper()
		_, b, err := oras.FetchBytes(t.Context(), raw, id, oras.DefaultFetchBytesOptions)
		if err != nil {
			t.Fatal(err)
		}
		var m ocispec.Manifest
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		return m.Layers
	}
	data := func(d ocispec.Descriptor) string {
		return filepath.Join(dir, "storage", "docker", "registry", "v2", "blobs", "sha256", d.Digest.Encoded()[:2], d.Digest.Encoded(), "data")
	}
	return far{
		store: open("team/incidents", labSecret),
		wrong: open("team/incidents", wrongOne),
		none:  open("nobodys", labSecret),
		stray: func(t *testing.T, name string) { put(t, name, "application/vnd.example.note") },
		swap: func(t *testing.T, id string, b []byte) {
			t.Helper()
			d := content.NewDescriptorFromBytes(registry.ArtifactType+".tar+gzip", b)
			if err := raw.Push(t.Context(), d, bytes.NewReader(b)); err != nil {
				t.Fatal(err)
			}
			put(t, id, registry.ArtifactType, d)
		},
		harm: func(t *testing.T, id string, b []byte) {
			t.Helper()
			if err := os.WriteFile(data(layers(t, id)[0]), b, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		read: func(t *testing.T, id string) []byte {
			t.Helper()
			var all []byte
			for _, d := range layers(t, id) {
				b, err := os.ReadFile(data(d))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, b...)
			}
			return all
		},
		sent: n.Load,
	}
}

// everywhere runs a test against each kind of server.
func everywhere(t *testing.T, test func(t *testing.T, f far)) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) far{"s3": s3, "oci": oci} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

// incident writes a bundle with so many artifacts of 2 MiB.
func incident(t *testing.T, dir, id string, size int) string {
	t.Helper()
	path := bundle(t, dir, id, "first", "second")
	b, err := evidence.Open(path, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for range size {
		text := make([]byte, 0, 2<<20)
		for len(text) < 2<<20 {
			text = append(text, "abcdefghijklmnopqrstuvwxyz     \n"[random.IntN(32)])
		}
		w, err := b.Blob("output", "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		blob, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Append(t.Context(), evidence.Draft{Type: "note", Actor: "op", Blobs: []evidence.Blob{blob}}); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func mkdir(t *testing.T, name string) string {
	t.Helper()
	if err := os.MkdirAll(name, 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// repacked is a packed bundle with one file of it changed.
func repacked(t *testing.T, packed []byte, name string, change func([]byte) []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	in, tw := tar.NewReader(z), tar.NewWriter(zw)
	changed := false
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(h.Name, name) && h.Typeflag == tar.TypeReg && !changed {
			changed = true
			b = change(b)
			h.Size = int64(len(b))
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil || !changed {
		t.Fatalf("%q was not found, or not packed: %v", name, err)
	}
	return out.Bytes()
}

func flipped(b []byte) []byte {
	b = slices.Clone(b)
	b[len(b)/2] ^= 1
	return b
}
