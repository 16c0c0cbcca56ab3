package index

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// benchBundles is how many bundles the benchmarks look through.
const benchBundles = 2000

var benchCorpus = struct {
	sync.Once
	dir string
}{}

// TestMain removes the corpus of the benchmarks, which they share.
func TestMain(m *testing.M) {
	code := m.Run()
	if benchCorpus.dir != "" {
		_ = os.RemoveAll(benchCorpus.dir)
	}
	os.Exit(code)
}

func large(b *testing.B) Store {
	b.Helper()
	benchCorpus.Do(func() {
		dir, err := os.MkdirTemp("", "index")
		if err != nil {
			b.Fatal(err)
		}
		benchCorpus.dir = dir
		in := filepath.Join(dir, "handrail", "incidents")
		if err := os.MkdirAll(in, 0o700); err != nil {
			b.Fatal(err)
		}
		parallel(benchBundles, func(i int) { incident(b, in, i) })
	})
	in := filepath.Join(benchCorpus.dir, "handrail", "incidents")
	return At(in, CacheOf(in))
}

// needles are texts of different frequency. The id is that of one incident.
var needles = []struct{ name, text string }{
	{"rare-words", "quokka of incident 7"},
	{"one-id", "EXC-1234"},
	{"part-of-a-word", "uokk"},
	{"absent", "no such text anywhere"},
	{"in-every-bundle", "takes the lock away"},
	{"in-every-artifact", "timed out after"},
}

// BenchmarkQuery searches 2,000 bundles; its peer is ripgrep over the same
// files, as they are written: journals and artifacts are plain text.
func BenchmarkQuery(b *testing.B) {
	s := large(b)
	if _, err := s.Search(Query{Text: []string{"warm"}}); err != nil {
		b.Fatal(err)
	}
	rg, err := exec.LookPath("rg")
	if err != nil {
		fmt.Fprintln(os.Stderr, "BenchmarkQuery: no ripgrep on PATH, its rows are left out")
	}
	for _, n := range needles {
		text := n.text
		b.Run("text="+n.name, func(b *testing.B) {
			hits := 0
			for b.Loop() {
				a, err := s.Search(Query{Text: []string{text}})
				if err != nil {
					b.Fatal(err)
				}
				hits = len(a.Hits)
			}
			b.ReportMetric(float64(hits), "hits")
		})
		if rg == "" {
			continue
		}
		b.Run("peer=ripgrep/text="+n.name, func(b *testing.B) {
			lines := 0
			for b.Loop() {
				// 1 says that nothing was found.
				out, err := exec.Command(rg, "-i", "-F", "--no-ignore", "--hidden", "--", text, s.dir).Output()
				if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
					b.Fatal(err)
				}
				lines = bytes.Count(out, []byte("\n"))
			}
			b.ReportMetric(float64(lines), "hits")
		})
	}
	for _, c := range []struct {
		name string
		q    Query
	}{
		{"key=exception", Query{Keys: map[Key][]string{Exception: {"EXC-77"}}}},
		{"key=cluster", Query{Keys: map[Key][]string{Cluster: {"cluster-prod-*"}}, Limit: 100, Lines: 3}},
		{"since", Query{Since: time.Date(2026, 3, 24, 0, 0, 0, 0, time.UTC), Limit: 100, Lines: 3}},
		{"severity", Query{Severity: []string{"SEV-1"}, Limit: 100, Lines: 3}},
		{"state", Query{Failure: []string{"MutationPartiallySucceeded"}, Limit: 100, Lines: 3}},
		{"fingerprint", Query{Fingerprints: []Fingerprint{FingerprintOf("Error: waiting for payments-0badc0ffee to become ready: timed out after 42s, request 6f1d3c7e-0000-4000-8000-00000000cafe")}, Limit: 100, Lines: 3}},
		{"by-incident/text=in-every-artifact", Query{Text: []string{"timed out after"}, Limit: 100, Lines: 3}},
	} {
		b.Run(c.name, func(b *testing.B) { benchQuery(b, s, c.q) })
	}
}

func benchQuery(b *testing.B, s Store, q Query) {
	for b.Loop() {
		if a, err := s.Search(q); err != nil || len(a.Hits) == 0 {
			b.Fatal(len(a.Hits), err)
		}
	}
}

// BenchmarkRows lists 2,000 incidents; its peer folds every bundle.
func BenchmarkRows(b *testing.B) {
	s := large(b)
	for _, c := range []struct {
		name string
		s    Store
	}{{"cache=yes", s}, {"cache=no", At(s.dir, "")}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if rows, err := c.s.Rows(); err != nil || len(rows) != benchBundles {
					b.Fatal(len(rows), err)
				}
			}
		})
	}
}

// BenchmarkRebuild makes the whole index from the bundles.
func BenchmarkRebuild(b *testing.B) {
	s := large(b)
	for b.Loop() {
		if err := os.RemoveAll(s.cache); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Search(Query{Text: []string{"warm"}}); err != nil {
			b.Fatal(err)
		}
	}
}
