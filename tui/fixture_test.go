package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/session/live"
	"handrail/session/view"
	"handrail/steps"
	"handrail/triage"
	"handrail/tui/screen"
)

// bench is an incident on a table: the real loop of triage, with probes that
// answer from a list and an act that only says it was done.
type bench struct {
	old     []triage.Refusal // why a right phrase is not taken, none for it is
	items   []triage.Item    // of an act that is a batch
	mu      sync.Mutex
	state   triage.State
	now     func() time.Time
	changed chan struct{}
	cards   map[string]view.Card
	probes  map[string]triage.ProbeEnd
	gate    *view.Gate
	preview steps.Preview
	header  []steps.KV
	running []view.Running
	blobs   map[int64][]view.BlobRef
	tape    []triage.Event                   // everything that happened, in order
	sent    []triage.Intent                  // everything that was asked for, in order
	hostile string                           // woven into every outside field
	body    func() (journal.Artifact, error) // what every artifact holds; nil for a short one
	hold    bool                             // an act does not end by itself
	slow    map[string]bool                  // probes that do not end by themselves
	again   string                           // how long after an act its target is read again, "" for not at all
	unread  string                           // why what the question is about could not be read
	ungiven string                           // a parameter that the gate waits for
	leads   []view.Lead                      // runbooks that match too
	locked  bool                             // the gate stays closed whatever is answered
	second  *triage.Second                   // the second person the policy asks for, if any
	closed  bool
	review  *runbooks.Runbook // of a review, whose cards are worked out from it
}

const book = "state-lock"

func id(step string) string { return book + "/" + step }

// opened is when the fixture incident begins.
func opened() time.Time { return time.Date(2026, 11, 20, 2, 14, 0, 0, time.UTC) }

func newBench(now func() time.Time, hostile string) *bench {
	b := &bench{now: now, changed: make(chan struct{}, 1), hostile: hostile, blobs: map[int64][]view.BlobRef{}}
	h := hostile
	b.header = []steps.KV{{Key: "cluster", Value: "kind-prod-eu" + h}, {Key: "workspace", Value: "default" + h}, {Key: "dir", Value: "infra/network" + h}}
	b.script(h)
	b.record(triage.Open{Incident: "20261120-021400-state-lock-k7qd", Title: "Plan or apply cannot get the state lock" + h, Severity: triage.Sev3})
	b.record(triage.Person{ID: "ana", Name: "Ana" + h, Proof: "kube", Subject: "ana@example.org" + h, Roles: []string{"commander"}})
	b.record(triage.Plan{Runbook: book, Title: "Plan or apply cannot get the state lock" + h, Digest: strings.Repeat("ab", 32), Matrix: 8, Departs: h,
		Proves: []triage.Proves{{Code: "PC2", Steps: []string{id("clean")}}}, Steps: plan(h)})
	return b
}

func plan(h string) []triage.PlanStep {
	step := func(name string, ph triage.Phase, k triage.StepKind, uses, title string) triage.PlanStep {
		return triage.PlanStep{ID: id(name), Phase: ph, Kind: k, Uses: uses, Title: title + h}
	}
	lock := step("lock", triage.Preserve, triage.ProbeStep, "terraform/lock", "The lock as it is now")
	state := step("state", triage.Preserve, triage.ProbeStep, "terraform/state", "The recorded state")
	process := step("process", triage.Preserve, triage.ProbeStep, "terraform/holder", "The holder on its own machine")
	lock.Required, state.Required, process.Required = true, true, true
	lock.Covers, state.Covers, process.Covers = []string{"E9", "E10"}, []string{"E8"}, []string{"E7"}
	holder := step("holder", triage.Authority, triage.AskStep, "", "Is the process that holds this lock still running?")
	holder.Answers = []string{"alive", "dead"}
	gate := step("unlock", triage.Recover, triage.GateStep, "terraform/force-unlock", "Release the lock")
	gate.Class, gate.Refs = triage.Release, []string{id("lock"), id("holder")}
	watch := step("clean", triage.Verify, triage.WatchStep, "terraform/lock", "The lock stays free")
	watch.Required, watch.Greens, watch.Apart = true, 2, "20s"
	return []triage.PlanStep{
		lock, state, process,
		step("whose", triage.Locate, triage.ConcludeStep, "domain", "Where it failed"),
		step("log", triage.Mutation, triage.ProbeStep, "terraform/log", "The log of the run that holds the lock"),
		step("changed", triage.Mutation, triage.ConcludeStep, "mutation", "Did the run change anything?"),
		step("serials", triage.Compare, triage.CompareStep, "compare", "Recorded beside actual"),
		step("class", triage.Classify, triage.ConcludeStep, "class", "What kind of failure is it?"),
		holder, gate, watch,
	}
}

