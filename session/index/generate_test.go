package index

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/evidence"
	"handrail/evidence/disk"
	"handrail/steps"
	"handrail/triage"
)

// quickFS is the real file system without syncs: what a test writes need not
// survive a power cut.
type quickFS struct{}

type quickFile struct{ *os.File }

func (quickFile) Sync() error { return nil }

func (quickFS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (quickFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (quickFS) Remove(name string) error                   { return os.Remove(name) }
func (quickFS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (quickFS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (quickFS) SyncDir(string) error                       { return nil }
func (quickFS) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	f, err := os.OpenFile(name, flag, perm)
	return quickFile{f}, err
}

var (
	envs     = []string{"prod-eu", "prod-us", "staging", "dev"}
	services = []string{"payments", "checkout", "search", "ledger", "mail", "identity"}
	books    = []string{"state-lock", "stuck-finalizer", "partial-apply"}
	failures = []string{"MutationPartiallySucceeded", "RecordedStateDiverged", "ReconciliationBlocked", "EvidenceIncomplete"}
)

// writer writes one incident through the real store.
type writer struct {
	tb  testing.TB
	b   *evidence.Bundle
	rng *rand.Rand
	now time.Time
}

func (w *writer) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
	return hex.EncodeToString(b)
}

func (w *writer) uuid() string {
	h := w.hex(16)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func pick(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }

func (w *writer) say(actor string, body triage.Body, blobs ...evidence.Blob) {
	w.tb.Helper()
	if _, err := w.b.Append(w.tb.Context(), evidence.Draft{Type: body.Type(), Actor: actor, Data: body, Blobs: blobs}); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *writer) blob(role, text string) evidence.Blob {
	w.tb.Helper()
	out, err := w.b.Blob(role, "text/plain")
	if err == nil {
		_, err = out.Write([]byte(text))
	}
	if err != nil {
		w.tb.Fatal(err)
	}
	b, err := out.Commit()
	if err != nil {
		w.tb.Fatal(err)
	}
	return b
}

func text(v string) triage.Value { return steps.StringOf(v) }

// log is the output of a run with one failure in it.
func (w *writer) log(service string, lines int) string {
	var s strings.Builder
	for i := range lines {
		at := w.now.Add(time.Duration(i) * time.Second).Format(time.RFC3339)
		fmt.Fprintf(&s, "%s kubernetes_deployment.%s[%d]: Refreshing state... [id=%s/%s-%s]\n", at, service, i, service, service, w.hex(5))
	}
	fmt.Fprintf(&s, "Error: waiting for %s-%s to become ready: timed out after %ds, request %s\n", service, w.hex(5), w.rng.IntN(900), w.uuid())
	return s.String()
}

// object is a live object as an API server prints it.
func (w *writer) object(service, env string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "{\n  \"kind\": \"Deployment\",\n  \"metadata\": {\n    \"name\": %q,\n    \"namespace\": %q,\n    \"uid\": %q\n  },\n  \"spec\": {\n", service, env, w.uuid())
	for i := range 40 {
		fmt.Fprintf(&s, "    \"variable-%d\": {\"value\": \"https://%s.%s.example/v%d\", \"checksum\": %q},\n", i, service, env, i%9, w.hex(8))
	}
	return s.String() + "    \"replicas\": 3\n  }\n}\n"
}

// incident writes the nth bundle of a corpus, always the same way, and returns
// its path.
func incident(tb testing.TB, dir string, n int) string {
	tb.Helper()
	w := &writer{tb: tb, rng: rand.New(rand.NewPCG(uint64(n), 7)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)}
	var mono time.Duration
	id := fmt.Sprintf("%s-%04d", w.now.Format("20060102T150405Z"), n)
	b, err := evidence.Create(dir, id, evidence.Options{
		Now: func() time.Time { w.now = w.now.Add(time.Second); return w.now }, Mono: func() time.Duration { mono += time.Second; return mono },
		FS: quickFS{}, Boot: "boot", Host: "host", Version: "test",
	})
	if err != nil {
		tb.Fatal(err)
	}
	w.b = b
	w.story(n, id)
	if err := b.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Path()
}

func (w *writer) story(n int, id string) {
	env, service, book, actor := pick(w.rng, envs), pick(w.rng, services), pick(w.rng, books), "op-"+fmt.Sprint(w.rng.IntN(20))
	sev := triage.Severity(fmt.Sprintf("SEV-%d", 1+w.rng.IntN(4)))
	w.say(actor, triage.Open{Incident: id, Title: "the deploy of " + service + " in " + env + " is stuck", Severity: sev})
	w.say(actor, triage.Person{ID: actor, Name: "Operator " + actor, Proof: "os", Subject: actor})
	plan := triage.Plan{Runbook: book, Title: "A stuck deploy", Digest: w.hex(32), Params: map[string]triage.Value{
		"workspace": text(env), "service": text(service), "commit": text(w.hex(20)), "pull_request": text(fmt.Sprint(4000 + n)), "run_id": text(fmt.Sprint(900000 + n)),
		"cluster": text("cluster-" + env), "account": text(fmt.Sprintf("%012d", w.rng.IntN(9))), "policy": text("require-labels"), "exception": text(fmt.Sprintf("EXC-%d", n)),
	}, Steps: []triage.PlanStep{{ID: book + "/unlock", Phase: triage.Recover, Kind: triage.GateStep, Uses: "terraform/unlock", Class: triage.Release, Refs: []string{book + "/probe0"}}}}
	for i := range 12 {
		plan.Steps = append(plan.Steps, triage.PlanStep{ID: fmt.Sprintf("%s/probe%d", book, i), Phase: triage.Preserve, Kind: triage.ProbeStep, Uses: "terraform/state"})
	}
	w.say(actor, plan)
	for i := range 12 {
		step := fmt.Sprintf("%s/probe%d", book, i)
		w.say(actor, triage.ProbeStart{Step: step, N: 1, Kind: "terraform/state", With: map[string]triage.Value{"dir": text("/srv/" + service), "workspace": text(env)}})
		out := w.object(service, env)
		if i%2 == 0 {
			out = w.log(service, 40)
		}
		w.say(actor, triage.ProbeEnd{Step: step, N: 1, Outcome: "ok", Summary: "the state of " + service + " was read", Command: "tofu state pull -workspace " + env,
			Facts: map[string]triage.Value{"lock_id": text(w.uuid()), "serial": text(fmt.Sprint(w.rng.IntN(1000))), "lineage": text(w.uuid()), "uid": text(w.uuid()),
				"address": text("kubernetes_deployment." + service), "resource_version": text(fmt.Sprint(w.rng.IntN(1e6)))},
			Findings: []triage.Finding{{Level: "warning", Say: "the lock is held since " + w.now.Format(time.RFC3339)}}}, w.blob("output", out))
	}
	if n%1000 == 7 {
		w.say(actor, triage.Note{Text: "the quokka of incident " + fmt.Sprint(n) + " failed to answer request " + w.uuid()})
	}
	w.say(actor, triage.Conclude{Topic: triage.TopicMutation, Value: "yes"})
	w.say(actor, triage.Conclude{Topic: triage.TopicConsistent, Value: "no"})
	w.say(actor, triage.Conclude{Topic: triage.TopicClass, Value: pick(w.rng, failures)})
	w.act(n, book, service, actor)
	if n%10 != 3 {
		w.say(actor, triage.Close{Outcome: []string{"open", "aborted"}[n%2]})
	}
}

// act is a gate that was opened, and what it left owing.
func (w *writer) act(n int, book, service, actor string) {
	step, digest, lock := book+"/unlock", w.hex(32), w.uuid()
	w.say(actor, triage.GateShown{Step: step, Digest: digest, Class: triage.Release, Effect: "takes the lock away", Phrase: "unlock " + lock, Request: "unlock " + lock,
		Target: []triage.KV{{Key: "lock id", Value: lock}, {Key: "workspace", Value: service}}, Verdicts: []triage.Verdict{{Expr: "ok", Result: "true"}}, Until: w.now.Add(time.Hour)})
	w.say(actor, triage.GateAnswered{Step: step, Digest: digest, Typed: "unlock " + lock})
	w.say(actor, triage.ActStart{Step: step, Digest: digest, Request: "unlock " + lock})
	w.say(actor, triage.ActEnd{Step: step, Digest: digest, Outcome: "done", Response: "unlocked"})
	if n%5 == 0 {
		w.say(actor, triage.DebtOpened{ID: "unfinished", Kind: "unfinished", Of: step, Text: "the run of " + service + " did not finish"})
		w.say(actor, triage.Settle{Debt: "unfinished", How: "carried", Owner: "platform", Until: "2026-12-01"})
	}
	if n%7 == 0 {
		w.say(actor, triage.DebtOpened{ID: "resume", Kind: "resume", Of: step, Text: "resume the application " + service})
	}
}

// corpus writes n bundles and gives their store.
func corpus(tb testing.TB, n int) Store {
	tb.Helper()
	dir := tb.TempDir()
	in := filepath.Join(dir, "incidents")
	if err := os.Mkdir(in, 0o700); err != nil {
		tb.Fatal(err)
	}
	parallel(n, func(i int) { incident(tb, in, i) })
	return At(in, CacheOf(in))
}
