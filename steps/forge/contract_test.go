package forge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// world is a forge with the same things in it: a real one, or the answers of a documentation.
type world struct {
	vendor        vendor
	repo          string
	author, other string
	environ       []string
	token         string
	seen          *seenServer

	stale, merged          int64 // pull requests
	older, head            string
	failedRun, failedJob   string
	failedHead, runningRun string
}

func (w *world) look(t *testing.T, kind string, in steps.Params) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	return w.lookAs(t, kind, w.environ, in)
}

func (w *world) lookAs(t *testing.T, kind string, environ []string, in steps.Params) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	out := stepstest.NewSink()
	in["repo"] = steps.StringOf(orElse(in.Text("repo"), w.repo))
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == "forge/"+kind })
	k := Kinds()[i]
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	p := k.Reads(steps.Env{Environ: environ, Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }})
	obs, err := stepstest.Observe(ctx, p, k.Facts, in, out)
	return obs, out, err
}

// said holds facts to what they must be; "?" is unknown.
func said(t *testing.T, obs steps.Observation, want map[string]string) {
	t.Helper()
	for name, text := range want {
		v := obs.Facts[name]
		switch {
		case text == "?" && v.Known():
			t.Errorf("%s = %s, want unknown", name, v.Text())
		case text == "?" && v.Why() == "":
			t.Errorf("%s is unknown without a reason", name)
		case text == "*" && !v.Known():
			t.Errorf("%s is unknown (%s), want a value", name, v.Why())
		case text != "?" && text != "*" && v.Text() != text:
			t.Errorf("%s = %s (%s), want %s", name, v.Text(), v.Why(), text)
		}
	}
}

// worlds are all forges of the contract.
func worlds(t *testing.T) []*world {
	all := []*world{githubWorld(t), gitlabWorld(t)}
	if testing.Short() {
		return all // without a lab
	}
	return append(all, &giteaWorld(t).world)
}

// TestContract asks each forge the same, and wants the same answers, but for what a forge does not tell.
func TestContract(t *testing.T) {
	for _, w := range worlds(t) {
		t.Run(string(w.vendor), func(t *testing.T) {
			t.Run("approved before its head, and the base moved", w.tellsStale)
			t.Run("approved and merged", w.tellsMerged)
			t.Run("absent is told by a list alone", w.tellsAbsent)
			t.Run("not seen is not absent", w.tellsNotSeen)
			t.Run("a token that is refused", w.tellsRefused)
			t.Run("a run that failed", w.tellsFailedRun)
			t.Run("a run that goes on", w.tellsRunning)
			t.Run("a log", w.tellsLog)
			t.Run("artifacts", w.tellsArtifacts)
			t.Run("only reads", w.onlyReads)
		})
	}
}

func (w *world) tellsStale(t *testing.T) {
	obs, out, err := w.look(t, "pull", steps.Params{"number": steps.IntOf(w.stale)})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"state": "open", "author": w.author, "writers": `["` + w.author + `"]`, "head": w.head, "head_branch": "scale", "base_branch": "main", "base_now": "*", "merge_base": "*", "behind": "2", "base_moved": "yes",
		"merge_commit": "?", "merged_at": "?", "merged_by": "?", "approval": "older", "approvers": "[]", "approver": "", "approved_at": "?", "approved_commit": w.older,
		"older_approvers": `["` + w.other + `"]`, "own_approval": "false", "required": "1", "enough": "no", "checks": "ci/plan=failure", "checks_state": "failure",
		"failed_checks": `["ci/plan"]`, "required_checks": `["ci/plan"]`, "missing_checks": `["ci/plan"]`, "checked_at": "*", "files": `["env/prod/main.tf"]`, "owners_file": "CODEOWNERS"}
	want["owners"], want["owner_approval"] = `["env/prod/: @hubot"]`, "no"
	if w.vendor == gitea {
		want["owners"] = `["env/prod/.*: @bob"]`
	}
	want["owners_missing"] = want["owners"]
	if w.vendor == gitlab { // it does not say for which commit an approval was
		for _, name := range []string{"approval", "approvers", "approver", "approved_commit", "older_approvers", "enough", "owner_approval", "owners_missing"} {
			want[name] = "?"
		}
		want["writers"] = "?"
		want["required_checks"], want["missing_checks"] = "[]", "[]" // a pipeline is required whole, or not
	}
	said(t, obs, want)
	if !strings.Contains(keptOf(out, "codeowners"), "env/prod/") {
		t.Errorf("the artifacts hold no code owners: %q", keptOf(out, "codeowners"))
	}
	if !slices.Contains(out.Secrets, w.token) {
		t.Error("the token is no secret of the incident")
	}
	if strings.Contains(obs.Command, w.token) {
		t.Errorf("the command holds the token: %s", obs.Command)
	}
}

