package gitops

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"handrail/drills/lab"
)

// Gatekeeper is how the API server asks the one of a namespace.
type Gatekeeper struct {
	lab.Process
	URL string // of its verdicts
	CA  []byte // that signed its certificate, PEM
}

// PlanGatekeeper makes all that Gatekeeper finds when it starts, and returns it for who starts it: a drill. It holds what its
// webhook is asked about against all constraints of the lab, so that each of them should name its namespaces; the webhook is
// registered by who starts it. within is the namespace where it writes about itself.
func PlanGatekeeper(ctx context.Context, l *lab.Lab, dir, namespace, within string) (Gatekeeper, error) {
	const name = "gatekeeper"
	wrap := func(err error) (Gatekeeper, error) { return Gatekeeper{}, fmt.Errorf("preparing Gatekeeper: %w", err) }
	h := newHome(l, namespace, name)
	program, err := l.Controller(ctx, name, nil)
	if err != nil {
		return wrap(err)
	}
	crds, err := manifests(program, "*.yaml")
	if err != nil {
		return wrap(err)
	}
	if err := h.define(ctx, crds); err != nil {
		return wrap(err)
	}
	kubeconfig, err := h.account(ctx, name, dir)
	if err != nil {
		return wrap(err)
	}
	certs := filepath.Join(dir, "certs")
	ca, err := servingPair(certs)
	if err != nil {
		return wrap(err)
	}
	if err := h.pod(ctx, within, name); err != nil {
		return wrap(err)
	}
	ports, err := lab.LastingPorts(2)
	if err != nil {
		return wrap(err)
	}
	health := fmt.Sprintf("127.0.0.1:%d", ports[1])
	return Gatekeeper{URL: fmt.Sprintf("https://127.0.0.1:%d/v1/admit", ports[0]), CA: ca, Process: lab.Process{Name: name, Program: program, Dir: dir, Ready: "http://" + health + "/readyz",
		// Of its operations, generate makes the kinds of constraints, and webhook judges. Nothing here reads the status that the
		// third would sum up. It makes no admission policies of the API server: it takes this one for one without them, and would
		// write so, and take it back, many times a second.
		Args: []string{"--host", "127.0.0.1", "--port", fmt.Sprint(ports[0]), "--health-addr", health, "--metrics-addr", "0", "--cert-dir", certs, "--disable-cert-rotation",
			"--operation", "webhook", "--operation", "generate", "--default-create-vap-binding-for-constraints=false", "--default-create-vap-for-templates=false", "--shutdown-delay", "0", "--kubeconfig", kubeconfig},
		Env: []string{"POD_NAME=" + name, "POD_NAMESPACE=" + within, "NAMESPACE=" + within, "CONTAINER_NAME=manager", "HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}}}, nil
}

// pod makes the Pod that a program says it runs in. What it writes about itself is owned by that Pod: of one that is not there
// the garbage collector would delete each of these objects, and the program make it again, without end.
func (h *home) pod(ctx context.Context, namespace, name string) error {
	in := "/api/v1/namespaces/" + namespace
	if err := h.lab.Request(ctx, http.MethodPost, in+"/serviceaccounts", plainJSON, object{"metadata": object{"name": name}}, nil); err != nil {
		return err
	}
	return h.lab.Request(ctx, http.MethodPost, in+"/pods", plainJSON, object{"metadata": object{"name": name}, "spec": object{
		"serviceAccountName": name, "automountServiceAccountToken": false,
		"containers": []object{{"name": "manager", "image": name}},
	}}, nil)
}

// servingPair makes a certificate of loopback that is its own root, and leaves it where Gatekeeper looks.
func servingPair(dir string) (ca []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	about := &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "handrail-lab-gatekeeper"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, 30),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return ca, errors.Join(os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		os.WriteFile(filepath.Join(dir, "tls.crt"), ca, 0o600), os.WriteFile(filepath.Join(dir, "ca.crt"), ca, 0o600))
}
