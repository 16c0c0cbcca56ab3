package store

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"handrail/steps"
)

const (
	mostListed  = 1_000_000 // keys of one list that a step may ask for
	usualListed = "100000"
)

type listingProbe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// entry is one of a list.
type entry struct {
	Key      string    `json:"key"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// entries are a list, and whether it was read to its end.
type entries struct {
	list     []entry
	complete bool
}

// objects reads a bucket page by page. A server that says that there is more and gives no key is not asked for ever.
func (p place) objects(ctx context.Context, client *s3.Client, bucket, prefix string, most int64, tell func(n int)) (entries, error) {
	out := entries{complete: true}
	in := &s3.ListObjectsV2Input{Bucket: &bucket}
	if prefix != "" {
		in.Prefix = &prefix
	}
	for pages := s3.NewListObjectsV2Paginator(client, in); pages.HasMorePages(); {
		if int64(len(out.list)) >= most {
			out.complete = false
			return out, nil
		}
		page, err := onePage(ctx, pages)
		if err != nil {
			return out, p.why("listing "+bucket, err)
		}
		if len(page.Contents) == 0 && pages.HasMorePages() {
			out.complete = false
			return out, nil
		}
		for _, o := range page.Contents {
			out.list = append(out.list, entry{aws.ToString(o.Key), aws.ToInt64(o.Size), aws.ToTime(o.LastModified).UTC()})
		}
		if tell != nil && pages.HasMorePages() {
			tell(len(out.list))
		}
	}
	return out, nil
}

func onePage(ctx context.Context, pages *s3.ListObjectsV2Paginator) (*s3.ListObjectsV2Output, error) {
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	return pages.NextPage(ctx)
}

// window is the time that a step asks about.
func window(in steps.Params, now time.Time) (from time.Time, err error) {
	if from = in["from"].Time(); !from.IsZero() {
		if from.After(now) {
			return from, fmt.Errorf("from: %s is in the future", from.Format(time.RFC3339))
		}
		return from, nil
	}
	d := in.Duration("since")
	if d <= 0 {
		return from, fmt.Errorf("since: a window of %s has no length", d)
	}
	return now.Add(-d), nil
}

func clock(env steps.Env) time.Time {
	if env.Now != nil {
		return env.Now().UTC()
	}
	return time.Now().UTC()
}

// Probe implements steps.Prober.
func (p listingProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	at := clock(p.env)
	from, err := window(in, at)
	if err != nil {
		return steps.Observation{}, err
	}
	to, err := placeOf(ctx, p.env, p.roots, in.Text("profile"), out)
	if err != nil {
		return steps.Observation{}, err
	}
	client, done := to.reader()
	defer done()
	bucket, prefix := in.Text("bucket"), in.Text("prefix")
	got, err := to.objects(ctx, client, bucket, prefix, atMost(in), func(n int) { out.Line(fmt.Sprintf("%d objects so far", n)) })
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	if err != nil {
		return steps.Observation{}, err
	}
	var obs steps.Observation
	if gap := keepListing(out, got.list); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	f := steps.NewFacts(listingFacts())
	f.Set("at", steps.TimeOf(at))
	f.Set("from", steps.TimeOf(from))
	f.Set("listed", steps.IntOf(int64(len(got.list))))
	f.Set("complete", steps.BoolOf(got.complete))
	where := bucket
	if prefix != "" {
		where += "/" + prefix
	}
	s := sum(got.list, from)
	switch {
	case !got.complete:
		why := fmt.Sprintf("the list goes on beyond the %d objects that were read", len(got.list))
		f.Unknown(why, "objects", "bytes", "gained", "newest", "newest_at", "quiet")
		obs.Gaps = append(obs.Gaps, why+": give prefix, or raise most")
		obs.Summary = fmt.Sprintf("%s has more than %d objects. Only a part was read.", where, len(got.list))
	default:
		f.Set("objects", steps.IntOf(int64(len(got.list))))
		f.Set("bytes", steps.IntOf(s.bytes))
		f.Set("gained", steps.IntOf(s.gained))
		if s.newest.Modified.IsZero() {
			f.Unknown("there is no object", "newest", "newest_at", "quiet")
		} else {
			f.Set("newest", steps.StringOf(steps.OneLine(s.newest.Key, 300)))
			f.Set("newest_at", steps.TimeOf(s.newest.Modified))
			f.Set("quiet", steps.DurationOf(max(0, at.Sub(s.newest.Modified))))
		}
		obs.Summary = fmt.Sprintf("%s has %d objects, %d of them written since %s.", where, len(got.list), s.gained, from.Format(time.RFC3339))
	}
	obs.Command = to.command("list-objects-v2 --bucket " + steps.Quote(bucket) + prefixed(prefix))
	versions(ctx, to, client, in, from, f, &obs)
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	obs.Facts = f.Rest("not read")
	return obs, nil
}

func atMost(in steps.Params) int64 { return max(1, min(in.Int("most"), mostListed)) }

func prefixed(prefix string) string {
	if prefix == "" {
		return ""
	}
	return " --prefix " + steps.Quote(prefix)
}

// sums are what a complete list comes to.
type sums struct {
	bytes, gained int64
	newest        entry
}

func sum(list []entry, from time.Time) (s sums) {
	for _, o := range list {
		s.bytes += o.Size
		if !o.Modified.Before(from) {
			s.gained++
		}
		if o.Modified.After(s.newest.Modified) {
			s.newest = o
		}
	}
	return s
}

// keepListing keeps a line of JSON for each object.
func keepListing(out steps.Sink, list []entry) string {
	return steps.Keep(out, "listing", steps.MediaText, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		for _, o := range list {
			raw, err := json.Marshal(o)
			if err != nil {
				return err
			}
			if _, err := b.Write(append(raw, '\n')); err != nil {
				return err
			}
		}
		return b.Flush()
	})
}

// versions says whether the bucket keeps versions, and how many objects were deleted into a marker since from: those are gone from
// a list without being lost.
func versions(ctx context.Context, p place, client *s3.Client, in steps.Params, from time.Time, f steps.Facts, obs *steps.Observation) {
	bucket := in.Text("bucket")
	one, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	v, err := client.GetBucketVersioning(one, &s3.GetBucketVersioningInput{Bucket: &bucket})
	if code, _ := codeOf(err); code == "VersioningNotConfigured" { // versitygw without a folder for versions
		v, err = &s3.GetBucketVersioningOutput{}, nil
	}
	switch {
	case err != nil:
		why := p.why("versioning of "+bucket, err).Error()
		f.Unknown(why, "versioning", "markers")
		obs.Gaps = append(obs.Gaps, why)
		return
	case v.Status == "":
		f.Set("versioning", steps.EnumOf("off"))
		f.Set("markers", steps.IntOf(0))
		return
	case v.Status != types.BucketVersioningStatusEnabled && v.Status != types.BucketVersioningStatusSuspended:
		f.Unknown("the server says "+steps.OneLine(string(v.Status), 40), "versioning", "markers")
		return
	}
	f.Set("versioning", steps.EnumOf(strings.ToLower(string(v.Status))))
	ask := &s3.ListObjectVersionsInput{Bucket: &bucket}
	if prefix := in.Text("prefix"); prefix != "" {
		ask.Prefix = &prefix
	}
	seen, markers := int64(0), int64(0)
	for pages := s3.NewListObjectVersionsPaginator(client, ask); pages.HasMorePages(); {
		one, stop := context.WithTimeout(ctx, askWithin)
		page, err := pages.NextPage(one)
		stop()
		if err != nil {
			why := p.why("versions of "+bucket, err).Error()
			f.Unknown(why, "markers")
			obs.Gaps = append(obs.Gaps, why)
			return
		}
		n := int64(len(page.Versions) + len(page.DeleteMarkers))
		if seen += n; pages.HasMorePages() && (n == 0 || seen >= atMost(in)) {
			f.Unknown(fmt.Sprintf("the list of versions goes on beyond the %d that were read", seen), "markers")
			return
		}
		for _, m := range page.DeleteMarkers {
			if !aws.ToTime(m.LastModified).Before(from) {
				markers++
			}
		}
	}
	f.Set("markers", steps.IntOf(markers))
}