func (b *bench) script(h string) {
	age := "2820s"
	v := func(t steps.Type, s string) triage.Value {
		v, err := steps.ParseValue(t, s)
		if err != nil {
			panic(err)
		}
		return v
	}
	unknown := func(t steps.Type, why string) triage.Value { return steps.Unknown(t, why+h) }
	yes := v("bool", "true")
	b.probes = map[string]triage.ProbeEnd{
		id("lock"): {Outcome: "ok", Summary: "held by runner@ci-7f9c for 47m (OperationTypeApply)" + h,
			Command: "kubectl get lease -n infra lock-tfstate-default-network -o yaml" + h,
			Facts: map[string]triage.Value{"held": yes, "who": v("string", "runner@ci-7f9c"+h), "operation": v("string", "OperationTypeApply"),
				"id": v("ident", "5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21"), "age": v("duration", age), "created": v("time", "2026-11-20T01:27:00Z")},
			Findings: []triage.Finding{{Level: "info", Say: "The lock is 47m old. Its age permits a release; it does not justify one." + h}}},
		id("state"): {Outcome: "ok", Summary: "serial 42, 31 resources, written 48m ago" + h, Command: "kubectl get secret -n infra tfstate-default-network" + h,
			Facts: map[string]triage.Value{"exists": yes, "serial": v("int", "42"), "lineage": v("ident", "0b6f1d2e"), "resources": v("int", "31")},
			Findings: []triage.Finding{{Level: "critical", Say: "The state was written after this lock was taken. Its holder wrote, and may have been cut off in the middle." + h},
				{Level: "warning", Say: "Two addresses in the state have no provider id yet." + h}}},
		id("process"): {Outcome: "ok", Summary: "the holder was not started on this machine" + h,
			Facts: map[string]triage.Value{"here": v("bool", "false"), "alive": unknown("enum", "started on ci-7f9c, which cannot be seen from here")},
			Gaps:  []string{"The process table of ci-7f9c: no access from this machine." + h}},
		id("log"): {Outcome: "ok", Summary: "2 of 6 creations completed, then the log ends" + h,
			Facts:    map[string]triage.Value{"completed": v("int", "2"), "started": v("int", "3"), "finished": v("bool", "false")},
			Findings: []triage.Finding{{Level: "critical", Say: "The run completed 2 operations and never reached its end. Something is changed." + h}}},
		id("serials"): {Outcome: "ok", Summary: "7 fields, 1 agree, 5 differ, 1 cannot be told" + h,
			Gaps: []string{"subnet_b, actual: denied" + h}, Rows: sides(h)},
		id("clean"): {Outcome: "ok", Summary: "no lock" + h, Green: new(yes), Facts: map[string]triage.Value{"held": v("bool", "false")}},
	}
	b.cards = b.texts(h)
	b.preview = steps.Preview{
		Target: []steps.KV{{Key: "lock", Value: "5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21"}, {Key: "held by", Value: "runner@ci-7f9c" + h}, {Key: "operation", Value: "OperationTypeApply" + h},
			{Key: "object", Value: "Lease infra/lock-tfstate-default-network" + h}, {Key: "cluster", Value: "https://10.0.0.1:6443  kube-system 3f1c…e07b" + h}, {Key: "workspace", Value: "default" + h}},
		Shown:   []steps.KV{{Key: "age", Value: "47m" + h}, {Key: "state", Value: "serial 42, 31 resources" + h}},
		Effect:  "break the lock of runner@ci-7f9c. If that run is alive, two writers can then damage the state." + h,
		Request: "tofu force-unlock -force 5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21" + h,
		Command: "tofu -chdir=infra/network force-unlock -force 5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21" + h,
		Phrase:  "force-unlock 5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21",
		Undo:    "none: a broken lock cannot be given back" + h,
		Owes:    []steps.Debt{{Kind: "unfinished", Text: "The apply was cut off: four creations are still to be made." + h}},
	}
}

