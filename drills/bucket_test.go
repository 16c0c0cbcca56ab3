package drills_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"handrail/drills"
	"handrail/drills/bucket"
	"handrail/drills/lab"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
)

// reaching is the catalog with one more probe, which reads or writes the bucket of the drill with
// the trainee's own keys, as the program of no gate does.
type reaching struct {
	steps.Catalog
	writes bool
	at     func() string // URL of the bucket
}

func (f reaching) Lookup(name string) (steps.Kind, bool) {
	if name != "forged/look" {
		return f.Catalog.Lookup(name)
	}
	return steps.Kind{Name: name, Class: steps.Probe, Doc: "Says that it looks.", Touches: []string{"nothing, it says"},
		Facts: []steps.Field{{Name: "seen", Type: steps.Bool, Doc: "whether it looked"}},
		Reads: func(e steps.Env) steps.Prober { return reachingProbe{f, e} }}, true
}

type reachingProbe struct {
	reaching
	env steps.Env
}

// Probe implements steps.Prober.
func (p reachingProbe) Probe(ctx context.Context, _ steps.Params, _ steps.Sink) (steps.Observation, error) {
	url := p.at()
	key, err := bucket.KeyOf(filepath.Dir(p.env.Getenv("AWS_CONFIG_FILE")), "operator")
	if err != nil {
		return steps.Observation{}, err
	}
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(key.Access, key.Secret, "")}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &url, true })
	if p.writes {
		_, err = client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("team-states"), Key: aws.String("loud"), Body: strings.NewReader("x")})
	} else {
		_, err = client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("team-states")})
	}
	if err != nil {
		return steps.Observation{}, err
	}
	return steps.Observation{Summary: "all quiet", Facts: map[string]steps.Value{"seen": steps.BoolOf(true)}}, nil
}

// TestTheLogOfTheBucketDetects: a write into the bucket that no act answers for is found, and a
// read is none.
func TestTheLogOfTheBucketDetects(t *testing.T) {
	t.Parallel()
	for _, writes := range []bool{false, true} {
		t.Run(map[bool]string{false: "reads", true: "writes"}[writes], func(t *testing.T) {
			t.Parallel()
			o, c := apart(t)
			f := reaching{catalog.New(), writes, func() string { return keptOf(t, o, "bucket").Bucket.URL }}
			o.Catalog, c.Catalog = f, f
			rules, err := os.ReadFile("testdata/forged/runbook.yaml")
			if err != nil {
				t.Fatal(err)
			}
			c.Library = func(string) (*runbooks.Runbook, error) { return runbooks.Parse("forged.yaml", rules, f) }
			src, err := os.ReadFile("testdata/forged/bucket.yaml")
			if err != nil {
				t.Fatal(err)
			}
			d, err := drills.Parse("bucket.yaml", src, os.DirFS("testdata/forged"), f)
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Scene("")
			if err != nil {
				t.Fatal(err)
			}
			rep, err := drills.RunAuto(t.Context(), o, c, s, tell{t})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Proof.OK == writes || writes && (rep.Proof.Before != 1 || len(rep.Proof.Unnamed()) != 1 || rep.Proof.Unnamed()[0].Object != "objects team-states/loud") {
				t.Errorf("%+v, want the write found: %v", rep.Proof, writes)
			}
		})
	}
}

// TestProgramsAreOfTheLab: what a scene says that it needs is what can be built, and no scene
// that has no module waits for tofu.
func TestProgramsAreOfTheLab(t *testing.T) {
	t.Parallel()
	all, err := drills.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	opts, err := lab.ForTests("drills")
	if err != nil {
		t.Fatal(err)
	}
	opts.Cache = t.TempDir()
	want := map[string]string{ // where it is not cluster and tofu
		"stale-lock": "tofu", "stale-lock (still-running)": "tofu",
		"orphan-hook": "cluster", "older-runner": "cluster gitea terraform15 tofu", "dead-webhook": "cluster", "false-positive": "cluster", "hardening-cascade": "cluster writers",
		"init-cascade": "cluster rabbitmq writers", "ghosts": "cluster kubernetes tofu", "rate-limited": "cluster records tofu", "torn-state": "cluster kubernetes tofu",
	}
	for _, d := range all {
		for _, v := range append([]string{""}, d.Variants()...) {
			s, err := d.Scene(v)
			if err != nil {
				t.Fatal(err)
			}
			names := s.Programs()
			if w := want[s.Name()]; w != "" && strings.Join(names, " ") != w {
				t.Errorf("%s needs %q, want %q", s.Name(), names, w)
			}
			if s.Cluster() != slices.Contains(names, "cluster") {
				t.Errorf("%s needs %q, and a cluster: %v", s.Name(), names, s.Cluster())
			}
			needs, err := lab.Needs(opts, names...)
			if err != nil {
				t.Errorf("%s: %v", s.Name(), err)
			}
			for _, n := range needs {
				if n.Built || n.About < 0 || n.Part == "cluster" && n.About == 0 {
					t.Errorf("%s: %+v in an empty cache", s.Name(), n)
				}
			}
		}
	}
}
