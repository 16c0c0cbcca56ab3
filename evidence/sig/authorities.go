package sig

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Authorities are the roots of the time stamping authorities that a verifier believes.
type Authorities struct{ pool *x509.CertPool }

const maxAuthorities = 1 << 20

// LoadAuthorities reads a file of certificates in PEM.
func LoadAuthorities(name string) (*Authorities, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("time stamping authorities: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxAuthorities+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	var a *Authorities
	if err == nil {
		a, err = ParseAuthorities(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("time stamping authorities %q: %w", name, err)
	}
	return a, nil
}

// ParseAuthorities reads certificates in PEM. A block that is no certificate is an error: it may be a key.
func ParseAuthorities(raw []byte) (*Authorities, error) {
	if len(raw) > maxAuthorities {
		return nil, fmt.Errorf("over %d bytes", maxAuthorities)
	}
	a := &Authorities{pool: x509.NewCertPool()}
	n := 0
	for {
		var block *pem.Block
		if block, raw = pem.Decode(raw); block == nil {
			break
		}
		n++
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("block %d is %q and not a certificate", n, block.Type)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", n, err)
		}
		a.pool.AddCert(c)
	}
	if bytes.Contains(raw, []byte("-----BEGIN")) {
		return nil, fmt.Errorf("block %d is not PEM", n+1)
	}
	if n == 0 {
		return nil, errors.New("no certificate in PEM")
	}
	return a, nil
}

// Vouch follows the signer of a time stamp to one of the roots, at the time that it states.
func (a *Authorities) Vouch(t *TimeStamp, at time.Time) error {
	between := x509.NewCertPool()
	for _, c := range t.Chain[1:] {
		between.AddCert(c)
	}
	_, err := t.Chain[0].Verify(x509.VerifyOptions{
		Roots: a.pool, Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping},
	})
	return err
}
