package change

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/object"
	"handrail/steps/kube/patch"
)

// alterGate changes fields of one object by one JSON patch. What it changes, and
// on which terms, each kind plans by itself.
type alterGate struct {
	env  steps.Env
	verb string // of the phrase
	plan func(context.Context, *alterPlan) error
	find act.Judge
	sub  string // subresource that the patch goes to, with its slash
	then Follow // follows what was begun; nil where the patch is all
}

// alterPlan is what a kind of gate knows when it says what it would change, and
// where it says so.
type alterPlan struct {
	*subject
	floors
	in  steps.Params
	out steps.Sink
	doc map[string]any // the object
	p   *steps.Preview
	ops []patch.Op // what is to be changed

	oneWay bool // putting the fields back would not undo it
}

// show adds what is worth seeing.
func (pl *alterPlan) show(key, format string, args ...any) {
	pl.p.Shown = append(pl.p.Shown, steps.KV{Key: key, Value: fmt.Sprintf(format, args...)})
}

// Preview implements steps.Gater.
func (g alterGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	return unmoved(ctx, in, func() (steps.Preview, error) { return g.preview(ctx, in, out) })
}

func (g alterGate) preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	s, err := look(ctx, g.env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	p := steps.Preview{Target: s.identity(), Shown: s.beside(), Phrase: steps.Phrase(g.verb, s.t.String())}
	f := floors{&p.Unmet}
	f.identity(s, in.Text("uid"))
	if s.absent {
		return p, nil
	}
	if s.deleted() {
		f.unmet("let it go, or find what holds it: its finalizers, or its node", "%s is being deleted, since %s.", s.t, act.Stamp(s.o.GetDeletionTimestamp()))
	}
	f.managed(s)
	f.leased(s)
	pl := &alterPlan{subject: s, floors: f, in: in, out: out, p: &p}
	if pl.doc, err = patch.Decode(s.o.Raw); err != nil {
		return p, err
	}
	still, err := act.ContentBut(s.o, s.t.Resource)
	if err != nil {
		return p, err
	}
	pl.show(act.KeyRest, "%s", still)
	if err := pl.inOrder(ctx); err != nil {
		return p, err
	}
	if err := g.plan(ctx, pl); err != nil {
		return p, err
	}
	if len(pl.ops) == 0 {
		return p, s.company(ctx, &p)
	}
	ops, tests, err := patch.Resolve(pl.doc, pl.ops)
	if err != nil {
		f.unfit("read the object again, and write the patch for what it holds", "The patch does not fit %s: %v.", s.t, err)
		return p, s.company(ctx, &p)
	}
	if err := pl.promise(ops, g.sub); err != nil {
		return p, err
	}
	if err := s.company(ctx, &p); err != nil {
		return p, err
	}
	return p, g.rehearse(ctx, pl, act.Alteration{Sub: g.sub, Ops: ops, Tests: shownTests(pl.doc, tests, g.sub)}, out)
}

// promise writes what is to be changed into what is confirmed, and how it is
// undone.
func (pl *alterPlan) promise(ops []patch.Op, sub string) error {
	text, err := patch.Encode(ops)
	if err != nil {
		return err
	}
	pl.p.Target = append(pl.p.Target, steps.KV{Key: act.KeyPatch, Value: text})
	if gone := act.Removals(pl.doc, ops); len(gone) > 0 {
		text, err := patch.Encode(gone)
		if err != nil {
			return err
		}
		pl.p.Target = append(pl.p.Target, steps.KV{Key: act.KeyRemoved, Value: text})
	}
	back, err := patch.Inverse(pl.doc, ops)
	if err != nil {
		pl.unfit("read the object again, and write the patch for what it holds", "The patch does not fit %s: %v.", pl.t, err)
		return nil
	}
	undo, err := patch.Encode(back)
	if err != nil {
		return err
	}
	if !pl.oneWay && !slices.ContainsFunc(back, func(op patch.Op) bool { return tellsSecret(pl.doc, op) }) {
		pl.p.Undo = strings.TrimSpace("Can be put back: " + pl.typed(sub, undo) + " " + pl.p.Undo)
	}
	if pl.p.Prior, err = pl.prior(); err != nil {
		return err
	}
	// What it writes over is the whole object: the patch back is the narrower way,
	// so the act may do without a copy.
	pl.p.Prior.Back, pl.p.Prior.Optional = pl.c.Kubectl("", "replace", "-f", "-"), true
	return nil
}

