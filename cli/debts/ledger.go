package debts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"handrail/session/index"
	"handrail/steps/policy/register"
	"handrail/triage"
)

// The kinds of debts beside those that an act leaves (reconcile, resume, unfinished) and a repair by hand (proof).
const (
	Live    = "live"    // stands live and not in Git
	ByHand  = "by-hand" // repaired by hand, and nothing read since says what Git has
	Session = "session" // a break-glass session
)

// Item is one debt that is open or carried.
type Item struct {
	Kind     string     `json:"kind"`
	Incident string     `json:"incident,omitempty"`
	ID       string     `json:"id,omitempty"` // of the debt in its incident, or of the session
	Object   string     `json:"object"`
	Text     string     `json:"text"`
	Who      string     `json:"who,omitempty"`
	Since    *time.Time `json:"since,omitempty"`
	Age      string     `json:"age,omitempty"`
	Closes   string     `json:"closes"` // what would close it
	Owner    string     `json:"owner,omitempty"`
	Until    string     `json:"until,omitempty"` // of one that is carried, or of a review
	Overdue  bool       `json:"overdue"`

	since time.Time
}

// book is one incident with what it holds.
type book struct {
	row   index.Row
	state triage.State
}

// look is one read of what Git has of an application.
type look struct {
	key      string // the application, in its cluster
	app      string
	at       time.Time
	differs  []string
	incident string
	who      string // who wrote last, as it calls itself
}

// owed lists what the incidents owe, the oldest first.
func owed(books []book, now time.Time) []Item {
	var out []Item
	looks := map[string][]look{}
	for _, b := range books {
		out = append(out, recorded(b, now)...)
		for _, l := range looksOf(b) {
			looks[l.key] = append(looks[l.key], l)
		}
	}
	for _, list := range looks {
		slices.SortStableFunc(list, func(a, b look) int { return a.at.Compare(b.at) })
	}
	hands := map[string][]string{} // who changed by hand, by application
	for _, b := range books {
		for _, h := range b.state.Hands {
			at := momentOf(b.state, h.Seq)
			missing := ""
			for _, key := range keysOf(b) {
				if list := looks[key]; list[len(list)-1].at.After(at) {
					hands[key] = append(hands[key], h.Person)
				} else {
					missing = list[0].app
				}
			}
			if missing == "" || slices.ContainsFunc(b.state.Debts, func(d triage.Debt) bool { return d.ID == h.ID && d.Settled.How != "paid" }) {
				continue // its proof is owed still, or was waived: that is told already
			}
			out = append(out, Item{Kind: ByHand, Incident: b.row.ID, ID: h.ID, Object: h.Object, Text: h.What, Who: h.Person, since: at,
				Closes: "the commit that has it is merged, and gitops/desired of " + missing + " is read again"})
		}
	}
	for key, list := range looks {
		if it, open := standing(list, hands[key]); open {
			out = append(out, it)
		}
	}
	return out
}

// standing is what the reads of one application come to: the newest that could tell says whether anything is owed.
func standing(list []look, hands []string) (Item, bool) {
	last := list[len(list)-1]
	if len(last.differs) == 0 {
		return Item{}, false
	}
	first := last
	for i := len(list) - 1; i >= 0 && len(list[i].differs) > 0; i-- {
		first = list[i]
	}
	who := first.who
	if len(hands) > 0 {
		slices.Sort(hands)
		who = strings.Join(slices.Compact(hands), ", ")
	}
	return Item{Kind: Live, Incident: last.incident, Object: last.app, Text: "stands live and not in Git: " + strings.Join(last.differs, ", "), Who: who, since: first.at,
		Closes: "the commit that has it is merged, and gitops/desired of " + last.app + " is read again: emergency-mutation does so"}, true
}

