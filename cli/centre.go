package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"handrail/cli/bundle"
	"handrail/cli/debts"
	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/session"
	"handrail/session/index"
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/fault"
	"handrail/steps/kube/centre"
	"handrail/steps/terraform/state"
	"handrail/triage"
)

const (
	// questionsAtOnce bounds how many questions are asked at the same time: the
	// API server has other work during an incident.
	questionsAtOnce = 4
	// answerWithin bounds what one question may take.
	answerWithin = 5 * time.Second
	// recently is how long a repair is news.
	recently = 7 * 24 * time.Hour
)

// readCentre asks the twelve questions and tells each answer as it comes. It reads, as
// the operator, and keeps nothing.
func readCentre(ctx context.Context, p *process.Program, c session.Config, tell func(steps.Answer)) {
	w := outlookOf(p, c)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		free = make(chan struct{}, questionsAtOnce)
	)
	one := func(a steps.Answer) {
		mu.Lock()
		defer mu.Unlock()
		tell(presentable(p, a, w.runbooks))
	}
	for _, q := range steps.Questions() {
		free <- struct{}{}
		wg.Go(func() {
			defer fault.To(func(err error) {
				one(steps.Answer{Question: q.ID, Gaps: []steps.Gap{steps.GapOf("handrail itself", err)}})
			})
			defer func() { <-free }()
			ctx, cancel := context.WithTimeout(ctx, answerWithin)
			defer cancel()
			one(w.ask(ctx, q.ID))
		})
	}
	wg.Wait()
}

// outlook is what the questions are asked of.
type outlook struct {
	p       *process.Program
	env     steps.Env
	cluster *centre.Centre
	blind   steps.Gap // why there is no cluster
	rows    []index.Row
	lost    error // why the incidents of this machine could not be read

	sessions []debts.Item // of the register of break-glass sessions, those that need a person
	unkept   error        // why the register could not be read

	runbooks map[string]bool // of the library
}

func outlookOf(p *process.Program, c session.Config) *outlook {
	w := &outlook{p: p, env: c.Env}
	w.rows, w.lost = bundle.Rows(p)
	w.sessions, w.unkept = debts.Sessions(p)
	if lib, err := settings.Library(p); err == nil {
		w.runbooks = map[string]bool{}
		for _, rb := range lib {
			w.runbooks[rb.ID] = true
		}
	}
	a, err := cluster.Load(c.Env)
	switch {
	case errors.Is(err, cluster.ErrNoCluster):
		w.blind = steps.Gap{What: "cluster", Kind: steps.NoPlace, Say: "no cluster: " + err.Error()}
	case err != nil:
		w.blind = steps.GapOf("cluster", err)
	case c.Identify == nil:
		w.blind = steps.Gap{What: "cluster", Kind: steps.Unread, Say: "not signed in to " + a.Server}
	default:
		key := ""
		if f, err := settings.Preferences(p); err == nil {
			key = f.BreakGlass
		}
		if w.cluster, err = centre.OpenCentre(c.Env, key, p.Learn); err != nil {
			w.blind = steps.GapOf("cluster", err)
		}
	}
	return w
}

func (w *outlook) ask(ctx context.Context, question string) steps.Answer {
	var parts []steps.Answer
	parts = append(parts, w.recorded(question))
	if a, ok := state.Ask(ctx, w.env, question, w.p.Learn); ok {
		parts = append(parts, a)
	}
	if w.cluster == nil {
		if centre.Asked(question) {
			parts = append(parts, steps.Answer{Gaps: []steps.Gap{w.blind}})
		}
	} else if a, ok := w.cluster.Ask(ctx, question); ok {
		parts = append(parts, a)
	}
	return steps.Join(question, parts...)
}

// recorded answers from the incidents of this machine. Drills break their own
// world and are no news.
func (w *outlook) recorded(question string) steps.Answer {
	a := steps.Answer{Question: question}
	look, ok := map[string]func(*outlook, *steps.Answer, []index.Row){
		steps.PartialApplies: (*outlook).partial,
		steps.OpenDrift:      (*outlook).diverged,
		steps.BreakGlass:     (*outlook).suspended,
		steps.ManualChanges:  (*outlook).owed,
		steps.RepairedState:  (*outlook).repaired,
	}[question]
	switch {
	case !ok:
		return a
	case w.lost != nil:
		a.Gaps = append(a.Gaps, steps.GapOf("incidents of this machine", w.lost))
		return a
	}
	var genuine []index.Row
	for _, r := range w.rows {
		if r.Drill == "" && r.Kind == "" {
			genuine = append(genuine, r)
		}
	}
	look(w, &a, genuine)
	if question != steps.OpenDrift { // no conclusion of drift says nothing about it
		a.Seen = append(a.Seen, "incidents of this machine")
	}
	return a
}

