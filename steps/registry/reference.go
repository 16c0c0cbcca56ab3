package registry

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"handrail/steps"
	"handrail/steps/transport"
)

// The grammars of distribution/reference, each anchored.
var (
	domainForm = regexp.MustCompile(`^(?:(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(?:\.(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*|\[[0-9a-fA-F:.]{2,45}\])(?::[0-9]{1,5})?$`)
	nameForm   = regexp.MustCompile(`^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$`)
	tagForm    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

const (
	mostReference = 512
	mostName      = 255 // distribution/reference: NameTotalLengthMax

	hubName = "docker.io"
	hubHost = "registry-1.docker.io" // where the API of docker.io is
	hubAuth = "auth.docker.io"       // where its tokens are
)

// reference is an image reference as docker and containerd read it.
type reference struct {
	domain string // host[:port] as it is named: docker.io, not the host of its API
	name   string // of the repository
	tag    string
	digest string // sha256:…, "" where the reference has none
}

// parseReference reads a reference as written. A name without a host is one of docker.io, and one without tag and digest
// means latest (distribution/reference, normalize.go).
func parseReference(text string) (reference, error) {
	bad := func(why string) (reference, error) {
		return reference{}, fmt.Errorf("image %q: %s", steps.Clip(steps.Flat(text), 200), why)
	}
	if len(text) > mostReference {
		return bad(fmt.Sprintf("a reference has at most %d characters", mostReference))
	}
	rest, digest, pinned := strings.Cut(text, "@")
	if pinned && !digestForm.MatchString(digest) {
		return bad("its digest is not sha256: with 64 hexadecimal digits")
	}
	r := reference{domain: hubName, digest: digest}
	first, below, slash := strings.Cut(rest, "/")
	if slash && (strings.ContainsAny(first, ".:[") || first == "localhost" || strings.ToLower(first) != first) {
		r.domain, rest = first, below
	}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		rest, r.tag = rest[:i], rest[i+1:]
		if !tagForm.MatchString(r.tag) {
			return bad("its tag is none")
		}
	}
	r.name = rest
	if r.domain == "index."+hubName || r.domain == hubHost {
		r.domain = hubName
	}
	if r.domain == hubName && !strings.Contains(r.name, "/") {
		r.name = "library/" + r.name
	}
	switch {
	case !domainForm.MatchString(r.domain):
		return bad("its host is none")
	case len(r.domain)+1+len(r.name) > mostName || !nameForm.MatchString(r.name):
		return bad("its repository is none: write host/name:tag, host/name@sha256:… or both")
	}
	if r.tag == "" && r.digest == "" {
		r.tag = "latest"
	}
	return r, nil
}

// repository is the reference without tag and digest.
func (r reference) repository() string { return r.domain + "/" + r.name }

func (r reference) String() string {
	text := r.repository()
	if r.tag != "" {
		text += ":" + r.tag
	}
	if r.digest != "" {
		text += "@" + r.digest
	}
	return text
}

// kind says what of the reference a node pulls by: a digest is what counts where both stand (containerd and docker alike).
func (r reference) kind() string {
	if r.digest != "" {
		return "digest"
	}
	return "tag"
}

// pulled is the part of the reference that a node pulls by.
func (r reference) pulled() string {
	if r.digest != "" {
		return r.digest
	}
	return r.tag
}

// base is the address of the registry: http where it is on this machine, as docker does it, else https.
func (r reference) base() (*url.URL, error) {
	host := r.domain
	if host == hubName {
		host = hubHost
	}
	scheme := "https"
	if onThisMachine(host) {
		scheme = "http"
	}
	u, err := transport.AskAddress(scheme + "://" + host)
	if err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	return u, nil
}

// onThisMachine tells whether a host is this machine, where a password is heard by no other.
func onThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}
