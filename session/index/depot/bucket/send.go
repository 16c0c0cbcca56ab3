package bucket

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"handrail/session/index/depot"
)

const (
	media = "application/gzip"
	// maxUploads is how many unfinished uploads of one name are looked at.
	maxUploads = 20
)

// Send stores a bundle as one object, in parts where it is large.
func (b *Bucket) Send(ctx context.Context, p *depot.Package, tell depot.Progress) error {
	parts, err := p.Parts(b.part)
	if err != nil {
		return err
	}
	if tell == nil {
		tell = func(int64, int64) {}
	}
	if len(parts) == 1 {
		err = b.put(ctx, p, parts[0])
	} else {
		u := upload{b: b, key: b.key(p.ID), p: p, parts: parts, tell: tell}
		err = u.run(ctx)
	}
	// Another upload has the name, or is just taking it, or ended the upload that we both wrote to.
	if answered(err, "PreconditionFailed", "ConditionalRequestConflict", "NoSuchUpload") {
		return fmt.Errorf("%w: %w", depot.ErrTaken, err)
	}
	return err
}

// put stores a small bundle. Where the server knows no conditions, only the look
// before and the reading after guard the name.
func (b *Bucket) put(ctx context.Context, p *depot.Package, part depot.Part) error {
	try := func(only *string) error {
		ctx, cancel := context.WithTimeout(ctx, sendWithin)
		defer cancel()
		_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: aws.String(b.key(p.ID)), Body: p.Reader(part),
			ContentLength: &part.Size, ContentType: aws.String(media), ChecksumSHA256: sum(part), IfNoneMatch: only})
		return err
	}
	err := try(aws.String("*"))
	if answered(err, "NotImplemented") {
		err = try(nil)
	}
	return err
}

// maxLive is how large the copy of an open bundle may be: it is sent in one piece,
// again and again.
const maxLive = 1 << 30

// Replace stores a bundle in place of what was found. Where the server knows no
// conditions, the look before guards the name.
func (b *Bucket) Replace(ctx context.Context, name string, p *depot.Package, was depot.BundleInfo) error {
	if p.Size > maxLive {
		return fmt.Errorf("%w: it has %d bytes, and is sent again with each entry; push it once it is closed", depot.ErrTooLong, p.Size)
	}
	parts, err := p.Parts(p.Size)
	if err != nil {
		return err
	}
	try := func(match, none *string) error {
		ctx, cancel := context.WithTimeout(ctx, sendWithin)
		defer cancel()
		_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: aws.String(b.key(name)), Body: p.Reader(parts[0]),
			ContentLength: &p.Size, ContentType: aws.String(media), ChecksumSHA256: sum(parts[0]), IfMatch: match, IfNoneMatch: none})
		return err
	}
	if was.Version != "" {
		err = try(&was.Version, nil)
	} else {
		err = try(nil, aws.String("*"))
	}
	if answered(err, "NotImplemented") {
		err = try(nil, nil)
	}
	if answered(err, "PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey") {
		return fmt.Errorf("%w: %w", depot.ErrTaken, err)
	}
	return err
}

func sum(part depot.Part) *string {
	return aws.String(base64.StdEncoding.EncodeToString(part.SHA256[:]))
}

// upload is one object on its way, in parts.
type upload struct {
	b     *Bucket
	key   string
	p     *depot.Package
	parts []depot.Part
	tell  depot.Progress

	id   *string
	have map[int32]types.Part // what the server has of it already
}

func (u *upload) run(ctx context.Context) error {
	if err := u.resume(ctx); err != nil {
		return err
	}
	done := make([]types.CompletedPart, 0, len(u.parts))
	for i, part := range u.parts {
		number := int32(i + 1) // at most 1,024: what a bundle may hold by the size of a part
		c := types.CompletedPart{PartNumber: &number, ChecksumSHA256: sum(part)}
		if there, ok := u.have[number]; ok && equal(there, part) {
			c.ETag = there.ETag
		} else {
			etag, err := u.send(ctx, number, part)
			if err != nil {
				return fmt.Errorf("part %d of %d: %w", number, len(u.parts), err)
			}
			c.ETag = etag
		}
		done = append(done, c)
		u.tell(part.Offset+part.Size, u.p.Size)
	}
	return u.complete(ctx, done)
}

