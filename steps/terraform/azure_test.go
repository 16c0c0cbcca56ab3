package terraform

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// azureHost is the name under which the emulator answers: the backend takes no
// other address than that of the cloud.
const azureHost = "labaccount.blob.core.windows.net"

// azureWorld stands between programs and the emulator as a proxy does that every
// request for the cloud goes through: it speaks TLS for the cloud's own name.
type azureWorld struct {
	gateway
	proxy   *httptest.Server
	ca      string
	environ []string
	box     *container.Client // of an administrator
}

func newAzureWorld(t *testing.T) *azureWorld {
	t.Helper()
	server := emulator.get(t, "azure")
	target, err := url.Parse(server.URL)
	ok(t, err)
	handler, key := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }, ErrorLog: log.New(io.Discard, "", 0)}, envOf(t, server, "ARM_ACCESS_KEY")
	a := &azureWorld{ca: filepath.Join(t.TempDir(), "ca.pem")}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{azureHost},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	tlsServer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.keep(r)
		if at := a.wrote.Load(); at != nil {
			w = &redatedTransport{w, *at}
		}
		handler.ServeHTTP(w, r)
	}))
	tlsServer.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0)
	tlsServer.StartTLS()
	t.Cleanup(tlsServer.Close)
	a.proxy = httptest.NewServer(tunnel(t, tlsServer.Listener.Addr().String()))
	t.Cleanup(a.proxy.Close)
	a.unit = statePath(t)
	a.environ = []string{"HTTPS_PROXY=" + a.proxy.URL, "SSL_CERT_FILE=" + a.ca, "ARM_ACCESS_KEY=" + key}
	a.admin(t, key)
	if _, err := a.box.Create(t.Context(), nil); err != nil && !bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		t.Fatal(err)
	}
	return a
}

// redatedTransport is an answer of a server that says it wrote the blob at another time.
type redatedTransport struct {
	http.ResponseWriter
	at time.Time
}

func (r *redatedTransport) WriteHeader(code int) {
	if r.Header().Get("Last-Modified") != "" {
		r.Header().Set("Last-Modified", r.at.UTC().Format(http.TimeFormat))
	}
	r.ResponseWriter.WriteHeader(code)
}

// tunnel answers CONNECT for the cloud's name alone.
func tunnel(t *testing.T, to string) http.Handler {
	var open sync.WaitGroup
	open.Add(1) // so that none of those below is the first, while a request waits
	t.Cleanup(func() { open.Done(); open.Wait() })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != azureHost+":443" {
			t.Errorf("%s %s was asked of the proxy", r.Method, r.Host)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			_ = there.Close()
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		for _, way := range [][2]net.Conn{{here, there}, {there, here}} {
			open.Go(func() {
				_, _ = io.Copy(way[0], way[1])
				_ = way[0].Close()
			})
		}
	})
}

func (a *azureWorld) admin(t *testing.T, key string) {
	t.Helper()
	raw, err := os.ReadFile(a.ca)
	if err != nil {
		t.Fatal(err)
	}
	through, err := url.Parse(a.proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	next := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool()}, Proxy: http.ProxyURL(through)}
	if !next.TLSClientConfig.RootCAs.AppendCertsFromPEM(raw) {
		t.Fatal("no certificate in ", a.ca)
	}
	t.Cleanup(next.CloseIdleConnections)
	t.Cleanup(next.CloseIdleConnections)
	cred, err := container.NewSharedKeyCredential("labaccount", key)
	if err != nil {
		t.Fatal(err)
	}
	a.box, err = container.NewClientWithSharedKeyCredential("https://"+azureHost+"/states", cred, &container.ClientOptions{ClientOptions: policy.ClientOptions{Transport: &http.Client{Transport: next}}})
	if err != nil {
		t.Fatal(err)
	}
}

// emulator is one server for all tests: each has a state of its own on it.
var emulator sharedServer

// sharedServer is a server that starts at its first use and ends with the tests.
type sharedServer struct {
	once   sync.Once
	dir    string
	server *lab.Server
	err    error
}

func (s *sharedServer) get(t *testing.T, name string) *lab.Server {
	t.Helper()
	s.once.Do(func() {
		if s.dir, s.err = os.MkdirTemp("", "handrail-"+name+"-"); s.err == nil {
			s.server, s.err = lab.StartService(context.Background(), lab.Options{}, name, s.dir)
		}
	})
	ok(t, s.err)
	return s.server
}

