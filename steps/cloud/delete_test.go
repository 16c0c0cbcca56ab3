package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"handrail/drills/aws"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// tenant is the stand-in for AWS with a replica that nothing uses, and the places that do not name it.
type tenant struct {
	t      *testing.T
	world  aws.World
	dir    string
	before func(http.ResponseWriter, *http.Request) bool // answers in its place where it returns true

	mu   sync.Mutex
	past time.Duration
	log  bytes.Buffer
	env  steps.Env
}

func (a *tenant) now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return began.Add(a.past)
}

func (a *tenant) pass(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.past += d
}

const copyHost = "copy.c1x2y3z4.eu-west-1.rds.amazonaws.com"

func newTenant(t *testing.T, change func(*aws.World)) *tenant {
	t.Helper()
	a := &tenant{t: t, dir: t.TempDir(), world: aws.World{Region: "eu-west-1", Account: "111122223333",
		Instances: []aws.Instance{
			{ID: "main", Resource: "db-MAIN", Engine: "mariadb", Version: "10.11.8", Class: "db.r6g.large", Zone: "eu-west-1a", Replicas: []string{"copy"}, Days: 400},
			{ID: "copy", Resource: "db-COPY", Engine: "mariadb", Version: "10.11.8", Class: "db.r6g.large", Zone: "eu-west-1b", Source: "main", Days: 31, Error: "row format", Tags: map[string]string{"Name": "copy-temp"}},
		},
		Snapshots: []aws.Snapshot{{ID: "copy-last", Of: "copy", Resource: "db-COPY", Type: "manual", Status: "available", Hours: 1}, {ID: "copy-auto", Of: "copy", Resource: "db-COPY", Type: "automated", Status: "available"},
			{ID: "copy-busy", Of: "copy", Resource: "db-COPY", Type: "manual", Status: "creating"}, {ID: "main-last", Of: "main", Resource: "db-MAIN", Type: "manual", Status: "available"}},
		Metrics: []aws.Metric{{Metric: "DatabaseConnections", Instance: "copy"}},
	}}
	if change != nil {
		change(&a.world)
	}
	stand := aws.New(func() (aws.World, error) { return a.world, nil }, nil, &a.log, a.now)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.before == nil || !a.before(w, r) {
			stand.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	for name, text := range map[string]string{
		"code/app/.git/HEAD": "ref: refs/heads/main\n", "zones/z.json": `{"ResourceRecordSets":[{"Name":"a.","Type":"A","ResourceRecords":[{"Value":"192.0.2.1"}]}]}`,
		"jobs/a.py": "x", "dashboards/a.json": "{}", "secrets.json": `{"items":[{"kind":"ConfigMap","metadata":{"name":"a","namespace":"b"}}]}`,
		"states/load.tfstate": `{"version":4,"resources":[{"mode":"managed","type":"aws_db_instance","name":"copy","instances":[{"attributes":{"identifier":"copy"}}]}]}`,
	} {
		a.write(name, text)
	}
	a.git()
	a.env = steps.Env{Dir: a.dir, Now: a.now, Environ: []string{"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=" + strings.Repeat("s", 40), "AWS_REGION=eu-west-1", "AWS_ENDPOINT_URL=" + server.URL}}
	return a
}

// git gives the clone a commit with an empty tree.
func (a *tenant) git() {
	a.write("code/app/.git/refs/heads/main", "2f7e1e3f5e2a3a4d6f0f8a9d9e9f7c6b5a4d3c2b\n")
	gitObjects(a.t, filepath.Join(a.dir, "code/app/.git"))
}

func (a *tenant) write(name, text string) {
	a.t.Helper()
	at := filepath.Join(a.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *tenant) in() steps.Params {
	in := steps.Params{"instance": steps.StringOf("copy"), "resource_id": steps.IdentOf("db-COPY"), "approval": steps.EnumOf("platform"), "unique": steps.EnumOf("no"), "quiet": steps.DurationOf(504 * time.Hour), "fresh": steps.DurationOf(0)}
	for name, at := range map[string]string{"code": "code", "zones": "zones", "jobs": "jobs", "dashboards": "dashboards", "secrets": "secrets.json", "states": "states"} {
		in[name] = steps.PathOf(at)
	}
	return in
}

func (a *tenant) preview(in steps.Params) (steps.Preview, error) {
	return deleter{env: a.env}.Preview(a.t.Context(), in, stepstest.NewSink())
}

// act goes through preview, confirmation and act.
func (a *tenant) act(in steps.Params) (steps.Preview, steps.Outcome, error) {
	a.t.Helper()
	g, out := deleter{env: a.env}, stepstest.NewSink()
	p, err := g.Preview(a.t.Context(), in, out)
	if err != nil {
		return p, steps.Outcome{}, err
	}
	yes, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase)
	if err != nil {
		return p, steps.Outcome{}, err
	}
	o, err := g.Act(a.t.Context(), yes, out)
	if _, again := g.Act(a.t.Context(), yes, out); !errors.Is(again, steps.ErrSpent) {
		a.t.Errorf("it acted twice: %v", again)
	}
	return p, o, err
}

// instance gives the one of that id.
func instance(w *aws.World, id string) *aws.Instance {
	return &w.Instances[slices.IndexFunc(w.Instances, func(i aws.Instance) bool { return i.ID == id })]
}

// TestDeleteFloors: each thing that is found or unknown keeps the gate shut by itself, and nothing is deleted by looking.
func TestDeleteFloors(t *testing.T) {
	t.Parallel()
	text := func(s string) steps.Value { return steps.StringOf(s) }
	for name, tc := range map[string]struct {
		world  func(*aws.World)
		change func(*tenant, steps.Params)
		want   string // "" for none unmet
	}{
		"nothing uses it":          {nil, nil, ""},
		"another of its name":      {func(w *aws.World) { instance(w, "copy").Resource = "db-LATER" }, nil, "Another instance has this name now"},
		"no replica":               {func(w *aws.World) { instance(w, "copy").Source = "" }, nil, "It is no read replica"},
		"one replicates from it":   {func(w *aws.World) { instance(w, "copy").Replicas = []string{"copy-2"} }, nil, "copy-2 replicates from it"},
		"it is protected":          {func(w *aws.World) { instance(w, "copy").Protected = true }, nil, "deletion protection is on"},
		"its source is gone":       {func(w *aws.World) { w.Instances = w.Instances[1:] }, nil, "may be the last copy"},
		"a source elsewhere":       {func(w *aws.World) { instance(w, "copy").Source = "arn:aws:rds:us-east-1:1:db:main" }, nil, "in another region"},
		"one connection":           {func(w *aws.World) { w.Metrics[0].Last = 300 }, nil, "Something connected to it, last at"},
		"one in this hour":         {func(w *aws.World) { w.Metrics[0].Low, w.Metrics[0].High = 0, 1 }, nil, "Something connected to it"},
		"a gap in its connections": {func(w *aws.World) { w.Metrics[0].Gap = true }, nil, "points are missing"},
		"no connections recorded":  {func(w *aws.World) { w.Metrics = nil }, nil, "the metric has no point"},
		"connections are denied":   {func(w *aws.World) { w.Denied = []string{"GetMetricData"} }, nil, "ask for cloudwatch:GetMetricData"},
		"two weeks":                {nil, func(_ *tenant, in steps.Params) { in["quiet"] = steps.DurationOf(336 * time.Hour) }, "less than the three weeks"},
		"data of its own":          {nil, func(_ *tenant, in steps.Params) { in["unique"] = steps.EnumOf("yes") }, "no snapshot of it is named"},
		"and a snapshot of it": {nil, func(_ *tenant, in steps.Params) {
			in["unique"], in["snapshot"] = steps.EnumOf("yes"), text("copy-last")
		}, ""},
		"a snapshot of another": {nil, func(_ *tenant, in steps.Params) {
			in["unique"], in["snapshot"] = steps.EnumOf("yes"), text("main-last")
		}, "is of another instance"},
		"a snapshot in the making":       {nil, func(_ *tenant, in steps.Params) { in["snapshot"] = text("copy-busy") }, "copy-busy is creating"},
		"a snapshot that goes":           {nil, func(_ *tenant, in steps.Params) { in["snapshot"] = text("copy-auto") }, "goes with the instance"},
		"no such snapshot":               {nil, func(_ *tenant, in steps.Params) { in["snapshot"] = text("absent") }, "There is no snapshot absent"},
		"snapshots are denied":           {func(w *aws.World) { w.Denied = []string{"DescribeDBSnapshots"} }, func(_ *tenant, in steps.Params) { in["snapshot"] = text("copy-last") }, "ask for rds:DescribeDBSnapshots"},
		"a job names it":                 {nil, func(a *tenant, _ steps.Params) { a.write("jobs/quarterly.py", copyHost) }, "Jobs names it: quarterly.py:1"},
		"a zone names it":                {nil, func(a *tenant, _ steps.Params) { a.write("zones/y.zone", "r IN CNAME "+copyHost+".\n") }, "Zones names it"},
		"a place is not known":           {nil, func(_ *tenant, in steps.Params) { delete(in, "secrets") }, "Whether secrets names it is not known: it was not named"},
		"a place that is said not to be": {nil, func(_ *tenant, in steps.Params) { delete(in, "jobs"); in["without"] = text("jobs") }, ""},
		"a place that cannot be":         {nil, func(_ *tenant, in steps.Params) { in["without"] = text("wikis") }, "What names it was not searched"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTenant(t, tc.world)
			in := a.in()
			if tc.change != nil {
				tc.change(a, in)
			}
			p, err := a.preview(in)
			if err != nil {
				t.Fatal(err)
			}
			most := 0
			if tc.want != "" {
				most = 2 // connections are asked for twice
			}
			if len(p.Unmet) > most {
				t.Errorf("unmet: %v, want %q alone", p.Unmet, tc.want)
			}
			if !strings.Contains(fmt.Sprint(p.Unmet), tc.want) {
				t.Errorf("unmet: %v, want %q", p.Unmet, tc.want)
			}
			if tc.want != "" {
				if _, err := steps.Confirm(p, "i", "s", p.Digest("i", "s"), p.Phrase); !errors.Is(err, steps.ErrUnmet) {
					t.Errorf("it is confirmed: %v", err)
				}
			}
			if a.log.Len() > 0 {
				t.Errorf("a look deleted: %s", a.log.String())
			}
		})
	}
}

