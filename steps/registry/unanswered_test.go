package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"
)

// TestUnanswered: only what shows that the registry does not answer makes it down.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err           error
		state, reason string
	}{
		{context.DeadlineExceeded, down, timedOut},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, down, unreachable},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}, down, unreachable},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, down, unreachable},
		{io.ErrUnexpectedEOF, down, unreachable},
		{&net.OpError{Op: "proxyconnect", Err: errors.New("no")}, "", ""},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "", ""},
		{errors.New("http: server gave HTTP response to HTTPS client"), "", ""},
	} {
		err := unanswered(&url.Error{Op: "Get", URL: "https://registry.example.com/v2/?sig=secret", Err: fmt.Errorf("asking: %w", tc.err)}, "registry.example.com")
		stop := (*shutError)(nil)
		if !errors.As(err, &stop) || stop.state != tc.state || stop.reason != tc.reason {
			t.Errorf("%v: %+v, want %q %q", tc.err, err, tc.state, tc.reason)
		}
	}
}
