package terraform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/change"
)

// older makes a lock look as if it had been taken before.
func older(t *testing.T, raw []byte, by time.Duration) []byte {
	t.Helper()
	var info map[string]any
	if err := json.Unmarshal(raw, &info); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339Nano, info["Created"].(string))
	if err != nil {
		t.Fatal(err)
	}
	info["Created"] = at.Add(-by).Format(time.RFC3339Nano)
	b, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// backdateFile makes the lock file say that it is older; the server keeps the
// time of its own.
func (a *awsWorld) backdateFile(t *testing.T, by time.Duration) {
	t.Helper()
	key := aws.String("net/terraform.tfstate.tflock")
	out, err := a.bucket.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("plain"), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.bucket.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("plain"), Key: key, Body: bytes.NewReader(older(t, raw, by))}); err != nil {
		t.Fatal(err)
	}
}

// writtenAt gives the lock file a time in the store of the server.
func (a *awsWorld) writtenAt(t *testing.T, at time.Time) {
	t.Helper()
	if err := os.Chtimes(filepath.Join(a.dir, "buckets", "plain", "net", "terraform.tfstate.tflock"), at, at); err != nil {
		t.Fatal(err)
	}
}

// confirmed turns a preview that must be open into an approval.
func (w *world) confirmed(id string) *steps.Approval {
	w.t.Helper()
	p := w.preview(id)
	a, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		w.t.Fatalf("Confirm() = %v, %s", err, unmet(p))
	}
	return a
}

// TestS3Unlock releases the lock of a killed run, refuses that of a live one, and
// of one that this directory does not look at, and knows the exit code that says
// too much.
func TestS3Unlock(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	settings := a.block("use_lockfile = true\ndynamodb_table = \"locks\"")
	w := newBackend(t, "s3", settings, quick, a.environ...)
	w.run("apply", "-auto-approve", "-input=false")
	w.write("s3", settings, sixSlow)
	cmd, _ := w.apply()
	id := w.probe("terraform/lock", nil).Facts["id"].Text()
	wantUnmet(t, w.preview(id), "The holder is alive")
	w.kill(cmd)
	wantUnmet(t, w.preview(id), "younger than")

	// The table says when the lock was taken; the program holds its item to the
	// bytes that it would write itself, so only the age of the file may change.
	key := map[string]dtypes.AttributeValue{"LockID": &dtypes.AttributeValueMemberS{Value: "plain/net/terraform.tfstate"}}
	item, err := a.table.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("locks"), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	info := item.Item["Info"].(*dtypes.AttributeValueMemberS).Value
	var l backend.LockInfo
	if err := json.Unmarshal([]byte(info), &l); err != nil {
		t.Fatal(err)
	}
	then := l.Created.Format(time.RFC3339Nano)
	info = strings.Replace(info, then, l.Created.Add(-time.Hour).Format(time.RFC3339Nano), 1)
	item.Item["Info"] = &dtypes.AttributeValueMemberS{Value: info}
	if _, err := a.table.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("locks"), Item: item.Item}); err != nil {
		t.Fatal(err)
	}
	a.backdateFile(t, time.Hour)

	// The file is deleted by hand: the item alone is released, and the
	// program exits 1 all the same.
	if _, err := a.bucket.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String("plain"), Key: aws.String("net/terraform.tfstate.tflock")}); err != nil {
		t.Fatal(err)
	}
	o, err := change.UnlockGate{Env: w.env}.Act(t.Context(), w.confirmed(id), stepstest.NewSink())
	if err != nil || o.Result != steps.Done || !strings.Contains(o.Response, "the lock is gone and the state is as it was") {
		t.Errorf("Act() = %+v, %v, want done in spite of the exit code", o, err)
	}
	w.look().wantFree(t, true)

	// A lock file beside a backend that does not look at it.
	file := newBackend(t, "s3", a.block(`use_lockfile = true`), sixSlow, a.environ...)
	cmd, _ = file.apply()
	file.kill(cmd)
	a.backdateFile(t, time.Hour)
	wantUnmet(t, file.preview(file.probe("terraform/lock", nil).Facts["id"].Text()), "the clock of the holder is wrong, or the lock was written again")
	a.writtenAt(t, time.Now().Add(-time.Hour))
	table := newBackend(t, "s3", strings.Replace(a.block(`dynamodb_table = "locks"`), "team", "plain", 1), quick, a.environ...)
	id = table.probe("terraform/lock", nil).Facts["id"].Text()
	wantUnmet(t, table.preview(id), "force-unlock from here would leave it")
	if o, err := (change.UnlockGate{Env: file.env}).Act(t.Context(), file.confirmed(id), stepstest.NewSink()); err != nil || o.Result != steps.Done {
		t.Errorf("Act() = %+v, %v, want done", o, err)
	}
	file.look().wantFree(t, true)
	a.writesOfTofu(t)
}

// writesOfTofu counts what the logs say of the acts: handrail sends none itself.
func (a *awsWorld) writesOfTofu(t *testing.T) {
	t.Helper()
	a.onlyReads(t)
	for _, r := range a.gate.ours(t) {
		if strings.Contains(fmt.Sprint(r), "DeleteItem") {
			t.Errorf("handrail sent %+v", r)
		}
	}
}