// recorded are the debts that the journal has.
func recorded(b book, now time.Time) (out []Item) {
	for _, d := range b.row.Debts {
		it := Item{Kind: d.Kind, Incident: b.row.ID, ID: d.ID, Text: d.Text, Owner: d.Settled.Owner, Until: d.Settled.Until, since: momentOf(b.state, d.Seq),
			Closes: map[string]string{
				"reconcile": "the merged commit is named", "resume": "it runs again", "unfinished": "the rest is applied, or taken back",
				triage.ProofDebt: "a read of " + d.Of + " shows it",
			}[d.Kind]}
		it.Closes = cmp.Or(it.Closes, "it is settled") + ": handrail resume " + b.row.ID
		if b.row.Kind != "" {
			it.Object, it.Closes = "readiness", "it holds, and the next review says so: handrail readiness"
		}
		it.Overdue = it.Until != "" && it.Until < now.Format(time.DateOnly)
		for _, a := range b.row.Acts {
			if a.Step == d.Of && !a.Part && a.Outcome == "done" && a.Seq <= d.Seq {
				it.Who, it.Object = a.Actor, objectOf(a)
			}
		}
		for _, h := range b.state.Hands {
			if h.ID == d.ID {
				it.Who, it.Object = h.Person, h.Object
			}
		}
		out = append(out, it)
	}
	return out
}

// objectOf is what an act was done to, as its target names it.
func objectOf(a index.Act) string {
	for _, key := range []string{"object", "directory", "state"} {
		for _, kv := range a.Target {
			if kv.Key == key {
				return kv.Value
			}
		}
	}
	return ""
}

func momentOf(st triage.State, seq int64) time.Time {
	for _, m := range st.Timeline {
		if m.Seq == seq {
			return m.At
		}
	}
	return st.Opened
}

// keysOf are the applications that the incident read, each once.
func keysOf(b book) (out []string) {
	for _, l := range looksOf(b) {
		if !slices.Contains(out, l.key) {
			out = append(out, l.key)
		}
	}
	return out
}

// looksOf are the reads of an incident that say whether what is live is what Git has.
func looksOf(b book) (out []look) {
	who := ""
	for _, s := range b.state.Steps {
		if w := s.Facts["writer"]; s.Uses == "kube/blame" && w.Known() {
			who = w.Text()
		}
	}
	for _, s := range b.state.Steps {
		moved, live, unclear := s.Facts["moved"], s.Facts["live_moved"], s.Facts["unclear"]
		if s.Uses != "gitops/desired" || s.KeptSeq == 0 || !moved.Known() || !live.Known() {
			continue
		}
		text := func(name string) string {
			if v := s.With[name]; v.Known() {
				return v.Text()
			}
			return ""
		}
		app := strings.Trim(strings.Join([]string{text("resource"), text("namespace"), text("name")}, "/"), "/")
		app = strings.ReplaceAll(app, "//", "/")
		l := look{key: cmp.Or(b.row.Target.Server, b.row.Target.Context) + " " + app, app: app, at: s.KeptAt, incident: b.row.ID, who: who}
		l.differs = slices.Concat(live.Strings(), unclear.Strings())
		if len(l.differs) == 0 && (moved.Text() == "both" || moved.Text() == "open") {
			continue // it differs, and does not say in what
		}
		out = append(out, l)
	}
	return out
}

// sessions lists the sessions of a register that are past their end, without an end, or over and not reviewed.
func sessions(reg *register.Register, now time.Time) (out []Item) {
	for _, s := range reg.Sessions {
		state, review := s.State(now), s.ReviewState(now)
		it := Item{Kind: Session, Incident: s.Incident, ID: s.Name(), Object: strings.Join(s.Scope, ", "), Who: cmp.Or(s.Person, s.Account, "no named person"), Owner: s.Review.Owner}
		switch {
		case state == register.Expired:
			it.Text, it.since, it.Overdue = "break-glass session "+s.Name()+" is past its end and not closed", s.Expires, true
			it.Closes = "it is closed, with the credentials that it gave, and the register says when"
		case state == register.Open && s.Expires.IsZero():
			it.Text, it.since = "break-glass session "+s.Name()+" has no end", s.Opened
			it.Closes = "it is closed, or the register says when it ends"
		case state == register.Closed && review != register.Done:
			it.Text, it.since = "break-glass session "+s.Name()+" is closed, and its review is "+string(review), s.Closed
			it.Overdue = review == register.Overdue
			it.Closes = "the register says when the review was done"
			if !s.Review.Due.IsZero() {
				it.Until = s.Review.Due.Add(-time.Second).Format(time.DateOnly) // the day that ends then
			}
		default:
			continue
		}
		out = append(out, it)
	}
	return out
}
