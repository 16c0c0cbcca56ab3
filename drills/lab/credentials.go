package lab

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
