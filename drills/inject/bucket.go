package inject

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
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

// runAWS is the verb aws.run: a stand-in for AWS, and the places in which a server of it could be named. The folder code below them
// is one clone.
type runAWS struct {
	World  []byte `key:"world,required" as:"file"`
	Places []byte `key:"places,required" as:"file"` // texts by their path, as JSON
}

func (a runAWS) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting a stand-in for AWS")
	if err := st.ServeAWS(ctx, a.World); err != nil {
		return err
	}
	return (placeTexts{Texts: a.Places}).apply(ctx, st)
}

// placeTexts is the verb places.put: further files in the places, committed where they are code.
type placeTexts struct {
	Texts []byte `key:"texts,required" as:"file"`
}

func (a placeTexts) apply(_ context.Context, st *stage.Stage) error {
	var texts map[string]string
	if err := json.Unmarshal(a.Texts, &texts); err != nil {
		return fmt.Errorf("places: %w", err)
	}
	code := filepath.Join(st.PlacesDir(), "code")
	for name, text := range texts {
		at := filepath.Join(st.PlacesDir(), filepath.FromSlash(name))
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("places: %q leads out of them", name)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return gitRepo(filepath.Join(code, ".git")).commit(code, "Bring what is deployed", st.Rec.Started.Add(-time.Hour))
}

// lockPlace is the verb places.lock: a place that the operator may not read.
type lockPlace struct {
	Place string `key:"place,required" as:"id"`
}

func (a lockPlace) apply(_ context.Context, st *stage.Stage) error {
	return os.Rename(filepath.Join(st.PlacesDir(), a.Place), filepath.Join(st.PlacesDir(), a.Place+".elsewhere"))
}

// healAWS is the verb aws.heal: the owner repairs the replication of an instance.
type healAWS struct {
	Instance string `key:"instance,required" as:"id"`
}

func (a healAWS) apply(_ context.Context, st *stage.Stage) error {
	st.Say("the owner of the source puts the format of its log back")
	return st.HealAWS(a.Instance)
}

// connectAWS is the verb aws.connect: someone connects to an instance.
type connectAWS struct {
	Instance string `key:"instance,required" as:"id"`
}

func (a connectAWS) apply(_ context.Context, st *stage.Stage) error {
	return st.ConnectAWS(a.Instance)
}

// breakReplica is the verb replica.fail: a real MariaDB replica that its primary breaks, for its error log.
type breakReplica struct {
	Tries int `key:"tries" range:"1 100"`
}

func (a breakReplica) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting a primary and a replica of MariaDB, and breaking the one by the other")
	return st.BreakReplica(ctx, a.Tries)
}
