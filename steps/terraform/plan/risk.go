package plan

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/tfplan"
)

// maxSaid bounds how many findings of one sort are said one by one.
const maxSaid = 25

// massShare is from which share of its resources on a plan that destroys is
// called a mass change, given that it destroys at least massCount.
const (
	massShare = 20 // percent
	massCount = 5
)

func riskFacts() []steps.Field {
	return []steps.Field{
		{Name: "add", Type: steps.Int, Doc: "objects to create, replacements counted"},
		{Name: "change", Type: steps.Int, Doc: "objects to change in place"},
		{Name: "destroy", Type: steps.Int, Doc: "objects to destroy, replacements counted"},
		{Name: "replace", Type: steps.Int, Doc: "objects to replace"},
		{Name: "changed", Type: steps.Strings, Doc: "addresses with a change, in order"},
		{Name: "creates", Type: steps.Strings, Doc: "addresses to create that exist under no name now, in order"},
		{Name: "doomed", Type: steps.Table, Doc: "address of each destroy and replacement to its reason"},
		{Name: "forced", Type: steps.Table, Doc: "address of each replacement to the attributes that force it"},
		{Name: "guards", Type: steps.Table, Doc: "address of each destroy and replacement to the settings that protect it or its content, as its last values say; empty for none that is known"},
		{Name: "unguarded", Type: steps.Strings, Doc: "those of them without a setting that protects, in order"},
		{Name: "forget", Type: steps.Int, Doc: "objects to drop from the state and keep"},
		{Name: "imports", Type: steps.Int, Doc: "objects to adopt"},
		{Name: "moves", Type: steps.Int, Doc: "objects that go to another address"},
		{Name: "missing_moves", Type: steps.Table, Doc: "destroys and creates that look like one object, old address to new address"},
		{Name: "moved_blocks", Type: steps.String, Doc: "the moved blocks to paste for them, empty for none"},
		{Name: "ghosts", Type: steps.Strings, Doc: "recorded, gone in reality, and to be created again"},
		{Name: "label_updates", Type: steps.Strings, Doc: "updates of labels, annotations or tags alone"},
		{Name: "credential_updates", Type: steps.Strings, Doc: "updates of something sensitive"},
		{Name: "updates", Type: steps.Table, Doc: "address of each update in place to the attributes that it changes, never to what"},
		{Name: "placeholders", Type: steps.Strings, Doc: "those whose new value looks like a placeholder"},
		{Name: "drift", Type: steps.Strings, Doc: "addresses found changed outside"},
		{Name: "mass", Type: steps.Bool, Doc: "whether it destroys at least 5 objects and a fifth of what it speaks of"},
		{Name: "actions_digest", Type: steps.Ident, Doc: "SHA-256 over addresses and actions: equal for two plans that would do the same to the same"},
		{Name: "newer", Type: steps.Bool, Doc: "whether the plan holds what this handrail does not know"},
	}
}

