package store

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"handrail/steps/fault"
)

const (
	azureAccount = "labaccount"
	azureHost    = azureAccount + ".blob.core.windows.net" // the backend takes no address but that of the cloud
	azureBox     = "states"
)

// azure is a container on an emulator, behind a proxy that speaks TLS for the name of the cloud and goes nowhere else.
func (s *server) azure() error {
	emulator, err := s.start("azure")
	if err != nil {
		return err
	}
	key := valueOf(emulator.Env, "ARM_ACCESS_KEY")
	cert, ca, err := cloudCertificate(s.dir)
	if err != nil {
		return err
	}
	s.Type, s.Secrets = "azurerm", []string{key}
	s.Block = fmt.Sprintf("storage_account_name = %q\ncontainer_name       = %q\nkey                  = %q\n", azureAccount, azureBox, s.Place.key())
	pass, err := s.gateway(emulator.URL, true)
	if err != nil {
		return err
	}
	proxy := func(who string) (string, error) {
		at, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		h := pass
		if who != "" {
			h = s.logged(who, pass)
		}
		s.serve(tls.NewListener(at, &tls.Config{Certificates: []tls.Certificate{cert}}), h)
		return s.listen(tunnel(at.Addr().String()))
	}
	s.give("SSL_CERT_FILE="+ca, "ARM_ACCESS_KEY="+key)
	for _, who := range s.Plan.People {
		addr, err := proxy(who)
		if err != nil {
			return err
		}
		s.Environ[who] = append(s.Environ[who], "HTTPS_PROXY=http://"+addr)
	}
	owner, err := proxy("")
	if err != nil {
		return err
	}
	s.Server = map[string]string{"proxy": "http://" + owner, "ca": ca, "key": key}
	box, err := s.Place.box()
	if err == nil {
		_, err = box.Create(s.ctx, nil)
	}
	return err
}

// box is the container, for the owner of the account.
func (p *Place) box() (*container.Client, error) {
	raw, err := os.ReadFile(p.Server["ca"])
	if err != nil {
		return nil, err
	}
	through, err := url.Parse(p.Server["proxy"])
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(raw)
	cred, err := container.NewSharedKeyCredential(azureAccount, p.Server["key"])
	if err != nil {
		return nil, err
	}
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, Proxy: http.ProxyURL(through), DisableKeepAlives: true}}
	return container.NewClientWithSharedKeyCredential("https://"+azureHost+"/"+azureBox, cred, &container.ClientOptions{ClientOptions: policy.ClientOptions{Transport: web}})
}

// cloudCertificate is one for the name of the cloud, which only what reads its file believes.
func cloudCertificate(dir string) (cert tls.Certificate, file string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, "", err
	}
	from := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 1, 0), DNSNames: []string{azureHost},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, from, from, &private.PublicKey, private)
	if err != nil {
		return cert, "", err
	}
	file = filepath.Join(dir, "ca.pem")
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, file,
		os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

// tunnel answers CONNECT for the name of the cloud alone.
func tunnel(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != azureHost+":443" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		there, err := net.Dial("tcp4", to)
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
			go func() {
				defer fault.To(func(error) { _ = way[0].Close() })
				_, _ = io.Copy(way[0], way[1])
				_ = way[0].Close()
			}()
		}
	})
}