// approvedPlan is the digest that the review of the merged pull request names.
const approvedPlan = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"

func (w *world) tellsMerged(t *testing.T) {
	obs, _, err := w.look(t, "pull", steps.Params{"branch": steps.StringOf("merged")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"state": "merged", "number": count(w.merged), "merge_commit": "*", "merged_at": "*", "merged_by": w.other, "approval": "head",
		"approvers": `["` + w.other + `"]`, "approver": w.other, "approved_at": "*", "approved_digests": `["` + approvedPlan + `"]`, "outsiders": "[]", "enough": "yes", "checks_state": "success"}
	if w.vendor == gitlab {
		for _, name := range []string{"approval", "approvers", "approver", "approved_at", "approved_digests", "enough"} {
			want[name] = "?"
		}
	}
	said(t, obs, want)
}

func (w *world) tellsAbsent(t *testing.T) {
	obs, _, err := w.look(t, "pull", steps.Params{"branch": steps.StringOf("no-such-branch")})
	if err != nil {
		t.Fatal(err)
	}
	said(t, obs, map[string]string{"state": "absent", "number": "?", "approval": "?"})
}

func (w *world) tellsNotSeen(t *testing.T) {
	for kind, in := range map[string]steps.Params{
		"pull": {"number": steps.IntOf(4000)}, "run": {"repo": steps.StringOf("platform/hidden"), "run": steps.IdentOf("1")},
		"artifacts": {"repo": steps.StringOf("platform/hidden"), "run": steps.IdentOf("1")}, "log": {"repo": steps.StringOf("platform/hidden"), "run": steps.IdentOf("1")},
	} {
		if _, _, err := w.look(t, kind, in); !errors.Is(err, errNotSeen) {
			t.Errorf("%s: %v, want %q", kind, err, errNotSeen)
		}
	}
	if _, _, err := w.look(t, "pull", steps.Params{"branch": steps.StringOf("scale"), "repo": steps.StringOf("platform/hidden")}); !errors.Is(err, errNotSeen) {
		t.Errorf("by branch: %v", err)
	}
}

func (w *world) tellsRefused(t *testing.T) {
	const wrong = "0123456789abcdef0123456789abcdef01234567"
	var environ []string
	for _, kv := range w.environ {
		environ = append(environ, strings.ReplaceAll(kv, w.token, wrong))
	}
	_, out, err := w.lookAs(t, "pull", environ, steps.Params{"number": steps.IntOf(w.stale)})
	if !errors.Is(err, steps.ErrDenied) || strings.Contains(err.Error(), wrong) || !slices.Contains(out.Secrets, wrong) {
		t.Errorf("a wrong token: %v, secrets %q", err, out.Secrets)
	}
}

func (w *world) tellsFailedRun(t *testing.T) {
	obs, _, err := w.look(t, "run", steps.Params{"run": steps.IdentOf(w.failedRun)})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"run": w.failedRun, "state": over, "run_over": "yes", "result": failure, "failed_job": "plan", "failed_stage": "plan", "failed_job_id": w.failedJob,
		"failed_step": "Run tofu plan", "runner": "runner-7", "actor": w.author, "event": "push", "head": w.failedHead, "branch": "*", "started": "*", "ended": "*", "read_from": "*"}
	switch w.vendor {
	case gitea:
		want["failed_step"], want["runner"], want["actor"] = "?", "?", "?"
	case gitlab:
		want["failed_step"], want["failed_stage"] = "?", "validate"
	}
	said(t, obs, want)
	byCommit := steps.Params{"commit": steps.IdentOf(w.failedHead), "name": steps.StringOf("infra")}
	if obs, _, err = w.look(t, "run", byCommit); err != nil {
		t.Fatal(err)
	}
	said(t, obs, map[string]string{"run": w.failedRun, "run_over": "yes"})
	byCommit = steps.Params{"commit": steps.IdentOf(strings.Repeat("0", 40)), "name": steps.StringOf("infra")}
	if obs, _, err = w.look(t, "run", byCommit); err != nil {
		t.Fatal(err)
	}
	said(t, obs, map[string]string{"run": "?", "run_over": "?", "state": "?"})
}

