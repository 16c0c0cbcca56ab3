package terraform

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
)

// discard is a sink that keeps nothing, as the bundle keeps nothing in memory.
type discard struct{ steps.SecretsOnly }

func (discard) Sensitive(map[string][]string) {}

// largeState writes a state of n instances of one resource as tofu lays it out,
// about 800 bytes for each, with the configuration that goes with it.
func largeState(b *testing.B, n int) (dir, name string) {
	b.Helper()
	dir = b.TempDir()
	writeText := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	writeText("main.tf", "terraform {}\n")
	name = filepath.Join(dir, "terraform.tfstate")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprint(w, "{\n  \"version\": 4,\n  \"terraform_version\": \"1.12.6\",\n  \"serial\": 3,\n  \"lineage\": \"5b0c8f2e-0000-4000-8000-000000000000\",\n  \"outputs\": {},\n  \"resources\": [\n")
	fmt.Fprint(w, "    {\n      \"mode\": \"managed\",\n      \"type\": \"terraform_data\",\n      \"name\": \"many\",\n      \"provider\": \"provider[\\\"terraform.io/builtin/terraform\\\"]\",\n      \"instances\": [\n")
	for i := range n {
		if i > 0 {
			fmt.Fprint(w, ",\n")
		}
		instance := map[string]any{"index_key": i, "schema_version": 0, "sensitive_attributes": []any{}, "private": "bnVsbA==", "attributes": map[string]any{
			"id": fmt.Sprintf("8d3c1f5a-1b2c-4d5e-8f90-%012d", i), "output": nil, "triggers_replace": nil,
			"input": map[string]any{
				"type":  []any{"object", map[string]any{"description": "string", "labels": []any{"map", "string"}, "ports": []any{"tuple", []any{"number", "number"}}}},
				"value": map[string]any{"description": fmt.Sprintf("instance %d of a large unit, with some text to make it as long as a real one", i), "labels": map[string]string{"app": "handrail", "index": fmt.Sprint(i), "team": "platform"}, "ports": []int{443, 8443}},
			}}}
		raw, err := json.MarshalIndent(instance, "        ", "  ")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = w.WriteString("        ")
		_, _ = w.Write(raw)
	}
	fmt.Fprint(w, "\n      ]\n    }\n  ],\n  \"check_results\": null\n}\n")
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return dir, name
}

// BenchmarkDossier reads the lock, its holder and the state of a root module as
// an incident does, beside what a person would type, in one run: the tool's own
// commands, jq, and the bare tokens of the same file.
func BenchmarkDossier(b *testing.B) {
	tofu, err := lab.Tofu(b.Context(), lab.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{600, 10_000, 100_000} {
		dir, name := largeState(b, n)
		env := steps.Env{Dir: dir, User: "me", Host: "here", Now: time.Now, Trusted: func(string) error { return nil }}
		read := func(ctx context.Context, kind string, in steps.Params) error {
			obs, err := kindOf(kind).Reads(env).Probe(ctx, in, discard{})
			if err == nil && kind == "terraform/state" && obs.Facts["resources"].Int() != int64(n) {
				err = fmt.Errorf("%d resources of %d", obs.Facts["resources"].Int(), n)
			}
			return err
		}
		file := fileParam(name)
		for _, way := range []struct {
			name string
			do   func(ctx context.Context) error
		}{
			{"tokens", func(context.Context) error { return tokens(name) }},
			{"lock", func(ctx context.Context) error { return read(ctx, "terraform/lock", nil) }},
			{"dossier", func(ctx context.Context) error {
				return errors.Join(read(ctx, "terraform/lock", nil), read(ctx, "terraform/holder", nil), read(ctx, "terraform/state", nil))
			}},
			{"compare", func(ctx context.Context) error {
				return read(ctx, "terraform/state-diff", steps.Params{"before": file, "after": file})
			}},
			{"tofu-list", command(b, dir, tofu, "state", "list")},
			{"tofu-show", command(b, dir, tofu, "show", "-json")},
			{"jq", command(b, dir, "jq", "[.serial, (.resources | length)]", name)},
		} {
			if way.do == nil {
				b.Logf("%s is not installed; its row is left out", way.name)
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", way.name, n), func(b *testing.B) {
				most := int64(0)
				ctx := context.WithValue(b.Context(), peakKey{}, &most)
				for b.Loop() {
					if err := way.do(ctx); err != nil {
						b.Fatal(err)
					}
				}
				if most > 0 {
					b.ReportMetric(float64(most)/1024, "peak-MB")
				}
			})
		}
	}
}

// peakKey is where a program leaves how many KiB were resident of it.
type peakKey struct{}

func tokens(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// command is nil where the program is not installed.
func command(b *testing.B, dir string, argv ...string) func(context.Context) error {
	b.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil
	}
	return func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Stdout = dir, io.Discard
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "CHECKPOINT_DISABLE=1"}
		err := cmd.Run()
		if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); err == nil && ok {
			most := ctx.Value(peakKey{}).(*int64)
			*most = max(*most, used.Maxrss)
		}
		return err
	}
}
