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
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"handrail/cli/process"
	"handrail/evidence/sig"
	"handrail/session"
	"handrail/steps/catalog"
	"handrail/steps/strict"
	"handrail/triage"
	"handrail/tui"
)

// PolicyFile says at which gates a second person must agree. It stands below handrail's folder of $XDG_CONFIG_HOME, and
// below that of the machine.
const PolicyFile = "policy.yaml"

// policy is what the file says. The zero policy asks nobody.
type policy struct {
	Approvers string // file of the allowed signers
	Rules     []secondRule
	places    []tui.Place // what its labels of places mean
}

// secondRule asks for a second person where all of it holds.
type secondRule struct {
	gates    []string        // kinds or classes of gates, * for all
	place    string          // label of a place, "" for any
	severity triage.Severity // this one or worse, "" for any
}

// Policies are those in force: the machine's first, which nothing of the user's can loosen, then the user's own. A file
// that is not there asks for no second person; a home that is not there is no answer.
func Policies(p *process.Program) ([]policy, error) {
	var out []policy
	for _, at := range ruling(p) {
		dir, err := at.dir()
		if err != nil {
			return nil, fmt.Errorf("finding the policy: %w", err)
		}
		name := filepath.Join(dir, PolicyFile)
		src, err := ReadUpTo(name, strict.MaxSize+1)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the policy: %w", err)
		}
		pol, err := parsePolicy(name, src)
		if err != nil {
			return nil, err
		}
		f, err := tasteIn(dir)
		if err != nil {
			return nil, fmt.Errorf("what the places of the policy %q are cannot be told: %w", name, err)
		}
		pol.places = UsualOr(f.places)
		out = append(out, pol)
	}
	return out, nil
}

// UsualOr are the places that a file names, or those that are looked for where none does.
func UsualOr(places []tui.Place) []tui.Place {
	if places == nil {
		return tui.UsualPlaces()
	}
	return places
}

func parsePolicy(name string, src []byte) (policy, error) {
	r := &strict.Reader{File: name, What: "a policy file"}
	doc := r.Document(src)
	if doc == nil {
		return policy{}, r.Problems.Sorted()
	}
	top := r.Fields(doc, "a policy file", "apiVersion", "kind", "approvers", "secondPerson")
	for _, want := range [...]struct{ key, value string }{{"apiVersion", "handrail/v1"}, {"kind", "Policy"}} {
		if n := top[want.key]; n == nil {
			r.Fail(doc, "write "+want.key+": "+want.value, "%s is missing", want.key)
		} else {
			r.OneOf(n, want.key, []string{want.value})
		}
	}
	var out policy
	if top["approvers"] == nil || top["secondPerson"] == nil {
		r.Fail(doc, "it names approvers, a file of allowed signers, and lists gates under secondPerson", "half of a policy")
		return out, r.Problems.Sorted()
	}
	if out.Approvers = r.Text(top["approvers"], "approvers"); !filepath.IsAbs(out.Approvers) {
		out.Approvers = filepath.Join(filepath.Dir(name), out.Approvers)
	}
	known := gateNames()
	for _, item := range r.Items(top["secondPerson"], "secondPerson") {
		f := r.Fields(item, "a rule", "gates", "place", "severity")
		if f["gates"] == nil {
			r.Fail(item, `list kinds or classes of gates, or "*" for all`, "gates is missing")
			continue
		}
		var rule secondRule
		for _, g := range r.Items(f["gates"], "gates") {
			rule.gates = append(rule.gates, r.OneOf(g, "a gate", known))
		}
		if len(rule.gates) == 0 {
			r.Fail(f["gates"], `list kinds or classes of gates, or "*" for all`, "gates is empty, so that the rule asks nobody")
		}
		if n := f["place"]; n != nil {
			rule.place = r.Text(n, "place")
		}
		if n := f["severity"]; n != nil {
			rule.severity = triage.Severity(r.OneOf(n, "severity", []string{"SEV-1", "SEV-2", "SEV-3", "SEV-4"}))
		}
		out.Rules = append(out.Rules, rule)
	}
	return out, r.Problems.Sorted()
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
// refuses the gate; practice needs nobody else.
func SecondPerson(ctx context.Context, p *process.Program, q session.Sought) (*session.Pair, error) {
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
		return &session.Pair{Why: why, Signers: signers, Own: ownKeys(ctx, p)}, nil
	}
	return nil, nil
}

// signers are who may approve by a policy.
func (pol policy) signers() (*sig.Signers, error) {
	signers, err := sig.LoadSigners(pol.Approvers)
	if err != nil {
		return nil, fmt.Errorf("a second person must agree, and who may cannot be told: %w", err)
	}
	if len(signers.Approvers(1)) == 0 {
		return nil, fmt.Errorf("a second person must agree, and %q names no approver", pol.Approvers)
	}
	return signers, nil
}

// asks says in a sentence why a policy asks for a second person at a gate or to lower the severity, "" where it does not.
func (pol policy) asks(q session.Sought) (string, error) {
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
func (pol policy) concerns(rule secondRule, q session.Sought) (string, error) {
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
func (pol policy) inPlace(label string, q session.Sought) (bool, error) {
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
func HoldTo(p *process.Program, name string) (*session.Policy, error) {
	src, err := ReadUpTo(name, strict.MaxSize+1)
	if err != nil {
		return nil, err
	}
	if name, err = filepath.Abs(name); err != nil {
		return nil, err
	}
	pol, err := parsePolicy(name, src)
	if err != nil {
		return nil, err
	}
	f, err := tasteIn(filepath.Dir(name))
	if err == nil && f.places == nil {
		f, err = Taste(p)
	}
	if err != nil {
		return nil, err
	}
	pol.places = UsualOr(f.places)
	may, err := sig.LoadSigners(pol.Approvers)
	if err != nil {
		return nil, err
	}
	asks := func(q session.Sought) (string, error) {
		if q.Drill {
			return "", nil
		}
		return pol.asks(q)
	}
	return &session.Policy{Digest: digestOf(name), May: may, Asks: asks}, nil
}
