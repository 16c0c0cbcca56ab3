package gitops

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/gitops/manifests"
	"handrail/steps/kube/report"
)

// mostToken bounds the file of a token.
const mostToken = 64 << 10

// valueOf is a value as it is shown and compared. A long one, as a key in full, is its digest.
func valueOf(text string) string {
	if text = strings.TrimSpace(text); len(text) <= longestPlain && !strings.ContainsAny(text, "\n\r") {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("sha256:%s (%d bytes)", hex.EncodeToString(sum[:])[:12], len(text))
}

// writerOf is who wrote a key of a ConfigMap last. The books keep one time for all that a writer
// wrote, so that the key itself may be older.
func writerOf(o cluster.Object, key string) (w authored) {
	path := fieldpath.MakePathOrDie("data", key)
	for _, e := range o.GetManagedFields() {
		var set fieldpath.Set
		if e.FieldsV1 == nil || set.FromJSON(e.FieldsV1.GetRawReader()) != nil || !set.Has(path) {
			continue
		}
		switch {
		case !w.known:
		case e.Time == nil || !e.Time.After(w.at):
			continue
		}
		w.by, w.known = steps.Clip(e.Manager, 128), true
		if e.Time != nil {
			w.at = e.Time.Time
		}
	}
	return w
}

// readToken reads how the token is signed. The token itself goes nowhere.
func (r *copiesRun) readToken(out steps.Sink) {
	text, file := r.in.Text("header"), r.in.Text("token_file")
	switch {
	case text == "" && file == "":
		r.tokenless = "no token was given: have one issued now, and give its header, or a file that holds it"
		return
	case text != "" && file != "":
		r.tokenless = "a token and a file of one were given: leave the older one away"
		return
	case file != "":
		raw, err := r.tokenFile(file)
		if err != nil {
			r.tokenless = "the file of the token cannot be read: " + report.Why(err)
			return
		}
		text = raw
	}
	h, err := steps.ParseTokenHeader(text, out.Secret)
	if err != nil {
		r.tokenless = "the token cannot be read: " + err.Error()
		return
	}
	r.token = &pair{h.Alg, h.Kid}
}

func (r *copiesRun) tokenFile(path string) (string, error) {
	f, err := steps.OpenRegular(steps.Below(r.env.Dir, path))
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, info, err := steps.ReadAll(f, mostToken)
	if err == nil {
		r.f.Set("saved", steps.TimeOf(info.ModTime()))
	}
	return string(raw), err
}

// beside reads what stands beside each copy: its application, Git, and the Pods that take it.
func (r *copiesRun) beside(ctx context.Context) error {
	if err := r.applications(ctx); err != nil {
		return err
	}
	for _, c := range r.copies {
		if c.app != nil {
			c.git = r.gitOf(ctx, c)
		}
		r.takers(ctx, c)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// applications finds the application of each copy: the one that lists it among its objects,
// however it marks them.
func (r *copiesRun) applications(ctx context.Context) error {
	kind, err := r.c.Find(ctx, applications+"."+app.ArgoGroup)
	if errors.Is(err, cluster.ErrNoKind) {
		for _, c := range r.copies {
			c.appless = "Argo CD is not installed here"
		}
		return nil
	}
	if err == nil {
		err = cluster.Each(ctx, r.c, kind.Path("", ""), nil, func(o app.ArgoApplication) { r.claim(app.FromArgo(o)) })
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		r.appsOf = "the applications cannot be listed: " + report.Why(err)
		r.obs.Gaps = append(r.obs.Gaps, r.appsOf)
		return nil
	}
	for _, c := range r.copies {
		if c.app == nil && c.appless == "" {
			c.appless = "no application of Argo CD applies it: a program copied it, or a person"
		}
	}
	return nil
}

// claim gives each copy that an application lists to it.
func (r *copiesRun) claim(a app.App) {
	if a.Elsewhere(r.c.Server) != "" {
		return
	}
	for _, c := range r.copies {
		for _, of := range a.Resources {
			if of.Group != "" || of.Kind != "ConfigMap" || of.Namespace != c.namespace || of.Name != c.name {
				continue
			}
			if c.app != nil && c.app.UID != a.UID {
				c.appless = fmt.Sprintf("%s and %s both apply it", c.app, a)
				continue
			}
			c.app = &a
		}
	}
}

// gitSide is what Git has of a copy, at the commit that its application compares with.
type gitSide struct {
	values pair
	path   string
	why    string // why it is not known
}

// gitOf renders what Git has of a copy.
func (r *copiesRun) gitOf(ctx context.Context, c *copyOf) gitSide {
	a, clone := *c.app, r.in.Text("clone")
	out := gitSide{why: manifests.Unrendered(a, clone)}
	commit := app.Commit(a.Tried)
	if out.why == "" && len(commit) != 40 {
		out.why = fmt.Sprintf("it compares with %s, which is no commit", report.OrNothing(steps.Clip(commit, 100)))
	}
	if out.why != "" {
		return out
	}
	out.path = a.Sources[0].Dir()
	w, err := manifests.At(ctx, r.env, r.c, a, manifests.SourceOf(ctx, r.c, a), clone, commit)
	if err != nil {
		out.why = steps.OneLine(err.Error(), 400)
		return out
	}
	for i, o := range w.Objects {
		meta, _ := o["metadata"].(map[string]any)
		namespace, _ := meta["namespace"].(string)
		if namespace == "" {
			namespace = a.Rendering.Namespace
		}
		if o["apiVersion"] != "v1" || o["kind"] != "ConfigMap" || meta["name"] != c.name || namespace != c.namespace {
			continue
		}
		switch {
		case manifests.Encrypted(o):
			out.why = "Git holds it encrypted"
			return out
		case w.Unsaid[i] != "":
			out.why = w.Unsaid[i]
			return out
		case w.Varies[i] != nil:
			out.why = "its chart makes something else of it at each rendering"
			return out
		}
		data, _ := o["data"].(map[string]any)
		for i := range out.values {
			text, _ := data[r.key(i)].(string)
			out.values[i] = valueOf(text)
		}
		return out
	}
	out.why = fmt.Sprintf("Git has no ConfigMap %s for namespace %s at %s", c.name, c.namespace, shortRevision(commit))
	return out
}
