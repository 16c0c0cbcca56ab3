package transport

import (
	"net/http"
	"net/url"
)

// Way is what stands between a client and a server: the proxy, and the name that
// the server's certificate is held to where it is not its own. "" is the plain
// way. It holds no password. Where nothing tells one cluster from another, the
// way to it has to stay the same.
func Way(proxy func(*http.Request) (*url.URL, error), server, name string) string {
	way := ""
	if proxy == nil {
		proxy = http.ProxyFromEnvironment // as client-go does
	}
	if u, err := url.Parse(server); err == nil {
		via, err := proxy(&http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{}})
		switch {
		case err != nil:
			way = "a proxy that cannot be told"
		case via != nil:
			way = "proxy " + via.Scheme + "://" + via.Host
		}
	}
	if name != "" {
		if way != "" {
			way += ", "
		}
		way += "as " + name
	}
	return way
}
