package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/triage"
	"handrail/triage/record"
)

// journalOf is the journal of a story, each entry with a hash of its own.
func journalOf(bodies []triage.Body) Journal {
	j := Journal{lines: map[int64]journalLine{}}
	for i, b := range bodies {
		l := journalLine{hash: "hash-" + string(rune('A'+i%26)), actor: "ada", at: t0.Add(time.Duration(i) * 7 * time.Second)}
		if e, ok := b.(triage.ProbeEnd); ok {
			l.audit, l.step = e.Audit, e.Step
		}
		j.lines[int64(i+1)] = l
	}
	return j
}

func artifactOf(t testing.TB, name string, bodies []triage.Body) Recovery {
	t.Helper()
	st := fold(t, bodies, -1)
	a, err := Recover(name, st, New(st, Verified(Verification{OK: true, Entries: st.Seq + 1, Head: "abcd", Root: "cm9vdA=="})), journalOf(bodies))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// began is a call at a step of one kind, before anything was read.
func beganWith(p triage.PlanStep, more ...triage.Body) []triage.Body {
	p.ID, p.Phase = "demo/one", triage.Preserve
	return append([]triage.Body{
		triage.Open{Incident: "20261121-021400-demo-aaaa", Title: "Demo", Severity: triage.Sev3},
		triage.Plan{Runbook: "demo", Title: "Demo", Digest: "d1", Steps: []triage.PlanStep{p}},
		triage.PhaseSet{To: triage.Preserve},
	}, more...)
}

func readAs(uses string, facts map[string]triage.Value, covers ...string) []triage.Body {
	return beganWith(triage.PlanStep{Kind: triage.ProbeStep, Uses: uses, Title: "Reads", Covers: covers},
		triage.ProbeStart{Step: "demo/one", N: 1}, triage.ProbeEnd{Step: "demo/one", N: 1, Outcome: "ok", Summary: "argocd synced", Facts: facts, Audit: []string{"a-1"}})
}

// TestRecoveryStandsOnItsReading: each artifact from the one reading that makes it, and without it.
func TestRecoveryStandsOnItsReading(t *testing.T) {
	t.Parallel()
	sum := map[string]triage.Value{"digest": record.IdentOf("5e7f")}
	cases := map[string]struct {
		bodies   []triage.Body
		standing string
		part     string
	}{
		"plan-artifact":   {readAs("terraform/plan-file", sum, "E4"), Proven, "plan"},
		"plan-digest":     {readAs("terraform/plan-file", sum, "E4", "E6"), PartlyHeld, "digest"},
		"policy-result":   {readAs("own/exec", nil, "E5"), Proven, "policy"},
		"approval-record": {readAs("own/exec", nil, "E6"), Proven, "approval of the change"},
		"apply-log":       {readAs("terraform/log", nil, "E11"), Proven, "log of the run"},
		"cloud-audit": {beganWith(triage.PlanStep{Kind: triage.AskStep, Title: "What does the audit log show?"},
			triage.Answer{Step: "demo/one", Value: "wrote", How: "12 events"}), PartlyHeld, "what the audit log shows"},
		"state-version": {readAs("terraform/state", map[string]triage.Value{"serial": record.IntOf(7)}, "E8"), Proven, "before"},
		"gitops-sync":   {readAs("kube/owners", nil, "E12"), Proven, "controller"},
		"kube-events":   {readAs("kube/events", nil, "E12"), Proven, "events"},
		"exception":     {beganWith(triage.PlanStep{Kind: triage.ManualStep, Title: "Run", Required: true}, triage.Waive{Law: 1, Subject: "demo/one", Person: "Grace", Why: "no CI"}), Proven, "deviation"},
		"incident-link": {beganWith(triage.PlanStep{Kind: triage.ManualStep, Title: "Run"}, triage.Note{Text: "ticket OPS-17"}), Proven, "ticket or channel"},
	}
	for _, name := range RecoveryNames() {
		tc, ok := cases[name]
		if !ok {
			t.Errorf("%s is tried by no case", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := artifactOf(t, name, tc.bodies)
			if a.Standing != tc.standing || !slices.ContainsFunc(a.Stands, func(s Stand) bool { return s.Part == tc.part }) {
				t.Errorf("it is %s, on %+v, want %s on %q; missing %+v", a.Standing, a.Stands, tc.standing, tc.part, a.Missing)
			}
			bare := artifactOf(t, name, beganWith(triage.PlanStep{Kind: triage.ProbeStep, Uses: "kube/list", Title: "Reads"}))
			want := NotInBundle
			if name == "incident-link" { // the incident itself is always there
				want = PartlyHeld
			}
			if bare.Standing != want {
				t.Errorf("of a bundle that holds nothing it is %s, want %s: %+v", bare.Standing, want, bare.Stands)
			}
			if !slices.ContainsFunc(bare.Missing, func(l Lack) bool { return l.Part == tc.part && l.What != "" && l.How != "" }) {
				t.Errorf("of a bundle that holds nothing it does not say that %q is missing, and how to get it: %+v", tc.part, bare.Missing)
			}
		})
	}
}

// TestRecoveryOfWhatFailed: a reading that failed, or words that do not name the thing, prove nothing.
func TestRecoveryOfWhatFailed(t *testing.T) {
	t.Parallel()
	cases := []struct {
		artifact string
		bodies   []triage.Body
		standing string
		missing  string
	}{
		{"kube-events", beganWith(triage.PlanStep{Kind: triage.ProbeStep, Uses: "kube/events", Title: "Events"}, triage.ProbeStart{Step: "demo/one", N: 1},
			triage.ProbeEnd{Step: "demo/one", N: 1, Outcome: "denied", Summary: "no right to list events"}), NotInBundle, "no right to list events"},
		{"cloud-audit", beganWith(triage.PlanStep{Kind: triage.ManualStep, Title: "Note the provider's audit log"},
			triage.Manual{Step: "demo/one", Proof: "ran from a laptop, no CI"}), NotInBundle, "the calls of the run"},
		{"cloud-audit", beganWith(triage.PlanStep{Kind: triage.AskStep, Title: "What does the audit log show?"},
			triage.Answer{Step: "demo/one", Value: "unknown", How: "no rights"}), NotInBundle, "What does the audit log show?"},
		{"plan-digest", readAs("terraform/plan-file", map[string]triage.Value{"digest": record.Unknown(record.Ident, "cut")}, "E4"), NotInBundle, "a digest of a plan"},
		{"plan-artifact", readAs("terraform/plan", map[string]triage.Value{"add": record.IntOf(1)}, "E4"), NotInBundle, "the plan that was approved"},
		{"policy-result", beganWith(triage.PlanStep{Kind: triage.ManualStep, Title: "Policy", Required: true, Covers: []string{"E5"}},
			triage.Waive{Law: 1, Subject: "demo/one", Person: "Grace", Why: "no engine"}), NotInBundle, "waived by Grace: no engine"},
		{"incident-link", beganWith(triage.PlanStep{Kind: triage.ManualStep, Title: "Run"}, triage.Note{Text: "it was the incident of the year"}), PartlyHeld, "names a ticket"},
	}
	for _, tc := range cases {
		a := artifactOf(t, tc.artifact, tc.bodies)
		said := slices.ContainsFunc(a.Missing, func(l Lack) bool { return strings.Contains(string(l.What), tc.missing) })
		if a.Standing != tc.standing || !said {
			t.Errorf("%s is %s, want %s; missing %+v, want %q; it stands on %+v", tc.artifact, a.Standing, tc.standing, a.Missing, tc.missing, a.Stands)
		}
	}
}

// TestAuditCallsAreNamed: a proof that names calls counts as the other half.
func TestAuditCallsAreNamed(t *testing.T) {
	t.Parallel()
	a := artifactOf(t, "cloud-audit", beganWith(triage.PlanStep{Kind: triage.ManualStep, Title: "Note the calls"},
		triage.Manual{Step: "demo/one", Proof: "CreateSubnet, request id 9f1c"}))
	if a.Standing != PartlyHeld || len(a.Stands) != 1 || a.Stands[0].Part != "calls" {
		t.Errorf("it is %s, on %+v", a.Standing, a.Stands)
	}
}

// TestApprovalBindsByDigest: an approval is of a plan only where it names the digest that was read.
func TestApprovalBindsByDigest(t *testing.T) {
	t.Parallel()
	for proof, want := range map[string]string{"approver: grace, plan " + digest[:12]: Proven, "approver: grace, plan " + digest[:11]: PartlyHeld, "approver: grace": PartlyHeld} {
		a := artifactOf(t, "plan-digest", []triage.Body{
			triage.Open{Incident: "20261121-021400-demo-aaaa", Title: "Demo", Severity: triage.Sev3},
			triage.Plan{Runbook: "demo", Title: "Demo", Digest: "d1", Steps: []triage.PlanStep{
				{ID: "demo/plan", Phase: triage.Preserve, Kind: triage.ProbeStep, Uses: "terraform/plan-file", Title: "The plan", Covers: []string{"E4"}},
				{ID: "demo/who", Phase: triage.Preserve, Kind: triage.ManualStep, Title: "Who approved", Covers: []string{"E6"}}}},
			triage.PhaseSet{To: triage.Preserve},
			triage.ProbeStart{Step: "demo/plan", N: 1},
			triage.ProbeEnd{Step: "demo/plan", N: 1, Outcome: "ok", Facts: map[string]triage.Value{"digest": record.IdentOf(digest)}},
			triage.Manual{Step: "demo/who", Proof: proof},
		})
		if a.Standing != want {
			t.Errorf("with the proof %q it is %s, want %s: %+v, %+v", proof, a.Standing, want, a.Stands, a.Missing)
		}
	}
}

// TestRecoveryCites: whatever an artifact stands on is an entry of the journal, with its hash and its time.
func TestRecoveryCites(t *testing.T) {
	t.Parallel()
	bodies := story(itself)
	for _, name := range RecoveryNames() {
		a := artifactOf(t, name, bodies)
		for _, s := range a.Stands {
			if s.Entry < 1 || s.Hash == "" || s.At.IsZero() || s.Actor == "" {
				t.Errorf("%s stands on %+v, which cites no entry", name, s)
			}
		}
		if a.Bundle.Root == "" || a.Bundle.Head == "" || !a.Bundle.Verified {
			t.Errorf("%s does not name its bundle: %+v", name, a.Bundle)
		}
	}
}

func TestGoldenRecovery(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	for _, name := range RecoveryNames() {
		if err := WriteRecovery(&b, artifactOf(t, name, story(itself))); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	golden(t, "recovery.md", b.Bytes())
}

// checkRecovery: text from outside changes nothing of the structure of a page, and no terminal obeys it.
func checkRecovery(t *testing.T, attack string) {
	t.Helper()
	page := func(name, text string) string {
		a := artifactOf(t, name, story(func(s string) string { return s + text }))
		var b bytes.Buffer
		if err := WriteRecovery(&b, a); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, name := range []string{"approval-record", "apply-log", "exception"} {
		got, want := page(name, attack), page(name, "harmless")
		if bad := acting(got); bad != "" {
			t.Errorf("%s carries %s raw, of %q", name, bad, attack)
		}
		if g, w := bones(got), bones(want); !slices.Equal(g, w) {
			t.Errorf("%q changes the structure of %s: %s", attack, name, firstDifference(g, w))
		}
	}
}

func TestRecoveryNothingActs(t *testing.T) {
	t.Parallel()
	for _, attack := range attacks {
		checkRecovery(t, attack)
	}
}

func FuzzRecovery(f *testing.F) {
	for _, attack := range attacks {
		f.Add(attack)
	}
	f.Fuzz(func(t *testing.T, attack string) {
		if len(attack) < 1<<12 {
			checkRecovery(t, attack)
		}
	})
}
