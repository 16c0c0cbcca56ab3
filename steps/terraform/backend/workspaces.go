package backend

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// mostListed bounds one listing: more workspaces than that are not told apart anyhow.
const mostListed = 500

// Workspaces lists those that a backend has a state of, by one request.
func Workspaces(ctx context.Context, s Store, w module.Workdir) ([]string, error) {
	switch s := s.(type) {
	case *local:
		return localSpaces(w)
	case *kubernetes:
		return s.spaces(ctx, w)
	case *s3Store:
		return s.spaces(ctx, w)
	case *gcsStore:
		return s.spaces(ctx, w)
	case *azureStore:
		return s.spaces(ctx, w)
	case *consulStore:
		return s.spaces(ctx, w)
	case *pgStore:
		return s.spaces(ctx)
	case *httpStore:
		return nil, nil // it has none
	}
	return nil, fmt.Errorf("handrail does not list those of the backend %s", s.Name())
}

// spaces reads the metadata of the Secrets alone: their data are states.
func (k *kubernetes) spaces(ctx context.Context, w module.Workdir) ([]string, error) {
	o := object{Resource: secrets, namespace: k.namespace}
	address := k.client.base + o.path() + "?" + url.Values{
		"labelSelector": {"tfstate=true,tfstateSecretSuffix=" + w.Setting("secret_suffix")}, "limit": {fmt.Sprint(mostListed)}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
	a, err := k.client.send(k.client.http, req, o)
	if err != nil {
		return nil, err
	}
	var list struct {
		Kind  string
		Items []struct {
			Metadata struct{ Labels map[string]string }
		}
	}
	if err := json.Unmarshal(a.body, &list); err != nil || list.Kind != "PartialObjectMetadataList" {
		return nil, fmt.Errorf("%s answered no list of metadata", k.client.base)
	}
	var out []string
	for _, i := range list.Items {
		out = append(out, i.Metadata.Labels["tfstateWorkspace"])
	}
	return out, nil
}

func (b *s3Store) spaces(ctx context.Context, w module.Workdir) ([]string, error) {
	key, root := w.Setting("key"), cmp.Or(w.Setting("workspace_key_prefix"), "env:")+"/"
	page, err := b.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &b.bucket, Prefix: &root, MaxKeys: aws.Int32(mostListed)})
	if err != nil {
		return nil, b.why(ctx, "the workspaces in s3://"+b.bucket+"/"+root, err)
	}
	out := []string{"default"}
	for _, o := range page.Contents {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(aws.ToString(o.Key), root), "/"+key); ok {
			out = append(out, name)
		}
	}
	return out, nil
}

func (g *gcsStore) spaces(ctx context.Context, w module.Workdir) ([]string, error) {
	root := path.Join(strings.TrimLeft(w.Setting("prefix"), "/"), "x")
	root = strings.TrimSuffix(root, "x")
	resp, err := g.ask(ctx, "gs://"+g.bucket, "/o", url.Values{"prefix": {root}, "delimiter": {"/"}, "maxResults": {fmt.Sprint(mostListed)}}, false)
	if err != nil {
		return nil, err
	}
	raw, err := small(resp)
	if err != nil {
		return nil, err
	}
	list, _, err := parseGCSList(raw)
	var out []string
	for _, o := range list {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(o.Name, root), ".tfstate"); ok {
			out = append(out, name)
		}
	}
	return out, err
}

func (a *azureStore) spaces(ctx context.Context, w module.Workdir) ([]string, error) {
	key, most := w.Setting("key"), int32(mostListed)
	page, err := a.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &key, MaxResults: &most}).NextPage(ctx)
	if err != nil {
		return nil, a.why(ctx, err)
	}
	out := []string{"default"}
	if page.Segment == nil {
		return out, nil
	}
	for _, b := range page.Segment.BlobItems {
		if b.Name == nil {
			continue
		}
		if name, ok := strings.CutPrefix(*b.Name, key+"env:"); ok {
			out = append(out, name)
		}
	}
	return out, nil
}

func (c *consulStore) spaces(ctx context.Context, w module.Workdir) ([]string, error) {
	root := strings.Trim(w.Setting("path"), "/") + "-env:"
	with := *c
	with.query = url.Values{"keys": {""}}
	for k, v := range c.query {
		with.query[k] = v
	}
	resp, err := with.ask(ctx, "/v1/kv/"+root, false)
	if err != nil {
		if errors.Is(err, errAbsent) {
			return []string{"default"}, nil
		}
		return nil, err
	}
	raw, err := small(resp)
	if err != nil {
		return nil, err
	}
	var keys []string
	if err := json.Unmarshal(raw, &keys); err != nil {
		return nil, fmt.Errorf("%s answered no list of keys", c.fetch.server())
	}
	out := []string{"default"}
	for _, key := range keys {
		if name := strings.TrimPrefix(key, root); !strings.Contains(name, "/") {
			out = append(out, name)
		}
	}
	return out, nil
}

func (p *pgStore) spaces(ctx context.Context) ([]string, error) {
	var out []string
	err := p.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT name FROM "+p.table()+" ORDER BY name LIMIT $1", mostListed)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			out = append(out, name)
		}
		return rows.Err()
	})
	return out, err
}

// FilesBeside are the state files in the directory of a root module that are not its
// own: one from before the backend, of another path, or one that a run could not save.
func FilesBeside(s Store, w module.Workdir) []string {
	list, err := os.ReadDir(w.Dir)
	if err != nil {
		return nil // the directory was just read; what is gone is not beside
	}
	own := ""
	if l, ok := s.(*local); ok {
		own = l.path
	}
	var out []string
	for _, e := range list {
		name := filepath.Join(w.Dir, e.Name())
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".tfstate") && name != own && len(out) < mostListed {
			out = append(out, name)
		}
	}
	return out
}

// OpenFile is a state file that is not the one of its directory.
func OpenFile(env steps.Env, w module.Workdir, path string) Store {
	return &local{env: env, path: path, dir: w.Dir}
}

// localSpaces are the workspaces of the backend of plain files.
func localSpaces(w module.Workdir) ([]string, error) {
	root := w.Setting("workspace_dir")
	if root == "" {
		root = "terraform.tfstate.d"
	}
	root = steps.Below(w.Dir, root)
	list, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{"default"}, nil
	}
	out := []string{"default"}
	for _, e := range list {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, err
}