// sides is a comparison that went apart in every direction.
func sides(h string) []triage.Compared {
	v := func(s string) triage.Value { return steps.StringOf(s + h) }
	row := func(field string, sides ...triage.Side) triage.Compared {
		return triage.Compared{Field: field + h, Sides: sides}
	}
	desired := func(s string) triage.Side {
		return triage.Side{Source: triage.Desired, Expr: "facts.git.value" + h, Value: v(s), From: []int64{9}}
	}
	recorded := func(s string) triage.Side {
		return triage.Side{Source: triage.Recorded, Expr: "facts.state.value" + h, Value: v(s), From: []int64{7}}
	}
	actual := func(s string) triage.Side {
		return triage.Side{Source: triage.Actual, Expr: "facts.lock.value" + h, Value: v(s), From: []int64{5, 7}}
	}
	lost := triage.Side{Source: triage.Actual, Expr: "facts.live.subnet_b", From: []int64{9},
		Value: steps.Unknown(steps.String, "facts.live.subnet_b is unknown: denied, the account may not describe subnets"+h)}
	return []triage.Compared{
		row("network", desired("vpc-01"), recorded("vpc-01"), actual("vpc-01")),
		row("replicas", desired("3"), recorded("3"), actual("5")),
		row("image", desired("shop:v1.9.2"), recorded("shop:v1.9.1"), actual("shop:v1.9.1")),
		row("subnet_a", desired("subnet-7"), recorded("absent"), actual("subnet-7")),
		row("route", desired("nat-1"), recorded("igw-2"), actual("nat-9")),
		row("subnet_b", desired("subnet-8"), recorded("absent"), lost),
		row("zone", desired("eu-1a"), actual("eu-1b")),
	}
}

// strip is the preview of a gate that removes a finalizer: with what the server
// says would change, two objects that look like the target, and owners.
func strip(h string) steps.Preview {
	return steps.Preview{
		Target: []steps.KV{{Key: "server", Value: "https://10.0.0.1:6443" + h}, {Key: "cluster UID", Value: "3f1c2b60-90aa-4a3e-8a51-5d0c1f6ee07b"},
			{Key: "object", Value: "job/payments/migrate-42" + h}, {Key: "resource", Value: "/apis/batch/v1/namespaces/payments/jobs/migrate-42" + h},
			{Key: "UID", Value: "b7a4de11-0c55-4c1f-9d0e-2f1c6a9b8e33"}, {Key: "finalizers", Value: "hooks.example.com/cleanup" + h},
			{Key: "deletionTimestamp", Value: "2026-11-20T01:27:00Z"}, {Key: "to remove", Value: "hooks.example.com/cleanup" + h}},
		Shown: []steps.KV{{Key: "resourceVersion", Value: "48211"}, {Key: "age", Value: "3h12m" + h}, {Key: "context", Value: "prod-eu" + h}, {Key: "user", Value: "ana@example.org" + h},
			{Key: "keeper", Value: "deployment/hooks/hook-controller does not exist" + h},
			{Key: "look-alike", Value: "migrate-42-retry: UID 0e19c7f2-77b1-4f0c-8f0f-64d2a3b5c9d4, hook-delete-policy HookSucceeded, label example.com/owner=payments" + h},
			{Key: "look-alike", Value: "migrate-41: UID 5c0d44aa-1be2-4c07-a3f6-90c1d2e3f4a5, not being deleted, no finalizer" + h}},
		Diff: []string{"- metadata.finalizers[0]: hooks.example.com/cleanup" + h, "- job/payments/migrate-42: it is being deleted and nothing else holds it" + h},
		Effect: "remove the finalizer hooks.example.com/cleanup from job/payments/migrate-42, which then is gone. Its clean-up never runs: " +
			"what the hook made outside the cluster stays." + h,
		Request: "PATCH /apis/batch/v1/namespaces/payments/jobs/migrate-42\n" + `[{"op":"test","path":"/metadata/uid","value":"b7a4de11-0c55-4c1f-9d0e-2f1c6a9b8e33"},{"op":"remove","path":"/metadata/finalizers/0"}]` + h,
		Command: "kubectl --context prod-eu -n payments patch jobs.batch migrate-42 --type=json -p '[...]'" + h,
		Phrase:  "patch job/payments/migrate-42",
		Undo:    "none: the object is gone; its manifest is in the evidence" + h,
		Owners:  []steps.Owner{{Name: "Application argocd/payments" + h, Paused: "yes"}, {Name: "Kustomization flux-system/payments" + h, Paused: "yes"}},
		Owes:    []steps.Debt{{Kind: "unfinished", Text: "the clean-up of hooks.example.com/cleanup never ran for job/payments/migrate-42" + h}},
	}
}

