package change

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/object"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
	"handrail/steps/kube/stuck"
)

// recreateGate deletes one object and makes it again with another value of what
// can never be changed.
type recreateGate struct{ env steps.Env }

// recreatable are the kinds of which nothing but the object itself is lost
// between the two halves.
func recreatable(r cluster.Resource) bool {
	return slices.Contains([]string{
		"rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
		"persistentvolumeclaims", "configmaps", "jobs.batch", "storageclasses.storage.k8s.io",
	}, r.String())
}

// Preview implements steps.Gater.
func (g recreateGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	return unmoved(ctx, in, func() (steps.Preview, error) { return g.preview(ctx, in, out) })
}

func (g recreateGate) preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	s, err := look(ctx, g.env, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	p := steps.Preview{Target: s.identity(), Shown: s.beside(), Phrase: steps.Phrase("recreate", s.t.String())}
	f := floors{&p.Unmet}
	f.identity(s, in.Text("uid"))
	if s.absent {
		return p, nil
	}
	pl := &alterPlan{subject: s, floors: f, in: in, out: out, p: &p}
	if pl.doc, err = patch.Decode(s.o.Raw); err != nil {
		return p, err
	}
	f.deletable(s)
	f.managed(s)
	f.leased(s)
	if err := f.unheld(ctx, s); err != nil {
		return p, err
	}
	if err := pl.replaceable(ctx); err != nil {
		return p, err
	}
	if err := pl.inOrder(ctx); err != nil {
		return p, err
	}
	ops, err := pl.recreateOps()
	if err != nil {
		return p, err
	}
	if err := s.company(ctx, &p); err != nil {
		return p, err
	}
	p.Effect = fmt.Sprintf("delete %s and make it again, changed, under a new UID. Between the two it is not there: what needs it in that moment fails.", s.t)
	p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("what %s is made from must say the same, or the next apply fails on it again", s.t)}}
	if p.Prior, err = s.prior(); err != nil {
		return p, err
	}
	p.Undo = "Where the second half fails, the old content is put back at once, under a new UID. Later it can be recreated with the old value in the same way."
	if len(ops) == 0 || !f.clear() {
		return p, nil
	}
	return p, pl.rehearseRecreate(ctx, ops)
}

// replaceable: the object is one of which nothing is lost, and it is not in use.
func (pl *alterPlan) replaceable(ctx context.Context) error {
	if !recreatable(pl.t.Resource) {
		pl.unmet("kube/delete and kube/create take the two halves apart; look first at what goes with it", "%s is of a kind that is not recreated here.", pl.t)
		return nil
	}
	if pl.t.Kind == "PersistentVolumeClaim" {
		return pl.unbound(ctx)
	}
	b, err := stuck.Children(ctx, pl.c, pl.t, pl.o, pl.subject.marks)
	if err != nil {
		return err
	}
	if len(b.Names) > 0 {
		pl.unmet("let them end, or deal with them one by one", "%s owns %s, which would go with it.", pl.t, steps.Clip(strings.Join(b.Names, ", "), 300))
	}
	if why := b.Unread(); why != "" {
		pl.show("what it owns", "nothing that was seen; not known: %s", steps.Clip(why, 300))
	}
	if why := b.Lacks("pods"); why != "" && pl.t.Kind == "Job" {
		pl.unmet("ask for the right to list Pods, or ask someone who has it", "Whether Pods would go with %s is not known: %s.", pl.t, steps.Clip(why, 300))
	}
	if n, _, _ := unstructured.NestedInt64(pl.o.Object, "status", "active"); n > 0 {
		pl.unmet("let it end, or pause it first", "%s is running: %d Pods are active.", pl.t, n)
	}
	return nil
}

