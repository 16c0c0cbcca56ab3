package registry

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"

	"handrail/session/index/depot"
)

// ArtifactType is what a registry says a bundle is.
const ArtifactType = "application/vnd.handrail.bundle.v1"

const (
	layerType   = ArtifactType + ".tar+gzip"
	maxManifest = 4 << 20
	maxLayers   = 4096

	// By these ORAS unpacks a layer into a directory.
	unpackMark   = "io.deis.oras.content.unpack"
	unpackDigest = "io.deis.oras.content.digest"
)

// ids are tags too; the grammar of a tag is the narrower one.
var tagName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// Find reads the manifest of a tag and believes its form, not its contents.
func (r *Repository) Find(ctx context.Context, id string) (depot.BundleInfo, error) {
	if !tagName.MatchString(id) {
		return depot.BundleInfo{}, fmt.Errorf("%w: %q cannot be a tag", depot.ErrPlace, id)
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	desc, body, err := r.repo.Manifests().FetchReference(ctx, id)
	if errors.Is(err, errdef.ErrNotFound) {
		return depot.BundleInfo{}, fmt.Errorf("%w: %q", depot.ErrNone, r.Place(id))
	}
	if err != nil {
		return depot.BundleInfo{}, fmt.Errorf("looking for %q: %w", r.Place(id), explained(err))
	}
	defer body.Close()
	if desc.Size > maxManifest {
		return depot.BundleInfo{}, fmt.Errorf("%w: %q has a manifest of %d bytes", depot.ErrStranger, r.Place(id), desc.Size)
	}
	raw, err := content.ReadAll(body, desc)
	if err != nil {
		return depot.BundleInfo{}, fmt.Errorf("%w: the manifest of %q: %w", depot.ErrUnverified, r.Place(id), err)
	}
	m, size, err := parse(raw)
	if err != nil {
		return depot.BundleInfo{}, fmt.Errorf("%w: %q: %w", depot.ErrStranger, r.Place(id), err)
	}
	return depot.BundleInfo{ID: id, Place: r.Place(id), Size: size, Version: desc.Digest.String(), Inside: m.Layers}, nil
}

// parse holds a manifest to the form of ours, and sums up its layers.
func parse(raw []byte) (m ocispec.Manifest, size int64, err error) {
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, 0, err
	}
	if m.ArtifactType != ArtifactType {
		return m, 0, fmt.Errorf("its artifact type is %q, not %q", m.ArtifactType, ArtifactType)
	}
	if len(m.Layers) == 0 || len(m.Layers) > maxLayers {
		return m, 0, fmt.Errorf("it has %d layers", len(m.Layers))
	}
	for _, l := range m.Layers {
		if l.MediaType != layerType || l.Size <= 0 || l.Size > 8<<30 {
			return m, 0, fmt.Errorf("a layer of type %q with %d bytes", l.MediaType, l.Size)
		}
		if err := l.Digest.Validate(); err != nil {
			return m, 0, fmt.Errorf("the digest of a layer: %w", err)
		}
		size += l.Size
	}
	return m, size, nil
}

