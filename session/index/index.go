// Package index lists incidents by folding their bundles.
package index

import (
	"time"

	"handrail/evidence"
	"handrail/session"
	"handrail/triage"
)

// Row is one incident as a list shows it.
type Row struct {
	ID       string
	Path     string
	Title    string
	Runbook  string
	Severity triage.Severity
	Phase    triage.Phase
	Outcome  string // recovered, open or aborted; "" while it goes on
	Drill    string
	Sealed   bool
	Opened   time.Time
	Closed   time.Time
	Entries  int64
	Debts    []triage.Debt // open or carried
	Err      string        // why the bundle could not be folded to its end
}

// Rows lists the incidents in a directory, the newest first. A bundle that
// cannot be read is a row with Err set, never left out.
func Rows(dir string) ([]Row, error) {
	all, err := evidence.List(dir)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		rows = append(rows, row(all[i]))
	}
	return rows, nil
}

func row(sum evidence.Summary) Row {
	r := Row{ID: sum.ID, Path: sum.Path, Sealed: sum.Sealed, Opened: sum.Opened}
	st, err := session.LoadState(sum.Path)
	if err != nil {
		r.Err = err.Error()
	}
	r.Title, r.Severity, r.Phase, r.Drill = st.Title, st.Severity, st.Phase, st.Drill
	r.Outcome, r.Closed, r.Runbook, r.Entries = st.Outcome, st.Closed, st.Plan().Runbook, st.Seq+1
	if !st.Opened.IsZero() {
		r.Opened = st.Opened
	}
	for _, d := range st.Debts {
		if d.Settled.How == "" || d.Settled.How == "carried" {
			r.Debts = append(r.Debts, d)
		}
	}
	return r
}
