package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/document"
	kubeobject "handrail/steps/kube/object"
	"handrail/steps/kube/patch"
	"handrail/steps/kube/report"
	"handrail/steps/kube/weaken"
)

// keyContent is the digest of what is to be made.
const keyContent = "manifest SHA-256"

// createGate makes one object.
type createGate struct {
	env  steps.Env
	made manifest // what a list of changes says; nil for the manifest of a file
}

// manifest is a copy of what is to be made, as it was written.
func (g createGate) manifest(in steps.Params) (manifest, error) {
	if g.made == nil {
		m, err := document.Manifest(g.env.Dir, in.Text("file"))
		return m, err
	}
	m := maps.Clone(g.made)
	if meta, is := m["metadata"].(map[string]any); is {
		m["metadata"] = maps.Clone(meta)
	}
	return m, nil
}

// manifest is the object that a manifest describes.
type manifest map[string]any

// sum identifies the content of a manifest, in whatever form it is written.
func (m manifest) sum() (string, error) {
	raw, err := json.Marshal(map[string]any(m)) // keys in order
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// ops are the parts of a manifest as operations: what its object must show.
func (m manifest) ops() []patch.Op {
	var out []patch.Op
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key != "metadata" && key != "status" {
			out = append(out, patch.Op{Op: patch.Add, Path: patch.Join([]string{key}), Value: m[key]})
		}
	}
	for _, key := range []string{"labels", "annotations"} {
		if v, ok := patch.Get(map[string]any(m), "/metadata/"+key); ok {
			out = append(out, patch.Op{Op: patch.Add, Path: "/metadata/" + key, Value: v})
		}
	}
	return out
}

// makeRequest posts an object; a field that the server does not know is an error.
func makeRequest(collection string, object map[string]any) (act.Request, error) {
	body, err := act.Compact(object)
	return act.Request{Method: http.MethodPost, Path: collection, Media: cluster.AsJSON, Body: body,
		Query: url.Values{"fieldManager": {cluster.FieldManager}, "fieldValidation": {"Strict"}, "timeout": {act.ServerTime.String()}}}, err
}

// Preview implements steps.Gater.
func (g createGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	c, err := cluster.Connect(g.env, out)
	if err != nil {
		return steps.Preview{}, err
	}
	m, t, err := g.wantedObject(ctx, c, in)
	if err != nil {
		return steps.Preview{}, err
	}
	s, err := lookAt(ctx, c, t, out)
	if err != nil {
		return steps.Preview{}, err
	}
	sum, err := m.sum()
	if err != nil {
		return steps.Preview{}, err
	}
	p := steps.Preview{Target: append(s.identity(), steps.KV{Key: keyContent, Value: sum}), Shown: s.beside(), Phrase: steps.Phrase("create", s.t.String())}
	f := floors{&p.Unmet}
	f.makeable(s, m)
	if !s.absent {
		f.unmet("kube/patch changes it; kube/recreate makes it again with another value of what can never be changed", "%s is there already, UID %s.", s.t, s.o.GetUID())
		return p, nil
	}
	p.Target = append(p.Target, steps.KV{Key: act.KeyFinalizers, Value: report.Nothing}, steps.KV{Key: act.KeyDeletion, Value: report.Nothing})
	p.Shown = append(p.Shown, steps.KV{Key: act.KeyVersion, Value: report.Nothing})
	s.o = cluster.Object{Unstructured: &unstructured.Unstructured{Object: document.Numbers(map[string]any(m)).(map[string]any)}}
	if why, is := s.marks.Of(s.o); is {
		s.marked = append(s.marked, "the manifest bears "+why)
	}
	f.protected(s)
	content, err := plainDoc(m)
	if err != nil {
		return p, err
	}
	f.holdsTo(&p, in, t, weaken.Made(weaken.Kind{Group: t.Group, Kind: t.Kind}, content))
	p.Effect = fmt.Sprintf("make %s, with what its controllers then make of it.", s.t)
	p.Undo = "Can be deleted again: " + s.c.Kubectl(s.t.Namespace, "delete", s.t.Resource.String(), s.t.Name) + "; what it did until then stays done."
	p.Owes = []steps.Debt{{Kind: "reconcile", Text: fmt.Sprintf("Git, or the creator of the objects beside %s, must know of it", s.t)}}
	if err := s.company(ctx, &p); err != nil {
		return p, err
	}
	return p, s.rehearseMake(ctx, m, &p, out)
}

// wantedObject reads the manifest, and resolves what it is about.
func (g createGate) wantedObject(ctx context.Context, c *cluster.Client, in steps.Params) (manifest, cluster.Target, error) {
	m, err := g.manifest(in)
	if err != nil {
		return nil, cluster.Target{}, err
	}
	if err := c.Discover(ctx); err != nil {
		return nil, cluster.Target{}, c.Explain("discovery of", textAt(m, "/kind"), err)
	}
	r, err := c.KindOf(textAt(m, "/apiVersion"), textAt(m, "/kind"))
	if err != nil {
		return nil, cluster.Target{}, err
	}
	t := cluster.Target{Resource: r, Name: textAt(m, "/metadata/name")}
	if !r.Namespaced {
		return m, t, nil
	}
	own, given := textAt(m, "/metadata/namespace"), in.Text("namespace")
	switch {
	case own != "" && given != "" && own != given:
		return nil, cluster.Target{}, fmt.Errorf("the manifest says namespace %q, the step %q: which one is meant?", steps.Clip(own, 100), given)
	case own != "":
		t.Namespace = own
	case given != "":
		t.Namespace = given
	default:
		t.Namespace = c.Namespace
	}
	meta, _ := m["metadata"].(map[string]any)
	if meta == nil {
		return nil, cluster.Target{}, fmt.Errorf("the manifest has no metadata: its name is missing")
	}
	meta["namespace"] = t.Namespace
	return m, t, nil
}