func (b *bench) texts(h string) map[string]view.Card {
	return map[string]view.Card{
		id("lock"): {Title: "The lock as it is now" + h, Say: "Reads the lock from the backend that keeps it. Takes no lock, breaks none." + h,
			Doc: "Reads the lock of a state natively." + h, Touches: []string{"GET Lease lock-tfstate-*" + h}, With: []steps.KV{{Key: "dir", Value: "infra/network" + h}}},
		id("state"):   {Title: "The recorded state" + h, Say: "Serial, lineage and time of the newest state, read from the backend itself." + h, Doc: "Reads the state natively." + h},
		id("process"): {Title: "The holder on its own machine" + h, Say: "Looks for the run on this machine, if the lock says that it started here." + h},
		id("whose"): {Title: "Where it failed" + h, Proposed: "state-backend", Why: "The state lock refused the run." + h, Grounds: []string{"lock.held is yes" + h},
			Values: []view.Choice{{Value: "state-backend", Help: "access, consistency, versions, lock" + h}, {Value: "runner", Help: "image, disk, credentials" + h}}},
		id("changed"): {Title: "Did the run change anything?" + h, Say: "About the run that holds the lock, not about your own." + h, Proposed: "yes", Why: "Its log shows two completed creations." + h, Grounds: []string{"log.completed is 2" + h},
			Values: []view.Choice{{Value: "yes", Help: "at least one write was seen" + h}, {Value: "no", Help: "it ended before its first write" + h}, {Value: "unknown", Help: "not known" + h}}},
		id("class"): {Title: "What kind of failure is it?" + h, Proposed: "MutationPartiallySucceeded", Why: "Some creations completed, then the run ended." + h,
			Values: []view.Choice{{Value: "MutationPartiallySucceeded", Help: "some of the change landed, then it failed" + h}}},
		id("holder"): {Title: "Is the process that holds this lock still running?" + h, Say: "Look on its own machine, in a new session. From here, a slow run looks just like a dead one." + h,
			Ask: "Is the process that holds this lock still running?" + h, Evidence: "how it was confirmed, in one sentence" + h,
			Show:    []steps.KV{{Key: "who", Value: "runner@ci-7f9c" + h}, {Key: "operation", Value: "OperationTypeApply" + h}, {Key: "age", Value: "47m" + h}},
			Answers: []view.Choice{{Value: "alive", Help: "It runs: the lock is right, wait or stop it through its pipeline." + h}, {Value: "dead", Help: "It was seen to be gone." + h}}},
		id("unlock"): {Title: "Release the lock" + h, Say: "Only when its holder is proven gone." + h},
		id("clean"):  {Title: "The lock stays free" + h, Say: "Two greens with no new holder in between." + h},
	}
}

func (b *bench) record(body triage.Body) {
	e := triage.Event{Seq: b.state.Seq + 1, At: b.now(), Actor: "ana@example.org" + b.hostile, Body: body}
	next, err := triage.Fold(b.state, e)
	if err != nil {
		panic(fmt.Sprintf("the fixture breaks the loop: %v", err))
	}
	b.state, b.tape = next, append(b.tape, e)
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

func (b *bench) judge(step string) []triage.Verdict {
	if b.unread != "" && step == id("holder") {
		return []triage.Verdict{{Expr: "facts.lock.who", Result: triage.Unknown, Unread: true, Missing: []string{"facts.lock.who"}, Why: "what it asks about was not read: " + b.unread + b.hostile}}
	}
	if step != id("unlock") {
		return nil
	}
	holder, _ := b.state.Step(id("holder"))
	v := triage.Verdict{Expr: "answers.holder == 'dead'", Result: "true", Refs: []string{id("holder")}}
	if holder.Answer != "dead" {
		v.Result, v.Why = "false", "It is not confirmed that the holder is dead."+b.hostile
	}
	if b.locked {
		v.Result, v.Why = "false", "The lock is one of another runbook."+b.hostile
	}
	out := []triage.Verdict{v}
	if b.ungiven != "" && !b.state.Params(book)[b.ungiven].Known() {
		out = append(out, triage.Verdict{Expr: "params." + b.ungiven + " != ''", Result: "false", Why: "It was not given.", Params: []string{b.ungiven}})
	}
	return out
}

// Do answers an intent as a session would.
func (b *bench) Do(_ context.Context, in triage.Intent) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, in)
	if in.Kind == triage.DoConclude {
		in.Proposed = b.cards[in.Step].Proposed
	}
	if b.review != nil && in.Kind == triage.DoAnswer {
		in.Proposed = b.scene().ProposeAnswer(in.Step)
	}
	if in.Kind == triage.DoApprove {
		return b.approve(in)
	}
	if in.Kind == triage.DoSeverity && in.Severity > b.state.Severity && b.second != nil {
		b.record(triage.SeverityAsk{GateShown: triage.GateShown{Step: triage.SeverityGate, Digest: "6b0c1d2e3f40", Target: b.state.LoweringTo(in.Severity, in.Text),
			Until: b.now().Add(30 * time.Minute), Second: b.second}})
		return nil
	}
	if bad := triage.Check(b.state, in, b.now(), b.judge); bad != nil {
		return bad
	}
	switch in.Kind {
	case triage.DoProbe:
		st, _ := b.state.Step(in.Step)
		b.record(triage.ProbeStart{Step: in.Step, N: st.Attempts + 1, Kind: st.Uses})
		b.running = append(b.running, view.Running{Step: in.Step, Kind: st.Uses, Started: b.now(), Until: b.now().Add(time.Minute), Log: &live.Log{}})
		if !b.slow[in.Step] {
			b.endProbe(in.Step, b.probes[in.Step])
		}
		return nil
	case triage.DoCancel:
		b.endProbe(in.Step, triage.ProbeEnd{Outcome: "cancelled", Summary: "stopped by hand" + b.hostile, Gaps: []string{"could not check: stopped by hand" + b.hostile}})
		return nil
	case triage.DoPreview:
		b.show(in.Step)
		return nil
	case triage.DoConfirm:
		return b.confirm(in)
	case triage.DoInterrupt:
		return nil
	}
	body, ok := triage.Draft(b.state, in)
	if !ok {
		return errors.New("the bench cannot do this")
	}
	b.record(body)
	if in.Kind == triage.DoDisarm {
		b.gate = nil
	}
	for b.review != nil {
		d, owes := b.state.Owing()
		if !owes {
			break
		}
		d.ID = d.Kind
		b.record(d)
	}
	return nil
}

