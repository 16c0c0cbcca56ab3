package loglayer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		want Layer
		line string
	}{
		{Timeout, "dial tcp 10.43.181.44:6379: i/o timeout"},
		{Timeout, "psql: error: connection to server at 10.0.0.4, port 5432 failed: Connection timed out"},
		{Timeout, "connect ETIMEDOUT 10.0.0.4:5432"},
		{Timeout, "dial tcp 10.1.2.3:443: connect: no route to host"},
		{DNS, "dial tcp: lookup mongo on 10.43.0.10:53: no such host"},
		{DNS, "dial tcp: lookup redis on 10.43.0.10:53: read udp 10.1.1.1:4242->10.43.0.10:53: i/o timeout; name resolution failed"},
		{DNS, `psql: error: could not translate host name "db" to address: Temporary failure in name resolution`},
		{DNS, "Error: getaddrinfo ENOTFOUND mongo"},
		{DNS, "wget: bad address 'redis:6379'"},
		{Refused, "dial tcp 10.43.0.7:5672: connect: connection refused"},
		{TLS, "x509: certificate signed by unknown authority"},
		{TLS, "tls: first record does not look like a TLS handshake"},
		{TLS, "psql: error: connection to server at 10.0.0.4, port 5432 failed: server does not support SSL, but SSL was required"},
		{Auth, `Exception (403) Reason: "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN."`},
		{Auth, `FATAL: password authentication failed for user "shop"`},
		{Auth, "NOAUTH Authentication required."},
		{NotFound, `Exception (530) Reason: "NOT_ALLOWED - vhost shop-internal not found"`},
		{NotFound, `FATAL: database "shop" does not exist`},
		{NotFound, `ERROR: relation "tables_v3" does not exist`},
		{NotFound, "GET /v2/thing: 404 page not found"},
		{Config, "/run.sh: line 3: DB_HOST: unbound variable"},
		{Config, "fatal: environment variable AMQP_URL is not set"},
		{Config, "cannot parse config.yaml: yaml: line 3"},
		{Other, "panic: runtime error: index out of range"},
		{Other, `level=info msg="connection refused earlier, retry in 3s"`},
	} {
		if got, line := Of([]string{"starting", tc.line, ""}); got != tc.want || line != tc.line {
			t.Errorf("%q: %s (%q), want %s", tc.line, got, line, tc.want)
		}
	}
	// The last telling line counts, not the last.
	if got, line := Of([]string{"connection refused", "no such host", "giving up", "bye"}); got != DNS || line != "no such host" {
		t.Errorf("%s %q", got, line)
	}
	if got, line := Of([]string{"", "  "}); got != "" || line != "" {
		t.Errorf("of nothing: %s %q", got, line)
	}
	if got, _ := Of(append([]string{"connection refused"}, slices.Repeat([]string{"well"}, deepest)...)); got != Other {
		t.Errorf("an old line counts: %s", got)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("dial tcp 10.0.0.1:53: i/o timeout\nbye")
	f.Add("\xff\xfe connection refused \x00")
	f.Fuzz(func(t *testing.T, text string) {
		layer, line := Of(strings.Split(text, "\n"))
		if layer != "" && !slices.Contains(Layers(), string(layer)) {
			t.Errorf("layer %q", layer)
		}
		if (layer == "") != (line == "") || !utf8.ValidString(line) || len(line) > longest {
			t.Errorf("%q: layer %q, line %q", text, layer, line)
		}
	})
}
