package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/object"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// mostUnsure bounds how many unknown values a gap names.
const mostUnsure = 5

// rotationBooks is who wrote the keys of one Secret or ConfigMap. Only metadata
// is read: no value of it comes near.
type rotationBooks struct {
	cluster.Object
	absent bool
	why    string // it could not be read
}

func booksOf(ctx context.Context, c *cluster.Client, ns string, s rotationSource) rotationBooks {
	k := s.resource()
	path := k.Path(ns, s.name)
	raw, err := c.Read(ctx, path, cluster.AsMetadata, nil)
	if err == nil {
		var o cluster.Object
		if o, err = cluster.ParseObject(raw); err == nil && (o.GetName() != s.name || o.GetUID() == "") {
			err = fmt.Errorf("%s answered something else than the object", c.Server)
		}
		if err == nil {
			return rotationBooks{Object: o}
		}
	}
	if errors.Is(err, cluster.ErrAbsent) {
		return rotationBooks{absent: true}
	}
	return rotationBooks{why: s.String() + ": " + report.Why(err)}
}

// written is when a key was last written, and by whom; why says that the books
// do not tell. The books keep one time for all that a writer wrote, so the key
// itself may be older.
func (b rotationBooks) written(key string) (at time.Time, by, why string) {
	at, by = b.GetCreationTimestamp().Time, "its creator"
	path := fieldpath.MakePathOrDie("data")
	if key != "" {
		path = fieldpath.MakePathOrDie("data", key)
	}
	entries := 0
	for _, e := range b.GetManagedFields() {
		var set fieldpath.Set
		if e.FieldsV1 == nil || set.FromJSON(e.FieldsV1.GetRawReader()) != nil {
			return at, by, "its managedFields cannot be read"
		}
		below := set.WithPrefix(fieldpath.PathElement{FieldName: ptr("data")})
		owns := set.Has(path) || key == "" && !below.Empty()
		if !owns {
			continue
		}
		entries++
		if e.Time == nil {
			return at, by, fmt.Sprintf("%s wrote it at a time that was not recorded", steps.Clip(e.Manager, 128))
		}
		if e.Time.After(at) {
			at, by = e.Time.Time, steps.Clip(e.Manager, 128)
		}
	}
	if entries == 0 {
		return at, by, "managedFields name no writer: it was put there by admission, or its writer was forgotten"
	}
	return at, by, ""
}

func ptr(s string) *string { return &s }

// values settles which values changed after they were taken.
func (r *rotationRun) values(ctx context.Context, podsUnread string) {
	f := r.facts
	if podsUnread != "" {
		f.Unknown(podsUnread, "changed_after_start", "missing", "newest_change")
		r.Gap("%s", podsUnread)
		return
	}
	books := map[rotationSource]rotationBooks{}
	var changed, missing, unsure []string
	unread := ""
	var newest time.Time
	for _, u := range r.uses {
		b, read := books[u.rotationSource]
		if !read {
			b = booksOf(ctx, r.c, r.t.Namespace, u.rotationSource)
			books[u.rotationSource] = b
		}
		name := u.String()
		if u.key != "" {
			name += " key " + u.key
		}
		switch {
		case b.why != "":
			unsure, unread = append(unsure, b.why), b.why
			continue
		case b.absent:
			if !u.optional && !slices.Contains(missing, u.String()) {
				missing = append(missing, u.String())
			}
			continue
		}
		at, by, why := b.written(u.key)
		if why != "" {
			unsure = append(unsure, name+": "+why)
			continue
		}
		if at.After(newest) {
			newest = at
		}
		if !u.started.IsZero() && at.After(u.started) {
			changed = append(changed, fmt.Sprintf("%s was written %s by %s; container %s of pod %s started %s and took it %s",
				steps.Clip(name, 400), at.UTC().Format(time.RFC3339), by, u.container, u.pod, u.started.UTC().Format(time.RFC3339), u.how))
		}
	}
	if r.settle(changed, missing, unsure, newest); unread != "" {
		f.Unknown(unread, "missing")
	}
}

func (r *rotationRun) settle(changed, missing, unsure []string, newest time.Time) {
	f := r.facts
	f.Set("missing", steps.StringsOf(missing))
	if len(unsure) > 0 {
		slices.Sort(unsure)
		unsure = slices.Compact(unsure)
		f.Unknown(steps.Clip(strings.Join(unsure, "; "), 600), "changed_after_start", "newest_change")
		for _, u := range unsure[:min(len(unsure), mostUnsure)] {
			r.Gap("%s", u)
		}
	} else {
		f.Set("changed_after_start", steps.StringsOf(changed))
		if newest.IsZero() {
			f.Unknown("it takes nothing at its start", "newest_change")
		} else {
			f.Set("newest_change", steps.TimeOf(newest))
		}
	}
	for _, line := range changed {
		r.Obs.Say(steps.Critical, "%s", line)
	}
	if len(changed) > 0 {
		r.Obs.Say(steps.Info, "A container keeps what it took until it starts again: put the value right at its source first, then restart one workload. The books keep one time for all that a writer wrote, so the key itself may be older; a key that was removed leaves no time at all.")
	}
	for _, m := range missing {
		r.Obs.Say(steps.Critical, "%s does not exist. A container that names it cannot be made.", m)
	}
	if len(r.fresh) > 0 {
		var names []string
		for _, s := range r.fresh {
			names = append(names, s.String())
		}
		slices.Sort(names)
		r.Obs.Say(steps.Info, "Mounted as files, which the kubelet refreshes within about two minutes, as long as the program reads them again: %s.", steps.Clip(strings.Join(names, ", "), 300))
	}
}