// print is a line that a slow probe prints.
func (b *bench) print(step string, lines ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.running {
		if r := &b.running[i]; r.Step == step {
			for _, l := range lines {
				r.Log.Print(l)
			}
			r.Lines = append(r.Lines[:len(r.Lines):len(r.Lines)], lines...)
		}
	}
}

func (b *bench) endProbe(step string, end triage.ProbeEnd) {
	st, _ := b.state.Step(step)
	end.Step, end.N = step, st.Attempts
	i := slices.IndexFunc(b.running, func(r view.Running) bool { return r.Step == step })
	b.running[i].Log.End()
	b.running = slices.Delete(slices.Clone(b.running), i, i+1)
	b.record(end)
	b.blobs[b.state.Seq] = []view.BlobRef{{Role: "raw" + b.hostile, SHA: strings.Repeat("c0ffee", 11)[:64], Size: b.size(), Media: "application/json" + b.hostile}}
}

func (b *bench) show(step string) {
	pv := b.preview
	digest := pv.Digest(b.state.Incident, step)
	until := b.now().Add(5 * time.Minute)
	if b.second != nil {
		until = b.now().Add(30 * time.Minute)
	}
	var target []triage.KV
	for _, kv := range pv.Target {
		target = append(target, triage.KV(kv))
	}
	b.record(triage.GateShown{Step: step, Digest: string(digest), Class: triage.Release, Effect: pv.Effect, Target: target, Request: pv.Request,
		Command: pv.Command, Phrase: pv.Phrase, Undo: pv.Undo, Owners: pv.Owners, Verdicts: b.judge(step), Until: until, Second: b.second, Again: b.again})
	b.gate = &view.Gate{Step: step, Title: "Release the lock" + b.hostile, Class: triage.Release, Preview: pv, Digest: digest, Verdicts: b.judge(step), Until: until,
		Evidence: []view.Cited{{Step: id("lock"), Text: "held by runner@ci-7f9c" + b.hostile, At: opened(), Seq: 5}, {Step: id("holder"), Text: "dead: no process on the runner" + b.hostile, At: opened().Add(3 * time.Minute), Seq: 9}}}
}

// readAgain tells what stood of the act.
func (b *bench) readAgain(outcome, says string) {
	g := b.state.Gates[id("unlock")]
	b.record(triage.ActAgain{Step: g.Step, Digest: g.Digest, Outcome: outcome, Response: says + b.hostile,
		After: []triage.KV{{Key: "lock", Value: "7c2f1e08-9d3b-4c51-8b1f-0a6e5d4c3b2a" + b.hostile}, {Key: "serial", Value: "42" + b.hostile}}})
}

// twoPersons is what a policy of the fixture asks.
func twoPersons(h string) *triage.Second {
	return &triage.Second{Why: "the policy asks two persons for gates of class release, in production" + h, Asks: []string{"ana"}, Own: []string{"SHA256:ana"},
		May: []string{"grace@example.org" + h, "bo@example.org" + h}}
}

// goodApproval is the answer that the bench takes.
const goodApproval = "handrail-approval-v1 6b0c1d2e3f40 2026-11-20T02:18:00Z U1NIU0lHAAAAAQ"

func (b *bench) approve(in triage.Intent) error {
	if strings.TrimSpace(in.Sig) != goodApproval {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{Why: "the key SHA256:eve" + b.hostile + " does not belong to an approver",
			Cure: "One of these may: grace@example.org" + b.hostile}}}
	}
	if in.Step == triage.SeverityGate {
		b.record(triage.Approve{Digest: b.state.Lowering.Digest, Person: "grace@example.org" + b.hostile, Sig: "sig", Key: "SHA256:Kxj0GNQ7FlHBAZ0n6kBbj", Signed: b.now()})
		set, _ := b.state.Lowered(b.now())
		b.record(set)
		return nil
	}
	b.record(triage.Approve{Digest: string(b.gate.Digest), Person: "grace@example.org" + b.hostile, Sig: "sig", Key: "SHA256:Kxj0GNQ7FlHBAZ0n6kBbj", Signed: b.now()})
	return nil
}

