package drills_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"handrail/drills"
	"handrail/drills/aws"
	"handrail/drills/bucket"
	"handrail/drills/keycloak"
	"handrail/drills/lab"
	"handrail/drills/store"
	"handrail/runbooks"
	"handrail/session"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/steps/gitops/render"
	"handrail/steps/policy/replay"
	"handrail/triage"
)

// TestMain lets this binary keep the state of a drill and render, as handrail does.
func TestMain(m *testing.M) {
	serve := map[string]func(context.Context, string) error{bucketWord: bucket.Serve, realmWord: keycloak.Serve, awsWord: aws.Serve, storeWord: store.Serve}
	confined := map[string]func(io.Reader, io.Writer) int{render.Word: render.Child, replay.Word: replay.Child}
	if len(os.Args) == 2 && confined[os.Args[1]] != nil {
		os.Exit(confined[os.Args[1]](os.Stdin, os.Stdout))
	}
	if len(os.Args) == 3 && serve[os.Args[1]] != nil {
		if err := serve[os.Args[1]](context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	bucketWord = "__bucket"
	realmWord  = "__realm"
	awsWord    = "__aws"
	storeWord  = "__store"
)

// apart is a machine without a lab, which has the lab's tofu.
func apart(t *testing.T) (drills.Options, session.Config) {
	t.Helper()
	opts, err := lab.ForTests("drills")
	if err != nil {
		t.Fatal(err)
	}
	tofu, err := lab.Tofu(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	o, c := ground(t)
	o.Tofu = tofu
	return o, c
}

// world is the lab of the tests and a state directory of the test's own.
func world(t *testing.T) (drills.Options, session.Config) {
	t.Helper()
	opts, err := lab.ForTests("drills")
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	o, c := ground(t)
	o.Lab = l
	return o, c
}

// ground is a state directory of the test's own, without a lab.
func ground(t *testing.T) (drills.Options, session.Config) {
	t.Helper()
	state := t.TempDir()
	cat := catalog.New()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	o := drills.Options{Bucket: []string{os.Args[0], bucketWord}, Realm: []string{os.Args[0], realmWord}, AWS: []string{os.Args[0], awsWord}, Store: []string{os.Args[0], storeWord}, State: state, Catalog: cat, Now: time.Now, Progress: func(text string) { t.Log(text) }}
	c := session.Config{
		Dir: filepath.Join(state, "incidents"), Keys: filepath.Join(state, "keys"), Acts: filepath.Join(state, "acts"),
		Catalog: cat, Library: library, Now: time.Now, Rand: rand.Reader, Version: "test",
		Env:   steps.Env{Self: os.Args[0], Environ: os.Environ(), Home: t.TempDir(), User: me.Username, Host: host, Now: time.Now},
		Actor: triage.Person{ID: "trainee", Name: "trainee", Proof: "os", Subject: me.Username},
	}
	return o, c
}

// books are those of all walks: they are read once, as in a process of handrail.
var books = sync.OnceValues(func() ([]*runbooks.Runbook, error) { return runbooks.Library(catalog.New()) })

func library(id string) (*runbooks.Runbook, error) {
	all, err := books()
	if err != nil {
		return nil, err
	}
	for _, rb := range all {
		if rb.ID == id {
			return rb, nil
		}
	}
	return nil, os.ErrNotExist
}

func scene(t *testing.T, id, variant string) drills.Scene {
	t.Helper()
	d, err := drills.Lookup(id, catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Scene(variant)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
