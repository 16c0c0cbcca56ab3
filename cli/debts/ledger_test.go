package debts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/session/index"
	"handrail/steps/policy/register"
	"handrail/triage"
	"handrail/triage/record"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// read is a step that read what Git has of the application tills, some hours ago.
func read(id string, ago int, moved string, live ...string) triage.Step {
	s := triage.Step{KeptSeq: 3, KeptAt: noon.Add(-time.Duration(ago) * time.Hour),
		Facts: map[string]triage.Value{"moved": record.EnumOf(moved), "live_moved": record.StringsOf(live), "unclear": record.StringsOf(nil)},
		With:  map[string]triage.Value{"resource": record.StringOf("applications.argoproj.io"), "name": record.StringOf("tills")}}
	s.ID, s.Uses = id, "gitops/desired"
	return s
}

func wrote(by string) triage.Step {
	s := triage.Step{Facts: map[string]triage.Value{"writer": record.StringOf(by)}}
	s.ID, s.Uses = "blame", "kube/blame"
	return s
}

func hand(settled string, ago int) (triage.Hand, triage.Debt, triage.Moment) {
	h := triage.Hand{HandAct: triage.HandAct{ID: "proof", What: "kubectl edit", Object: "configmap/tills/limits", Person: "ada", Proof: "same"}, Seq: 7}
	d := triage.Debt{DebtOpened: triage.DebtOpened{ID: "proof", Kind: triage.ProofDebt, Of: "same", Text: "is shown by a read"}, Seq: 7}
	d.Settled.How = settled
	return h, d, triage.Moment{Seq: 7, At: noon.Add(-time.Duration(ago) * time.Hour)}
}

func booked(id string, steps ...triage.Step) book {
	return book{row: index.Row{ID: id, Target: index.Target{Context: "prod"}}, state: triage.State{Steps: steps, Opened: noon.Add(-100 * time.Hour)}}
}

func told(items []Item) (out []string) {
	for _, it := range items {
		out = append(out, fmt.Sprintf("%s %s %s by %s for %s", it.Kind, it.Incident, it.Object, it.Who, noon.Sub(it.since)))
	}
	slices.Sort(out)
	return out
}