func (s *sharedServer) close() error {
	if s.server == nil {
		return nil
	}
	return errors.Join(s.server.Close(), os.RemoveAll(s.dir))
}

func (a *azureWorld) block() string {
	return "storage_account_name = \"labaccount\"\ncontainer_name = \"states\"\nkey = \"" + a.unit + "\""
}

// TestAzure looks at every state of a lock on the emulator.
func TestAzure(t *testing.T) {
	t.Parallel()
	a := newAzureWorld(t)
	w := newBackend(t, "azurerm", a.block(), quick, a.environ...)
	w.look().wantFree(t, true) // init has made it
	absent := &world{t: t, env: w.env}
	absent.env.Environ = append(w.bot[:len(w.bot):len(w.bot)], "TF_WORKSPACE=never")
	absent.look().wantFree(t, false)
	w.run("apply", "-auto-approve", "-input=false")
	free := w.look()
	free.wantFree(t, true)
	if f := free.state.Facts; f["resources"].Int() != 1 || f["written"].Known() {
		t.Errorf("state = %v", f)
	}
	w.write("azurerm", a.block(), sixSlow)
	cmd, _ := w.apply()
	id := w.look().wantHeld(t, w)
	wantUnmet(t, w.preview(id), "The holder is alive")
	w.kill(cmd)
	if got := w.look().wantHeld(t, w); got != id {
		t.Errorf("the lock of a killed run is %s, it was %s", got, id)
	}
	wantUnmet(t, w.preview(id), "younger than")

	// The run was killed between the lease and its description.
	b := a.box.NewBlobClient(a.unit)
	if _, err := b.SetMetadata(t.Context(), nil, &blob.SetMetadataOptions{AccessConditions: &blob.AccessConditions{LeaseAccessConditions: &blob.LeaseAccessConditions{LeaseID: &id}}}); err != nil {
		t.Fatal(err)
	}
	bare := w.look()
	if f := bare.lock.Facts; !f["held"].Bool() || f["id"].Known() || f["who"].Known() || !says(bare.lock, "lease break is left") {
		t.Errorf("a lease without description = %v %v", f, bare.lock.Findings)
	}
	if p := w.preview(id); len(p.Unmet) == 0 {
		t.Error("a lease without description may be unlocked")
	}
	breaker, err := lease.NewBlobClient(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	zero := int32(0)
	if _, err := breaker.BreakLease(t.Context(), &lease.BlobBreakOptions{BreakPeriod: &zero}); err != nil {
		t.Fatal(err)
	}
	w.look().wantFree(t, true)

	w.run("workspace", "new", "other")
	d := w.look()
	if !strings.HasSuffix(d.lock.Facts["path"].Text(), a.unit+"env:other") {
		t.Errorf("path = %s", d.lock.Facts["path"].Text())
	}
	a.onlyReads(t)

	for _, tc := range []struct {
		name, config string
		environ      []string
		err          string
		denied       bool
	}{
		{name: "wrong key", environ: []string{"ARM_ACCESS_KEY=d3Jvbmcga2V5"}, err: "the credentials", denied: true},
		{name: "no base64", environ: []string{"ARM_ACCESS_KEY=***"}, err: "not in base64"},
		{name: "no credentials", environ: []string{"ARM_ACCESS_KEY="}, err: "generate-sas", denied: true},
		{name: "no container", config: `"container_name":"nowhere"`, err: `container "nowhere" does not exist`},
		{name: "another cloud", environ: []string{"ARM_METADATA_HOST=h"}, err: "metadata host"},
		{name: "no account", config: `"storage_account_name":"a/b"`, err: "not a valid storage account name"},
		{name: "bad key of the customer", config: `"customer_provided_key":"x"`, err: "32 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			settings := `"storage_account_name":"labaccount","container_name":"states","key":"k"`
			if tc.config != "" {
				settings += "," + tc.config // the last of two equal keys counts
			}
			writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"azurerm","config":{`+settings+`}}}`)
			env := steps.Env{Dir: dir, Environ: append(w.bot[:len(w.bot):len(w.bot)], tc.environ...), Now: time.Now}
			if _, err := probe(t.Context(), env, "terraform/lock", nil, stepstest.NewSink()); err == nil || !strings.Contains(err.Error(), tc.err) || isDenied(err) != tc.denied {
				t.Errorf("%v, denied %v; want %q, denied %v", err, isDenied(err), tc.err, tc.denied)
			}
		})
	}
}