// resume looks for an unfinished upload that holds parts of these very bytes,
// and begins a new one otherwise. Who may not look begins anew.
func (u *upload) resume(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	open, err := u.b.client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &u.b.name, Prefix: &u.key})
	if err != nil && !refused(err) {
		return err
	}
	if err == nil {
		best := 0
		for _, o := range open.Uploads[:min(len(open.Uploads), maxUploads)] {
			if aws.ToString(o.Key) != u.key {
				continue
			}
			have, n, err := u.there(ctx, o.UploadId)
			if err != nil {
				return err
			}
			if n > best {
				best, u.id, u.have = n, o.UploadId, have
			}
		}
	}
	if u.id != nil {
		return nil
	}
	made, err := u.b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &u.b.name, Key: &u.key,
		ContentType: aws.String(media), ChecksumAlgorithm: types.ChecksumAlgorithmSha256, ChecksumType: types.ChecksumTypeComposite})
	if err != nil {
		return err
	}
	u.id = made.UploadId
	return nil
}

// there lists the parts of an upload, and counts those that are ours.
func (u *upload) there(ctx context.Context, id *string) (map[int32]types.Part, int, error) {
	have, n := map[int32]types.Part{}, 0
	pages := s3.NewListPartsPaginator(u.b.client, &s3.ListPartsInput{Bucket: &u.b.name, Key: &u.key, UploadId: id})
	for pages.HasMorePages() && len(have) <= len(u.parts) {
		page, err := pages.NextPage(ctx)
		if refused(err) {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if len(page.Parts) == 0 {
			break
		}
		for _, part := range page.Parts {
			number := aws.ToInt32(part.PartNumber)
			if number < 1 || int(number) > len(u.parts) {
				return nil, 0, nil // of another, longer one
			}
			have[number] = part
			if equal(part, u.parts[number-1]) {
				n++
			}
		}
	}
	return have, n, nil
}

// equal holds what the server says of a part against ours: by SHA-256, and by the
// ETag where it keeps none.
func equal(there types.Part, part depot.Part) bool {
	if aws.ToInt64(there.Size) != part.Size {
		return false
	}
	if there.ChecksumSHA256 != nil {
		return *there.ChecksumSHA256 == *sum(part)
	}
	return strings.Trim(aws.ToString(there.ETag), `"`) == hex.EncodeToString(part.MD5[:])
}

// refused tells an answer of the server from silence.
func refused(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api)
}

func (u *upload) send(ctx context.Context, number int32, part depot.Part) (*string, error) {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	out, err := u.b.client.UploadPart(ctx, &s3.UploadPartInput{Bucket: &u.b.name, Key: &u.key, UploadId: u.id, PartNumber: &number,
		Body: u.p.Reader(part), ContentLength: &part.Size, ChecksumSHA256: sum(part)})
	if err != nil {
		return nil, err
	}
	return out.ETag, nil
}

// complete gives the object its name. Of an upload that lost the race nothing is
// left behind; one that only broke off stays, to go on with.
func (u *upload) complete(ctx context.Context, done []types.CompletedPart) error {
	try := func(only *string) error {
		ctx, cancel := context.WithTimeout(ctx, sendWithin) // servers may put the parts together while we wait
		defer cancel()
		_, err := u.b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &u.b.name, Key: &u.key, UploadId: u.id,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: slices.Clone(done)}, ChecksumType: types.ChecksumTypeComposite, IfNoneMatch: only})
		return err
	}
	err := try(aws.String("*"))
	if answered(err, "NotImplemented") {
		err = try(nil)
	}
	if answered(err, "PreconditionFailed") {
		ctx, cancel := context.WithTimeout(ctx, askWithin)
		defer cancel()
		_, aborted := u.b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &u.b.name, Key: &u.key, UploadId: u.id})
		if aborted != nil && !refused(aborted) {
			return errors.Join(err, aborted)
		}
	}
	return err
}
