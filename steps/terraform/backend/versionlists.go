package backend

import (
	"context"
	"errors"
	"fmt"
	"handrail/steps"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// The backends that keep the last write alone.

func (k *kubernetes) Versions(ctx context.Context, _ int) (VersionList, error) {
	return onlyCurrent(ctx, k, "the kubernetes backend keeps no versions, a Secret has none")
}

func (p *pgStore) Versions(ctx context.Context, _ int) (VersionList, error) {
	return onlyCurrent(ctx, p, "the pg backend keeps no versions; a backup of the database may hold older ones")
}

func (c *consulStore) Versions(ctx context.Context, _ int) (VersionList, error) {
	return onlyCurrent(ctx, c, "the consul backend keeps no versions; a snapshot of the cluster may hold older ones")
}

func (h *httpStore) Versions(ctx context.Context, _ int) (VersionList, error) {
	why := "the http protocol has no versions; the server may keep some of its own"
	if gitlab.MatchString(h.address) {
		why = "GitLab keeps versions, which handrail does not ask for; look at the page Terraform states of the project"
	}
	return onlyCurrent(ctx, h, why)
}

// Versions of a local state are the copies that runs and repairs leave.
func (l *local) Versions(ctx context.Context, limit int) (VersionList, error) {
	dir, name := filepath.Split(l.path)
	found := []struct{ path, what string }{
		{l.path, ""}, {l.path + ".backup", "content before the last run that wrote"}, {filepath.Join(l.dir, "errored.tfstate"), "what a run could not save: push it before anything else, if the state is older"},
	}
	repaired, err := filepath.Glob(filepath.Join(globQuote(dir), globQuote(name)+".*.backup"))
	if err != nil {
		return VersionList{}, err
	}
	for _, path := range repaired {
		found = append(found, struct{ path, what string }{path, "content before a change by hand (state rm or state mv)"})
	}
	var out VersionList
	for _, file := range found {
		f, err := steps.OpenRegular(file.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, err
		}
		info, err := f.Stat()
		_ = f.Close()
		if err != nil {
			return out, err
		}
		out.List = append(out.List, Version{ID: filepath.Base(file.path), Written: info.ModTime(), Size: info.Size(), Current: file.what == "", What: file.what,
			Open: func(context.Context, int64) (io.ReadCloser, error) { return steps.OpenRegular(file.path) }})
	}
	if out.Kept = len(out.List) > 1; !out.Kept {
		out.Why = "no backup lies beside the state"
	}
	out.cut(limit)
	return out, ctx.Err()
}

// globQuote makes a name stand for itself.
func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func (b *s3Store) Versions(ctx context.Context, limit int) (VersionList, error) {
	// The key itself sorts before what it is the beginning of, as its lock file.
	page, err := b.client.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: &b.bucket, Prefix: &b.key, MaxKeys: aws.Int32(int32(limit + 1))})
	if err != nil {
		return VersionList{}, b.why(ctx, "the versions of "+b.where(), err)
	}
	var out VersionList
	for _, v := range page.Versions {
		if aws.ToString(v.Key) != b.key {
			continue
		}
		id := aws.ToString(v.VersionId)
		out.Kept = out.Kept || (id != "" && id != "null")
		out.List = append(out.List, Version{ID: id, Written: aws.ToTime(v.LastModified), Size: aws.ToInt64(v.Size), Current: aws.ToBool(v.IsLatest), Open: func(ctx context.Context, limit int64) (io.ReadCloser, error) {
			part := ""
			if limit > 0 {
				part = fmt.Sprintf("bytes=0-%d", limit-1)
			}
			got, err := b.getObject(ctx, b.key, strings.TrimPrefix(id, "null"), "", part)
			if err != nil {
				return nil, b.why(ctx, b.where(), err)
			}
			return got.Body, nil
		}})
	}
	for _, d := range page.DeleteMarkers {
		if aws.ToString(d.Key) == b.key {
			out.Kept = true
			out.List = append(out.List, Version{ID: aws.ToString(d.VersionId), Written: aws.ToTime(d.LastModified), Current: aws.ToBool(d.IsLatest), Deleted: true})
		}
	}
	if !out.Kept {
		out.Why = "the bucket keeps no versions; switch them on before the next change"
	}
	out.More = aws.ToBool(page.IsTruncated) && aws.ToString(page.NextKeyMarker) == b.key
	out.cut(limit)
	return out, nil
}

// gcsPages bounds the pages of a list, which begins with the oldest.
const gcsPages = 10