const restartNote = "kubectl.kubernetes.io/restartedAt"

// rotationRevision is one template that a workload had.
type rotationRevision struct {
	Metadata podstate.Metadata `json:"metadata"`
	Revision int64             `json:"revision"` // of a ControllerRevision
	Spec     struct {
		Template map[string]any `json:"template"`
	} `json:"spec"` // of a ReplicaSet
	Data struct {
		Spec struct {
			Template map[string]any `json:"template"`
		} `json:"spec"`
	} `json:"data"` // of a ControllerRevision
}

// template settles whether the newest revision is another template.
func (r *rotationRun) template(ctx context.Context, o cluster.Object) {
	f := r.facts
	var list cluster.Resource
	switch r.t.Kind {
	case "Deployment":
		list = cluster.ReplicaSets()
	case "StatefulSet", "DaemonSet":
		list = cluster.Resource{Group: "apps", Version: "v1", Plural: "controllerrevisions", Kind: "ControllerRevision", Namespaced: true}
	default:
		f.Set("template_changed", steps.BoolOf(false))
		f.Unknown("it has no revisions", "template_at", "restarted")
		f.Set("template_diff", steps.StringsOf(nil))
		return
	}
	if w, err := podstate.ParseWorkload(o.Raw); err == nil {
		if at, err := time.Parse(time.RFC3339, w.Spec.Template.Metadata.Annotations[restartNote]); err == nil {
			f.Set("restarted", steps.TimeOf(at))
		} else {
			f.Unknown("no restart was asked for", "restarted")
		}
	}
	query := url.Values{}
	if s := object.SelectorOf(o); s != "" {
		query.Set("labelSelector", s)
	}
	var all []rotationRevision
	err := cluster.Each(ctx, r.c, list.Path(r.t.Namespace, ""), query, func(v rotationRevision) {
		if !v.Metadata.ControlledBy(string(o.GetUID())) {
			return
		}
		if list.Kind == "ReplicaSet" {
			v.Revision = revisionOf(v.Metadata)
		} else {
			v.Spec.Template = v.Data.Spec.Template
		}
		all = append(all, v)
	})
	slices.SortFunc(all, func(a, b rotationRevision) int { return int(b.Revision - a.Revision) })
	names := []string{"template_changed", "template_at", "template_diff"}
	switch {
	case err != nil:
		f.Unknown("its revisions could not be read: "+report.Why(err), names...)
		r.Gap("its revisions could not be read: %s", report.Why(err))
		return
	case len(all) == 0:
		f.Unknown("it has no revision yet", names...)
		return
	}
	f.Set("template_at", steps.TimeOf(all[0].Metadata.CreationTimestamp))
	if len(all) == 1 {
		if all[0].Revision > 1 {
			f.Unknown("no earlier revision is kept", "template_changed", "template_diff")
			return
		}
		f.Set("template_changed", steps.BoolOf(false))
		f.Set("template_diff", steps.StringsOf(nil))
		return
	}
	r.compare(all[0], all[1])
}

func (r *rotationRun) compare(now, before rotationRevision) {
	f := r.facts
	a, err := json.Marshal(rotationBare(before.Spec.Template))
	b, berr := json.Marshal(rotationBare(now.Spec.Template))
	var found object.Changes
	if err = errors.Join(err, berr); err == nil {
		found, err = object.Diff(a, b)
	}
	if err != nil {
		f.Unknown("its revisions cannot be compared: "+err.Error(), "template_changed", "template_diff")
		return
	}
	paths := []string{}
	for _, ch := range found[:min(len(found), object.MostChanges)] {
		paths = append(paths, ch.Path)
	}
	f.Set("template_diff", steps.StringsOf(paths))
	f.Set("template_changed", steps.BoolOf(len(found) > 0))
	if len(found) == 0 {
		r.Obs.Say(steps.Info, "Revision %d differs from %d by a restart alone: it is no release.", now.Revision, before.Revision)
		return
	}
	r.Obs.Say(steps.Warning, "Revision %d (%s) differs from %d in %s.", now.Revision, now.Metadata.CreationTimestamp.UTC().Format(time.RFC3339), before.Revision, steps.Clip(strings.Join(paths, ", "), 300))
}

// rotationBare is a template without what a restart and its controller put there.
func rotationBare(template map[string]any) map[string]any {
	out := maps.Clone(template)
	if out == nil {
		out = map[string]any{}
	}
	md, _ := out["metadata"].(map[string]any)
	md = maps.Clone(md)
	without := func(key string, drop func(string) bool) {
		m, _ := md[key].(map[string]any)
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(k string, _ any) bool { return drop(k) })
		if len(m) == 0 {
			delete(md, key)
		} else {
			md[key] = m
		}
	}
	if md != nil {
		without("labels", func(k string) bool { return k == "pod-template-hash" })
		without("annotations", func(k string) bool { return k == restartNote || strings.HasPrefix(k, "checksum/") })
		delete(md, "creationTimestamp")
	}
	out["metadata"] = md
	delete(out, "$patch") // of a ControllerRevision
	return out
}
