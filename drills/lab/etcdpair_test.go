package lab

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// checkEtcd asks as another user of the machine would, who has the port and no key.
func checkEtcd(t *testing.T, l *Lab) {
	cert, key, err := etcdPair()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	url := l.record.EtcdURL
	for name, c := range map[string]*tls.Config{"no certificate": {}, "another certificate": {Certificates: []tls.Certificate{stranger}}} {
		c.InsecureSkipVerify = true
		client := http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}, Timeout: 10 * time.Second}
		res, err := client.Post(url+"/v3/kv/range", "application/json", strings.NewReader(`{"key":"AA==","range_end":"AA=="}`))
		var alert tls.AlertError
		if err == nil {
			_ = res.Body.Close()
			t.Errorf("%s: etcd answered %s", name, res.Status)
		} else if !errors.As(err, &alert) && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v, want the certificate refused", name, err)
		}
	}
	if res, err := http.Post(strings.Replace(url, "https:", "http:", 1)+"/v3/kv/range", "application/json", bytes.NewReader(nil)); err == nil {
		_ = res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS etcd answered %s", res.Status)
		}
	}
}
