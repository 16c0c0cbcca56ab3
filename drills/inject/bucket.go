package inject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"handrail/drills/stage"
)

// The bucket of a drill, and the state in it.
const (
	bucketName = "team-states"
	bucketKey  = "shop/production.tfstate"
)

// runBucket is the verb bucket.run: the state of the drill is in a bucket, so that it needs no
// cluster.
type runBucket struct{}

func (runBucket) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("serving a bucket for the state, on loopback")
	return st.ServeBucket(ctx, bucketName, bucketKey)
}

// runUploads is the verb uploads.run: a store whose bucket has a policy, objects of before, what it told its consumers, and a
// Prometheus that has what its client counted.
type runUploads struct {
	Bucket  string   `key:"bucket,required" as:"id"`
	People  []string `key:"people,required" each:"id" of:"an account"`
	Writer  string   `key:"writer,required" as:"id"`
	Before  []byte   `key:"before,required" as:"file"` // policy under which the objects were written
	Policy  []byte   `key:"policy,required" as:"file"` // policy that came then
	Stored  int      `key:"stored" range:"0 1000"`
	Counted int      `key:"counted" range:"0 1000000"`
}

func (u runUploads) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting a store and a Prometheus; their packages are fetched the first time")
	rules := fmt.Sprintf("groups:\n- name: client\n  rules:\n  - record: storage_service_put_object_success:increase6h\n    labels: {job: upload-writer}\n    expr: vector(%d)\n", u.Counted)
	if err := st.ServeUploads(ctx, u.Bucket, u.People, rules); err != nil {
		return err
	}
	st.Say("%d uploads are stored, and %d are told", u.Stored, u.Counted)
	owner, err := st.Uploads("")
	if err != nil {
		return err
	}
	writer, err := st.Uploads(u.Writer)
	if err != nil {
		return err
	}
	if err := owner.SetPolicy(ctx, u.Before); err != nil {
		return err
	}
	began := time.Now().Add(-7 * time.Hour).UTC()
	var told bytes.Buffer
	for i := range u.Counted {
		key := fmt.Sprintf("avatars/u-%05d.jpg", i)
		at := began.Add(time.Duration(i) * 7 * time.Hour / time.Duration(u.Counted))
		fmt.Fprintf(&told, `{"EventName":"s3:ObjectCreated:Put","Records":[{"eventVersion":"2.0","eventTime":%q,"eventName":"s3:ObjectCreated:Put","s3":{"bucket":{"name":%q},"object":{"key":%q}}}]}`+"\n", at.Format("2006-01-02T15:04:05.000Z"), u.Bucket, url.QueryEscape(key))
		if i < u.Stored {
			if err := writer.Put(ctx, key, "an upload"); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(os.WriteFile(st.Notifications(), told.Bytes(), 0o600), st.AgeUploads(7*time.Hour-30*time.Second), owner.SetPolicy(ctx, u.Policy)); err != nil {
		return err
	}
	if err := writer.Put(ctx, "avatars/denied.jpg", "an upload"); err == nil {
		return errors.New("the policy does not deny the writer")
	}
	return st.Wait(ctx, "the Prometheus of the drill has no series", func() (bool, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, st.Rec.Uploads.Metrics+"/api/v1/query?query="+url.QueryEscape("storage_service_put_object_success:increase6h"), nil)
		if err != nil {
			return false, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, nil // it starts
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		return bytes.Contains(raw, []byte(fmt.Sprintf("%q", fmt.Sprint(u.Counted)))), err
	})
}
