package plain

import (
	"cmp"
	"context"
	"slices"

	"handrail/triage"
)

// settleDebt asks how a debt is settled, and then for what that way of settling needs.
func (d *Dialogue) settleDebt(ctx context.Context, in *triage.Intent, o triage.Option) (err error) {
	in.Debt.Debt = o.Subject
	if in.Debt.How, err = d.must(ctx, "paid, carried or waived> "); err != nil {
		return err
	}
	switch in.Debt.How {
	case "paid":
		in.Debt.Proof, err = d.payment(ctx, o.Subject)
	case "carried":
		if in.Debt.Owner, err = d.must(ctx, "owner> "); err == nil {
			in.Debt.Until, err = d.must(ctx, "until (2006-01-02)> ")
		}
	default:
		if in.Debt.Person, err = d.must(ctx, "who waives it> "); err == nil {
			in.Debt.Why, err = d.must(ctx, "why> ")
		}
	}
	return err
}

// payment asks for what shows that a debt is paid; an empty line takes what the step that pays it gave.
func (d *Dialogue) payment(ctx context.Context, id string) (string, error) {
	st := d.S.Snapshot().State
	if i := slices.IndexFunc(st.Debts, func(debt triage.Debt) bool { return debt.ID == id }); i >= 0 {
		if given := st.PaidBy(st.Debts[i]); given != "" {
			d.sayf("      given before: %s", given)
			proof, err := d.read(ctx, "proof (enter takes what was given)> ")
			return cmp.Or(proof, given), err
		}
	}
	return d.must(ctx, "proof (commit or merged PR)> ")
}
