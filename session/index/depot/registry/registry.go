// Package registry keeps bundles in a repository of an OCI registry, each as an
// artifact whose tag is the id.
//
// The manifest is an OCI image manifest (1.1) of artifact type
// application/vnd.handrail.bundle.v1 with the empty configuration. Its layers, of
// type application/vnd.handrail.bundle.v1.tar+gzip, are the pieces of the packed
// bundle in order. A bundle of one piece has the title <id>.hrb and the
// annotations by which ORAS unpacks it; of more pieces each is a file
// <id>.hrb.tar.gz.<number>, and together they are the packed bundle.
//
// Registries know no conditional writes: the tag is looked at before and read
// again after. Layers and manifest are there before the tag is.
package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"handrail/session/index/depot"
	"handrail/steps/transport"
)

const (
	askWithin  = time.Minute      // for a request without contents, retries included
	sendWithin = 15 * time.Minute // for one layer
)

// Repository is a depot.Store.
type Repository struct {
	where string // oci://host/repository
	repo  *remote.Repository
	part  int64

	mu      sync.Mutex
	secrets []string
}

// Open finds out who we are to the registry, by the configuration of docker. It
// does not speak to the registry yet.
func Open(place string) (*Repository, error) {
	// Programs that keep credentials run only where that configuration names them.
	keep, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("docker configuration: %w", err)
	}
	return OpenAs(place, credentials.Credential(keep))
}

// OpenAs is Open with credentials from elsewhere.
func OpenAs(place string, who auth.CredentialFunc) (*Repository, error) {
	ref, err := split(place)
	if err != nil {
		return nil, err
	}
	if ref.Reference != "" {
		return nil, fmt.Errorf("%w: %q names a bundle, not a repository", depot.ErrPlace, place)
	}
	r := &Repository{where: Scheme + ref.Registry + "/" + ref.Repository, part: depot.PartSize}
	if r.repo, err = remote.NewRepository(ref.Registry + "/" + ref.Repository); err != nil {
		return nil, fmt.Errorf("%w: %w", depot.ErrPlace, err)
	}
	near := loopback(ref.Registry)
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("this program has another network than the one it was built with")
	}
	way := base.Clone()
	way.ResponseHeaderTimeout = depot.Quiet
	r.repo.PlainHTTP = near
	r.repo.TagListMaxPages = depot.MaxListed
	client := &auth.Client{
		Client: &http.Client{Transport: retry.NewTransport(httpsOnly{transport.Limit(way, contents), near})},
		Cache:  auth.NewCache(),
		Credential: func(ctx context.Context, host string) (auth.Credential, error) {
			c, err := who(ctx, host)
			if err != nil {
				return c, fmt.Errorf("asking for the credentials of %q: %w", host, err)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.secrets = append(r.secrets, c.Password, c.RefreshToken, c.AccessToken)
			return c, nil
		},
	}
	client.SetUserAgent("handrail")
	r.repo.Client = client
	return r, nil
}

// contents reports whether a request is for a part of a bundle, which is read as it
// comes; a registry may lead elsewhere for it.
func contents(req *http.Request) bool {
	for ; ; req = req.Response.Request {
		if req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/blobs/") {
			return true
		}
		if req.Response == nil { // of the redirect that led here
			return false
		}
	}
}

// httpsOnly keeps a registry from leading us to where others can listen in:
// it may name other hosts for its passwords and its contents.
type httpsOnly struct {
	base http.RoundTripper
	near bool // the registry itself is on this machine
}

func (e httpsOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && (!e.near || !loopback(req.URL.Host)) {
		return nil, fmt.Errorf("%q is not encrypted; handrail speaks plain http to a registry on this machine only", req.URL.Scheme+"://"+req.URL.Host)
	}
	return e.base.RoundTrip(req)
}

// Secrets are the credentials that were in use so far.
func (r *Repository) Secrets() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.secrets...)
}

// Place names a bundle.
func (r *Repository) Place(id string) string { return r.where + ":" + id }

// explained adds to an answer what a person can do about it.
func explained(err error) error {
	if errors.Is(err, auth.ErrBasicCredentialNotFound) {
		return fmt.Errorf("%w: the registry wants a password, and the configuration of docker has none for it; sign in as for docker", err)
	}
	return err
}