// Open reads the layers one after the other.
func (r *Repository) Open(ctx context.Context, s depot.BundleInfo, from int64) (io.ReadCloser, error) {
	layers, ok := s.Inside.([]ocispec.Descriptor)
	if !ok {
		return nil, fmt.Errorf("%q was not found by this registry", s.Place)
	}
	for len(layers) > 0 && from >= layers[0].Size {
		from -= layers[0].Size
		layers = layers[1:]
	}
	l := &layerReader{ctx: ctx, r: r, layers: layers}
	// The rest of a layer proves nothing: it is read from its beginning.
	if _, err := io.CopyN(io.Discard, l, from); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// layerReader is the packed bundle, put together from its layers. A layer that is not
// what the manifest says has no end but an error.
type layerReader struct {
	ctx    context.Context
	r      *Repository
	layers []ocispec.Descriptor
	body   io.Closer
	proof  *content.VerifyReader
}

func (l *layerReader) Read(b []byte) (int, error) {
	for {
		if l.proof == nil {
			if len(l.layers) == 0 {
				return 0, io.EOF
			}
			body, err := l.r.repo.Blobs().Fetch(l.ctx, l.layers[0])
			if err != nil {
				return 0, l.r.missing(l.ctx, l.layers[0], err)
			}
			l.body, l.proof = body, content.NewVerifyReader(body, l.layers[0])
		}
		n, err := l.proof.Read(b)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := l.proof.Verify(); err != nil {
			return 0, fmt.Errorf("%w: layer %s is not what the manifest says: %w", depot.ErrUnverified, l.layers[0].Digest, err)
		}
		err = l.body.Close()
		l.layers, l.proof, l.body = l.layers[1:], nil, nil
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// missing tells a layer that is not what the manifest says from a registry that
// does not answer.
func (r *Repository) missing(ctx context.Context, want ocispec.Descriptor, err error) error {
	there, rerr := r.repo.Blobs().Resolve(ctx, want.Digest.String())
	switch {
	case errors.Is(rerr, errdef.ErrNotFound):
		return fmt.Errorf("%w: layer %s is missing: %w", depot.ErrUnverified, want.Digest, err)
	case rerr == nil && there.Size != want.Size:
		return fmt.Errorf("%w: layer %s has %d bytes, not the %d of the manifest", depot.ErrUnverified, want.Digest, there.Size, want.Size)
	}
	return err
}

func (l *layerReader) Close() error {
	if l.body == nil {
		return nil
	}
	return l.body.Close()
}

// Send stores the layers, then the manifest, then the tag. What is there already
// goes by its digest and is not sent again.
func (r *Repository) Send(ctx context.Context, p *depot.Package, tell depot.Progress) error {
	m, err := r.contents(ctx, p.ID, p, tell)
	if err != nil {
		return err
	}
	return r.publish(ctx, p.ID, m)
}

// Replace stores a bundle and moves the tag to it from what was found.
func (r *Repository) Replace(ctx context.Context, name string, p *depot.Package, was depot.BundleInfo) error {
	m, err := r.contents(ctx, name, p, nil)
	if err != nil {
		return err
	}
	desc, err := r.manifest(ctx, m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	there, err := r.repo.Manifests().Resolve(ctx, name)
	switch {
	case errors.Is(err, errdef.ErrNotFound) && was.Version == "":
	case err != nil:
		return err
	case there.Digest.String() != was.Version:
		return fmt.Errorf("%w: by %s", depot.ErrTaken, there.Digest)
	}
	return r.repo.Manifests().Tag(ctx, desc, name)
}

// contents sends the layers of a bundle that gets a tag, and makes its manifest.
func (r *Repository) contents(ctx context.Context, tag string, p *depot.Package, tell depot.Progress) (ocispec.Manifest, error) {
	if !tagName.MatchString(tag) {
		return ocispec.Manifest{}, fmt.Errorf("%w: %q cannot be a tag", depot.ErrPlace, tag)
	}
	parts, err := p.Parts(r.part)
	if err != nil {
		return ocispec.Manifest{}, err
	}
	m := ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		ArtifactType: ArtifactType, Config: ocispec.DescriptorEmptyJSON,
		Annotations: map[string]string{ocispec.AnnotationCreated: p.Created, ocispec.AnnotationTitle: p.ID}}
	for i, part := range parts {
		layer := ocispec.Descriptor{MediaType: layerType, Size: part.Size,
			Digest:      digest.NewDigestFromEncoded(digest.SHA256, hex.EncodeToString(part.SHA256[:])),
			Annotations: map[string]string{ocispec.AnnotationTitle: fmt.Sprintf("%s%s.%04d", p.ID, depot.Suffix, i+1)}}
		if len(parts) == 1 {
			layer.Annotations = map[string]string{ocispec.AnnotationTitle: p.ID + ".hrb", unpackMark: "true", unpackDigest: "sha256:" + p.Tar}
		}
		if err := r.blob(ctx, layer, p.Reader(part)); err != nil {
			return m, fmt.Errorf("layer %d of %d: %w", i+1, len(parts), err)
		}
		m.Layers = append(m.Layers, layer)
		if tell != nil {
			tell(part.Offset+part.Size, p.Size)
		}
	}
	return m, r.blob(ctx, m.Config, bytes.NewReader(m.Config.Data))
}

func (r *Repository) blob(ctx context.Context, d ocispec.Descriptor, from io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	there, err := r.repo.Blobs().Exists(ctx, d)
	if err != nil || there {
		return explained(err)
	}
	raw, err := io.ReadAll(io.LimitReader(from, d.Size)) // what lies in memory can be sent again
	if err != nil {
		return err
	}
	return r.repo.Blobs().Push(ctx, d, bytes.NewReader(raw))
}

// manifest stores a manifest, without a tag.
func (r *Repository) manifest(ctx context.Context, m ocispec.Manifest) (ocispec.Descriptor, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	desc := content.NewDescriptorFromBytes(m.MediaType, raw)
	if err := r.repo.Manifests().Push(ctx, desc, bytes.NewReader(raw)); err != nil {
		return desc, fmt.Errorf("the manifest: %w", err)
	}
	return desc, nil
}

// publish gives the manifest its tag, unless something has it.
func (r *Repository) publish(ctx context.Context, id string, m ocispec.Manifest) error {
	desc, err := r.manifest(ctx, m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if there, err := r.repo.Manifests().Resolve(ctx, id); err == nil && there.Digest != desc.Digest {
		return fmt.Errorf("%w: by %s", depot.ErrTaken, there.Digest)
	} else if err != nil && !errors.Is(err, errdef.ErrNotFound) {
		return err
	}
	return r.repo.Manifests().Tag(ctx, desc, id)
}
