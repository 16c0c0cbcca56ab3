// Package settings reads what an operator, a team and a machine say of handrail:
// the policy for second persons and severities, protected objects, redaction rules,
// age recipients, the look of the screens, and the runbooks.
//
// A missing file is no setting. A file that is not understood whole is an error
// that names line and next move, never half a setting: a policy that cannot be read
// holds gates shut. A policy of the machine (below /etc) can only tighten one of
// the operator. No home directory is an error, not an absent policy. The formats
// are in docs/safety.md, docs/evidence.md and docs/interface.md.
package settings

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"handrail/cli/process"
	"handrail/evidence/sig"
	"handrail/session/audit"
	"handrail/session/policy"
	"handrail/steps/catalog"
	"handrail/steps/strict"
	"handrail/triage"
	"handrail/tui"
)

// PolicyFile says at which gates a second person must agree. It stands below handrail's folder of $XDG_CONFIG_HOME, and
// below that of the machine.
const PolicyFile = "policy.yaml"

// teamPolicy is what the file says. The zero policy asks for no second person.
type teamPolicy struct {
	Approvers string // file of the allowed signers
	Rules     []secondRule
	places    []tui.Place // what its labels of places mean
	by        string      // the file and line that add rules to another's approvers, "" for a policy of its own
}

// secondRule asks for a second person where all of it holds.
type secondRule struct {
	gates    []string        // kinds or classes of gates, * for all
	place    string          // label of a place, "" for any
	severity triage.Severity // this one or worse, "" for any
}

// Policies are those in force: the machine's first, which nothing of the user's can loosen, then the user's own. A file
// that is not there asks for no second person; a home that is not there is no answer.
func Policies(p *process.Program) ([]teamPolicy, error) {
	var out []teamPolicy
	for _, at := range rulesDirs(p) {
		dir, err := at.dir()
		if err != nil {
			return nil, fmt.Errorf("finding the policy: %w", err)
		}
		name := filepath.Join(dir, PolicyFile)
		pol, found, err := readPolicy(name, nil)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		out = append(out, pol)
	}
	return out, nil
}

// readPolicy reads one policy file. What its labels of places mean stands in the interface file beside it, else with
// the caller, else they are the usual ones.
func readPolicy(name string, places func() ([]tui.Place, error)) (pol teamPolicy, found bool, err error) {
	if pol, found, err = parsePolicy(name); !found || err != nil {
		return teamPolicy{}, found, err
	}
	f, err := preferencesIn(filepath.Dir(name))
	if pol.places = f.places; err == nil && pol.places == nil && places != nil {
		pol.places, err = places()
	}
	if err != nil {
		return teamPolicy{}, true, fmt.Errorf("what the places of the policy %q are cannot be told: %w", name, err)
	}
	pol.places = UsualOr(pol.places)
	return pol, true, nil
}

// allPlaces are what labels of places mean to the user and to the machine, all of it together.
func allPlaces(p *process.Program) ([]tui.Place, error) {
	own, err := Preferences(p)
	if err != nil {
		return nil, err
	}
	machine, err := machinePreferences(p)
	if err != nil {
		return nil, err
	}
	return slices.Concat(UsualOr(own.places), machine.places), nil
}

// UsualOr are the places that a file names, or those that are looked for where none does.
func UsualOr(places []tui.Place) []tui.Place {
	if places == nil {
		return tui.UsualPlaces()
	}
	return places
}

// parsePolicy reads a file; found says whether there is one.
func parsePolicy(name string) (out teamPolicy, found bool, err error) {
	var f struct {
		Approvers    string       `key:"approvers,required" hint:"a policy names approvers, a file of allowed signers, and lists gates under secondPerson"`
		SecondPerson []secondForm `key:"secondPerson,required" of:"a rule" hint:"a policy names approvers, a file of allowed signers, and lists gates under secondPerson"`
	}
	if found, err = read(name, "a policy file", "Policy", map[string]strict.Form{"gates": gates}, &f); !found || err != nil {
		return teamPolicy{}, found, err
	}
	out.Approvers = f.Approvers
	if !filepath.IsAbs(out.Approvers) {
		out.Approvers = filepath.Join(filepath.Dir(name), out.Approvers)
	}
	out.Rules = rulesOf(f.SecondPerson)
	return out, true, nil
}

// secondForm is a rule as a file has it.
type secondForm struct {
	Gates    []string        `key:"gates,required" as:"gates" hint:"list kinds or classes of gates, or \"*\" for all"`
	Place    string          `key:"place"`
	Severity triage.Severity `key:"severity" oneof:"SEV-1 SEV-2 SEV-3 SEV-4"`
}

func rulesOf(list []secondForm) []secondRule {
	var out []secondRule
	for _, rule := range list {
		out = append(out, secondRule{gates: rule.Gates, place: rule.Place, severity: rule.Severity})
	}
	return out
}

// gates reads the gates of a rule: one that names none would ask for no second person.
func gates(r *strict.Reader, n *strict.Node, what string) any {
	var out []string
	known := gateNames()
	items := r.Items(n, what)
	for _, g := range items {
		out = append(out, r.OneOf(g, "a gate", known))
	}
	if len(items) == 0 {
		r.Fail(n, `list kinds or classes of gates, or "*" for all`, "gates is empty, so the rule applies to no gate")
	}
	return out
}