func (w *world) tellsRunning(t *testing.T) {
	obs, _, err := w.look(t, "run", steps.Params{"run": steps.IdentOf(w.runningRun)})
	if err != nil {
		t.Fatal(err)
	}
	said(t, obs, map[string]string{"state": running, "run_over": "no", "result": "?", "ended": "?", "failed_job": "", "failed_job_id": "?"})
}

func (w *world) tellsLog(t *testing.T) {
	obs, out, err := w.look(t, "log", steps.Params{"run": steps.IdentOf(w.failedRun)})
	if w.vendor == github { // its logs are handed out by another host
		var away *elsewhereError
		if !errors.As(err, &away) || !strings.Contains(err.Error(), "gh run view --job "+w.failedJob) || strings.Contains(err.Error(), "sig=") {
			t.Errorf("a log of GitHub: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	step, tools := "tofu plan", `["OpenTofu v1.12.6"]`
	if w.vendor == gitlab {
		step, tools = "step_script", "?"
	}
	said(t, obs, map[string]string{"run": w.failedRun, "job": "plan", "job_id": w.failedJob, "whole": "true", "failed_step": step, "error": "Error: Invalid reference", "exit_code": "1", "tools": tools})
	if !strings.Contains(keptOf(out, "log"), "Error: Invalid reference") || obs.Facts["bytes"].Int() != int64(len(keptOf(out, "log"))) {
		t.Errorf("the log that was kept: %q, %s bytes", keptOf(out, "log"), obs.Facts["bytes"].Text())
	}
}

func (w *world) tellsArtifacts(t *testing.T) {
	obs, _, err := w.look(t, "artifacts", steps.Params{"run": steps.IdentOf(w.failedRun), "artifact": steps.StringOf(w.artifact("tfplan"))})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"found": "true", "expired": "yes", "expires": "*", "size": "*", "digest": "?", "gone": `["` + w.artifact("tfplan") + `"]`, "head": w.failedHead}
	if w.vendor == github {
		want["digest"] = "*"
	}
	said(t, obs, want)
	if obs, _, err = w.look(t, "artifacts", steps.Params{"run": steps.IdentOf(w.failedRun), "artifact": steps.StringOf("nothing")}); err != nil {
		t.Fatal(err)
	}
	said(t, obs, map[string]string{"found": "false", "expired": "?", "expires": "?"})
}

// artifact is what a forge calls one: GitLab by its job and file.
func (w *world) artifact(name string) string {
	if w.vendor == gitlab {
		return "plan/" + name + ".zip"
	}
	return name
}

func (w *world) onlyReads(t *testing.T) {
	w.seen.mu.Lock()
	defer w.seen.mu.Unlock()
	if len(w.seen.all) == 0 {
		t.Fatal("the forge was asked nothing")
	}
	for _, line := range w.seen.all {
		if !strings.HasPrefix(line, "GET ") && !strings.HasPrefix(line, "HEAD ") {
			t.Errorf("the forge was sent %s", line)
		}
	}
}

// keptOf is the artifact of a role, "" for none.
func keptOf(out *stepstest.Sink, role string) string {
	if b := out.Artifacts[role]; b != nil {
		return b.String()
	}
	return ""
}
