package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"handrail/steps"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
	"handrail/steps/terraform/tool"
)

// read fills the facts from the file itself, which is what a gate reads, and
// holds them against what the program says of it.
func (m *planRun) read(ctx context.Context, clean bool) error {
	if err := os.Chmod(m.file, 0o600); err != nil {
		return fmt.Errorf("the plan: %w", err)
	}
	shown, err := tool.Run(ctx, m.w.Dir, m.environ, m.program.Path, "show", "-json", "-no-color", m.file)
	if err == nil && shown.Exit != 0 {
		err = errors.New(tool.FirstError(shown.Stderr))
	}
	if err != nil {
		return fmt.Errorf("showing the plan: %w", err)
	}
	// The findings are those of any plan; of the facts it has its own.
	risk := steps.NewFacts(Facts())
	if err := readPlan(shown.Stdout, look{drift: m.refresh, configMap: m.configMap}, risk, &m.obs, m.out); err != nil {
		return err
	}
	f, sum, saved, err := OpenSaved(ctx, m.file)
	if err != nil {
		m.obs.Facts = m.facts.Rest(err.Error())
		m.obs.Say(steps.Critical, "The plan was made, and no gate can apply it: %v.", err)
		return nil
	}
	defer f.Close()
	if why := Incomplete(saved, m.refresh); why != "" || saved.Doc.ActionsDigest() != risk.Got("actions_digest").Text() {
		if why == "" {
			why = "the plan file and `show -json` of it do not say the same"
		}
		m.obs.Facts = m.facts.Rest(why)
		m.obs.Say(steps.Critical, "The plan was made, and no gate can apply it: %s.", why)
		return nil
	}
	m.facts.Set("file", steps.StringOf(m.file))
	m.facts.Set("digest", steps.IdentOf(sum))
	m.facts.Set("clean", steps.BoolOf(clean))
	for _, name := range []string{"forced", "missing_moves", "found", "wanted"} {
		m.facts.Set(name, risk.Got(name))
	}
	m.counts(saved)
	m.fixed(saved)
	rc, err := saved.State(true)
	if err == nil {
		defer rc.Close()
		var d *tfstate.Doc
		if d, err = tfstate.Read(rc, tfstate.Options{Secret: m.out.Secret}); err == nil && d.HasSerial {
			m.facts.Set("serial", steps.IntOf(d.Serial))
			m.facts.Set("lineage", steps.IdentOf(d.Lineage))
		}
	}
	m.facts.Set("tool", steps.StringOf(saved.Doc.Tool))
	m.obs.Gaps = append(m.obs.Gaps, "the plan itself may hold secrets and is kept beside the bundle, until the incident closes; its digest and its redacted JSON are in it")
	m.obs.Facts = m.facts.Rest(m.without())
	return nil
}

// without is why a fact is not there.
func (m *planRun) without() string {
	if m.like == nil {
		return "no plan was named to hold it against"
	}
	return "not in the plan"
}

// fixed says what the plan fixes, and holds it against the plan that was approved.
func (m *planRun) fixed(saved *tfplan.Saved) {
	m.facts.Set("fixed", steps.StringsOf(fixedNames(Fixed(saved, m.out.Secret))))
	if m.unlike != "" { // what cannot be told may be another value
		m.facts.Set("fixed_changes", steps.StringsOf([]string{"cannot be told: " + m.unlike}))
		return
	}
	if m.like == nil {
		return
	}
	changes := FixedChanges(m.like, saved, m.out.Secret)
	m.facts.Set("fixed_changes", steps.StringsOf(fixedNames(changes)))
	for _, kv := range changes {
		m.obs.Say(steps.Warning, "Another value than in the plan that was approved: %s: %s.", kv.Key, kv.Value)
	}
}

func (m *planRun) counts(saved *tfplan.Saved) {
	d := saved.Doc
	number := func(name string, n int) { m.facts.Set(name, steps.IntOf(int64(n))) }
	number("add", d.Count[tfplan.Create]+d.Count[tfplan.ForgetReplace])
	number("change", d.Count[tfplan.Update])
	number("destroy", d.Count[tfplan.Delete])
	number("replace", d.Replaced())
	number("import", d.Imported)
	var acts, creates, doomed, drifted []string
	moved := 0
	for _, c := range d.Changes {
		if c.Act == tfplan.Read {
			continue
		}
		acts = append(acts, c.Address)
		if c.Act == tfplan.Create {
			creates = append(creates, c.Address)
		}
		if c.Act == tfplan.None && c.Previous != "" {
			moved++
		}
		if c.Act.Destroys() {
			name := c.Address
			if c.Deposed != "" {
				name += " (deposed " + c.Deposed + ")"
			}
			doomed = append(doomed, name)
		}
	}
	for _, c := range d.Drift {
		if c.Act != tfplan.None {
			drifted = append(drifted, c.Address)
		}
	}
	number("moved", moved)
	number("drifted", len(drifted))
	list := func(name string, addresses []string) {
		slices.Sort(addresses)
		m.facts.Set(name, steps.StringsOf(slices.Compact(addresses)))
	}
	list("addresses", acts)
	list("creates", creates)
	list("doomed", doomed)
	list("drift", drifted)
}

// SavedFacts are the facts of terraform/saved-plan.
func SavedFacts() []steps.Field {
	return []steps.Field{
		{Name: "file", Type: steps.String, Doc: "path of the file that keeps the plan"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the plan file"},
		{Name: "clean", Type: steps.Bool, Doc: "it would change nothing"},
		{Name: "found", Type: steps.Table, Doc: "entries of the ConfigMap of config_map as the plan found them, each key to its text"},
		{Name: "wanted", Type: steps.Table, Doc: "the same as it would leave them"},
		{Name: "add", Type: steps.Int, Doc: "objects to create"},
		{Name: "change", Type: steps.Int, Doc: "objects to change in place"},
		{Name: "destroy", Type: steps.Int, Doc: "objects to destroy"},
		{Name: "replace", Type: steps.Int, Doc: "objects to replace; not among the others"},
		{Name: "import", Type: steps.Int, Doc: "objects to import"},
		{Name: "moved", Type: steps.Int, Doc: "objects that only change their address"},
		{Name: "drifted", Type: steps.Int, Doc: "objects that differ from the record"},
		{Name: "drift", Type: steps.Strings, Doc: "their addresses, in order"},
		{Name: "addresses", Type: steps.Strings, Doc: "addresses that it would act on"},
		{Name: "creates", Type: steps.Strings, Doc: "addresses to create that exist under no name now"},
		{Name: "doomed", Type: steps.Strings, Doc: "addresses that it would destroy or replace"},
		{Name: "forced", Type: steps.Table, Doc: "address of each replacement to the attributes that force it"},
		{Name: "missing_moves", Type: steps.Table, Doc: "destroys and creates that look like one object, old address to new address"},
		{Name: "serial", Type: steps.Int, Doc: "serial of the state that it was made from"},
		{Name: "lineage", Type: steps.Ident, Doc: "lineage of that state"},
		{Name: "tool", Type: steps.String, Doc: "version of the program that made it"},
		{Name: "fixed", Type: steps.Strings, Doc: "variables with their values, the default ones too, targets, replacements, mode and workspace that it fixes"},
		{Name: "fixed_changes", Type: steps.Strings, Doc: "variables, targets, mode and backend whose value is another one than in the plan of values_of, each with both"},
	}
}
