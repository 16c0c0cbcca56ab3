package inject

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/drills/stage"
	"handrail/steps"
)

const (
	imageManifest = "application/vnd.oci.image.manifest.v1+json"
	imageConfig   = "application/vnd.oci.image.config.v1+json"
)

// runRegistry is the verb registry.run.
type runRegistry struct{}

func (runRegistry) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting an image registry; it is built the first time, which takes minutes")
	return st.ServeRegistry(ctx)
}

// stopRegistry is the verb registry.stop.
type stopRegistry struct{}

func (stopRegistry) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the registry goes down")
	return st.StopRegistry(ctx)
}

// startRegistry is the verb registry.start.
type startRegistry struct{}

func (startRegistry) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the registry comes back")
	return st.StartRegistry(ctx)
}

// pushImage is the verb registry.push. The content of an image is a text, so that the same text is the same digest, and
// another one another.
type pushImage struct {
	Name  string `key:"name,required" as:"id"`     // of the repository, below team/
	Tag   string `key:"tag,required" as:"version"` // that it is pushed under
	Holds string `key:"holds,required"`            // what its only layer is
	As    string `key:"as" as:"name"`              // drill.NAME is its digest
	Key   string `key:"signed_by" as:"name"`       // whose signature goes with it; drill.NAME is the file of the public key
}

func (p pushImage) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("pushing an image as %s:%s", repositoryOf(p.Name), p.Tag)
	r, err := registryOf(st, p.Name)
	if err != nil {
		return err
	}
	digest, err := r.image(ctx, p.Tag, p.Holds)
	if err != nil {
		return err
	}
	if p.As != "" {
		if err := os.WriteFile(r.digestFile(p.As), []byte(digest), 0o600); err != nil {
			return err
		}
	}
	if p.Key == "" {
		return nil
	}
	return r.sign(ctx, digest, p.Key)
}

// deleteImage is the verb registry.delete.
type deleteImage struct {
	Name string `key:"name,required" as:"id"`
	Tag  string `key:"tag,required" as:"version"`
}

func (d deleteImage) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("deleting what %s:%s names", repositoryOf(d.Name), d.Tag)
	r, err := registryOf(st, d.Name)
	if err != nil {
		return err
	}
	res, err := r.send(ctx, http.MethodGet, r.url("manifests/"+d.Tag), "", nil, http.StatusOK)
	if err != nil {
		return err
	}
	_, err = r.send(ctx, http.MethodDelete, r.url("manifests/"+res.Get("Docker-Content-Digest")), "", nil, http.StatusAccepted)
	return err
}

// deployImage is the verb registry.deploy: kubectl apply of the manifest, as a pipeline runs it.
type deployImage struct {
	Deployment string `key:"deployment,required" as:"id"`
	Name       string `key:"name,required" as:"id"`
	Tag        string `key:"tag" as:"version"`
	Digest     string `key:"digest" as:"name"` // of an image that was pushed under this name, instead of a tag
	Replicas   int    `key:"replicas" range:"0 3"`
	Waits      bool   `key:"waits"` // a Pod cannot pull it
}

func (d deployImage) apply(ctx context.Context, st *stage.Stage) error {
	r, err := registryOf(st, d.Name)
	if err != nil {
		return err
	}
	ref := r.host + "/" + r.repo
	if d.Tag != "" {
		ref += ":" + d.Tag
	}
	if d.Digest != "" {
		raw, err := os.ReadFile(r.digestFile(d.Digest))
		if err != nil {
			return err
		}
		ref += "@" + string(raw)
	}
	st.Say("deployment %s takes %s, with %d replicas", d.Deployment, ref, d.Replicas)
	var now struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []map[string]any }
			}
		}
	}
	if err := st.Robot.Get(ctx, deploymentPath(st, d.Deployment), &now); err != nil {
		return err
	}
	containers := now.Spec.Template.Spec.Containers
	if len(containers) == 0 {
		return fmt.Errorf("deployment %s has no container", d.Deployment)
	}
	containers[0]["image"] = ref
	if err := st.Robot.Patch(ctx, deploymentPath(st, d.Deployment)+"?fieldManager=kubectl-client-side-apply", map[string]any{"spec": map[string]any{
		"replicas": d.Replicas, "template": map[string]any{"spec": map[string]any{"containers": containers}}}}); err != nil {
		return err
	}
	if d.Waits {
		return d.refused(ctx, st)
	}
	_, err = rollout(ctx, st, d.Deployment, "have its pods ready", func(o deployment) bool {
		return o.Status.ObservedGeneration >= o.Metadata.Generation && o.Status.ReadyReplicas == d.Replicas
	})
	return err
}

// refused waits until a node says of a Pod that it has no image.
func (d deployImage) refused(ctx context.Context, st *stage.Stage) error {
	return st.Wait(ctx, "no pod of "+d.Deployment+" came to wait for its image", func() (bool, error) {
		var list struct {
			Items []struct {
				Status struct {
					ContainerStatuses []struct {
						State struct {
							Waiting struct{ Reason string }
						}
					}
				}
			}
		}
		err := st.Robot.Get(ctx, "/api/v1/namespaces/"+st.Rec.Namespace.Name+"/pods", &list)
		for _, p := range list.Items {
			for _, c := range p.Status.ContainerStatuses {
				if c.State.Waiting.Reason == "ImagePullBackOff" {
					return true, err
				}
			}
		}
		return false, err
	})
}