func (b *bench) confirm(in triage.Intent) error {
	if in.Typed != b.preview.Phrase {
		b.gate.Wrong++
		b.gate.WrongAt = 1
		for i := range min(len(in.Typed), len(b.preview.Phrase)) {
			if in.Typed[i] != b.preview.Phrase[i] {
				break
			}
			b.gate.WrongAt = i + 2
		}
		if b.gate.Wrong == 3 {
			b.record(triage.GateClosed{Step: in.Step, Digest: string(b.gate.Digest), Why: "three wrong phrases"})
			b.gate = nil
		}
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: []triage.Refusal{{Why: "the phrase differs"}}}
	}
	if len(b.old) > 0 {
		return &triage.Refused{Intent: in.Kind, Step: in.Step, Refusals: b.old}
	}
	d := string(b.gate.Digest)
	b.record(triage.GateAnswered{Step: in.Step, Digest: d, Typed: in.Typed, Pasted: in.Pasted})
	b.record(triage.ActStart{Step: in.Step, Digest: d, Request: b.preview.Request})
	b.running = []view.Running{{Step: in.Step, Kind: "terraform/force-unlock", Started: b.now(), Act: true, Log: &live.Log{}, Lines: []string{"tofu force-unlock" + b.hostile}}}
	b.running[0].Log.Print("tofu force-unlock" + b.hostile)
	if !b.hold {
		b.endAct()
	}
	return nil
}

func (b *bench) endAct() {
	step := b.state.Acting
	b.running = nil
	outcome := "done"
	if len(b.items) > 0 {
		outcome = "failed"
	}
	b.record(triage.ActEnd{Step: step, Digest: string(b.gate.Digest), Outcome: outcome, Response: "OpenTofu state has been successfully unlocked!" + b.hostile, Items: b.items})
	b.gate.Outcome, b.gate.Response = "done", "OpenTofu state has been successfully unlocked!"+b.hostile
	b.gate.After = []steps.KV{{Key: "lock", Value: "absent" + b.hostile}, {Key: "serial", Value: "42" + b.hostile}}
	b.record(triage.DebtOpened{ID: "unfinished", Kind: "unfinished", Of: step, Text: "The apply was cut off: four creations are still to be made." + b.hostile})
}

func (b *bench) Snapshot() view.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := view.Snapshot{State: b.state, Options: triage.Options(b.state, b.now(), b.judge), Made: b.now(), Running: slices.Clone(b.running),
		Cards: b.cards, Next: b.leads, Header: b.header, Blobs: b.blobs, Bundle: "~/.local/state/handrail/incidents/20261120-021400-state-lock-k7qd.hrb" + b.hostile}
	if b.review != nil {
		texts := b.scene().Snapshot(b.scene().Texts())
		s.Cards, s.Options = texts.Cards, texts.Options
	}
	if b.gate != nil {
		g := *b.gate
		g.Phase = b.state.Gates[g.Step].Phase
		if b.second != nil {
			g.Second = &view.Second{Why: b.second.Why, May: b.second.May, Lacks: b.state.SecondLacks(g.Step, b.now()), By: b.state.Gates[g.Step].Approvals, Request: "REQUEST\n"}
		}
		s.Gate = &g
	}
	if b.state.Lowering.Phase == triage.GateArmed {
		second := b.state.Lowering.Shown.Second
		s.Lowers = &view.Second{Why: second.Why, May: second.May, Lacks: b.state.SecondLacks(triage.SeverityGate, b.now()), Request: "REQUEST\n"}
	}
	return s
}

func (b *bench) Changed() <-chan struct{} { return b.changed }

// stored is an artifact in memory.
type stored struct{ *bytes.Reader }

func (stored) Close() error { return nil }

func (b *bench) OpenArtifact(string) (journal.Artifact, error) {
	if b.body != nil {
		return b.body()
	}
	return stored{bytes.NewReader([]byte("{\n  \"kind\": \"Lease\",\n  \"spec\": {\n    \"holderIdentity\": \"5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21\"\n  }\n}" + b.hostile))}, nil
}

func (b *bench) size() int64 {
	if b.body == nil {
		return 812
	}
	a, err := b.body()
	if err != nil {
		return 0
	}
	return a.Size()
}

// holds gives every artifact this text.
func (b *bench) holds(s string) {
	b.body = func() (journal.Artifact, error) { return stored{bytes.NewReader([]byte(s))}, nil }
}