// TestDelete: what was shown is sent once, and the instance is seen to go.
func TestDelete(t *testing.T) {
	t.Parallel()
	a := newTenant(t, nil)
	p, o, err := a.act(a.in())
	if err != nil || o.Result != steps.Done || steps.Find(o.After, "status") != "deleting" || steps.Find(o.After, "request id") == "" {
		t.Fatalf("%+v, %v, unmet %v", o, err, p.Unmet)
	}
	if p.Phrase != "delete db/copy" || p.Request != "POST / Action=DeleteDBInstance&DBInstanceIdentifier=copy&SkipFinalSnapshot=true&Version=2014-10-31" || !strings.HasPrefix(p.Undo, "None.") {
		t.Errorf("%q, %q, %q", p.Phrase, p.Request, p.Undo)
	}
	if len(p.Owes) != 1 || len(p.Owners) != 0 || steps.Find(p.Shown, "made again") != "by an apply of load.tfstate aws_db_instance.copy" || !strings.Contains(p.Owes[0].Text, "load.tfstate aws_db_instance.copy") {
		t.Errorf("owes %v, owners %v", p.Owes, p.Owners)
	}
	if n := strings.Count(a.log.String(), "DeleteDBInstance"); n != 1 {
		t.Errorf("%d requests", n)
	}
	if p, err = a.preview(a.in()); err != nil || !strings.Contains(fmt.Sprint(p.Unmet), "being deleted already") {
		t.Errorf("a second look: %v, %v", p.Unmet, err)
	}
	find := func() (steps.Outcome, error) {
		return deleter{env: a.env}.Find(t.Context(), p.Target, a.in(), stepstest.NewSink())
	}
	if o, err = find(); err != nil || o.Result != steps.Done {
		t.Errorf("found while it goes: %+v, %v", o, err)
	}
	a.pass(time.Minute)
	if o, err = find(); err != nil || o.Result != steps.Done || !strings.Contains(o.Response, "no instance copy") {
		t.Errorf("found when it is gone: %+v, %v", o, err)
	}
	a.world.Account = "999988887777"
	if o, err = find(); err == nil || !strings.Contains(err.Error(), "of the account 999988887777") {
		t.Errorf("found by another account: %+v, %v", o, err)
	}
	if _, err = a.preview(a.in()); err == nil || !strings.Contains(err.Error(), "there is no instance copy") {
		t.Errorf("a look when it is gone: %v", err)
	}
}

