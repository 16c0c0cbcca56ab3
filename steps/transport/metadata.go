package transport

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"handrail/steps"
)

// dialWithin bounds the wait for a connection.
const dialWithin = 10 * time.Second

// MetadataError says that a directory or a runbook names an address at which a
// machine gets its credentials.
type MetadataError struct{ address string }

func (e *MetadataError) Error() string {
	return fmt.Sprintf("%s is link-local or an address at which machines of a cloud get their credentials: handrail never asks it for a directory or a runbook, trusted or not; correct the address there", e.address)
}

// metadataNames are how clouds call the service of the machine itself.
var metadataNames = []string{
	"instance-data", "instance-data.ec2.internal", "metadata", "metadata.azure.internal", "metadata.goog", "metadata.google.internal",
	"metadata.oraclecloud.com", "metadata.tencentyun.com", "rancher-metadata",
}

// metadataAddresses are those that are not link-local.
var metadataAddresses = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd00:ec2::23"), netip.MustParseAddr("fd20:ce::254"),
}

// isMetadata looks through the forms in which IPv6 carries an IPv4 address.
func isMetadata(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	if a.IsLinkLocalUnicast() || slices.Contains(metadataAddresses, a) {
		return true
	}
	if !a.Is6() {
		return false
	}
	b := a.As16()
	four := func(at int) netip.Addr { return netip.AddrFrom4([4]byte(b[at : at+4])) }
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(a), netip.MustParsePrefix("64:ff9b:1::/48").Contains(a), netip.MustParsePrefix("::/96").Contains(a):
		return isMetadata(four(12))
	case netip.MustParsePrefix("2002::/16").Contains(a):
		return isMetadata(four(2))
	}
	return false
}

// RefuseMetadata refuses a host by its name or by the address that it writes.
func RefuseMetadata(host string) error {
	name := strings.ToLower(strings.TrimRight(strings.Trim(host, "[]"), "."))
	if slices.Contains(metadataNames, name) {
		return &MetadataError{host}
	}
	a, err := netip.ParseAddr(name)
	if err != nil {
		a = oldAddress(name)
	}
	if a.IsValid() && isMetadata(a) {
		return &MetadataError{host}
	}
	return nil
}

// oldAddress reads what inet_aton takes for an IPv4 address: one to four numbers,
// each decimal, octal or hexadecimal, the last one as long as what is left.
func oldAddress(text string) netip.Addr {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}
	}
	var all uint64
	for i, p := range parts {
		base := 10
		switch {
		case strings.HasPrefix(p, "0x"):
			p, base = p[2:], 16
		case len(p) > 1 && p[0] == '0':
			p, base = p[1:], 8
		}
		n, err := strconv.ParseUint(p, base, 32)
		last := i == len(parts)-1
		bits := 8
		if last {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || n >= 1<<bits {
			return netip.Addr{}
		}
		all = all<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)})
}

// offMetadata is the control of a dialer: it sees the address that a name led to.
func offMetadata(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err == nil && isMetadata(at.Addr()) {
		return &MetadataError{address}
	}
	return nil
}

// GuardedDialer dials what a directory or a runbook names.
type GuardedDialer struct{ net.Dialer }

// NewGuardedDialer returns a dialer that reaches no metadata.
func NewGuardedDialer() *GuardedDialer {
	return &GuardedDialer{net.Dialer{Timeout: dialWithin, Control: offMetadata}}
}

// DialContext refuses names before they are looked up.
func (d *GuardedDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if host, _, err := net.SplitHostPort(address); err == nil && network != "unix" {
		if err := RefuseMetadata(host); err != nil {
			return nil, err
		}
	}
	return d.Dialer.DialContext(ctx, network, address)
}

// Dial implements the dialer of the PostgreSQL driver.
func (d *GuardedDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout implements the dialer of the PostgreSQL driver.
func (d *GuardedDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// RefuseFar refuses a host that a proxy would look up. Where this machine can
// look it up as well, what it finds counts.
func RefuseFar(ctx context.Context, host string) error {
	if err := RefuseMetadata(host); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil // behind a proxy it is the proxy that knows
	}
	for _, a := range found {
		if isMetadata(a) {
			return &MetadataError{host + " (" + a.String() + ")"}
		}
	}
	return nil
}

// Routing finds the proxy of a request; Dialing reaches an address.
type (
	Routing = func(*http.Request) (*url.URL, error)
	Dialing = func(ctx context.Context, network, address string) (net.Conn, error)
)

// OffMetadataRoute guards every request to a server that a directory names, and
// every connection but that to a proxy, which the operator names.
func OffMetadataRoute(route Routing) (Routing, Dialing) {
	var proxies, looked sync.Map // a host is looked up once
	guarded := NewGuardedDialer()
	return func(r *http.Request) (*url.URL, error) {
			via, err := route(r)
			switch {
			case err != nil:
				return nil, err
			case via == nil:
				return nil, RefuseMetadata(r.URL.Hostname())
			}
			if _, fine := looked.Load(r.URL.Hostname()); !fine {
				if err := RefuseFar(r.Context(), r.URL.Hostname()); err != nil {
					return nil, err
				}
				looked.Store(r.URL.Hostname(), true)
			}
			proxies.Store(hostPort(via), true)
			return via, nil
		}, func(ctx context.Context, network, address string) (net.Conn, error) {
			if _, ok := proxies.Load(address); ok {
				return (&net.Dialer{Timeout: dialWithin}).DialContext(ctx, network, address)
			}
			return guarded.DialContext(ctx, network, address)
		}
}

// hostPort is the address of a proxy as it is dialled.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// ProxyOf finds the proxy that the environment names for a request.
func ProxyOf(env steps.Env) Routing {
	proxies := httpproxy.Config{
		HTTPProxy: cmp.Or(env.Getenv("HTTP_PROXY"), env.Getenv("http_proxy")), HTTPSProxy: cmp.Or(env.Getenv("HTTPS_PROXY"), env.Getenv("https_proxy")),
		NoProxy: cmp.Or(env.Getenv("NO_PROXY"), env.Getenv("no_proxy")),
	}
	proxy := proxies.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
}
