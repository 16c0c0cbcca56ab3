package registry

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"oras.land/oras-go/v2/registry"

	"handrail/session/index/depot"
)

// Scheme begins the name of a repository.
const Scheme = "oci://"

// split reads oci://host[:port]/repository[:id]. What it refuses it does not
// repeat where that may hold a password.
func split(place string) (registry.Reference, error) {
	rest, ok := strings.CutPrefix(place, Scheme)
	if !ok {
		return registry.Reference{}, fmt.Errorf("%w: it does not begin with %s", depot.ErrPlace, Scheme)
	}
	host, _, _ := strings.Cut(rest, "/")
	if strings.Contains(host, "@") {
		return registry.Reference{}, fmt.Errorf("%w: credentials do not belong in the name of a place; they come from the configuration of docker", depot.ErrPlace)
	}
	ref, err := registry.ParseReference(strings.TrimSuffix(rest, "/"))
	if err != nil {
		return registry.Reference{}, fmt.Errorf("%w: %q is not %shost/repository: %w", depot.ErrPlace, place, Scheme, err)
	}
	if strings.Contains(ref.Reference, ":") {
		return registry.Reference{}, fmt.Errorf("%w: a bundle goes by its id, not by a digest", depot.ErrPlace)
	}
	return ref, nil
}

// Bundle splits oci://host/repository:ID into the place and the id.
func Bundle(place string) (where, id string, err error) {
	ref, err := split(place)
	if err != nil {
		return "", "", err
	}
	if ref.Reference == "" {
		return "", "", fmt.Errorf("%w: %q names no bundle in the repository", depot.ErrPlace, place)
	}
	return Scheme + ref.Registry + "/" + ref.Repository, ref.Reference, nil
}

// loopback tells whether a host is this machine, where no one listens in.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.IsLoopback()
}