// unbound: the claim never had a volume, and no Pod that a node knows uses it.
func (pl *alterPlan) unbound(ctx context.Context) error {
	phase, _, _ := unstructured.NestedString(pl.o.Object, "status", "phase")
	volume, _, _ := unstructured.NestedString(pl.o.Object, "spec", "volumeName")
	if phase != "Pending" || volume != "" {
		pl.unmet("copy its data to a new claim of another name, and let the workload use that",
			"%s is not just waiting (phase %s, volume %s): its data could go with it.", pl.t, report.OrNothing(phase), report.OrNothing(steps.Clip(volume, 100)))
	}
	var users, waiting []string
	err := pl.c.List(ctx, cluster.Pods().Path(pl.t.Namespace, ""), cluster.AsJSON, nil, func(pod cluster.Object) {
		volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
		for _, v := range volumes {
			claim, _ := patch.Get(v, "/persistentVolumeClaim/claimName")
			if claim != pl.t.Name {
				continue
			}
			if node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName"); node != "" {
				users = append(users, pod.GetName())
			} else {
				waiting = append(waiting, pod.GetName())
			}
			return
		}
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		pl.unmet("ask for the right to list Pods, or ask someone who has it", "Whether a Pod uses %s is not known: %v.", pl.t, err)
	case len(users) > 0:
		pl.unmet("let them end first", "Pods that a node knows use %s: %s.", pl.t, steps.Clip(strings.Join(users, ", "), 300))
	}
	if len(waiting) > 0 {
		pl.show("waits for it", "pod/%s", steps.Clip(strings.Join(waiting, ", pod/"), 300))
	}
	return nil
}

// recreateOps reads the patch, of which one operation at least must be about what
// can never be changed: for the rest kube/patch is the smaller act.
func (pl *alterPlan) recreateOps() ([]patch.Op, error) {
	ops, err := patch.Parse(pl.in.Text("patch"))
	if err != nil {
		return nil, err
	}
	fixed, _ := pl.doc["immutable"].(bool)
	resolved, _, err := patch.Resolve(pl.doc, ops)
	if err != nil {
		pl.unfit("read the object again, and write the patch for what it holds", "The patch does not fit %s: %v.", pl.t, err)
		return nil, nil
	}
	for _, op := range resolved {
		segs, err := patch.Split(op.Path)
		if err != nil {
			return nil, err
		}
		switch why, cure := closed(pl.t.Resource, segs); {
		case why == "" && (segs[0] == "data" || segs[0] == "binaryData" || segs[0] == "immutable"):
		case why == "":
		case strings.HasPrefix(cure, "kube/recreate"):
			fixed = true
		default:
			pl.unfit(cure, "%s is not changed here: %s.", op.Path, why)
		}
	}
	if err := pl.weakens(pl.doc, resolved); err != nil {
		return nil, err
	}
	if !fixed {
		pl.unmet("use kube/patch, which leaves the object where it is", "All that the patch is about can be changed without deleting %s.", pl.t)
	}
	return resolved, nil
}

// madeByControllers are annotations by which the control plane tells what it did
// with a claim; the new one must be handled anew.
func madeByControllers() []string {
	return []string{"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/storage-provisioner",
		"volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/selected-node"}
}