// imageRegistry is one repository of the registry of a drill.
type imageRegistry struct{ dir, host, repo string }

func repositoryOf(name string) string { return "team/" + name }

func registryOf(st *stage.Stage, name string) (imageRegistry, error) {
	if st.Rec.Registry == nil {
		return imageRegistry{}, errors.New("this drill has no registry: begin with registry.run")
	}
	return imageRegistry{st.RegistryDir(), st.Rec.Registry.Addr, repositoryOf(name)}, nil
}

func (r imageRegistry) url(rest string) string {
	return "http://" + r.host + "/v2/" + r.repo + "/" + rest
}

func (r imageRegistry) digestFile(name string) string { return filepath.Join(r.dir, name+".digest") }

func (r imageRegistry) keyFile(name string) string { return filepath.Join(r.dir, name+".pub") }

func (r imageRegistry) send(ctx context.Context, method, address, kind string, body []byte, want int) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if method == http.MethodGet {
		req.Header.Set("Accept", imageManifest)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("registry of the drill: %w", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, stage.MaxAnswer))
	if err == nil && res.StatusCode != want {
		err = fmt.Errorf("registry of the drill: %s %s answered %d: %s", method, req.URL.Path, res.StatusCode, strings.TrimSpace(stage.Tail(raw)))
	}
	return res.Header, err
}

// content describes bytes of the registry.
type content struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (r imageRegistry) blob(ctx context.Context, kind string, raw []byte) (content, error) {
	d := content{MediaType: kind, Digest: digestOf(raw), Size: len(raw)}
	at, err := r.send(ctx, http.MethodPost, r.url("blobs/uploads/"), "", nil, http.StatusAccepted)
	if err != nil {
		return d, err
	}
	u, err := url.Parse(at.Get("Location"))
	if err != nil {
		return d, err
	}
	u.Scheme, u.Host = "http", r.host
	q := u.Query()
	q.Set("digest", d.Digest)
	u.RawQuery = q.Encode()
	_, err = r.send(ctx, http.MethodPut, u.String(), "application/octet-stream", raw, http.StatusCreated)
	return d, err
}

// manifest pushes an image of one layer, and returns its digest.
func (r imageRegistry) manifest(ctx context.Context, tag string, config, layer content) (string, error) {
	raw, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": imageManifest, "config": config, "layers": []content{layer}})
	if err != nil {
		return "", err
	}
	_, err = r.send(ctx, http.MethodPut, r.url("manifests/"+tag), imageManifest, raw, http.StatusCreated)
	return digestOf(raw), err
}

func (r imageRegistry) image(ctx context.Context, tag, holds string) (string, error) {
	config, err := r.blob(ctx, imageConfig, []byte(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`))
	if err != nil {
		return "", err
	}
	layer, err := r.blob(ctx, "application/vnd.oci.image.layer.v1.tar", []byte(holds))
	if err != nil {
		return "", err
	}
	return r.manifest(ctx, tag, config, layer)
}

// sign pushes a signature as cosign does with a key (specs/SIGNATURE_SPEC.md): a tag made of the digest, and a layer that is
// the payload.
func (r imageRegistry) sign(ctx context.Context, digest, name string) error {
	key, err := r.key(name)
	if err != nil {
		return err
	}
	payload := []byte(`{"critical":{"identity":{"docker-reference":"` + r.host + "/" + r.repo + `"},"image":{"docker-manifest-digest":"` + digest + `"},"type":"cosign container image signature"},"optional":null}`)
	sum := sha256.Sum256(payload)
	signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		return err
	}
	config, err := r.blob(ctx, imageConfig, []byte(`{"architecture":"","os":""}`))
	if err != nil {
		return err
	}
	layer, err := r.blob(ctx, "application/vnd.dev.cosign.simplesigning.v1+json", payload)
	if err != nil {
		return err
	}
	layer.Annotations = map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signature)}
	_, err = r.manifest(ctx, strings.Replace(digest, ":", "-", 1)+".sig", config, layer)
	return err
}

// key is that of one who signs, made when it is first needed. The public half lies beside it, as a team keeps it in Git.
func (r imageRegistry) key(name string) (*ecdsa.PrivateKey, error) {
	file := filepath.Join(r.dir, name+".key")
	if raw, err := os.ReadFile(file); err == nil {
		return x509.ParseECPrivateKey(raw)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(r.keyFile(name), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o600); err != nil {
		return nil, err
	}
	return key, os.WriteFile(file, raw, 0o600)
}

// pushed are the names that images and keys have beside the drill.
func (in Steps) pushed() []string {
	var names []string
	for _, s := range in {
		if p, ok := s.act.(pushImage); ok {
			names = append(names, p.As, p.Key)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// setPushed gives each of them its value: a digest, or the file of a public key.
func (in Steps) setPushed(st *stage.Stage, out map[string]steps.Value) {
	r := imageRegistry{dir: st.RegistryDir()}
	for _, name := range in.pushed() {
		if raw, err := os.ReadFile(r.digestFile(name)); err == nil {
			out[name] = steps.StringOf(string(raw))
			continue
		}
		out[name] = steps.PathOf(r.keyFile(name))
	}
}
