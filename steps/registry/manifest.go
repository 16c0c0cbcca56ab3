package registry

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"regexp"
	"strings"

	"handrail/steps"
)

const (
	mostManifest = 4 << 20 // OCI distribution 1.1, Pushing Manifests: what registries take at least
	mostEntries  = 1000    // descriptors of one manifest
)

// The media types of manifests that are asked for.
const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	dockerList  = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerImage = "application/vnd.docker.distribution.manifest.v2+json"

	accepted = ociIndex + ", " + ociManifest + ", " + dockerList + ", " + dockerImage
)

// descriptor is a descriptor of the OCI image specification.
type descriptor struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType"`
	Digest       string            `json:"digest"`
	Size         int64             `json:"size"`
	Annotations  map[string]string `json:"annotations"`
	Platform     *struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
		Variant      string `json:"variant"`
	} `json:"platform"`
}

// manifest is an image manifest or an index, as its bytes say.
type manifest struct {
	MediaType string       `json:"mediaType"`
	Config    *descriptor  `json:"config"`
	Layers    []descriptor `json:"layers"`
	Manifests []descriptor `json:"manifests"`
}

var (
	anyDigest = regexp.MustCompile(`^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[A-Za-z0-9=_-]+$`) // image-spec, descriptor.md, Digests
	mediaForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$`)

	errManifest = errors.New("what the registry answered is no manifest of an image or an index")
)

// isMedia reports whether a text is a media type of a length that RFC 6838, section 4.2, allows.
func isMedia(text string) bool { return len(text) <= 255 && mediaForm.MatchString(text) }

// parseManifest reads a manifest, whose type the header says and its own field may.
func parseManifest(raw []byte, contentType string) (manifest, error) {
	var m manifest
	if len(raw) > mostManifest || json.Unmarshal(raw, &m) != nil {
		return manifest{}, errManifest
	}
	said, _, err := mime.ParseMediaType(contentType)
	if err != nil || !isMedia(said) {
		said = ""
	}
	switch {
	case m.MediaType != "" && !isMedia(m.MediaType), m.MediaType == "" && said == "":
		return manifest{}, errManifest
	case m.MediaType == "":
		m.MediaType = said
	case said != "" && said != m.MediaType && said != "application/json" && said != "application/octet-stream":
		// image-spec, manifest.md: the two must be the same, or one reader sees an image where another sees an index.
		return manifest{}, fmt.Errorf("the header calls the manifest %s and its bytes call it %s", said, m.MediaType)
	}
	entries := len(m.Layers) + len(m.Manifests)
	index := m.index()
	switch {
	case !index && m.MediaType != ociManifest && m.MediaType != dockerImage:
		return manifest{}, fmt.Errorf("it is of type %s: %w", m.MediaType, errManifest)
	case index && (m.Config != nil || len(m.Layers) > 0), !index && len(m.Manifests) > 0, !index && m.Config == nil:
		return manifest{}, errManifest
	case entries > mostEntries:
		return manifest{}, fmt.Errorf("the manifest has more than the %d entries that are read", mostEntries)
	}
	for _, list := range [][]descriptor{m.Layers, m.Manifests} {
		for _, d := range list {
			if len(d.Digest) > 300 || !anyDigest.MatchString(d.Digest) || d.Size < 0 {
				return manifest{}, errManifest
			}
		}
	}
	return m, nil
}

func (m manifest) index() bool { return m.MediaType == ociIndex || m.MediaType == dockerList }

// platform is os/architecture[/variant], "" where the entry is no image: BuildKit keeps attestations beside the images of an
// index, for the platform unknown/unknown.
func (d descriptor) platform() string {
	p := d.Platform
	if p == nil || p.OS == "" || p.OS == "unknown" || d.Annotations["vnd.docker.reference.type"] != "" {
		return ""
	}
	text := p.OS + "/" + p.Architecture
	if p.Variant != "" {
		text += "/" + p.Variant
	}
	return steps.OneLine(text, 100)
}

// digestOf is the digest of bytes.
func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// headerHolds tells whether Docker-Content-Digest is the digest of the bytes; told is false where it says nothing that can be
// compared.
func headerHolds(header string, raw []byte) (holds, told bool) {
	switch algorithm, _, _ := strings.Cut(header, ":"); algorithm {
	case "":
		return true, header != ""
	case "sha256":
		return header == digestOf(raw), true
	case "sha512":
		sum := sha512.Sum512(raw)
		return header == "sha512:"+hex.EncodeToString(sum[:]), true
	}
	return true, false
}