// typed is the patch as a person types it.
func (s *subject) typed(sub, ops string) string {
	args := []string{"patch", s.t.Resource.String(), s.t.Name}
	if sub != "" {
		args = append(args, "--subresource="+strings.TrimPrefix(sub, "/"))
	}
	return s.c.Kubectl(s.t.Namespace, append(args, "--type=json", "--field-manager="+cluster.FieldManager, "-p", ops)...)
}

// rehearse writes the request into the preview, and what the server says it
// would change.
func (g alterGate) rehearse(ctx context.Context, pl *alterPlan, a act.Alteration, out steps.Sink) error {
	path, uid, now := pl.t.Path(pl.t.Namespace, pl.t.Name), string(pl.o.GetUID()), pl.c.Env.Now()
	shown, err := a.Request(path, uid, act.Later, time.Time{})
	if err != nil {
		return err
	}
	typed, err := a.Request(path, uid, "", time.Time{})
	if err != nil {
		return err
	}
	pl.p.Request, pl.p.Args = shown.Text(), a
	pl.p.Command = pl.typed(a.Sub, string(typed.Body))
	pl.show(act.KeyTyped, act.TypedTests)
	var live []byte
	if a.Sub != "" && pl.clear() {
		if live, err = pl.c.Read(ctx, path+a.Sub, cluster.AsJSON, nil); err != nil {
			return fmt.Errorf("%s: its subresource %s: %w", pl.t, strings.TrimPrefix(a.Sub, "/"), err)
		}
	}
	said, went, err := pl.tryOut(ctx, func(version string) (act.Request, error) { return a.Request(path, uid, version, now) }, pl.p, out)
	if err != nil || !went {
		pl.immovable()
		return err
	}
	if a.Sub == "" {
		live = pl.o.Raw
	}
	if err := pl.compare(live, said, a); err != nil {
		return err
	}
	for i, line := range pl.p.Diff {
		pl.p.Diff[i] = a.Placed(line, now)
	}
	return nil
}

// compare says what the rehearsal would change, and refuses where the server
// would not do what it is asked for.
func (pl *alterPlan) compare(live []byte, said act.Answer, a act.Alteration) error {
	changed, err := object.Diff(live, said.Body)
	if err != nil {
		return err
	}
	pl.p.Diff = changed.Lines(object.IsSecret(pl.t.Resource))
	o := act.Order{Ops: a.Ops, Removed: act.Removals(pl.doc, a.Ops)}
	if lacks := o.Lacking(said.Body); len(lacks) > 0 {
		pl.unmet("find the mutating webhook or admission policy that does it (managedFields would name you, not it), and deal with that first",
			"In the rehearsal the server took the request and put something else in its place: %s.", strings.Join(lacks, "; "))
	} else if len(changed) == 0 {
		pl.unmet("nothing: it is so already", "The request would change nothing of %s.", pl.t)
	}
	var beside []string
	for _, c := range changed {
		if !slices.ContainsFunc(a.Ops, func(op patch.Op) bool { return belongs(c.Path, op.Path) }) {
			beside = append(beside, c.Path)
		}
	}
	if len(beside) > 0 {
		pl.show("also changes", "%s: by the server's own rules, or by an admission webhook or policy", steps.Clip(strings.Join(beside, ", "), 400))
	}
	return nil
}

// belongs reports whether a path of a diff is about what an operation is about.
func belongs(path, pointer string) bool {
	segs, err := patch.Split(pointer)
	if err != nil {
		return false
	}
	at := ""
	for i, seg := range segs {
		if i > 0 && (seg == "-" || strings.Trim(seg, "0123456789") == "") {
			// An item that comes or goes moves the others.
			return path == at || strings.HasPrefix(path, at+"[")
		}
		at = object.FieldPath(at, seg)
	}
	return path == at || strings.HasPrefix(path, at+".") || strings.HasPrefix(path, at+"[") || strings.HasPrefix(at, path+".") || strings.HasPrefix(at, path+"[")
}