func (g *gcsStore) Versions(ctx context.Context, limit int) (VersionList, error) {
	var out VersionList
	query := url.Values{"versions": {"true"}, "prefix": {g.key}, "maxResults": {"1000"},
		"fields": {"items(name,generation,size,updated,timeCreated,timeDeleted),nextPageToken"}}
	for range gcsPages {
		list, next, err := g.page(ctx, query)
		if err != nil {
			return out, err
		}
		for _, o := range list {
			if o.Name != g.key {
				continue
			}
			size, _ := strconv.ParseInt(o.Size, 10, 64)
			out.Kept = out.Kept || !o.Deleted.IsZero()
			out.List = append(out.List, Version{ID: o.Generation, Written: o.written(), Size: size, Current: o.Deleted.IsZero(), Open: func(ctx context.Context, _ int64) (io.ReadCloser, error) {
				resp, err := g.media(ctx, g.key, o.Generation)
				if err != nil {
					return nil, err
				}
				return resp.Body, nil
			}})
		}
		if next == "" {
			if !out.Kept {
				out.Why = "the bucket has no older version of this state: it keeps none, or there was one write"
			}
			out.cut(limit)
			return out, nil
		}
		query.Set("pageToken", next)
	}
	return out, fmt.Errorf("%s has more than %d versions, and the list begins with the oldest", g.where(), gcsPages*1000)
}

func (o gcsObject) written() time.Time {
	if !o.Created.IsZero() {
		return o.Created // of this generation
	}
	return o.Updated
}

func (g *gcsStore) page(ctx context.Context, query url.Values) ([]gcsObject, string, error) {
	resp, err := g.ask(ctx, g.where(), "/o", query, false)
	if errors.Is(err, errAbsent) {
		err = fmt.Errorf("the bucket %q does not exist: check bucket and credentials", g.bucket)
	}
	if err != nil {
		return nil, "", err
	}
	raw, err := small(resp)
	if err != nil {
		return nil, "", err
	}
	return parseGCSList(raw)
}

func (a *azureStore) Versions(ctx context.Context, limit int) (VersionList, error) {
	var out VersionList
	pager := a.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &a.key, Include: container.ListBlobsInclude{Versions: true, Snapshots: true}})
	for pages := 0; pager.More(); pages++ {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return out, a.why(ctx, err)
		}
		if pages == gcsPages {
			return out, fmt.Errorf("%s has too many versions to list", a.address)
		}
		for _, b := range page.Segment.BlobItems {
			if b.Name == nil || *b.Name != a.key || b.Properties == nil {
				continue
			}
			out.List = append(out.List, a.version(b))
		}
	}
	out.List = afterFirstLock(out.List)
	out.Kept = len(out.List) > 1
	if !out.Kept {
		out.Why = "the storage account keeps no versions of this blob, and the backend made no snapshot (snapshot = true)"
	}
	out.cut(limit)
	return out, nil
}

// afterFirstLock leaves out what is no write of a state: the lock of a first run makes the blob, and it
// is empty until that run saves. One that is empty after a write is torn, and stays.
func afterFirstLock(list []Version) []Version {
	var first time.Time
	for _, v := range list {
		if v.Size > 0 && (first.IsZero() || v.Written.Before(first)) {
			first = v.Written
		}
	}
	return slices.DeleteFunc(list, func(v Version) bool { return v.Size == 0 && v.Written.Before(first) })
}

func (a *azureStore) version(b *container.BlobItem) Version {
	v := Version{ID: "current", Current: b.Snapshot == nil && (b.VersionID == nil || b.IsCurrentVersion != nil && *b.IsCurrentVersion)}
	if b.Properties.LastModified != nil {
		v.Written = *b.Properties.LastModified
	}
	if b.Properties.ContentLength != nil {
		v.Size = *b.Properties.ContentLength
	}
	client, err := a.container.NewBlobClient(a.key), error(nil)
	switch {
	case b.Snapshot != nil && *b.Snapshot != "":
		v.ID, v.Current, v.What = *b.Snapshot, false, KeptBefore
		client, err = client.WithSnapshot(*b.Snapshot)
	case b.VersionID != nil && *b.VersionID != "":
		v.ID = *b.VersionID
		client, err = client.WithVersionID(*b.VersionID)
	}
	v.Open = func(ctx context.Context, _ int64) (io.ReadCloser, error) {
		if err != nil {
			return nil, err
		}
		resp, err := client.DownloadStream(ctx, &blob.DownloadStreamOptions{CPKInfo: a.customer})
		if err != nil {
			return nil, a.why(ctx, err)
		}
		return resp.Body, nil
	}
	return v
}
