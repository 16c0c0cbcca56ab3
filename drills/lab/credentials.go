package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

//go:embed audit-policy.yaml
var auditPolicy []byte

// AdminUser is who the lab's own client is; a member of system:masters.
const AdminUser = "handrail-lab-admin"

// writeCredentials makes the keys, tokens and files that the servers read at start.
func writeCredentials(dir, url string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	admin, controllers := randomHex(32), randomHex(32)
	tokens := fmt.Sprintf("%s,%s,handrail-lab-admin,\"system:masters\"\n%s,system:kube-controller-manager,handrail-lab-controllers\n",
		admin, AdminUser, controllers)
	kubeconfig := kubeconfig{server: url, caFile: servingCA(dir), token: controllers, name: "controllers"}
	etcdCert, etcdKey, err := etcdPair()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		fileEtcdCert:             etcdCert,
		fileEtcdKey:              etcdKey,
		"sa.key":                 pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"sa.pub":                 pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		fileTokens:               []byte(tokens),
		"audit-policy.yaml":      auditPolicy,
		"controllers.kubeconfig": kubeconfig.bytes(),
	} {
		if err := replace(filepath.Join(dir, name), content); err != nil {
			return err
		}
	}
	return nil
}

// adminToken is the first field of the first line of the token file.
func adminToken(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, fileTokens))
	if err != nil {
		return "", err
	}
	token, _, ok := strings.Cut(string(raw), ",")
	if !ok || token == "" {
		return "", fmt.Errorf("%q holds no token", filepath.Join(dir, fileTokens))
	}
	return token, nil
}

// randomHex returns n random bytes as text. crypto/rand ends the program when the system has no randomness.
func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// The certificate of etcd is its own root, and both sides show it: who can read its key may speak to etcd.
const (
	fileEtcdCert = "etcd.crt"
	fileEtcdKey  = "etcd.key"
)

func etcdPair() (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	about := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "handrail-lab-etcd"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		return nil, nil, err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), nil
}

// etcdClient speaks to the etcd of a lab.
func etcdClient(dir, url string) (*client, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, fileEtcdCert), filepath.Join(dir, fileEtcdKey))
	if err != nil {
		return nil, fmt.Errorf("certificate of the lab's etcd: %w", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, fileEtcdCert))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, errors.New("the certificate of the lab's etcd cannot be read")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	return &client{url: url, http: &http.Client{Transport: transport, Timeout: 3 * time.Minute}}, nil
}
