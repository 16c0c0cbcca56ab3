package tfstate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"handrail/steps/terraform/jsonscan"
)

// written makes a state of n instances of one resource, laid out as the local
// backend of tofu does: about 850 bytes for each.
func written(b testing.TB, n int) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "terraform.tfstate")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "{\n  \"version\": 4,\n  \"terraform_version\": \"1.12.6\",\n  \"serial\": 3,\n  \"lineage\": \"5b0c8f2e-0000-4000-8000-000000000000\",\n  \"outputs\": {},\n  \"resources\": [\n")
	fmt.Fprintf(w, "    {\n      \"mode\": \"managed\",\n      \"type\": \"terraform_data\",\n      \"name\": \"many\",\n      \"provider\": \"provider[\\\"terraform.io/builtin/terraform\\\"]\",\n      \"instances\": [\n")
	for i := range n {
		if i > 0 {
			fmt.Fprint(w, ",\n")
		}
		fmt.Fprintf(w, `        {
          "index_key": %d,
          "schema_version": 0,
          "attributes": {
            "id": "8d3c1f5a-1b2c-4d5e-8f90-%012d",
            "input": {
              "value": {
                "description": "instance %d of a large unit, with some text to make it as long as a real one, and some more of it",
                "labels": {
                  "app": "handrail",
                  "index": "%d",
                  "team": "platform"
                },
                "ports": [
                  443,
                  8443
                ]
              },
              "type": [
                "object",
                {
                  "description": "string",
                  "labels": ["object", {"app": "string", "index": "string", "team": "string"}],
                  "ports": ["tuple", ["number", "number"]]
                }
              ]
            },
            "output": null,
            "triggers_replace": null
          },
          "sensitive_attributes": [],
          "private": "bnVsbA=="
        }`, i, i, i, i)
	}
	fmt.Fprint(w, "\n      ]\n    }\n  ],\n  \"check_results\": null\n}\n")
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return name
}

func opened(b testing.TB, name string) *os.File {
	b.Helper()
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

// BenchmarkState is the summary of states of three sizes beside bare passes over
// the same file: the tokens of encoding/json, and a skip that keeps nothing.
func BenchmarkState(b *testing.B) {
	for _, n := range []int{600, 10_000, 100_000} {
		name := written(b, n)
		size, _ := os.Stat(name)
		each := func(way string, read func(io.Reader) error) {
			b.Run(fmt.Sprintf("%s/%d", way, n), func(b *testing.B) {
				b.SetBytes(size.Size())
				peak := peakHeap(b, func() {
					for b.Loop() {
						f := opened(b, name)
						if err := read(f); err != nil {
							b.Fatal(err)
						}
						_ = f.Close()
					}
				})
				b.ReportMetric(peak, "peak-MB")
			})
		}
		each("tokens", func(r io.Reader) error {
			dec := json.NewDecoder(r)
			for {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
			}
		})
		each("skip", func(r io.Reader) error { return jsonscan.New(r).Skip() })
		each("summary", func(r io.Reader) error {
			d, err := Read(r, Options{Secret: func(string) {}})
			if err == nil && (d.Managed != n || len(d.Faults) > 0) {
				return fmt.Errorf("%d of %d, %v", d.Managed, n, d.Faults)
			}
			return err
		})
		each("compare", func(r io.Reader) error {
			f := opened(b, name)
			defer f.Close()
			diff, err := Compare(f, r.(io.ReadSeeker))
			if err == nil && !diff.Same() {
				return errors.New("a state differs from itself")
			}
			return err
		})
	}
}

// peakHeap is the most that the heap held in use while do ran, in MB.
func peakHeap(b *testing.B, do func()) float64 {
	b.Helper()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-stop:
				done <- most
				return
			case <-tick.C:
			}
		}
	}()
	do()
	close(stop)
	return float64(int64(<-done)-int64(before.HeapInuse)) / 1e6
}
