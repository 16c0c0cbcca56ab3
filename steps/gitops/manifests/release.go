package manifests

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/render"
)

// mostRelease bounds what a record of Helm unpacks to.
const mostRelease = 32 << 20

// Release is what Helm applied, by its record: a Secret whose only datum is JSON, packed by gzip and
// in base64 (helm.sh/helm/v4 pkg/storage/driver). Its manifest alone is kept.
func Release(ctx context.Context, c *cluster.Client, of app.Record) ([]map[string]any, error) {
	name := fmt.Sprintf("sh.helm.release.v1.%s.v%d", of.Name, of.Revision)
	_, o, err := c.Lookup(ctx, "v1", "Secret", of.Namespace, name)
	if err != nil {
		return nil, err
	}
	data, _ := o.Object["data"].(map[string]any)
	text, _ := data["release"].(string)
	objects, err := manifest(text)
	if err != nil {
		return nil, fmt.Errorf("secret %s/%s: %w", of.Namespace, name, err)
	}
	return objects, nil
}

// errRelease says that a record is none. What it holds is not quoted.
var errRelease = errors.New("it is no record of Helm")

// manifest takes the objects out of a record.
func manifest(text string) ([]map[string]any, error) {
	raw := []byte(text)
	for range 2 { // of Kubernetes, and of Helm
		out, err := base64.StdEncoding.DecodeString(string(raw))
		if err != nil {
			return nil, errRelease
		}
		raw = out
	}
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b, 8}) {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, errRelease
		}
		if raw, err = io.ReadAll(io.LimitReader(z, mostRelease+1)); err != nil || len(raw) > mostRelease {
			return nil, errRelease
		}
	}
	var r struct {
		Manifest *string `json:"manifest"`
	}
	if json.Unmarshal(raw, &r) != nil || r.Manifest == nil {
		return nil, errRelease
	}
	objects, err := render.Documents("the manifest of the release", []byte(*r.Manifest))
	if err != nil {
		return nil, errRelease
	}
	return objects, nil
}
