package report

import (
	"testing"
	"time"

	"handrail/triage"
	"handrail/triage/record"
)

var t0 = time.Date(2026, 11, 21, 2, 14, 0, 0, time.UTC)

// story is an incident with everything that a report can show. Every text that comes from outside goes through say, so
// that a test can plant what it likes in each of them.
func story(say func(string) string) []triage.Body {
	str := func(s string) triage.Value { return record.StringOf(say(s)) }
	list := record.StringsOf([]string{say("aws_vpc.main"), say("aws_subnet.a")})
	table := record.TableOf(map[string]string{say("zone"): say("a")})
	steps := []triage.PlanStep{
		{ID: "demo/lock", Phase: triage.Preserve, Kind: triage.ProbeStep, Uses: "terraform/lock", Title: say("The lock as it is"), Required: true, Covers: []string{"E7", "E9"}},
		{ID: "demo/quiet", Phase: triage.Preserve, Kind: triage.ProbeStep, Title: say("Events of the namespace"), Covers: []string{"E12"}},
		{ID: "demo/ci", Phase: triage.Preserve, Kind: triage.ManualStep, Required: true, Title: say("The run in CI"), Covers: []string{"E1", "E3"}},
		{ID: "demo/holder", Phase: triage.Mutation, Kind: triage.AskStep, Title: say("Is the holder alive?")},
		{ID: "demo/plan", Phase: triage.Compare, Kind: triage.ProbeStep, Title: say("What is left"), Covers: []string{"E4"}},
		{ID: "demo/extra", Phase: triage.Compare, Kind: triage.ProbeStep, Title: say("Something else"), Covers: []string{"E5"}},
		{ID: "demo/sides", Phase: triage.Compare, Kind: triage.CompareStep, Title: say("Wanted beside there")},
		{ID: "demo/notice", Phase: triage.Authority, Kind: triage.ManualStep, Title: say("Tell the team")},
		{ID: "demo/unlock", Phase: triage.Recover, Kind: triage.GateStep, Uses: "kube/delete", Class: triage.Release, Title: say("Release the lock"), Refs: []string{"demo/lock", "demo/holder"}},
		{ID: "demo/clean", Phase: triage.Verify, Kind: triage.WatchStep, Title: say("The lock stays free"), Greens: 1, Apart: "1s"},
		{ID: "demo/later", Phase: triage.Learn, Kind: triage.NoteStep, Title: say("Show every lock")},
	}
	due := t0.Add(4 * time.Hour)
	kv := func(k, v string) triage.KV { return triage.KV{Key: say(k), Value: say(v)} }
	phrase := say("unlock l-1")
	green := record.BoolOf(true)
	return []triage.Body{
		triage.Open{Incident: "20261121-021400-demo-aaaa", Title: say("Plan cannot get the lock"), Severity: triage.Sev3, Drill: say("killed-runner")},
		triage.Person{ID: say("ada"), Name: say("Ada"), Proof: "kube", Subject: say("ada@example.org"), Roles: []string{say("commander")}},
		triage.Plan{Runbook: "demo", Title: say("The lock"), Digest: "d1", Params: map[string]triage.Value{"dir": str("/work")}, From: "", Steps: steps},
		triage.PhaseSet{To: triage.Preserve},
		triage.ProbeStart{Step: "demo/lock", N: 1, Kind: "terraform/lock"},
		triage.ProbeEnd{Step: "demo/lock", N: 1, Outcome: "ok", Summary: say("Locked by ci for 47m"), Command: say("kubectl get lease") + "\n" + say("second line"), Facts: map[string]triage.Value{
			"who": str("ci@runner"), "paths": list, "zones": table, "age": record.DurationOf(47 * time.Minute), "info": record.Unknown(record.String, say("not in the lease")),
		}, Findings: []triage.Finding{{Level: "warning", Say: say("The lock is old")}, {Level: "critical", Say: say("Something was changed")}}, Gaps: []string{say("the run's log is gone")}},
		triage.ProbeStart{Step: "demo/quiet", N: 1},
		triage.ProbeEnd{Step: "demo/quiet", N: 1, Outcome: "ok", Summary: say("No events")},
		triage.Waive{Law: 1, Subject: "demo/ci", Person: say("Grace"), Why: say("there is no CI")},
		triage.PhaseSet{To: triage.Mutation, Why: say("evidence is in")},
		triage.Answer{Step: "demo/holder", Value: say("dead"), How: say("no process")},
		triage.Conclude{Topic: triage.TopicMutation, Value: "no", Person: say("Ada"), Why: say("the log stops before"), Grounds: []string{say("facts.log = 0")}},
		triage.Conclude{Topic: triage.TopicOwner, Value: say("platform team")},
		triage.PhaseSet{To: triage.Compare},
		triage.ProbeStart{Step: "demo/plan", N: 1},
		triage.ProbeEnd{Step: "demo/plan", N: 1, Outcome: "denied", Summary: say("no right to plan")},
		triage.Skip{Step: "demo/extra", Why: say("no policy engine here")},
		triage.ProbeStart{Step: "demo/sides", N: 1, Kind: "compare"},
		triage.ProbeEnd{Step: "demo/sides", N: 1, Outcome: "ok", Summary: say("3 fields"), Rows: []triage.Compared{
			{Field: say("replicas"), Sides: []triage.Side{{Source: "desired", Value: record.IntOf(3), From: []int64{6}}, {Source: "recorded", Value: record.IntOf(3), From: []int64{6, 8}}, {Source: "actual", Value: record.IntOf(5)}}},
			{Field: say("holder"), Sides: []triage.Side{{Source: "recorded", Value: str("ci"), From: []int64{6}}, {Source: say("log"), Value: str("ci"), From: []int64{6}}}},
			{Field: say("image"), Sides: []triage.Side{{Source: "desired", Value: str("v1")}, {Source: "actual", Value: record.Unknown(record.String, say("denied"))}}},
		}},
		triage.Conclude{Topic: triage.TopicConsistent, Value: "yes"},
		triage.Conclude{Topic: triage.TopicClass, Value: "MutationNotStarted"},
		triage.PhaseSet{To: triage.Recover},
		triage.PhaseSet{To: triage.Compare, Why: say("the target moved")},
		triage.PhaseSet{To: triage.Recover},
		triage.Note{Text: say("a note from the call") + "\n" + say("and its second line")},
		triage.Correct{Seq: 3, Text: say("that was wrong")},
		triage.Manual{Step: "demo/notice", Proof: say("https://chat.example/1")},
		triage.GateShown{
			Step: "demo/unlock", Digest: "dig-1", Class: triage.Release, Phrase: phrase, Effect: say("takes the lock away. What then?"), Request: say("DELETE lease"), Command: say("tofu force-unlock l-1"),
			Target: []triage.KV{kv("lock", "l-1"), kv("serial", "7")}, Shown: []triage.KV{kv("age", "47m")}, Diff: []string{say("- holder: ci"), say("+ holder: none")}, Undo: say("cannot be undone"),
			Owners: []triage.Owner{{Name: "argo", Paused: "yes", How: say("suspended")}}, Owes: []triage.Owed{{Kind: "unfinished", Text: say("the run did not finish")}},
			Verdicts: []triage.Verdict{{Expr: say("facts.lock.held"), Result: "true", Why: say("read at 2")}}, Until: t0.Add(time.Hour), Why: say("nothing narrower"),
			Again: "30s",
		},
		triage.Approve{Digest: "dig-1", Person: say("Grace"), Sig: "sig"},
		triage.GateAnswered{Step: "demo/unlock", Digest: "dig-1", Typed: phrase},
		triage.ActStart{Step: "demo/unlock", Digest: "dig-1", Request: say("DELETE lease"), Before: []triage.KV{kv("lock", "l-1"), kv("serial", "7"), kv("unread", "x")}},
		triage.ActEnd{Step: "demo/unlock", Digest: "dig-1", Outcome: "done", Response: say("unlocked") + "\n" + say("for good"), After: []triage.KV{kv("lock", "none"), kv("serial", "7"), kv("audit id", "a-1")}},
		triage.DebtOpened{ID: "unfinished", Kind: "unfinished", Of: "demo/unlock", Text: say("the run did not finish")},
		triage.DebtOpened{ID: "resume", Kind: "resume", Of: "demo/unlock", Text: say("resume the schedule"), Due: &due},
		triage.Settle{Debt: "unfinished", How: "carried", Owner: say("platform"), Until: "2026-12-01", Why: say("after the freeze")},
		triage.Settle{Debt: "resume", How: "paid", Proof: say("resumed at 2:20")},
		triage.ActAgain{Step: "demo/unlock", Digest: "dig-1", Outcome: triage.Holds, Response: say("no lock is held")},
		triage.PhaseSet{To: triage.Verify},
		triage.ProbeStart{Step: "demo/clean", N: 1},
		triage.ProbeEnd{Step: "demo/clean", N: 1, Outcome: "ok", Summary: say("Free"), Green: &green},
		triage.Close{Outcome: "recovered", Why: say("all green")},
	}
}

