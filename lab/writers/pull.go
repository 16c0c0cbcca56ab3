package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// onLoopback begins the references of images that this node really asks a registry for. Others have no bytes.
const onLoopback = "127.0.0.1:"

// mostManifest bounds what a registry may answer.
const mostManifest = 4 << 20

// resolve asks the registry what a reference is now, as a kubelet does that pulls always: the digest of the bytes of the manifest.
func resolve(ctx context.Context, ref string) (imageID string, err error) {
	rest, digest, pinned := strings.Cut(ref, "@")
	host, repo, _ := strings.Cut(rest, "/")
	at := "latest"
	if i := strings.LastIndexByte(repo, ':'); i >= 0 {
		repo, at = repo[:i], repo[i+1:]
	}
	if pinned {
		at = digest
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/v2/"+repo+"/manifests/"+at, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json")
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("failed to pull and unpack image %q: failed to resolve reference %q: failed to do request: %w", ref, ref, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, mostManifest))
	switch {
	case err != nil:
		return "", err
	case res.StatusCode == http.StatusNotFound:
		return "", fmt.Errorf("failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", ref, ref, ref)
	case res.StatusCode != http.StatusOK:
		return "", fmt.Errorf("failed to pull and unpack image %q: failed to resolve reference %q: unexpected status from GET request: %s", ref, ref, res.Status)
	}
	sum := sha256.Sum256(raw)
	return host + "/" + repo + "@sha256:" + hex.EncodeToString(sum[:]), nil
}

// pulled waits until the image of the container is here. One without a registry on loopback is.
func (b *box) pulled() bool {
	r := b.r
	if !strings.HasPrefix(b.container.Image, onLoopback) {
		return true
	}
	for tries := 0; r.ctx.Err() == nil; tries++ {
		id, err := resolve(r.ctx, b.container.Image)
		if err == nil {
			r.set(func() { b.imageID = id })
			return true
		}
		if r.ctx.Err() != nil {
			break
		}
		r.set(func() { b.waiting, b.message = "ErrImagePull", err.Error() })
		r.n.tell(r.ctx, r.pod, "kubelet", "Failed", "Failed to pull image \""+b.container.Image+"\": "+err.Error())
		r.set(func() { b.waiting, b.message = "ImagePullBackOff", "Back-off pulling image \""+b.container.Image+"\"" })
		wait(r.ctx, backOff(tries))
	}
	return false
}
