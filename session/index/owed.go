package index

import (
	"slices"

	"handrail/triage"
)

// CarriedDebt is a debt with the incident that owes it.
type CarriedDebt struct {
	Incident string
	Path     string
	Title    string
	triage.Debt
}

// Carried lists the debts that were handed on, in the order of the rows.
func Carried(rows []Row) []CarriedDebt {
	return owing(rows, func(d triage.Debt) bool { return d.Settled.How == "carried" })
}

// Suspensions lists what was paused and is not known to run again: debts of
// kind resume that are open or carried.
func Suspensions(rows []Row) []CarriedDebt {
	return owing(rows, func(d triage.Debt) bool { return d.Kind == "resume" })
}

func owing(rows []Row, want func(triage.Debt) bool) []CarriedDebt {
	var out []CarriedDebt
	for _, r := range rows {
		for _, d := range r.Debts {
			if want(d) {
				out = append(out, CarriedDebt{r.ID, r.Path, r.Title, d})
			}
		}
	}
	return out
}

// Repair is an act that was done, with the incident that it belongs to.
type Repair struct {
	Incident string
	Path     string
	Title    string
	Act
}

// Repairs lists the acts of the classes release and repair that were done, the
// newest first: which state units were touched, and by whom. A batch is one of them where all of
// it was done; else each object that was.
func Repairs(rows []Row) []Repair {
	var out []Repair
	for _, r := range rows {
		whole := false
		for _, a := range r.Acts {
			if !a.Part {
				whole = a.Outcome == "done"
			} else if whole {
				continue
			}
			if a.Outcome == "done" && (a.Class == triage.Release || a.Class == triage.Repair) {
				out = append(out, Repair{r.ID, r.Path, r.Title, a})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Repair) int { return b.At.Compare(a.At) })
	return out
}
