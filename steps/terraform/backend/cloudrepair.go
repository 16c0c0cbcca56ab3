package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/transport"
)

// Repair implements Repairer: a new generation of the object, if the one that cannot be read is
// still the newest.
func (g *gcsStore) Repair(ctx context.Context, _ module.Workdir, now Found, content []byte, _ steps.Sink) (Repair, error) {
	if !now.Broken {
		return Repair{}, errWhole
	}
	o, err := g.describe(ctx, g.key)
	if err != nil {
		return Repair{}, err
	}
	was, err := g.media(ctx, g.key, o.Generation)
	if err == nil {
		defer was.Body.Close()
		err = still(was.Body, now)
	}
	if err != nil {
		return Repair{}, fmt.Errorf("generation %s of %s: %w", o.Generation, g.where(), err)
	}
	query := url.Values{"uploadType": {"media"}, "name": {g.key}, "ifGenerationMatch": {o.Generation}}
	if g.kms != "" {
		query.Set("kmsKeyName", g.kms)
	}
	address, err := g.address("/upload/storage/v1/b/"+url.PathEscape(g.bucket)+"/o", query)
	if err != nil {
		return Repair{}, err
	}
	return Repair{
		Request: fmt.Sprintf("POST %s, a new generation of %d bytes (SHA-256 %s), if the newest is still %s", g.where(), len(content), sumOfBytes(content), o.Generation),
		Command: fmt.Sprintf("gcloud storage cp --if-generation-match=%s FILE %s", o.Generation, steps.Quote(g.where())),
		Do: func(ctx context.Context) (string, error) {
			header, err := g.header(true)
			if err != nil {
				return "", err
			}
			header.Set("Content-Type", "application/json")
			code, said, err := g.open.send(ctx, http.MethodPost, address, header, content)
			switch {
			case err != nil:
				return "", fmt.Errorf("the new generation of %s: %w", g.where(), err)
			case code == http.StatusPreconditionFailed:
				return "", fmt.Errorf("%s has another generation than %s now: it was written meanwhile", g.where(), o.Generation)
			case code == http.StatusForbidden:
				return "", denied("forbidden: the credentials may not write %s (%q); ask for storage.objects.create and storage.objects.delete on the bucket", g.where(), steps.Clip(string(said), 200))
			case code != http.StatusOK:
				return "", g.refused(g.where(), code, said)
			}
			return "The newest generation of " + g.where() + " is a state again.", nil
		},
	}, nil
}

// Repair implements Repairer: the blob anew, if its ETag is the one that was read. A blob
// on which a run holds the lease takes no write without its id, so that one request is held to
// both, and leaves no lease behind where handrail dies.
func (a *azureStore) Repair(ctx context.Context, _ module.Workdir, now Found, content []byte, _ steps.Sink) (Repair, error) {
	if !now.Broken {
		return Repair{}, errWhole
	}
	was, err := a.container.NewBlobClient(a.key).DownloadStream(ctx, &blob.DownloadStreamOptions{CPKInfo: a.customer})
	if err != nil {
		return Repair{}, a.why(ctx, err)
	}
	defer was.Body.Close()
	if err := still(was.Body, now); err != nil {
		return Repair{}, fmt.Errorf("%s: %w", a.address, err)
	}
	if was.ETag == nil {
		return Repair{}, fmt.Errorf("%s does not say which version of the blob this is", a.fetch.server())
	}
	etag, meta := *was.ETag, map[string]*string{}
	for name, value := range was.Metadata { // a write drops what it does not bring
		meta[strings.ToLower(name)] = value
	}
	put := func(ctx context.Context, guard guardOf) error {
		_, box, err := a.open(guard, -1)
		if err != nil {
			return err
		}
		_, err = box.NewBlockBlobClient(a.key).Upload(ctx, streaming.NopCloser(bytes.NewReader(content)), &blockblob.UploadOptions{
			Metadata: meta, CPKInfo: a.customer, HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("application/json")},
			AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &etag}},
		})
		return err
	}
	var looked capture
	if err := put(ctx, looked.guard); !errors.Is(err, errCaught) {
		return Repair{}, fmt.Errorf("the write could not be worked out: %w", err)
	}
	return Repair{
		Request: fmt.Sprintf("PUT %s, %d bytes (SHA-256 %s), if its ETag is still %s and no run holds the lease on it", a.address, len(content), sumOfBytes(content), etag),
		Command: fmt.Sprintf("az storage blob upload --account-name %s --container-name %s --name %s --file FILE --overwrite --if-match %s", steps.Quote(a.account), steps.Quote(a.box), steps.Quote(a.key), steps.Quote(string(etag))),
		Do: func(ctx context.Context) (string, error) {
			err := put(ctx, func(next http.RoundTripper, server string, opts ...transport.Option) http.RoundTripper {
				return transport.Store(next, server, looked.seen, opts...)
			})
			if err != nil {
				return "", fmt.Errorf("the write of %s: %w", a.address, a.unwritten(ctx, err))
			}
			return "The blob " + a.address + " is a state again.", nil
		},
	}, nil
}

// unwritten tells apart what the service says no to when a blob is written.
func (a *azureStore) unwritten(ctx context.Context, err error) error {
	var said *azcore.ResponseError
	switch {
	case bloberror.HasCode(err, bloberror.ConditionNotMet, bloberror.BlobNotFound):
		return errors.New("it was written meanwhile, its ETag is another now")
	case bloberror.HasCode(err, bloberror.LeaseIDMissing):
		return errors.New("a run holds the lease on it now")
	case errors.As(err, &said) && said.StatusCode == http.StatusForbidden:
		return denied("forbidden: the credentials may not write it (%s); a SAS needs the permission w", steps.Clip(said.ErrorCode, 60))
	}
	return a.why(ctx, err)
}