// TestDeleteMoved: another instance of the same name is not deleted in place of the one that was shown.
func TestDeleteMoved(t *testing.T) {
	t.Parallel()
	a := newTenant(t, nil)
	first, err := a.preview(a.in())
	if err != nil {
		t.Fatal(err)
	}
	b := newTenant(t, func(w *aws.World) { instance(w, "copy").Resource = "db-LATER" })
	in := b.in()
	in["resource_id"] = steps.IdentOf("db-LATER")
	fresh, err := b.preview(in)
	if err != nil || len(fresh.Unmet) > 0 {
		t.Fatal(err, fresh.Unmet)
	}
	if _, err := steps.Confirm(fresh, "i", "s", first.Digest("i", "s"), first.Phrase); !errors.Is(err, steps.ErrMoved) {
		t.Errorf("%v", err)
	}
}

// TestSenderSendsOne calls every operation of RDS through the client of the gate: only the form that was shown arrives, once.
func TestSenderSendsOne(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	arrived := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		arrived++
		mu.Unlock()
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer server.Close()
	to := rds.NewFromConfig(awssdk.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", strings.Repeat("s", 40), ""), RetryMaxAttempts: 1}, func(o *rds.Options) {
		o.BaseEndpoint, o.HTTPClient = &server.URL, sender(steps.Env{}, nil, "Action=DeleteDBInstance&DBInstanceIdentifier=copy&SkipFinalSnapshot=true&Version=2014-10-31")
	})
	v := reflect.ValueOf(to)
	for i := range v.NumMethod() {
		m := v.Type().Method(i)
		if m.Type.NumIn() != 4 || m.Type.NumOut() != 2 {
			continue
		}
		in := reflect.New(m.Type.In(2).Elem())
		fill(in.Elem(), 0)
		if out := v.Method(i).Call([]reflect.Value{reflect.ValueOf(context.Background()), in}); out[1].IsNil() {
			t.Errorf("%s went through", m.Name)
		}
	}
	if arrived != 0 {
		t.Errorf("%d requests arrived", arrived)
	}
	for range 2 {
		_, _ = to.DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{DBInstanceIdentifier: awssdk.String("copy"), SkipFinalSnapshot: awssdk.Bool(true)})
	}
	if arrived != 1 {
		t.Errorf("%d requests arrived, want the one that was shown", arrived)
	}
}
