package gitops

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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
)

// written is something of the controller that is written now and then.
type written struct {
	what string
	at   time.Time
	by   string
}

// bookOf is when an object was written last beside its status, and by whom; its making, where no
// book says so.
func bookOf(meta metav1.ObjectMeta) (at time.Time, by string) {
	at, by = meta.CreationTimestamp.Time, "its creator"
	for _, e := range meta.ManagedFields {
		if e.Subresource == "" && e.Time != nil && !e.Time.Before(&metav1.Time{Time: at}) && e.Manager != "kube-controller-manager" {
			at, by = e.Time.Time, e.Manager
		}
	}
	return at, by
}

func secretsKind() cluster.Resource {
	return cluster.Resource{Version: "v1", Plural: "secrets", Kind: "Secret", Namespaced: true}
}

// argoMark is the label by which Argo CD knows its credentials.
const argoMark = "argocd.argoproj.io/secret-type"

// credentials reads the metadata of what the controller signs in with, never a value.
func (r *controllerRun) credentials(ctx context.Context) {
	table, missing, why := map[string]string{}, []string{}, r.appsWhy
	keep := func(name, use string, meta metav1.ObjectMeta) {
		at, by := bookOf(meta)
		table[name] = fmt.Sprintf("%s, written %s by %s", use, at.UTC().Format(time.RFC3339), steps.Clip(by, 128))
		r.settings = append(r.settings, written{"secret " + name, at, by})
	}
	if r.runs(app.ArgoCD) {
		query := url.Values{"labelSelector": {argoMark}}
		err := cluster.EachAs(ctx, r.c, secretsKind().Path(r.namespace, ""), cluster.AsMetaList, query, func(o metaOnly) {
			keep(o.Metadata.Namespace+"/"+o.Metadata.Name, o.Metadata.Labels[argoMark], o.Metadata)
		})
		if err != nil {
			why = report.Why(err)
		}
	}
	uses := map[string][]string{}
	for key, h := range r.sources {
		if h.Secret != "" {
			uses[h.Secret] = append(uses[h.Secret], strings.ToLower(key))
		}
	}
	for _, a := range r.apps {
		for _, name := range a.Secrets {
			uses[name] = append(uses[name], a.String())
		}
	}
	if len(uses) > mostListed {
		why = fmt.Sprintf("there are %d, and at most %d are looked at", len(uses), mostListed)
		uses = nil
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		use := "of " + steps.Clip(strings.Join(slices.Sorted(slices.Values(uses[name])), ", "), 300)
		namespace, short, _ := strings.Cut(name, "/")
		if !cluster.Plain(namespace) || !cluster.Plain(short) {
			missing = append(missing, steps.Clip(name, 300)+" "+use+": it can be no name")
			continue
		}
		raw, err := r.c.Read(ctx, secretsKind().Path(namespace, short), cluster.AsMetadata, nil)
		var o metaOnly
		switch {
		case errors.Is(err, cluster.ErrAbsent):
			missing = append(missing, name+" "+use)
			continue
		case err == nil:
			err = json.Unmarshal(raw, &o)
		}
		if err != nil {
			why = name + ": " + report.Why(err)
			continue
		}
		keep(name, use, o.Metadata)
	}
	if why != "" {
		r.f.Unknown(why, "credentials", "missing_credentials")
		r.obs.Gaps = append(r.obs.Gaps, "credentials: "+why)
		return
	}
	r.table("credentials", table)
	r.list("missing_credentials", missing)
	for _, m := range missing {
		r.obs.Say(steps.Warning, "Secret %s is not there.", m)
	}
}

// metaOnly is the metadata of an object.
type metaOnly struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
}

func (r *controllerRun) runs(of app.Controller) bool {
	return slices.Contains(r.f.Got("controllers").Strings(), string(of))
}

// argoEvery is how often Argo CD compares where nothing is set, with what it adds by chance.
const argoEvery, argoJitter = 2 * time.Minute, time.Minute

// argoConfigs are the ConfigMaps by which Argo CD is set up.
var argoConfigs = []string{"argocd-cm", "argocd-cmd-params-cm", "argocd-rbac-cm"}

// argoSettings reads how often Argo CD compares, and when its settings were written.
func (r *controllerRun) argoSettings(ctx context.Context) {
	if !r.runs(app.ArgoCD) {
		return
	}
	maps := cluster.Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}
	r.every, r.everyKnown = argoEvery+argoJitter, true
	for i, name := range argoConfigs {
		raw, err := r.c.Read(ctx, maps.Path(r.namespace, name), cluster.AsJSON, nil)
		if errors.Is(err, cluster.ErrAbsent) {
			continue
		}
		var o struct {
			metaOnly
			Data map[string]string `json:"data"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		if err != nil {
			r.obs.Gaps = append(r.obs.Gaps, "configmap "+name+": "+report.Why(err))
			r.everyKnown = r.everyKnown && i > 0
			continue
		}
		at, by := bookOf(o.Metadata)
		r.settings = append(r.settings, written{"configmap " + r.namespace + "/" + name, at, by})
		if i > 0 {
			continue
		}
		r.every = argoPace(o.Data)
	}
}

// argoPace is how often Argo CD compares by its settings; 0 where it does not by itself.
func argoPace(data map[string]string) time.Duration {
	read := func(key string, usual time.Duration) time.Duration {
		d, err := time.ParseDuration(data[key])
		if data[key] == "0" {
			return 0
		}
		if err != nil || d < 0 {
			return usual
		}
		return d
	}
	every := read("timeout.reconciliation", argoEvery)
	if every == 0 {
		return 0
	}
	return every + read("timeout.reconciliation.jitter", argoJitter)
}

// tellRecent says what changed of the controller lately.
func (r *controllerRun) tellRecent() {
	switch {
	case r.partsWhy != "":
		r.f.Unknown(r.partsWhy, "recent", "upgraded")
		return
	case r.clockless != "":
		r.f.Unknown(r.clockless, "recent", "upgraded")
		return
	}
	young := func(at time.Time) bool { return !at.IsZero() && r.now.Sub(at) <= r.in.Duration("window") }
	var recent []string
	upgraded := false
	for _, p := range r.parts {
		if young(p.revised) && p.previous != "" {
			upgraded = true
			recent = append(recent, fmt.Sprintf("%s %s: image %s -> %s", p.revised.UTC().Format(time.RFC3339), p.name, steps.Clip(p.previous, 200), steps.Clip(p.image, 200)))
		}
		at, by := bookOf(p.meta)
		if young(at) {
			recent = append(recent, fmt.Sprintf("%s %s/%s was written by %s", at.UTC().Format(time.RFC3339), p.resource, p.name, steps.Clip(by, 128)))
		}
	}
	for _, w := range r.settings {
		if young(w.at) {
			recent = append(recent, fmt.Sprintf("%s %s was written by %s", w.at.UTC().Format(time.RFC3339), w.what, steps.Clip(w.by, 128)))
		}
	}
	slices.Sort(recent)
	r.list("recent", recent)
	r.f.Set("upgraded", steps.BoolOf(upgraded))
	if upgraded {
		r.obs.Say(steps.Warning, "A component got another image within %s: the one before is kept in its revisions.", r.in.Duration("window"))
	}
}
