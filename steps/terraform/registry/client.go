package registry

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	version "github.com/hashicorp/go-version"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	mostRead = 4 << 20
	patience = 10 * time.Second // of one request
)

// errAbsent says that a registry answered, and does not have it.
var errAbsent = errors.New("the registry does not have it")

// host is a registry as it answered.
type host struct {
	name string
	base string // of the providers, "" where it cannot be asked for any
	said string
	down bool
}

// fell notes that a registry stopped answering.
func (h *host) fell(err error) {
	if errors.As(err, new(*statusError)) {
		return // it answers, if with no
	}
	h.down, h.said = true, err.Error()
}

// statusError is an answer that is of no use.
type statusError struct{ status int }

func (e *statusError) Error() string {
	if e.status == http.StatusOK {
		return "it answered without a checksum"
	}
	if e.status == http.StatusUnauthorized || e.status == http.StatusForbidden {
		return fmt.Sprintf("it wants a credential (status %d), and none is sent", e.status)
	}
	return fmt.Sprintf("it answered with status %d", e.status)
}

// client sends requests that read.
type client struct{ next *http.Transport }

func newClient(p Probe) client {
	route, dial := transport.OffMetadataRoute(transport.ProxyOf(p.Env))
	return client{&http.Transport{
		Proxy: route, DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: p.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: patience, ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
}

var (
	hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	partForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$`)
)

// plain reports whether text can stand in a path as it is.
func plain(text string) bool { return len(text) < 300 && partForm.MatchString(text) }

// discover asks a host where it has its providers.
func (c client) discover(ctx context.Context, name string) *host {
	h := &host{name: name}
	bare := name
	if one, _, err := net.SplitHostPort(name); err == nil {
		bare = one
	}
	if !hostForm.MatchString(name) || transport.RefuseMetadata(bare) != nil {
		h.said = "it is no name of a registry that is asked"
		return h
	}
	var services map[string]any
	if err := c.get(ctx, h, "/.well-known/terraform.json", &services); err != nil {
		h.down = !errors.As(err, new(*statusError))
		h.said = err.Error()
		if errors.Is(err, errAbsent) {
			h.down, h.said = false, "it answers, and is no registry"
		}
		return h
	}
	at, _ := services["providers.v1"].(string)
	base, err := url.Parse(at)
	switch {
	case at == "" || err != nil:
		h.said = "it answers, and has no providers"
	case base.Host != "" && base.Host != name || base.Scheme != "" && base.Scheme != "https" || base.User != nil || base.RawQuery != "":
		h.said = "it answers, and has its providers on another server, which is not asked"
	default:
		h.base, h.said = "/"+strings.Trim(base.Path, "/")+"/", "answers"
	}
	return h
}

// versions are those that are offered, each with its platforms.
func (c client) versions(ctx context.Context, h *host, provider string) (map[string][]string, error) {
	var doc struct {
		Versions []struct {
			Version   string
			Platforms []struct{ OS, Arch string }
		}
	}
	if err := c.get(ctx, h, h.base+provider+"/versions", &doc); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, v := range doc.Versions {
		platforms := []string{}
		for _, p := range v.Platforms {
			platforms = append(platforms, p.OS+"_"+p.Arch)
		}
		out[strings.TrimPrefix(v.Version, "v")] = platforms
	}
	return out, nil
}

// shasum is the checksum that the registry names for a package.
func (c client) shasum(ctx context.Context, h *host, provider, of, platform string) (string, error) {
	goos, arch, _ := strings.Cut(platform, "_")
	var doc struct{ Shasum string }
	if err := c.get(ctx, h, h.base+provider+"/"+of+"/download/"+goos+"/"+arch, &doc); err != nil {
		return "", err
	}
	if len(doc.Shasum) != 64 || strings.Trim(doc.Shasum, "0123456789abcdef") != "" {
		return "", &statusError{http.StatusOK}
	}
	return doc.Shasum, nil
}

// get reads one document of JSON.
func (c client) get(ctx context.Context, h *host, path string, to any) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+h.name+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := (&http.Client{Transport: transport.Fetch(c.next, "https://"+h.name)}).Do(req)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err
		}
		return fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return errAbsent
	case resp.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf("no answer: it has status %d", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return &statusError{resp.StatusCode}
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostRead+1))
	if err == nil && len(raw) > mostRead {
		err = fmt.Errorf("the answer has more than %d MiB", mostRead>>20)
	}
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		return fmt.Errorf("its answer cannot be read: %w", err)
	}
	return nil
}

// newest is the highest of the versions, as it is written.
func newest(versions map[string][]string) string {
	top, best := (*version.Version)(nil), ""
	for text := range versions {
		v, err := version.NewVersion(text)
		if err == nil && (top == nil || v.GreaterThan(top)) {
			top, best = v, steps.Clip(text, 60)
		}
	}
	return best
}
