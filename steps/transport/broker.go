package transport

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Broker returns a transport that reads from the management API of a RabbitMQ at
// server, what the probes ask for and nothing else: there is a GET that makes a
// queue and publishes to it (aliveness-test).
func Broker(next http.RoundTripper, server string, opts ...Option) http.RoundTripper {
	return newReader(next, server, opts, func(req *http.Request, path string) string {
		if why := fetches(req, path); why != "" {
			return why
		}
		if path != "/api/whoami" && path != "/api/vhosts" && !strings.HasPrefix(path, "/api/bindings/") && !strings.HasPrefix(path, "/api/queues/") && !strings.HasPrefix(path, "/api/exchanges/") {
			return "it asks for something else than virtual hosts, bindings, queues and exchanges"
		}
		for part := range strings.SplitSeq(req.URL.EscapedPath(), "/") {
			if name, err := url.PathUnescape(part); err != nil || name == "." || name == ".." {
				return "its path has a dot segment"
			}
		}
		query, err := url.ParseQuery(req.URL.RawQuery)
		if err != nil {
			return "its query cannot be read"
		}
		for name := range query {
			switch name {
			case "page", "page_size", "columns", "disable_stats", "enable_queue_totals":
			default:
				return fmt.Sprintf("the option %q is not known to be a read", name)
			}
		}
		return ""
	})
}