// halves are the object as it was and as it shall be, each in the form in which
// it can be made.
func (pl *alterPlan) halves(ops []patch.Op) (old, changed manifest, err error) {
	if old, err = patch.Decode(pl.p.Prior.Raw); err != nil {
		return nil, nil, err
	}
	m, err := patch.Apply(old, ops)
	if err != nil {
		return nil, nil, err
	}
	if notes, ok := patch.Get(m, "/metadata/annotations"); ok && pl.t.Kind == "PersistentVolumeClaim" {
		set, _ := notes.(map[string]any)
		for _, key := range madeByControllers() {
			if _, is := set[key]; is {
				if m, err = patch.Apply(m, []patch.Op{{Op: patch.Remove, Path: patch.Join([]string{"metadata", "annotations", key})}}); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return old, m, nil
}

func (pl *alterPlan) rehearseRecreate(ctx context.Context, ops []patch.Op) error {
	old, changed, err := pl.halves(ops)
	if err != nil {
		pl.unfit("read the object again, and write the patch for what it holds", "The patch does not fit %s: %v.", pl.t, err)
		return nil
	}
	if holdsSecret(map[string]any(old), 0) || holdsSecret(map[string]any(changed), 0) {
		pl.unmet("make it again with the tool that keeps your secrets", "%s holds what looks like a secret, and would stand in the record of the incident.", pl.t)
		return nil
	}
	text, err := patch.Encode(ops)
	if err != nil {
		return err
	}
	pl.p.Target = append(pl.p.Target, steps.KV{Key: act.KeyPatch, Value: text})
	for role, m := range map[string]manifest{"template": old, "replacement": changed} {
		raw, err := act.Compact(map[string]any(m))
		if err != nil {
			return err
		}
		if gap := steps.Keep(pl.out, role, steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
			return fmt.Errorf("%s: %s; nothing is deleted without its template", pl.t, gap)
		}
	}
	path, uid := pl.t.Path(pl.t.Namespace, pl.t.Name), string(pl.o.GetUID())
	shown, err := act.DeleteRequest(path, uid, act.Later)
	if err != nil {
		return err
	}
	typed, err := act.DeleteRequest(path, uid, "")
	if err != nil {
		return err
	}
	second, err := makeRequest(collectionOf(path), changed)
	if err != nil {
		return err
	}
	back, err := makeRequest(collectionOf(path), old)
	if err != nil {
		return err
	}
	pl.p.Request, pl.p.Args = recreateText(shown, second, back), recreation{old: old, changed: changed}
	pl.p.Command = fmt.Sprintf("echo %s | %s && echo %s | %s", steps.Quote(string(typed.Body)), pl.c.Kubectl("", "delete", "--raw", path, "-f", "-"),
		steps.Quote(string(second.Body)), pl.c.Kubectl("", "create", "--field-manager="+cluster.FieldManager, "-f", "-"))
	pl.show(act.KeyTyped, act.TypedTests)
	if _, went, err := pl.tryOut(ctx, func(version string) (act.Request, error) { return act.DeleteRequest(path, uid, version, "All") }, pl.p, pl.out); err != nil || !went {
		return err
	}
	return pl.rehearseHalves(ctx, old, changed)
}

// recreateText is how the requests of a recreate are shown, in the order in which
// they are sent.
func recreateText(first, second, back act.Request) string {
	return first.Text() + "\n" + second.Text() + "\n" + onlyThen + back.Text()
}

const onlyThen = "and only where that is refused: "

// rehearseHalves lets the server judge both contents under a name of their own:
// under the right one it would only say that the object is there.
func (pl *alterPlan) rehearseHalves(ctx context.Context, old, changed manifest) error {
	for _, half := range []struct {
		m           manifest
		what, after string
	}{
		{changed, "The new object", "the old one would be put back for nothing"},
		{old, "The old object", "where the second half failed, the old one could not be put back"},
	} {
		m, err := patch.Apply(half.m, []patch.Op{{Op: patch.Replace, Path: "/metadata/name", Value: throwAway(pl.t.Name)}})
		if err != nil {
			return err
		}
		r, err := makeRequest(pl.t.Path(pl.t.Namespace, ""), m)
		if err != nil {
			return err
		}
		a, err := pl.rehearse(ctx, r, pl.out)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			pl.unmet(a.Cure(r), "%s could not be made, so that %s: %v.", half.what, half.after, err)
			return nil
		}
		pl.p.Shown = append(pl.p.Shown, a.Warned()...)
		if lacks := (act.Order{Ops: half.m.ops()}).Lacking(a.Body); len(lacks) > 0 {
			pl.unmet("find the mutating webhook or admission policy that does it (managedFields would name you, not it), and deal with that first",
				"%s would not be what was asked for: in the rehearsal the server put something else in its place: %s.", half.what, strings.Join(lacks, "; "))
			return nil
		}
	}
	return pl.recreateDiff(old, changed)
}

// throwAway is a name beside the object's own, which holds it: webhooks that go
// by names meet the same word.
func throwAway(name string) string {
	const tail = "-rehearsal"
	return strings.TrimRight(name[:min(len(name), 63-len(tail))], ".-:") + tail
}

func (pl *alterPlan) recreateDiff(old, changed manifest) error {
	was, err := json.Marshal(old)
	if err != nil {
		return err
	}
	is, err := json.Marshal(changed)
	if err != nil {
		return err
	}
	all, err := object.Diff(was, is)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		pl.unmet("nothing: it is so already", "The new object would be the same as the old one.")
	}
	pl.p.Diff = append([]string{fmt.Sprintf("- %s (UID %s), then made again with:", pl.t, pl.o.GetUID())}, all.Lines(false)...)
	return nil
}