// applyLog is the log of an apply that goes on for long.
func applyLog() string {
	var b strings.Builder
	for i := range 12_000 {
		switch at := opened().Add(time.Duration(i) * 150 * time.Millisecond).Format("15:04:05.000"); {
		case i == 11:
			fmt.Fprintf(&b, "%s [ERROR] provider.example: request failed: {\"status\":409,\"code\":\"Conflict\",\"object\":\"subnet-7\",\"detail\":\"the address range 10.4.0.0/20 is taken by subnet-3 of vpc-01, which another run holds; retry after its lock is gone\",\"request\":\"5e1c9a70-2f4b-4d0c-9a3e-6b1d8f0c7e21\"}\n", at)
		case i%9 == 4:
			fmt.Fprintf(&b, "%s [WARN]  backend/kube: lease infra/lock-tfstate-default-network not renewed, try %d\n", at, i/9)
		case i%1000 == 42:
			fmt.Fprintf(&b, "%s [ERROR] subnet.支付[%d]: creation failed\tüber die Grenze\n", at, i)
		default:
			fmt.Fprintf(&b, "%s [DEBUG] graph: vertex \"example_subnet.a[%d]\" visited\n", at, i)
		}
	}
	return b.String()
}

func (b *bench) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// homeFixture is a command centre with something in every section.
func homeFixture(h string) screen.Home {
	return screen.Home{
		Incidents: []screen.IncidentRow{{ID: "20261120-021400-state-lock-k7qd" + h, Title: "Plan or apply cannot get the state lock" + h, Runbook: book, Severity: "SEV-3" + h, Phase: "mutation" + h, Opened: opened(), Where: "/srv/infra/network, workspace default" + h, Who: "ana@example.org" + h},
			{ID: "20261119-160000-stuck-finalizer-d7pa" + h, Title: "An object hangs in deletion" + h, Runbook: "stuck-finalizer", Severity: "SEV-3", Phase: "preserve", Opened: opened(), Who: "ana@example.org", Drill: "stuck-finalizer" + h}},
		Debts: []screen.DebtRow{{Incident: "20261102-hotfix" + h, Text: "replicas of checkout set by hand, Git says 3" + h, Owner: "platform" + h, Until: "2026-11-18", Overdue: true}},
		Drills: []screen.DrillRow{{ID: "killed-runner" + h, Title: "Killed runner" + h, Page: "The deploy job vanished; every plan now ends in 'Error acquiring the state lock'." + h, Runbook: book, Variants: []string{"live-holder" + h}},
			{ID: "stuck-finalizer" + h, Page: "A namespace hangs in Terminating since the controller was removed." + h, Runbook: "stuck-finalizer"}},
		Runbooks: []screen.RunbookRow{{ID: "state-lock" + h, Title: "Plan or apply cannot get the state lock" + h, Severity: "SEV-3", Domain: "state-backend"},
			{ID: "partial-apply" + h, Title: "Apply failed after part of it was done" + h, Severity: "SEV-2"}, {ID: "stuck-finalizer" + h, Title: "An object hangs in deletion" + h, Severity: "SEV-3"}},
		Cluster: "kind-prod-eu" + h,
	}
}

// centreFixture answers the questions: with rows, with nothing, with what could
// not be seen, and with more rows than are shown.
func centreFixture(h string) []steps.Answer {
	row := func(level steps.Level, where, what, owner string, old time.Duration) steps.Standing {
		return steps.Standing{Level: level, Where: where + h, What: what + h, Owner: owner + h, Since: opened().Add(-old), Detail: "what it says of itself" + h,
			Command: "kubectl --context prod-eu get " + where + h}
	}
	lock := row(steps.Warning, "infra/lock-tfstate-default-network", "locked for OperationTypeApply", "runner@ci-7f9c", 47*time.Minute)
	lock.Runbook, lock.Params = "state-lock"+h, map[string]string{"dir": ".", "workspace": "default" + h}
	var changed []steps.Standing
	for _, name := range []string{"checkout", "cart", "search", "mail", "ledger"} {
		changed = append(changed, row(steps.Warning, "deployment/shop/"+name, "kubectl-edit wrote it after kustomize-controller", "kustomization flux-system/shop", 3*time.Hour))
	}
	done := row(steps.Info, "incident 20261119-hotfix entry 31", "removed the finalizer of job/payments/migrate-41", "ana@example.org", 26*time.Hour)
	done.Incident = "20261119-hotfix" + h
	seen := []string{"deployments.apps" + h}
	forbidden := []steps.Gap{{What: "rolebindings", Kind: steps.Forbidden, Say: "permission denied: /apis/rbac.authorization.k8s.io/v1/rolebindings on https://10.0.0.1:6443; ask for that right" + h}}
	return []steps.Answer{
		{Question: steps.StuckDeployments, Rows: []steps.Standing{row(steps.Critical, "deployment/shop/checkout", "too few Pods, 0 of 3 available", "argocd application argocd/shop", 12*time.Minute)}},
		{Question: steps.LockedRuns, Rows: []steps.Standing{lock}},
		{Question: steps.PartialApplies, Seen: seen},
		{Question: steps.DegradedApps, Gaps: []steps.Gap{{What: "applications.argoproj.io", Kind: steps.Absent, Say: "this cluster serves no applications.argoproj.io" + h}}},
		{Question: steps.DenyingPolicies, Seen: seen},
		{Question: steps.FailedSecrets, Gaps: []steps.Gap{{What: "externalsecrets", Kind: steps.TimedOut, Say: "https://10.0.0.1:6443 did not answer in time" + h}}},
		{Question: steps.OpenDrift, Seen: seen},
		{Question: steps.BreakGlass, Seen: seen, Gaps: forbidden},
		{Question: steps.ManualChanges, Rows: changed, Seen: seen},
		{Question: steps.RepairedState, Rows: []steps.Standing{done}, Seen: seen},
	}
}

