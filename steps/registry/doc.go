// Package registry asks the registry of an image what its reference is now, and whether a key signed it. It reads only: its
// requests leave through transport.Fetch, by GET, to one server.
//
// # References
//
// A reference is read as docker and containerd read it (distribution/reference, reference.go and normalize.go): without a host
// it is one of docker.io, whose API is registry-1.docker.io, and without tag and digest it means latest. Where it has both, the
// digest is what a node pulls. Digests are sha256. A registry on this machine is asked over http, any other over https with a
// verified certificate.
//
// # What a registry answers
//
// Five answers are told apart (OCI distribution 1.1, Pulling manifests and Error Codes):
//
//   - missing: 404 with MANIFEST_UNKNOWN or NAME_UNKNOWN, and either an account was sent or the list of tags shows that the
//     repository is readable without one. A registry answers 404 as well for what it hides, so that any other 404 is unknown.
//   - moved: the digest of the bytes is not the expected one (mismatch).
//   - down: no connection, no answer in time, 5xx; and 429, which has a reason of its own (too-many-requests). It is down and
//     not denied, because the next move is that of an outage, to wait or to mirror, and no right is missing.
//   - denied: 401 (unauthenticated) and 403 (forbidden).
//   - unknown: another answer, a certificate that does not verify, a redirect to another server. The registry may be well.
//
// A digest is computed from the bytes of the manifest, of at most 4 MiB. Docker-Content-Digest is compared with it, and never
// stands for it (OCI distribution 1.1, Verifying Manifests): where the two differ, the digest is unknown, and a finding says
// so. It is unknown as well where the header names another media type than the bytes (OCI image 1.1, manifest.md, mediaType).
//
// # Accounts
//
// The account is the one that docker's configuration has for the registry (DOCKER_CONFIG, else ~/.docker): user and password, or a
// registry token. A program that keeps passwords (credsStore, credHelpers) is not run, since a probe runs none that a file
// names, and an identity token is not spent, since that takes a POST. The reason says so.
//
// An account is sent once the registry asks for it (RFC 9110, 11.6.1), and to that registry alone. A challenge Bearer is
// answered by a GET of its realm for the right to pull this repository (distribution, spec/auth/token.md). The realm is asked where
// it is on the registry itself, or is auth.docker.io for docker.io, as docker does; for any other one the reading is
// unknown. Passwords and tokens are secrets of the incident before they leave. A redirect is followed on the same server alone.
//
// # Signatures
//
// Signatures are those of cosign (cosign, specs/SIGNATURE_SPEC.md): the manifest under the tag sha256-HEX.sig (Tag-based
// Discovery), its layers of type application/vnd.dev.cosign.simplesigning.v1+json (Payload and mediaType), each with its
// signature in the annotation dev.cosignproject.cosign/signature (Signature). Such manifests are also taken from the referrers
// of the digest (OCI distribution 1.1, Listing Referrers and Referrers Tag Schema), where their artifact type is
// application/vnd.dev.cosign.artifact.sig.v1+json. They are verified offline, against one key: ECDSA P-256 and RSA (PKCS #1 v1.5)
// over the sha256 of the payload (Hashing Algorithms), Ed25519 over the payload.
//
//   - ok: the key signed a payload whose critical.image.docker-manifest-digest is the digest and whose critical.type is
//     "cosign container image signature" (Simple Signing).
//   - bad: the key signed another digest or type, or the bytes of a payload are not those that its layer names.
//   - identity-mismatch: there are signatures, all were read, and none is by the key.
//   - absent: the image, the tag and the referrers were read, and there is no signature.
//
// A place that could not be read leaves each of the last two unknown. The specification ignores
// critical.identity.docker-reference; one that names another repository is a finding here. Many registries keep blobs on another
// server, to which nothing is sent: a payload as cosign writes it without annotations is then made anew, and is taken where its digest is
// that of the layer.
//
// A sigstore bundle (cosign, specs/BUNDLE_SPEC.md) that a referrer names holds a DSSE envelope over an in-toto statement (DSSE,
// protocol.md and envelope.md; in-toto, spec/v1/statement.md): a signature where its predicate is https://sigstore.dev/cosign/sign/v1,
// else an attestation, whatever the note beside it calls it. Attestations are also taken from the layers under the tag
// sha256-HEX.att (cosign, specs/ATTESTATION_SPEC.md). attested has the predicate types that the key attests for this digest; the
// content of a predicate is not judged. A bundle of a message signature is not verified and leaves the signature unknown. An SBOM
// under the tag sha256-HEX.sbom (SBOM_SPEC.md) is told by its presence. Neither certificates nor a transparency log are looked at: what a
// certificate signed is not by the key.
//
// The tests ask a real registry (distribution, drills/lab). Their signatures are composed after the specification and made
// by Go's crypto: they were not made by cosign's own program.
package registry
