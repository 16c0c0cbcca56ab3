package transport

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// TestAskStaysOnThisMachine: whatever a name leads to, http reaches this machine.
func TestAskStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "192.0.2.1"} {
		conn, err := dialOwnMachine(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Fatalf("%s: %v", host, err)
		}
		if at, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err != nil || !at.Addr().Unmap().IsLoopback() {
			t.Errorf("%s led to %s, %v", host, conn.RemoteAddr(), err)
		}
		_ = conn.Close()
	}
}