// TestLive: what stands live and not in Git is owed until a later read finds no difference, in whatever incident.
func TestLive(t *testing.T) {
	t.Parallel()
	const limit = "configmap/tills/limits data.daily"
	elsewhere := booked("c", read("desired", 1, "none"))
	elsewhere.row.Target.Context = "test"
	unread := read("desired", 1, "none")
	delete(unread.Facts, "live_moved")
	other := read("desired", 1, "none")
	other.KeptSeq = 0
	for name, tc := range map[string]struct {
		books []book
		want  string
	}{
		"it stands":                    {[]book{booked("a", wrote("kubectl-edit"), read("desired", 5, "live", limit))}, "live a applications.argoproj.io/tills by kubectl-edit for 5h0m0s"},
		"seen again, since the first":  {[]book{booked("a", wrote("kubectl-edit"), read("desired", 5, "live", limit), read("same", 2, "live", limit))}, "live a applications.argoproj.io/tills by kubectl-edit for 5h0m0s"},
		"read again, and gone":         {[]book{booked("a", read("desired", 5, "live", limit), read("same", 2, "none"))}, ""},
		"gone in another incident":     {[]book{booked("a", read("desired", 5, "live", limit)), booked("b", read("desired", 2, "git"))}, ""},
		"gone, and there again":        {[]book{booked("a", read("desired", 9, "live", limit)), booked("b", read("desired", 5, "none")), booked("c", wrote("kubectl-patch"), read("desired", 2, "live", limit))}, "live c applications.argoproj.io/tills by kubectl-patch for 2h0m0s"},
		"gone in another cluster":      {[]book{booked("a", read("desired", 5, "live", limit)), elsewhere}, "live a applications.argoproj.io/tills by  for 5h0m0s"},
		"a read that cannot tell":      {[]book{booked("a", read("desired", 5, "live", limit)), booked("b", unread)}, "live a applications.argoproj.io/tills by  for 5h0m0s"},
		"a read that ended elsewhere":  {[]book{booked("a", read("desired", 5, "live", limit)), booked("b", other)}, "live a applications.argoproj.io/tills by  for 5h0m0s"},
		"it differs, and says not how": {[]book{booked("a", read("desired", 5, "live", limit)), booked("b", read("desired", 2, "open"))}, "live a applications.argoproj.io/tills by  for 5h0m0s"},
		"Git moved alone":              {[]book{booked("a", read("desired", 5, "git"))}, ""},
		"nothing was read":             {[]book{booked("a", wrote("kubectl-edit"))}, ""},
	} {
		if got := strings.Join(told(owed(tc.books, noon)), "; "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestHands: a repair by hand is owed until Git was read after it, where its incident reads Git at all.
func TestHands(t *testing.T) {
	t.Parallel()
	with := func(settled string, steps ...triage.Step) book {
		b := booked("a", steps...)
		h, d, m := hand(settled, 3)
		b.state.Hands, b.state.Debts, b.state.Timeline = []triage.Hand{h}, []triage.Debt{d}, []triage.Moment{m}
		if settled == "" {
			b.row.Debts = b.state.Debts
		}
		return b
	}
	for name, tc := range map[string]struct {
		b    book
		want string
	}{
		"its proof is owed":          {with("", read("desired", 5, "none")), "proof a configmap/tills/limits by ada for 3h0m0s"},
		"proven, and Git not read":   {with("paid", read("desired", 5, "none")), "by-hand a configmap/tills/limits by ada for 3h0m0s"},
		"proven, and Git has it":     {with("paid", read("desired", 5, "none"), read("same", 1, "none")), ""},
		"proven, and Git has it not": {with("paid", read("desired", 5, "none"), read("same", 1, "live", "x")), "live a applications.argoproj.io/tills by ada for 1h0m0s"},
		"waived":                     {with("waived", read("desired", 5, "none")), ""},
		"Git delivers nothing of it": {with("paid"), ""},
	} {
		if got := strings.Join(told(owed([]book{tc.b}, noon)), "; "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestRecorded: what an act left owing has its object and who confirmed it.
func TestRecorded(t *testing.T) {
	t.Parallel()
	b := booked("a")
	d := triage.Debt{DebtOpened: triage.DebtOpened{ID: "reconcile", Kind: "reconcile", Of: "fix", Text: "Git must say the same"}, Seq: 9}
	d.Settled = triage.Settle{Debt: "reconcile", How: "carried", Owner: "platform", Until: "2026-03-09"}
	b.row.Debts = []triage.Debt{d}
	b.row.Acts = []index.Act{{Step: "fix", Seq: 8, Outcome: "done", Actor: "ada", Target: []triage.KV{{Key: "object", Value: "configmap/tills/flags"}}}, {Step: "fix", Seq: 12, Outcome: "failed", Actor: "eve"}}
	b.state.Timeline = []triage.Moment{{Seq: 9, At: noon.Add(-time.Hour)}}
	list := owed([]book{b}, noon)
	if got := told(list); len(got) != 1 || got[0] != "reconcile a configmap/tills/flags by ada for 1h0m0s" || !list[0].Overdue || list[0].Owner != "platform" || !strings.Contains(list[0].Closes, "handrail resume a") {
		t.Errorf("%q %+v", got, list)
	}
}

// TestSessions: which sessions of a register need a person.
func TestSessions(t *testing.T) {
	t.Parallel()
	reg, err := register.Read("glass.yaml", []byte(`
- {id: fine, person: a, reason: r, scope: [a/b/c], opened: 2026-03-10T08:00:00Z, expires: 2026-03-10T13:00:00Z, approvedBy: b}
- {id: past, person: a, reason: r, scope: [a/b/c], opened: 2026-03-10T08:00:00Z, expires: 2026-03-10T09:00:00Z, approvedBy: b}
- {id: endless, account: root, scope: [a/b/c], opened: 2026-03-10T10:00:00Z}
- {id: done, person: a, closed: 2026-03-10T09:00:00Z, opened: 2026-03-10T08:00:00Z, review: {owner: c, due: 2026-03-12, done: 2026-03-10}}
- {id: owed, person: a, closed: 2026-03-10T09:00:00Z, opened: 2026-03-10T08:00:00Z, review: {owner: c, due: 2026-03-12}}
- {id: late, person: a, closed: 2026-03-10T09:00:00Z, opened: 2026-03-10T08:00:00Z, review: {owner: c, due: 2026-03-09}}
- {id: none, person: a, closed: 2026-03-10T09:00:00Z, opened: 2026-03-10T08:00:00Z}
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range sessions(reg, noon) {
		got = append(got, fmt.Sprintf("%s %t %s %s", it.ID, it.Overdue, it.Who, it.Until))
	}
	want := []string{"past true a ", "endless false root ", "owed false a 2026-03-12", "late true a 2026-03-09", "none false a "}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