func itself(s string) string { return s }

// fold folds the first n events of a story, all of them for a negative n.
func fold(t testing.TB, bodies []triage.Body, n int) triage.State {
	t.Helper()
	var st triage.State
	for i, b := range bodies {
		if i == n {
			break
		}
		next, err := triage.Fold(st, triage.Event{Seq: int64(i + 1), At: t0.Add(time.Duration(i) * 7 * time.Second), Actor: "ada", Body: b})
		if err != nil {
			t.Fatalf("event %d (%s): %v", i, b.Type(), err)
		}
		st = next
	}
	return st
}

// whole is the document of a story, with artifacts and a verdict.
func whole(t testing.TB, say func(string) string, n int) Document {
	t.Helper()
	st := fold(t, story(say), n)
	return New(st, With([]Artifact{{
		SHA256: line(digest), Role: line(say("lock")), Media: "text/plain", Size: 12, Truncated: true, Redacted: line(say("password=1")), Step: "demo/lock", Entry: 6,
	}}), Verified(Verification{Unproven: 1, Entries: st.Seq + 1, Head: "abcd", Root: "cm9vdA==", Checks: []Check{
		{Property: "chain", Verdict: "ok", Detail: line(say("42 entries, each continues the one before"))}, {Property: "seal", Verdict: "failed", Detail: line(say("000001.txt has another root"))},
		{Property: "anchor", Verdict: "unproven", Detail: line(say("nobody brought one"))},
	}}))
}

const digest = "5e7f1fae256007a5bb37780ee2a0b87345dc5440ec12cb0441ad63a952625cbd"