// immovable adds the cure to a rehearsal that was refused because a field can
// never be changed.
func (pl *alterPlan) immovable() {
	for i, n := range *pl.need {
		for _, words := range []string{"field is immutable", "cannot change roleRef", "updates to statefulset spec for fields other", "spec is immutable after creation"} {
			if strings.Contains(n.Why, words) {
				(*pl.need)[i].Cure = "the field can never be changed: kube/recreate deletes the object and makes it again with another value"
			}
		}
	}
}

// shownTests leaves out the tests that would write a secret into the record, and
// those of what a subresource leaves out: the version holds for all of them.
func shownTests(doc map[string]any, tests []patch.Op, sub string) []patch.Op {
	return slices.DeleteFunc(slices.Clone(tests), func(op patch.Op) bool {
		return tellsSecret(doc, op) || sub != "" && act.Vacant(op.Value)
	})
}

// Act implements steps.Gater.
func (g alterGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	done, err := g.send(ctx, p, out)
	if err != nil || done.Result != steps.Done || g.then == nil {
		return done, err
	}
	return g.then(ctx, g.env, p, done, out)
}

// send sends the one patch of an approved preview.
func (g alterGate) send(ctx context.Context, p steps.Preview, out steps.Sink) (steps.Outcome, error) {
	alter, err := steps.ArgsOf[act.Alteration](p)
	if err != nil {
		return act.Unsent(err.Error()), nil
	}
	return act.Send(ctx, g.env, p, func(o *act.Order) (sent, shown act.Request, err error) {
		return alter.Approved(p, *o, g.env.Now())
	}, g.find, out)
}

// Find implements steps.Finder.
func (g alterGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return act.Find(ctx, g.env, before, g.find, out)
}

// Again implements steps.Rereader.
func (g alterGate) Again(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	return act.Reread(ctx, g.env, before, nil, act.Stands(g.find), out)
}

// Plan is what a gate of another room plans its change with: what was read of the one
// object, and where to say what would be done.
type Plan struct{ pl *alterPlan }

// Follow waits for the end of what an act began, and says what it came to. done is what
// the act itself came to.
type Follow func(ctx context.Context, env steps.Env, p steps.Preview, done steps.Outcome, out steps.Sink) (steps.Outcome, error)

// Alter makes a gate that changes fields of one object, as plan says, on all the terms of
// the gates here. verb begins its phrase, judge says what it came to, and then, where it is
// not nil, follows what it began.
func Alter(env steps.Env, verb string, plan func(context.Context, Plan) error, judge act.Judge, then Follow) steps.Gater {
	return alterGate{env: env, verb: verb, plan: func(ctx context.Context, pl *alterPlan) error { return plan(ctx, Plan{pl}) }, find: judge, then: then}
}

// Client reads the cluster of the object.
func (p Plan) Client() *cluster.Client { return p.pl.c }

// Target is the object, by name.
func (p Plan) Target() cluster.Target { return p.pl.t }

// Object is the object as it was read.
func (p Plan) Object() cluster.Object { return p.pl.o }

// Params are those of the step.
func (p Plan) Params() steps.Params { return p.pl.in }

// Sink keeps what the plan reads.
func (p Plan) Sink() steps.Sink { return p.pl.out }

// Unmet adds a floor that does not hold, and what would meet it.
func (p Plan) Unmet(cure, why string, args ...any) { p.pl.unmet(cure, why, args...) }

// Show adds what is worth seeing and free to change.
func (p Plan) Show(key, format string, args ...any) { p.pl.show(key, format, args...) }

// Hold adds what must not move between preview and act.
func (p Plan) Hold(key, value string) {
	p.pl.p.Target = append(p.pl.p.Target, steps.KV{Key: key, Value: value})
}

// Change says what is written, and the consequence of it. undo is how it is taken back
// where putting the fields back would not do.
func (p Plan) Change(effect, undo string, ops ...patch.Op) {
	p.pl.ops, p.pl.p.Effect = ops, effect
	if undo != "" {
		p.pl.oneWay, p.pl.p.Undo = true, undo
	}
}

// Name puts another target than the object's name behind the verb of the phrase.
func (p Plan) Name(verb, target string) { p.pl.p.Phrase = steps.Phrase(verb, target) }