func hitsFixture(h string) []screen.Hit {
	return []screen.Hit{{Runbook: "state-lock" + h, Title: "Plan or apply cannot get the state lock" + h, Line: "│ Error: Error acquiring the state lock" + h, Pattern: "Error acquiring", Score: 12},
		{Runbook: "partial-apply" + h, Title: "Apply failed after part of it was done" + h, Line: "Creation complete after 2s" + h, Score: 3}}
}

func symptomsFixture(h string) []screen.Symptom {
	return []screen.Symptom{{Text: "Every plan or apply fails because the state is locked" + h}, {Text: "A run or its runner died, and every run since is refused" + h},
		{Text: "A lock is held, and its owner and purpose are unknown" + h}, {Text: "An apply was cut off, and it is unknown how far it got" + h},
		{Text: "An object or a namespace hangs in Terminating" + h}, {Text: "A delete was requested and never ends" + h}}
}

// fittingFixture ranks by how many were picked: the first four are of one runbook.
func fittingFixture(picked []string, h string) []screen.Hit {
	var out []screen.Hit
	for _, b := range hitsFixture(h) {
		b.Score, b.Line = len(picked), strings.Join(picked, "; ")
		if len(picked) > 0 {
			out = append(out, b)
		}
	}
	return out
}

func statusFixture(st triage.State) string { return "update for " + st.Incident + "\nsecond line\n" }

func configFixture(now func() time.Time, h string) screen.Config {
	return screen.Config{
		Now: now, Version: "0.1.0",
		Home: func(context.Context) (screen.Home, error) { return homeFixture(h), nil },
		Start: func(context.Context, screen.Start) (screen.Incident, error) {
			return newBench(now, h), nil
		},
		Resume: func(context.Context, string, string) (screen.Incident, error) { return newBench(now, h), nil },
		Drill: func(_ context.Context, _, _ string, progress func(string)) (screen.Incident, error) {
			progress("lab: etcd is ready" + h)
			progress("lab: kube-apiserver is ready" + h)
			return newBench(now, h), nil
		},
		Status:      statusFixture,
		SealOptions: func(context.Context) (screen.SealOptions, error) { return sealingFixture(h), nil },
		Seal: func(_ context.Context, o screen.SealOrder, _ func(string)) (screen.SealResult, error) {
			return sealedFixture(o, h), nil
		},
		Centre: func(_ context.Context, tell func(steps.Answer)) {
			for _, a := range centreFixture(h) {
				tell(a)
			}
		},
		Match: func(t string) []screen.Hit {
			if strings.Contains(t, "lock") {
				return hitsFixture(h)
			}
			return nil
		},
		Symptoms:   func() []screen.Symptom { return symptomsFixture(h) },
		BySymptoms: func(picked []string) []screen.Hit { return fittingFixture(picked, h) },
		Alike: func(t string) []screen.Alike {
			if !strings.Contains(t, "lock") {
				return nil
			}
			return []screen.Alike{{ID: "20261102-091100-state-lock-q2wz" + h, Title: "Plan or apply cannot get the state lock" + h, Runbook: book + h, Outcome: "recovered" + h, Opened: opened().Add(-18 * 24 * time.Hour), Line: "Error acquiring the state lock" + h}}
		},
		Params: func(rb string) []steps.Field {
			if strings.HasPrefix(rb, "partial-apply") {
				return []steps.Field{{Name: "dir", Type: steps.Path, Required: true, Doc: "root module" + h}, {Name: "max_apply", Type: steps.Duration, Default: "30m", Doc: "longest plausible apply" + h}}
			}
			return nil
		},
	}
}
