package terraform

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/steps"
	"handrail/steps/stepstest"
	"handrail/steps/terraform/state"
)

func (a *awsWorld) key() *string { return aws.String("net/terraform.tfstate") }

// putObject writes the object of the state without going through the backend.
func (a *awsWorld) putObject(t *testing.T, raw []byte) {
	t.Helper()
	if _, err := a.bucket.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("team"), Key: a.key(), Body: bytes.NewReader(raw)}); err != nil {
		t.Fatal(err)
	}
}

func (a *awsWorld) versionsOf(t *testing.T) (ids []string) {
	t.Helper()
	page, err := a.bucket.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String("team"), Prefix: a.key()})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.DeleteMarkers) > 0 {
		t.Errorf("%d versions were deleted", len(page.DeleteMarkers))
	}
	for _, v := range page.Versions {
		ids = append(ids, aws.ToString(v.VersionId))
	}
	return ids
}

func (a *awsWorld) digest(t *testing.T, set string) {
	t.Helper()
	_, err := a.table.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("locks"), Item: map[string]dtypes.AttributeValue{
		"LockID": &dtypes.AttributeValueMemberS{Value: "team/net/terraform.tfstate-md5"}, "Digest": &dtypes.AttributeValueMemberS{Value: set}}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRestoreOnS3 restores a version of a bucket over a newer one, over a torn
// one and beside a digest that fits nothing. Each becomes a new version, and none
// is deleted.
func TestRestoreOnS3(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	w := newBackend(t, "s3", a.block(`dynamodb_table = "locks"`), threeKinds, a.environ...)
	w.run("apply", "-auto-approve", "-input=false", "-no-color")
	was := w.ledger()
	if was.Version == "" {
		t.Fatal("the state has no version")
	}
	in := steps.Params{"version": text(was.Version)}
	wantUnmet(t, w.shows("restore-state", in), "is the present one")
	w.run("state", "rm", "terraform_data.b[0]", "terraform_data.b[1]")
	later := w.ledger()
	before := a.versionsOf(t)

	restore := func(name string) steps.Preview {
		t.Helper()
		p := w.shows("restore-state", in)
		if len(p.Unmet) > 0 {
			t.Fatalf("%s: restore-state is shut: %s", name, unmet(p))
		}
		if again := w.shows("restore-state", in); again.Digest("i", "s") != p.Digest("i", "s") {
			t.Fatalf("%s: two previews differ in digest", name)
		}
		if o, err := w.find("restore-state", p, in); err != nil || o.Result != steps.Failed {
			t.Errorf("%s: Find() before the act = %+v, %v, want failed", name, o, err)
		}
		if o := w.carry("restore-state", p); o.Result != steps.Done {
			t.Fatalf("%s: Act() = %+v, want done", name, o)
		}
		if o, err := w.find("restore-state", p, in); err != nil || o.Result != steps.Done {
			t.Errorf("%s: Find() after the act = %+v, %v, want done", name, o, err)
		}
		if now := w.ledger(); !state.Compare(was.Entries, now.Entries).None() || now.Doc.Lineage != was.Doc.Lineage {
			t.Errorf("%s: restored %v", name, now.Entries)
		}
		if f := w.probe("terraform/lock", nil).Facts; f["held"].Bool() || f["digest"].Text() != "match" {
			t.Errorf("%s: the lock after the restore = %v", name, f)
		}
		if plan := w.probe("terraform/plan", nil); !plan.Facts["clean"].Bool() {
			t.Errorf("%s: the plan after the restore = %v", name, plan.Findings)
		}
		return p
	}
	p := restore("newer")
	if p.Phrase != steps.Phrase("restore-state default", was.Version) {
		t.Errorf("phrase = %q", p.Phrase)
	}
	w.undone(p, later)

	a.putObject(t, was.Raw[:200])
	if p = restore("torn"); !strings.Contains(p.Request, "PUT s3://team/net/terraform.tfstate") || !strings.Contains(p.Request, "UpdateItem") || p.Prior == nil {
		t.Errorf("request = %s", p.Request)
	}
	a.digest(t, strings.Repeat("0", 32))
	if p = restore("digest"); strings.Contains(p.Request, "PUT s3://") || !strings.Contains(p.Request, "UpdateItem") {
		t.Errorf("request = %s", p.Request)
	}

	// Another client writes between preview and act: nothing is sent.
	a.putObject(t, was.Raw[:200])
	approval := w.approve(w.shows("restore-state", in))
	a.putObject(t, was.Raw[:210])
	if o, err := w.gate("restore-state").Act(t.Context(), approval, stepstest.NewSink()); err != nil || o.Result != steps.Refused {
		t.Errorf("Act() on other bytes = %+v, %v, want refused", o, err)
	}
	after := a.versionsOf(t)
	for _, id := range before {
		if !strings.Contains(strings.Join(after, " "), id) {
			t.Errorf("version %s is gone", id)
		}
	}
}

// TestGatesOnS3: the gates that change a state by address, on a real bucket.
func TestGatesOnS3(t *testing.T) {
	t.Parallel()
	a := newAWS(t)
	for _, more := range []string{`dynamodb_table = "locks"`, `use_lockfile = true`} {
		w := newBackend(t, "s3", a.block(more), threeKinds, a.environ...)
		in := importParams("terraform_data.b[1]", "object")
		if o := w.carry("import", w.shows("import", in)); o.Result != steps.Done { // the first write of all
			t.Fatalf("import = %+v", o)
		}
		w.run("apply", "-auto-approve", "-input=false", "-no-color")
		for kind, in := range map[string]steps.Params{
			"state-rm": addressParams("terraform_data.a"), "state-mv": {"from": text("terraform_data.b[0]"), "to": text("module.x.terraform_data.b[0]")},
		} {
			was := w.ledger()
			p := w.opens(kind, in)
			if o := w.carry(kind, p); o.Result != steps.Done {
				t.Fatalf("%s = %+v", kind, o)
			}
			w.undone(p, was)
		}
	}
}