// gateNames is what a rule may name: all gates, a class, a kind.
func gateNames() []string {
	out := []string{"*", string(triage.Contain), string(triage.Release), string(triage.Repair), string(triage.Rerun)}
	for _, k := range catalog.New().Kinds() {
		if k.Class.Gate() {
			out = append(out, k.Name)
		}
	}
	return out
}

// SecondPerson says whether a policy asks for a second person at a gate. What it cannot tell is an error, which
// refuses the gate; in practice none is looked for.
func SecondPerson(ctx context.Context, p *process.Program, q policy.Question) (*policy.Pair, error) {
	if q.Drill {
		return nil, nil
	}
	list, err := Policies(p)
	if err != nil {
		return nil, fmt.Errorf("whether a second person must agree cannot be told: %w", err)
	}
	for _, pol := range list {
		why, err := pol.asks(q)
		switch {
		case err != nil:
			return nil, err
		case why == "":
			continue
		}
		signers, err := pol.signers()
		if err != nil {
			return nil, err
		}
		return &policy.Pair{Why: why, Signers: signers, Own: ownKeys(ctx, p)}, nil
	}
	more, err := joint(p, q)
	if err != nil {
		return nil, fmt.Errorf("whether a second person must agree cannot be told: %w", err)
	}
	for _, pol := range more {
		why, err := pol.asks(q)
		switch {
		case err != nil:
			return nil, err
		case why == "":
			continue
		case len(list) == 0:
			return nil, fmt.Errorf("%s: %s, and no %s of yours or of the machine names approvers", pol.by, why, PolicyFile)
		}
		signers, err := list[0].signers() // the machine's, where there is one
		if err != nil {
			return nil, err
		}
		return &policy.Pair{Why: why + " (" + pol.by + ")", Signers: signers, Own: ownKeys(ctx, p)}, nil
	}
	return nil, nil
}

// signers are who may approve by a policy.
func (pol teamPolicy) signers() (*sig.Signers, error) {
	signers, err := sig.LoadSigners(pol.Approvers)
	if err != nil {
		return nil, fmt.Errorf("a second person must agree, and who may cannot be told: %w", err)
	}
	if len(signers.Approvers(1)) == 0 {
		return nil, fmt.Errorf("a second person must agree, and %q names no approver", pol.Approvers)
	}
	return signers, nil
}

// asks says in a sentence why a policy asks for a second person at a gate or to lower the severity, "" where it does
// not: practice needs no second person.
func (pol teamPolicy) asks(q policy.Question) (string, error) {
	if q.Drill {
		return "", nil
	}
	if q.To != "" {
		return pol.lowering(q), nil
	}
	for _, rule := range pol.Rules {
		if why, err := pol.concerns(rule, q); why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

// concerns says in a sentence why a rule asks for a second person at a gate, "" where it does not. A place that is not
// known is taken for the one that the rule is about.
func (pol teamPolicy) concerns(rule secondRule, q policy.Question) (string, error) {
	what := ""
	for _, name := range []string{"*", string(q.Class), q.Kind} {
		if what == "" && slices.Contains(rule.gates, name) {
			what = map[string]string{"*": "every gate", q.Kind: q.Kind, string(q.Class): "gates of class " + string(q.Class)}[name]
		}
	}
	if what == "" || rule.severity != "" && q.Severity > rule.severity { // SEV-1 is the worst
		return "", nil
	}
	out := "the policy asks two persons for " + what
	if rule.severity != "" {
		out += ", at " + string(rule.severity) + " or worse"
	}
	if rule.place == "" {
		return out, nil
	}
	is, err := pol.inPlace(rule.place, q)
	if err != nil || !is {
		return "", err
	}
	return out + ", in " + rule.place, nil
}

// inPlace reports whether a gate may be in a place: by what the incident is about and by what its target tells, all of
// it together. A target that tells nothing may be there.
func (pol teamPolicy) inPlace(label string, q policy.Question) (bool, error) {
	known := false
	for _, place := range pol.places {
		if !strings.EqualFold(place.Label, label) {
			continue
		}
		known = true
		if place.Holds(q.Header) || place.Holds(q.Target) {
			return true, nil
		}
	}
	if !known {
		return false, fmt.Errorf("the policy speaks of the place %q, and %s beside it has no such place", label, InterfaceFile)
	}
	return len(q.Target) == 0, nil
}

// Approvers are whose approvals count when a bundle is verified: the signers that were brought along, and those of the
// policy, where there is one that can be read.
func Approvers(p *process.Program, brought *sig.Signers) *sig.Signers {
	list, err := Policies(p)
	if err != nil {
		return brought
	}
	for _, pol := range list {
		if own, err := sig.LoadSigners(pol.Approvers); err == nil {
			brought = brought.With(own)
		}
	}
	return brought
}

// HoldTo is a policy that a bundle is held to: the file that the verifier names, with the places of the file beside it
// or, where there is none, of their own interface.
func HoldTo(p *process.Program, name string) (*audit.Policy, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	pol, found, err := readPolicy(name, func() ([]tui.Place, error) { own, err := Preferences(p); return own.places, err })
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("%q: %w", name, fs.ErrNotExist)
	}
	may, err := sig.LoadSigners(pol.Approvers)
	if err != nil {
		return nil, err
	}
	return &audit.Policy{Digest: digestOf(name), May: may, Asks: pol.asks}, nil
}