// readPlan reads the output of `show -json`, keeps it, and fills what it says.
func readPlan(raw []byte, look look, f steps.Facts, obs *steps.Observation, out steps.Sink) error {
	d, err := tfplan.ReadJSONOf(bytes.NewReader(raw), out.Secret, look.configMap)
	if err != nil {
		return fmt.Errorf("the plan as JSON: %w", err)
	}
	if !d.Whole {
		return fmt.Errorf("the plan as JSON: %s", d.Broken)
	}
	// A warning about the CLI configuration may stand before the document.
	raw = raw[max(0, bytes.IndexByte(raw, '{')):]
	if gap := steps.Keep(out, "plan", steps.MediaPlan, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	fillRisk(d, look.drift, true, f, obs)
	look.entries(d, f)
	if f.Got("clean").Bool() {
		obs.Summary = "The plan is clean."
	}
	return nil
}

// fillRisk fills the facts of a plan; values says that it holds the values, and
// so what is only renamed.
func fillRisk(d *tfplan.Doc, refreshOnly, values bool, f steps.Facts, obs *steps.Observation) {
	r := risk{doc: d, facts: f, obs: obs, values: values}
	r.counts(refreshOnly)
	r.doomed()
	r.updates()
	r.moves()
	r.rest()
}

type risk struct {
	doc    *tfplan.Doc
	facts  steps.Facts
	obs    *steps.Observation
	values bool
}

// list sets a fact of addresses; too many are unknown, never a part of them.
func (r risk) list(name string, addresses []string) {
	slices.Sort(addresses)
	r.facts.Set(name, steps.StringsOf(addresses))
	if r.doc.Cut > 0 {
		r.facts.Unknown(fmt.Sprintf("%d changes of the plan are not listed", r.doc.Cut), name)
	}
}

func (r risk) number(name string, n int) {
	r.facts.Set(name, steps.IntOf(int64(n)))
}

func (r risk) counts(refreshOnly bool) {
	d := r.doc
	add, change, destroy, replace := d.Add(), d.Count[tfplan.Update], d.Destroyed(), d.Replaced()
	changes := d.Changes
	if refreshOnly {
		changes, add, change, destroy, replace = d.Drift, 0, 0, 0, 0
		for _, c := range changes {
			add, change = add+one(c.Act.Creates()), change+one(c.Act == tfplan.Update)
			destroy, replace = destroy+one(c.Act.Destroys()), replace+one(c.Act.Creates() && c.Act.Destroys())
		}
	}
	var changed, creates, drift []string
	for _, c := range changes {
		switch c.Act {
		case tfplan.None, tfplan.Read:
			continue
		case tfplan.Create:
			creates = append(creates, c.Address)
		}
		changed = append(changed, c.Address)
	}
	for _, c := range d.Drift {
		if c.Act != tfplan.None {
			drift = append(drift, c.Address)
		}
	}
	r.number("add", add)
	r.number("change", change)
	r.number("destroy", destroy)
	r.number("replace", replace)
	r.number("forget", d.Count[tfplan.Forget])
	r.number("imports", d.Imported)
	r.number("moves", d.Moved)
	r.list("changed", changed)
	r.list("creates", creates)
	r.list("drift", drift)
	r.facts.Set("actions_digest", steps.IdentOf(d.ActionsDigest()))
	r.facts.Set("newer", steps.BoolOf(d.Newer != ""))
	r.obs.Summary = fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", add, change, destroy)
	if destroy > 0 {
		r.obs.Say(steps.Warning, "The plan destroys %d objects.", destroy)
	}
	mass := !refreshOnly && destroy >= massCount && destroy*100 >= d.Resources*massShare
	r.facts.Set("mass", steps.BoolOf(mass))
	if mass {
		r.obs.Say(steps.Critical, "Mass change: %d of the %d instances that the plan speaks of would be destroyed. Look at the state before the configuration: a torn, empty or wrong state plans like this.", destroy, d.Resources)
	}
	if d.Newer != "" {
		r.obs.Say(steps.Critical, "Part of the plan is not understood: %s.", d.Newer)
		r.facts.Unknown(d.Newer, "actions_digest")
	}
	if d.Deferred > 0 {
		which := ""
		if len(d.Later) > 0 {
			which = " (" + prose.List(d.Later) + ")"
		}
		r.obs.Say(steps.Warning, "The tool defers %s%s: this plan leaves that to a later one, so it is not all that is to be done.", prose.Plural(d.Deferred, "change"), which)
		r.facts.Set("clean", steps.BoolOf(false))
	}
	if d.Errored {
		r.obs.Say(steps.Critical, "The plan is of a run that ended in an error: it is not whole, and cannot be applied.")
	}
}

// doomed says of each object that would end why.
func (r risk) doomed() {
	reasons, forced, guards := map[string]string{}, map[string]string{}, map[string]string{}
	var unguarded []string
	n := 0
	for _, c := range r.doc.Changes {
		if c.Act == tfplan.ForgetReplace {
			r.obs.Say(steps.Warning, "%s is created again, and the old object stays beside it, out of the state: it goes on running and costing, and nothing manages it.", c.Address)
		}
		if !c.Act.Destroys() {
			continue
		}
		why := tfplan.Reason(c)
		name := c.Address
		if c.Deposed != "" {
			name += " (deposed " + c.Deposed + ")"
		}
		reasons[name] = why
		guards[name] = strings.Join(slices.Concat(c.Held, c.Open), ", ")
		if len(c.Held) == 0 {
			unguarded = append(unguarded, name)
		}
		if len(c.Forced) > 0 {
			forced[name] = strings.Join(c.Forced, ", ")
			why += ": " + forced[name]
		}
		if n++; n <= maxSaid {
			what := "would be destroyed"
			switch c.Act {
			case tfplan.Replace:
				what = "would be destroyed, then created again"
			case tfplan.ReplaceSafer:
				what = "would be created again, then the old one destroyed"
			}
			r.obs.Say(steps.Warning, "%s %s: %s.", name, what, why)
		}
	}
	if n > maxSaid {
		r.obs.Say(steps.Warning, "%d more would be destroyed or replaced; see the fact doomed.", n-maxSaid)
	}
	r.facts.Set("doomed", steps.TableOf(reasons))
	r.facts.Set("forced", steps.TableOf(forced))
	r.facts.Set("guards", steps.TableOf(guards))
	r.list("unguarded", unguarded)
	if r.doc.Cut > 0 {
		r.facts.Unknown(fmt.Sprintf("%d changes of the plan are not listed", r.doc.Cut), "doomed", "forced", "guards")
	}
	if !r.values {
		r.facts.Unknown("a saved plan is not opened for its values; terraform/plan shows it", "guards", "unguarded")
	}
}

// updates tells the harmless from the others.
func (r risk) updates() {
	if !r.values {
		r.facts.Unknown("a saved plan is not opened for its values; give the output of `show -json` of it", "label_updates", "credential_updates", "placeholders", "updates")
		return
	}
	var labels, credentials, dummies []string
	updates := map[string]string{}
	for _, c := range r.doc.Changes {
		if c.Act == tfplan.Update {
			updates[c.Address] = strings.Join(c.Paths, ", ")
		}
		if c.Act == tfplan.Update && c.Labels {
			labels = append(labels, c.Address)
		}
		if c.Credential {
			credentials = append(credentials, c.Address)
			if c.Dummy {
				dummies = append(dummies, c.Address)
			}
		}
	}
	r.list("label_updates", labels)
	r.list("credential_updates", credentials)
	r.list("placeholders", dummies)
	r.facts.Set("updates", steps.TableOf(updates))
	if r.doc.Cut > 0 {
		r.facts.Unknown(fmt.Sprintf("%d changes of the plan are not listed", r.doc.Cut), "updates")
	}
	if n := len(labels); n > 0 {
		r.obs.Say(steps.Info, "%d updates change labels, annotations or tags alone, first %s: a controller may put back what they take.", n, labels[0])
	}
	if n := len(credentials); n > 0 {
		r.obs.Say(steps.Warning, "%d updates write something sensitive, first %s: what still uses the old value is locked out.", n, credentials[0])
	}
	if n := len(dummies); n > 0 {
		r.obs.Say(steps.Critical, "%d of them would write what looks like a placeholder over a credential, first %s.", n, dummies[0])
	}
}

func (r risk) moves() {
	r.list("ghosts", r.doc.Ghosts)
	if n := len(r.doc.Ghosts); n > 0 {
		r.obs.Say(steps.Warning, "%d objects are recorded, gone in reality and would be created again, first %s: ghosts. Ask the real API, not a provider that may cache its reads, before believing it.", n, r.doc.Ghosts[0])
	}
	if !r.values {
		r.facts.Unknown("a saved plan is not opened for its values; give the output of `show -json` of it", "missing_moves", "moved_blocks")
		return
	}
	table := map[string]string{}
	var blocks strings.Builder
	for i, m := range r.doc.Moves {
		table[m.From] = m.To
		blocks.WriteString(m.Block())
		if i >= maxSaid {
			continue
		}
		if m.Strong {
			r.obs.Say(steps.Warning, "%s and %s look like one object under a new name (%d instances): a moved block is missing, and nothing need be destroyed.", m.From, m.To, m.Count)
		} else {
			r.obs.Say(steps.Warning, "%s and %s may be one object under a new name (%d instances): nothing that is known tells them apart, so look before the moved block is pasted.", m.From, m.To, m.Count)
		}
	}
	r.facts.Set("missing_moves", steps.TableOf(table))
	r.facts.Set("moved_blocks", steps.StringOf(blocks.String()))
	if n := len(r.doc.Doubtful); n > 0 {
		r.obs.Say(steps.Info, "%d destroys fit several creates alike, first %s: only a person can say which went where.", n, r.doc.Doubtful[0])
	}
}

func (r risk) rest() {
	if n := len(r.facts.Got("drift").Strings()); n > 0 {
		r.obs.Say(steps.Info, "%d objects were changed outside, first %s.", n, r.facts.Got("drift").Strings()[0])
	}
	if n := r.doc.Count[tfplan.Forget]; n > 0 {
		r.obs.Say(steps.Warning, "%d objects would be dropped from the state and go on running unmanaged.", n)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