// makeable: the manifest is of one object that a gate may make.
func (f floors) makeable(s *subject, m manifest) {
	meta, _ := m["metadata"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		switch key {
		case "name", "namespace", "labels", "annotations":
		case "finalizers":
			f.unmet("leave it to the controller that cleans up", "A manifest with finalizers makes what cannot be deleted again.")
		case "ownerReferences":
			f.unmet("leave it to the owner to make it", "A manifest with ownerReferences makes what the garbage collector may take at once.")
		default:
			f.unmet("take it out of the manifest", "metadata.%s is the server's to give.", steps.Clip(key, 60))
		}
	}
	if _, is := m["status"]; is {
		f.unmet("take it out of the manifest", "A status is for its controller to write.")
	}
	if kubeobject.IsSecret(s.t.Resource) || holdsSecret(map[string]any(m), 0) {
		f.unmet("make it with the tool that keeps your secrets, or refer to a Secret by its name", "The manifest holds what looks like a secret, and would stand in the record of the incident.")
	}
}

// rehearseMake writes the request into the preview, and what the server would
// make of it.
func (s *subject) rehearseMake(ctx context.Context, m manifest, p *steps.Preview, out steps.Sink) error {
	r, err := makeRequest(s.t.Path(s.t.Namespace, ""), m)
	if err != nil {
		return err
	}
	p.Request, p.Args = r.Text(), m
	p.Command = fmt.Sprintf("echo %s | %s", steps.Quote(string(r.Body)), s.c.Kubectl("", "create", "--field-manager="+cluster.FieldManager, "-f", "-"))
	a, went, err := s.tryOut(ctx, func(string) (act.Request, error) { return r, nil }, p, out)
	if err != nil || !went {
		return err
	}
	all, err := kubeobject.Diff([]byte("{}"), r.Body)
	if err != nil {
		return err
	}
	p.Diff = all.Lines(kubeobject.IsSecret(s.t.Resource))
	if lacks := (act.Order{Ops: m.ops()}).Lacking(a.Body); len(lacks) > 0 {
		floors{&p.Unmet}.unmet("find the mutating webhook or admission policy that does it, and deal with that first",
			"In the rehearsal the server put something else in the place of what the manifest says: %s.", strings.Join(lacks, "; "))
	}
	return nil
}

// judgeMake says what a create came to.
func judgeMake(o act.Order, now act.Sighting) (result, words string) {
	if now.Absent {
		return "", fmt.Sprintf("%s is not there.", o.Object)
	}
	if lacks := o.Lacking(now.Raw); len(lacks) > 0 {
		return steps.Failed, fmt.Sprintf("%s is there, and not as the manifest says: %s. %s", o.Object, strings.Join(lacks, "; "), o.Moved(now))
	}
	return steps.Done, fmt.Sprintf("%s is there, with UID %s.", o.Object, now.UID)
}

// Act implements steps.Gater.
func (g createGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	return g.send(ctx, p, out)
}

// send makes the one object of an approved preview.
func (g createGate) send(ctx context.Context, p steps.Preview, out steps.Sink) (steps.Outcome, error) {
	m, err := steps.ArgsOf[manifest](p)
	if err != nil {
		return act.Unsent(err.Error()), nil
	}
	return act.Send(ctx, g.env, p, func(o *act.Order) (sent, shown act.Request, err error) {
		if sum, err := m.sum(); err != nil || sum != steps.Find(p.Target, keyContent) || !m.at(o.Path) {
			return sent, shown, fmt.Errorf("the request makes something else than what was shown")
		}
		o.Ops = m.ops()
		sent, err = makeRequest(collectionOf(o.Path), m)
		return sent, sent, err
	}, judgeMake, out)
}

// collectionOf is the address of the collection that an object is in.
func collectionOf(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// at reports whether an object is the one at a path.
func (m manifest) at(path string) bool {
	return strings.HasSuffix(path, "/"+textAt(m, "/metadata/name"))
}

// Find implements steps.Finder.
func (g createGate) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	ops, err := g.wanted(before, in)
	if err != nil {
		return steps.Outcome{}, err
	}
	return act.FindWith(ctx, g.env, before, ops, judgeMake, out)
}

// wanted is what the manifest of an act wants of its object.
func (g createGate) wanted(before []steps.KV, in steps.Params) ([]patch.Op, error) {
	m, err := g.manifest(in)
	if err != nil {
		return nil, err
	}
	if meta, is := m["metadata"].(map[string]any); is {
		if parts := strings.Split(steps.Find(before, act.KeyObject), "/"); len(parts) == 3 {
			meta["namespace"] = parts[1]
		}
	}
	if sum, err := m.sum(); err != nil || sum != steps.Find(before, keyContent) {
		return nil, fmt.Errorf("the manifest changed since the act: look at the object yourself, and record a note")
	}
	return m.ops(), nil
}

// Again implements steps.Rereader.
func (g createGate) Again(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	ops, err := g.wanted(before, in)
	if err != nil {
		return steps.Outcome{}, err
	}
	return act.Reread(ctx, g.env, before, ops, act.StandsMade(judgeMake), out)
}