func (w *outlook) partial(a *steps.Answer, rows []index.Row) {
	a.Rows = concluded(rows, steps.Critical, "MutationPartiallySucceeded")
}

func (w *outlook) diverged(a *steps.Answer, rows []index.Row) {
	a.Rows = concluded(rows, steps.Warning, "RecordedStateDiverged", "LiveStateDiverged")
}

// concluded are the open incidents in which one of these failures was concluded.
func concluded(rows []index.Row, level steps.Level, failures ...string) []steps.Standing {
	var out []steps.Standing
	for _, r := range rows {
		if r.Outcome == "" && slices.Contains(failures, r.Failure) {
			out = append(out, steps.Standing{Level: level, What: "open incident: " + r.Title, Where: "incident " + r.ID, Since: r.Opened, Incident: r.ID})
		}
	}
	return out
}

func (w *outlook) suspended(a *steps.Answer, rows []index.Row) {
	for _, o := range index.Suspensions(rows) {
		a.Rows = append(a.Rows, w.debt(o, "paused in an incident: "))
	}
	if w.unkept != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("register of break-glass sessions", w.unkept))
	}
	for _, s := range w.sessions {
		row := steps.Standing{Level: steps.Info, What: s.Text, Where: "session " + s.ID, Owner: s.Who, Detail: s.Object}
		if s.Overdue {
			row.Level = steps.Warning
		}
		if s.Since != nil {
			row.Since = *s.Since
		}
		a.Rows = append(a.Rows, row)
	}
}

// owed are changes that Git does not know yet.
func (w *outlook) owed(a *steps.Answer, rows []index.Row) {
	for _, o := range index.Carried(rows) {
		if o.Kind == "reconcile" {
			a.Rows = append(a.Rows, w.debt(o, "owed to Git: "))
		}
	}
}

func (w *outlook) debt(o index.CarriedDebt, lead string) steps.Standing {
	row := steps.Standing{Level: steps.Info, What: lead + o.Text, Where: "incident " + o.Incident + " debt " + o.ID, Owner: o.Settled.Owner, Incident: o.Incident}
	for _, r := range w.rows {
		if r.ID == o.Incident {
			row.Since = r.Opened
		}
	}
	if until := o.Settled.Until; until != "" && until < w.p.Now().Format(time.DateOnly) {
		row.Level, row.Detail = steps.Warning, "overdue since "+until
	}
	return row
}

func (w *outlook) repaired(a *steps.Answer, rows []index.Row) {
	for _, r := range index.Repairs(rows) {
		if w.p.Now().Sub(r.At) > recently {
			continue
		}
		what, _, _ := strings.Cut(r.Effect, ". ")
		if what == "" {
			what = fmt.Sprintf("%s of class %s was done", r.Uses, r.Class)
		}
		a.Rows = append(a.Rows, steps.Standing{Level: steps.Info, What: what, Where: fmt.Sprintf("incident %s entry %d", r.Incident, r.Seq), Since: r.At,
			Owner: target(r.Target, "user"), Incident: r.Incident})
	}
}

func target(kvs []triage.KV, key string) string {
	for _, kv := range kvs {
		if kv.Key == key {
			return kv.Value
		}
	}
	return ""
}

// presentable is an answer without secrets, and with runbooks of the library
// alone.
func presentable(p *process.Program, a steps.Answer, known map[string]bool) steps.Answer {
	for i := range a.Rows {
		r := &a.Rows[i]
		for _, s := range []*string{&r.What, &r.Where, &r.Owner, &r.Detail, &r.Command} {
			*s = p.ScrubText(*s)
		}
		if !known[r.Runbook] {
			r.Runbook, r.Params = "", nil
		}
	}
	for i := range a.Gaps {
		a.Gaps[i].Say = p.ScrubText(a.Gaps[i].Say)
	}
	return a
}
