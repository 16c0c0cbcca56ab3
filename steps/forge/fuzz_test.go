package forge

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/joblog"
	"handrail/steps/stepstest"
)

// seed gives a fuzzer the answers of a documentation, whole and cut.
func seed(f *testing.F, folder string) {
	f.Helper()
	err := filepath.WalkDir(filepath.Join("testdata", folder), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) == ".md" {
			return err
		}
		raw, err := os.ReadFile(name)
		f.Add(raw)
		f.Add(raw[:len(raw)/2])
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`[{"user":null,"state":"APPROVED"}]`))
	f.Add([]byte(`{"total_count":-1,"workflow_runs":[{"id":9223372036854775807,"run_number":-1}]}`))
	f.Add([]byte("null"))
}

// holdPull holds what a pull request came to, whatever its parts were, to what must be true of each.
func holdPull(t *testing.T, p pull) {
	t.Helper()
	if p.not == nil {
		p.not = gaps{}
	}
	a := asked{client: &client{place: place{vendor: gitlab}}, f: steps.NewFacts(pullFacts()), in: steps.Params{"repo": steps.StringOf("a/b")}}
	a.tellPull(p, &steps.Observation{})
	facts := a.f.Rest("the forge does not say")
	if err := stepstest.Declared(pullFacts(), facts); err != nil {
		t.Fatal(err)
	}
	if facts["approval"].Text() == "head" && (facts["approved_commit"].Text() != p.head || p.head == "" || facts["approver"].Text() == p.author) {
		t.Fatalf("an approval of the head by %q for %q, head %q", facts["approver"].Text(), facts["approved_commit"].Text(), p.head)
	}
	for _, name := range []string{"head", "merge_commit", "base_now", "merge_base"} {
		if v := facts[name]; v.Known() && sha(v.Text()) == "" {
			t.Fatalf("%s = %q is no commit", name, v.Text())
		}
	}
}

// holdRun holds a run likewise.
func holdRun(t *testing.T, r run) {
	t.Helper()
	if r.not == nil {
		r.not = gaps{}
	}
	a := asked{client: &client{}, f: steps.NewFacts(runFacts()), in: steps.Params{"repo": steps.StringOf("a/b")}}
	a.tellRun(r, question{run: "1"}, &steps.Observation{})
	facts := a.f.Rest("the forge does not say")
	if err := stepstest.Declared(runFacts(), facts); err != nil {
		t.Fatal(err)
	}
	if is := facts["run_over"].Text() == "yes"; is != (facts["state"].Text() == over) {
		t.Fatalf("run_over %s and state %s", facts["run_over"].Text(), facts["state"].Text())
	}
	for _, j := range r.jobs {
		if strings.ContainsAny(j.name+j.runner+j.step, "\n\r") {
			t.Fatalf("a job over several lines: %+v", j)
		}
	}
}

// FuzzHub feeds the parsers of what Gitea and GitHub answer.
func FuzzHub(f *testing.F) {
	seed(f, "github-docs")
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := parseHubPull(raw)
		if err != nil {
			p = pull{author: "a", head: docHead, not: gaps{}}
		}
		p.reviews, _, _ = parseHubReviews(raw)
		p.checks, _, _ = parseHubStatus(raw)
		more, _, _ := parseHubCheckRuns(raw)
		p.checks = append(p.checks, more...)
		p.files, _, _ = parseHubFiles(raw)
		rules, _, _ := parseHubRules(raw)
		p.required, p.wanted = rules.approvals, rules.checks
		holdPull(t, p)
		_, _ = parseHubPulls(raw, "scale", func(n int64) {
			if n <= 0 {
				t.Fatalf("a pull request %d", n)
			}
		})
		_, _ = parseHubNames(raw)
		_, _ = parseHubContent(raw)
		_, _ = parseHubProtected(raw)
		_, _ = parseHubProtection(raw)
		_, _ = parseGiteaBranch(raw)
		if n, err := parseGiteaCompare(raw); err == nil && n < 0 {
			t.Fatalf("%d commits behind", n)
		}
		r, err := parseHubRun(raw)
		if err == nil {
			r.jobs, _, _ = parseHubJobs(raw)
			holdRun(t, r)
		}
		_, _ = parseHubRuns(raw, "", func(r run) { holdRun(t, r) })
		_, _, _ = parseHubJob(raw)
		list, _, _ := parseHubArtifacts(raw)
		for _, a := range list {
			_ = a.artifact()
		}
		if tasks, _, err := parseGiteaTasks(raw); err == nil {
			picked, number, more := pickTasks(tasks, question{commit: docHead})
			if (number == 0) != (len(picked) == 0) || more < 0 {
				t.Fatalf("%d tasks of run %d, %d more", len(picked), number, more)
			}
		}
		_ = taskOf(string(raw))
		_ = saidBy(raw)
	})
}

// FuzzLab feeds the parsers of what GitLab answers.
func FuzzLab(f *testing.F) {
	seed(f, "gitlab-docs")
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := parseLabMerge(raw)
		if err != nil {
			p = pull{author: "a", head: docHead, not: gaps{}}
		}
		p.reviews, p.required, _ = parseLabApprovals(raw)
		p.checks, _, _ = parseLabStatuses(raw)
		p.files, _, _ = parseLabDiffs(raw)
		holdPull(t, p)
		_, _ = parseLabResets(raw)
		_, _ = parseLabBranch(raw)
		_, _ = parseLabMerges(raw, "scale", func(int64) {})
		if r, err := parseLabPipeline(raw); err == nil {
			jobs, _, _ := parseLabJobs(raw)
			for _, j := range jobs {
				r.jobs = append(r.jobs, j.job())
			}
			holdRun(t, r)
		}
		_, _ = parseLabPipelines(raw, "", func(r run) { holdRun(t, r) })
		_, _, _ = parseLabJob(raw)
	})
}

// FuzzHearing listens to any log: what is kept of it stays bounded, on one line each.
func FuzzHearing(f *testing.F) {
	for _, s := range []string{"##[group]Run tofu plan\n##[error]Process completed with exit code 1.\n", "section_start:1:step_script\r\x1b[0K$ x\nERROR: Job failed: exit code 99999999999\n",
		"⭐ Run Main tofu plan\n❌  Failure - Main tofu plan\nexitcode '1': failure\n", "2026-01-22T19:33:10.1234567Z │ Error: x\n", strings.Repeat("Error: ", 3000), strings.Repeat("OpenTofu v1.12.6\nTerraform v1.15.0-rc1\n", 9), "\xff\xfeE\x00", "<html>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, err := joblog.Decode(bytes.NewReader(raw))
		if err != nil {
			return
		}
		h := newHearing()
		if err := joblog.Each(text, h.line); err != nil {
			t.Fatal(err)
		}
		found := h.end()
		if len(found.errors) > mostHeard || len(found.tools) > mostTools || found.code < -1 {
			t.Fatalf("%d errors, %d tools, exit code %d", len(found.errors), len(found.tools), found.code)
		}
		for _, line := range append(append(found.errors, found.tools...), found.step) {
			if strings.ContainsAny(line, "\n\r") || len(line) > 300 {
				t.Fatalf("%q is kept", line)
			}
		}
	})
}
