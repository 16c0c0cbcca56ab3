package store

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/store/iam"
	"handrail/steps/transport"
)

const (
	keyStore  = "store"
	keyBucket = "bucket"
	keyLive   = "live policy SHA-256"
	keyWanted = "policy SHA-256"
	keyStands = "statement that is replaced"
)

// policyWriter is the gate that replaces one Deny of the policy of a bucket.
type policyWriter struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

type policyArgs struct {
	at     place
	bucket string
	wanted document
	order  order
}

// Preview implements steps.Gater.
func (g policyWriter) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	var obs steps.Observation
	who, err := peopleOf(g.env, in, out, &obs)
	if err != nil {
		return steps.Preview{}, err
	}
	raw, err := readPolicy(steps.Below(g.env.Dir, in.Text("policy")))
	if err != nil {
		return steps.Preview{}, fmt.Errorf("policy: %w", err)
	}
	wanted, err := parseDocument(raw)
	if err != nil {
		return steps.Preview{}, fmt.Errorf("policy: %w", err)
	}
	to, err := placeOf(ctx, g.env, g.roots, in.Text("profile"), out)
	if err != nil {
		return steps.Preview{}, err
	}
	bucket := in.Text("bucket")
	now, found, err := g.read(ctx, to, bucket)
	if err != nil {
		return steps.Preview{}, err
	}
	if !found {
		return steps.Preview{}, fmt.Errorf("%s has no policy, so that no statement of it can be replaced", bucket)
	}
	live, err := parseDocument(now)
	if err != nil {
		return steps.Preview{}, fmt.Errorf("policy of %s: %w", bucket, err)
	}
	if gap := steps.Keep(out, "policy-before", steps.MediaJSON, func(w io.Writer) error { _, err := w.Write(live.raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	if gap := steps.Keep(out, "policy-wanted", steps.MediaJSON, func(w io.Writer) error { _, err := w.Write(wanted.raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	o := order{path: "/" + bucket, query: "policy=", media: "application/json", body: wanted.raw}
	p := steps.Preview{
		Target: []steps.KV{{Key: keyStore, Value: to.server.String()}, {Key: keyBucket, Value: bucket}, {Key: keyLive, Value: live.digest()},
			{Key: keyWanted, Value: meaning(wanted)}, {Key: keyStands, Value: in.Text("replaces")}},
		Shown:   []steps.KV{{Key: "as", Value: to.as}},
		Request: o.String(),
		Command: to.command("put-bucket-policy --bucket " + steps.Quote(bucket) + " --policy " + steps.Quote("file://"+in.Text("policy"))),
		Phrase:  steps.Phrase("write store", "policy/"+bucket),
		Undo:    "Write the policy from before again. It is in the evidence as policy-before.",
		Prior:   &steps.Prior{Media: steps.MediaJSON, Raw: live.raw, Back: to.command("put-bucket-policy --bucket " + steps.Quote(bucket) + " --policy file:///dev/stdin")},
		Args:    policyArgs{to, bucket, wanted, o},
	}
	for _, gap := range obs.Gaps {
		p.Unmet = append(p.Unmet, steps.Need{Why: "The evidence lacks a part: " + gap, Cure: "see why, then look again"})
	}
	at := g.shape(in, live, wanted, &p)
	if at >= 0 {
		p.Diff = changed(live.statements[at], wanted.statements[at])
	}
	if err := g.decisions(ctx, in, who, live, wanted, &p); err != nil {
		return steps.Preview{}, err
	}
	return p, nil
}

func (g policyWriter) read(ctx context.Context, to place, bucket string) ([]byte, bool, error) {
	client, done := to.reader()
	defer done()
	raw, found, err := to.policyNow(ctx, client, bucket)
	if stop := ctx.Err(); stop != nil {
		return nil, false, stop
	}
	return raw, found, err
}

// meaning is the SHA-256 of a document as it is read: a store may give it back with other blanks, or a list of one as a text.
func meaning(d document) string {
	type statement struct {
		iam.Statement
		Conditions []string
	}
	var all []statement
	for _, s := range d.policy.Statements {
		out := statement{Statement: s}
		out.Principals = slices.Sorted(slices.Values(s.Principals))
		for _, c := range s.Conditions {
			raw, _ := json.Marshal(c) // texts always marshal
			out.Conditions = append(out.Conditions, string(raw))
		}
		slices.Sort(out.Conditions)
		all = append(all, out)
	}
	raw, _ := json.Marshal(all)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// shape are the floors of what may be replaced by what. It returns the place of the statement, -1 where there is none.
func (g policyWriter) shape(in steps.Params, live, wanted document, p *steps.Preview) int {
	need := func(of, cure, why string, args ...any) {
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf(why, args...), Cure: cure, Of: of})
	}
	if d := in.Text("digest"); d != live.digest() {
		need("digest", "read the policy again, and see what changed", "The live policy is another than the one that was read (SHA-256 %s, and %s was read).", live.digest()[:12], steps.Clip(d, 12))
	}
	at, err := live.find(in.Text("replaces"))
	if err != nil {
		need("replaces", "name it as store/policies lists it", "%s", capital(err.Error())+".")
		return -1
	}
	if len(wanted.statements) != len(live.statements) {
		need("policy", "change the one statement, and leave the others", "The live policy has %d statements, and the new one %d: one statement is replaced, none is added or taken away.", len(live.statements), len(wanted.statements))
		return -1
	}
	for i := range live.statements {
		if i != at && !same(live.statements[i], wanted.statements[i]) {
			need("policy", "leave it as it is: each statement is a change of its own", "Statement %s is changed as well, and %s alone is to be.", live.name(i), live.name(at))
		}
	}
	if !maps.EqualFunc(live.rest, wanted.rest, func(a, b json.RawMessage) bool { return same(a, b) }) {
		need("policy", "leave Version and Id as they are", "What stands beside the statements is changed as well.")
	}
	was, is := live.policy.Statements[at], wanted.policy.Statements[at]
	switch {
	case !was.Deny:
		need("replaces", "change an Allow through its repository", "Statement %s allows. This gate replaces a Deny alone.", live.name(at))
	case !is.Deny:
		need("policy", "write a Deny that names whom it denies", "The new statement allows: what was denied by mistake is put right by a Deny that names whom it means.")
	case is.Inverted() || is.NotWho:
		need("policy", "write a Deny with Principal", "The new statement denies all but those that it names (%s), as the one did that it replaces.", strings.Join(is.Spares(), ", "))
	case len(is.Principals) == 0 || slices.Contains(is.Principals, "*"):
		need("policy", "name whom it denies", "The new statement denies all.")
	case len(is.Conditions) > 0:
		need("policy", "leave the condition away, or review it in the repository", "The new statement denies under a condition alone, which the decisions below may not tell.")
	}
	return at
}

// decisions shows what each identity may do before and after, and holds it to what was asked for.
func (g policyWriter) decisions(ctx context.Context, in steps.Params, who people, live, wanted document, p *steps.Preview) error {
	need := func(of, cure, why string, args ...any) {
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf(why, args...), Cure: cure, Of: of})
	}
	action, resource := in.Text("action"), resourceOf(in)
	was, err := who.effects(ctx, action, resource, &live.policy)
	if err != nil {
		return err
	}
	is, err := who.effects(ctx, action, resource, &wanted.policy)
	if err != nil {
		return err
	}
	for _, name := range who.names {
		p.Shown = append(p.Shown, steps.KV{Key: action + " by " + name, Value: fmt.Sprintf("%s, then %s (%s)", was.is[name], is.is[name], is.by[name])})
	}
	for _, line := range is.open {
		need("", "save the policies of the identity, or give context", "What the new policy does is not known for all: %s.", line)
	}
	writer, intended := in.Text("writer"), in.Text("intended")
	if writer == "" {
		need("writer", "name the identity that has to write", "No writer is named, so that it cannot be seen that this helps.")
	} else if is.is[writer] != string(iam.Allow) {
		need("policy", "read which statement decides", "%s still may not do %s: %s.", writer, action, is.by[writer])
	}
	keep := listed(in.Text("keep"))
	if intended != "" {
		keep = append(keep, intended)
	}
	for _, name := range keep {
		effect, evaluated := is.is[name]
		if !evaluated {
			need("keep", "name it among identities", "%s is to stay denied, and is none of the identities that are evaluated.", name)
		} else if effect != string(iam.Deny) && effect != string(iam.None) {
			need("policy", "deny it by name", "%s is to stay denied, and would get %s by %s.", name, effect, is.by[name])
		}
	}
	// What the old statement denied to others comes back to them: it is said, and nothing beyond it.
	_, won := turned(was.is, is.is, who.names)
	others := slices.DeleteFunc(slices.Clone(won), func(name string) bool { return name == writer })
	p.Effect = fmt.Sprintf("replace statement %s of the policy of %s. %s may do %s then", in.Text("replaces"), in.Text("bucket"), orNone(writer), action)
	if len(others) > 0 {
		p.Effect += ", and so may " + strings.Join(others, ", ")
	}
	p.Effect += ". Identities that are not listed here get back what that statement alone denied them."
	return nil
}

func orNone(name string) string {
	if name == "" {
		return "No writer that is named"
	}
	return name
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// changed are the lines of a statement before and after.
func changed(was, is json.RawMessage) (lines []string) {
	for _, line := range pretty(was) {
		lines = append(lines, "- "+line)
	}
	for _, line := range pretty(is) {
		lines = append(lines, "+ "+line)
	}
	return lines
}

// Act implements steps.Gater.
func (g policyWriter) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	args, err := steps.ArgsOf[policyArgs](p)
	if err != nil {
		return steps.Outcome{}, err
	}
	out.Secret(args.at.who.SecretAccessKey)
	return transport.Settled(args.at.send(ctx, args.order), func() (steps.Outcome, error) { return g.look(ctx, args.at, args.bucket, meaning(args.wanted), out) })
}

// look reads the policy again.
func (g policyWriter) look(ctx context.Context, to place, bucket, wanted string, out steps.Sink) (steps.Outcome, error) {
	o := steps.Outcome{Result: steps.Failed}
	raw, found, err := g.read(ctx, to, bucket)
	if err != nil {
		return o, err
	}
	if !found {
		o.Response, o.After = bucket+" has no policy.", []steps.KV{{Key: keyBucket, Value: bucket}}
		return o, nil
	}
	now, err := parseDocument(raw)
	if err != nil {
		return o, fmt.Errorf("policy of %s: %w", bucket, err)
	}
	if gap := steps.Keep(out, "policy-after", steps.MediaJSON, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		out.Line(gap)
	}
	o.After = []steps.KV{{Key: keyBucket, Value: bucket}, {Key: keyLive, Value: now.digest()}, {Key: keyWanted, Value: meaning(now)}}
	if meaning(now) != wanted {
		o.Response = "The live policy of " + bucket + " is not the one that was approved."
		return o, nil
	}
	o.Result, o.Response = steps.Done, "The live policy of "+bucket+" is the one that was approved."
	return o, nil
}

// Find implements steps.Finder.
func (g policyWriter) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	wanted := steps.Find(before, keyWanted)
	if wanted == "" {
		return steps.Outcome{}, errors.New("the journal does not name the policy")
	}
	to, err := placeOf(ctx, g.env, g.roots, in.Text("profile"), out)
	if err != nil {
		return steps.Outcome{}, err
	}
	if at := steps.Find(before, keyStore); at != to.server.String() {
		return steps.Outcome{}, fmt.Errorf("the act was on %s, and the environment names %s", at, to.server)
	}
	return g.look(ctx, to, in.Text("bucket"), wanted, out)
}
