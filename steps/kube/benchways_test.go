package kube

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/evidence"
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/transport"
)

// listWay reads all objects once, and fails when it saw another number.
type listWay struct {
	name string
	read func(ctx context.Context, tb testing.TB, p listPlace) error
}

const idleWay = "idle"

// listWays begins with the cheapest way that is read to the end:
// one Table without objects, whole in memory.
var listWays = []listWay{
	{"table-one-list", func(ctx context.Context, _ testing.TB, p listPlace) error { return readTables(ctx, p, "") }},
	{"table-one-list-unread", func(ctx context.Context, _ testing.TB, p listPlace) error {
		return pagesOf(ctx, p, cluster.AsTable, url.Values{"includeObject": {"None"}}, "", func(raw []byte) (string, error) {
			return "", enough(bytes.Count(raw, []byte(`{"cells":`)), nil)
		})
	}},
	{"table-pages-of-500", func(ctx context.Context, _ testing.TB, p listPlace) error { return readTables(ctx, p, "500") }},
	{"metadata-pages-of-500", readMetadata},
	{"probe-table", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return runProbe(ctx, tb, p, steps.SecretsOnly(nil), what("resource", "cm", "namespace", p.namespace))
	}},
	{"probe-table-redacted", readRedacted},
	{"probe-table-all-namespaces", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return runProbe(ctx, tb, p, steps.SecretsOnly(nil), what("resource", "cm", "all_namespaces", "true"))
	}},
	{"probe-metadata", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return runProbe(ctx, tb, p, steps.SecretsOnly(nil), what("resource", "cm", "namespace", p.namespace, "read", "metadata"))
	}},
	{"probe-metadata-all-namespaces", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return runProbe(ctx, tb, p, steps.SecretsOnly(nil), what("resource", "cm", "all_namespaces", "true", "read", "metadata"))
	}},
}

func benchEnv(tb testing.TB, p listPlace) steps.Env {
	return steps.Env{Home: tb.TempDir(), Now: time.Now, Kubeconfig: p.kubeconfig}
}

// runProbe is the probe from its start to its facts, discovery included.
func runProbe(ctx context.Context, tb testing.TB, p listPlace, out steps.Sink, in steps.Params) error {
	obs, err := probeOf("kube/list", benchEnv(tb, p)).Probe(ctx, in, out)
	if err != nil {
		return err
	}
	// Namespaces have a ConfigMap of their own.
	if n := obs.Facts["count"].Int(); n < benchObjects || n > benchObjects+100 {
		return fmt.Errorf("%d objects, want %d", n, benchObjects)
	}
	return nil
}

// pagesOf reads a collection through client-go, without what a probe adds but
// for the connection.
func pagesOf(ctx context.Context, p listPlace, accept string, query url.Values, limit string, page func(raw []byte) (next string, err error)) error {
	c, err := cluster.Connect(steps.Env{Now: time.Now, Kubeconfig: p.kubeconfig}, steps.SecretsOnly(nil))
	if err != nil {
		return err
	}
	front, err := c.Through(func(next http.RoundTripper) http.RoundTripper { return transport.Probe(next, c.Server) })
	if err != nil {
		return err
	}
	if limit != "" {
		query.Set("limit", limit)
	}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Server+"/api/v1/namespaces/"+p.namespace+"/configmaps?"+query.Encode(), nil)
		if err != nil {
			return err
		}
		req.Header.Set("Accept", accept)
		resp, err := front.Do(req)
		if err != nil {
			return err
		}
		raw, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %w", resp.Status, err)
		}
		next, err := page(raw)
		if err != nil || next == "" {
			return err
		}
		query.Set("continue", next)
	}
}

func readTables(ctx context.Context, p listPlace, limit string) error {
	count := 0
	err := pagesOf(ctx, p, cluster.AsTable, url.Values{"includeObject": {"None"}}, limit, func(raw []byte) (string, error) {
		var t metav1.Table
		if err := json.Unmarshal(raw, &t); err != nil {
			return "", err
		}
		count += len(t.Rows)
		return t.Continue, nil
	})
	return enough(count, err)
}

func readMetadata(ctx context.Context, _ testing.TB, p listPlace) error {
	count := 0
	err := pagesOf(ctx, p, cluster.AsMetaList, url.Values{}, "500", func(raw []byte) (string, error) {
		var t metav1.PartialObjectMetadataList
		if err := json.Unmarshal(raw, &t); err != nil {
			return "", err
		}
		count += len(t.Items)
		return t.Continue, nil
	})
	return enough(count, err)
}

func enough(count int, err error) error {
	if err == nil && count < benchObjects {
		return fmt.Errorf("%d objects, want %d", count, benchObjects)
	}
	return err
}

// readRedacted keeps the list as an incident does: redacted and on the disk.
func readRedacted(ctx context.Context, tb testing.TB, p listPlace) error {
	dir := tb.TempDir()
	began := time.Now()
	bundle, err := evidence.Create(dir, "bench-"+rand.Text(), evidence.Options{Now: time.Now, Mono: func() time.Duration { return time.Since(began) }, Keys: filepath.Join(dir, "keys"), Version: "bench"})
	if err != nil {
		return err
	}
	defer bundle.Close()
	return runProbe(ctx, tb, p, bundleSink{steps.SecretsOnly(nil), bundle}, what("resource", "cm", "namespace", p.namespace))
}

type bundleSink struct {
	steps.SecretsOnly
	bundle *evidence.Bundle
}

func (s bundleSink) Secret(v string) { s.bundle.Secret(v) }

func (s bundleSink) Artifact(role, media string) io.WriteCloser {
	w, err := s.bundle.Blob(role, media)
	if err != nil {
		return failingReader{err}
	}
	return blob{w}
}

type blob struct{ *evidence.BlobWriter }

func (b blob) Close() error { _, err := b.Commit(); return err }

type failingReader struct{ err error }

func (f failingReader) Write([]byte) (int, error) { return 0, f.err }
func (f failingReader) Close() error              { return f.err }
