package writers

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

const (
	// mostSpaces is how many namespaces are asked one by one; beyond it the whole
	// cluster is.
	mostSpaces = 64
	// mostAccounts is how many accounts of one namespace are asked for one by one.
	mostAccounts = 8
)

// workload is something that runs as an account that may write.
type workload struct {
	name     string // as cronjob/ns/name
	account  string // as ns/name
	schedule string // of a CronJob
	last     string
	command  string
	idle     string // why it does not run now, "" where it may
	writes   bool   // its command looks like one that writes to an API
	parent   string // what made it, by its own word
}

func (r workload) String() string {
	text := r.name + ": as serviceaccount/" + r.account
	if r.schedule != "" {
		text += ", at " + steps.Clip(r.schedule, 60)
	}
	if r.last != "" {
		text += ", last " + steps.Clip(r.last, 40)
	}
	if r.idle != "" {
		text += ", " + r.idle
	}
	if r.parent != "" {
		text += ", made by " + r.parent
	}
	if r.command != "" {
		text += ", runs " + steps.Clip(r.command, 160)
	}
	return text
}

// item is what matters of a workload of any kind.
type item struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		podSpec
		Schedule    string   `json:"schedule"`
		TimeZone    string   `json:"timeZone"`
		Suspend     bool     `json:"suspend"`
		Replicas    *int64   `json:"replicas"`
		Template    template `json:"template"`
		JobTemplate struct {
			Spec struct {
				Template template `json:"template"`
			} `json:"spec"`
		} `json:"jobTemplate"`
	} `json:"spec"`
	Status struct {
		LastScheduleTime string `json:"lastScheduleTime"`
		CompletionTime   string `json:"completionTime"`
		Phase            string `json:"phase"`
	} `json:"status"`
}

type template struct {
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	ServiceAccountName string `json:"serviceAccountName"`
	Containers         []struct {
		Image   string   `json:"image"`
		Command []string `json:"command"`
		Args    []string `json:"args"`
	} `json:"containers"`
}

// pod is the specification of the Pods that the item makes.
func (i item) pod(kind string) podSpec {
	switch kind {
	case "CronJob":
		return i.Spec.JobTemplate.Spec.Template.Spec
	case "Pod":
		return i.Spec.podSpec
	}
	return i.Spec.Template.Spec
}

// workloadKinds are the workloads that are listed; what they make is not.
func workloadKinds() []cluster.Resource {
	return append([]cluster.Resource{
		{Group: "batch", Version: "v1", Plural: "cronjobs", Kind: "CronJob", Namespaced: true},
		{Group: "batch", Version: "v1", Plural: "jobs", Kind: "Job", Namespaced: true},
	}, cluster.Workloads()...)
}

// runners finds what runs as the accounts that may write.
func (w *writers) runners(ctx context.Context) {
	if len(w.everybody) > 0 {
		return
	}
	granted := map[string]map[string]bool{} // namespace to accounts; "" stands for all
	for _, g := range w.grants {
		ns, name, ok := g.Subject.Account()
		if rest, of := strings.CutPrefix(g.Subject.Name, "system:serviceaccounts:"); g.Subject.Kind == "Group" && of {
			ns, name, ok = rest, "", true
		}
		if !ok || !cluster.Plain(ns) {
			continue
		}
		if granted[ns] == nil {
			granted[ns] = map[string]bool{}
		}
		granted[ns][name] = true
	}
	spaces := slices.Sorted(maps.Keys(granted))
	if len(spaces) > mostSpaces {
		spaces = []string{""}
	}
	var jobs []func()
	for _, ns := range spaces {
		for _, r := range workloadKinds() {
			jobs = append(jobs, func() {
				err := cluster.Each(ctx, w.c, r.Path(ns, ""), nil, func(i item) { w.run(r, i, granted) })
				w.fail(r.Plural+inSpace(ns), err, "workloads")
			})
		}
		accounts := slices.Sorted(maps.Keys(granted[ns]))
		if ns == "" || granted[ns][""] || len(accounts) > mostAccounts {
			accounts = []string{""}
		}
		for _, account := range accounts {
			jobs = append(jobs, func() {
				var query url.Values
				if account != "" {
					query = url.Values{"fieldSelector": {"spec.serviceAccountName=" + account}}
				}
				err := cluster.Each(ctx, w.c, cluster.Pods().Path(ns, ""), query, func(i item) { w.run(cluster.Pods(), i, granted) })
				w.fail("pods"+inSpace(ns), err, "workloads")
			})
		}
	}
	w.each(jobs...)
}

func inSpace(ns string) string {
	if ns == "" {
		return " of all namespaces"
	}
	return " of namespace " + ns
}

// run keeps an item that runs as one of the accounts.
func (w *writers) run(r cluster.Resource, i item, granted map[string]map[string]bool) {
	ns := i.Metadata.Namespace
	pod := i.pod(r.Kind)
	account := cmp.Or(pod.ServiceAccountName, "default")
	if all := granted[ns]; !all[account] && !all[""] {
		return
	}
	found := workload{name: r.Label(ns, i.Metadata.Name), account: ns + "/" + account, schedule: i.Spec.Schedule, last: i.Status.LastScheduleTime}
	for _, ref := range i.Metadata.OwnerReferences {
		if ref.Controller {
			found.parent = steps.Clip(strings.ToLower(ref.Kind)+"/"+ns+"/"+ref.Name, 400)
		}
	}
	if found.schedule != "" && i.Spec.TimeZone != "" {
		found.schedule += " " + i.Spec.TimeZone
	}
	switch {
	case i.Spec.Suspend:
		found.idle = "suspended"
	case r.Kind == "Job" && i.Status.CompletionTime != "":
		found.idle = "complete"
	case r.Kind == "Pod" && (i.Status.Phase == "Succeeded" || i.Status.Phase == "Failed"):
		found.idle = strings.ToLower(i.Status.Phase)
	case i.Spec.Replicas != nil && *i.Spec.Replicas == 0:
		found.idle = "scaled to 0"
	}
	for _, c := range pod.Containers {
		words := strings.Join(append(slices.Clone(c.Command), c.Args...), " ")
		if found.command == "" || !found.writes && writesAPI(c.Image+" "+words) {
			found.command = steps.OneLine(strings.TrimSpace(c.Image+" "+words), 200)
			found.writes = writesAPI(c.Image + " " + words)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.workloads = append(w.workloads, found)
}

// topmost leaves out what another one of the list made. That it says so is not
// enough: only a parent that runs as the same account, and is in the list itself,
// stands for it. What the ReplicaSets of a Deployment make bears its name.
func topmost(all []workload) []workload {
	there := map[string]string{}
	for _, r := range all {
		there[r.name] = r.account
	}
	var out []workload
	kept := map[string]bool{}
	for _, r := range all {
		parent := r.parent
		if rest, ok := strings.CutPrefix(parent, "replicaset/"); ok && strings.Contains(rest, "-") {
			parent = "deployment/" + rest[:strings.LastIndexByte(rest, '-')]
		}
		if there[parent] == r.account && parent != "" {
			continue
		}
		if strings.HasPrefix(r.name, "pod/") && r.parent != "" {
			r.name, r.parent = r.parent, "" // ten Pods of one maker are one suspect
		}
		if !kept[r.name] {
			kept[r.name] = true
			out = append(out, r)
		}
	}
	return out
}

// writesAPI reports whether an image or a command looks like one that writes to
// an API server.
func writesAPI(s string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc([]string{"kubectl", "helm", "terraform", "tofu", "curl", "wget", "kustomize", "crictl", "/api/v1/", "/apis/", "kubernetes.default"},
		func(word string) bool { return strings.Contains(s, word) })
}

// frequent reports whether a schedule runs at least every ten minutes.
func (r workload) frequent() bool {
	minute, _, _ := strings.Cut(r.schedule, " ")
	if minute == "*" {
		return true
	}
	rest, ok := strings.CutPrefix(minute, "*/")
	return ok && len(rest) == 1 || strings.HasPrefix(r.schedule, "@every") && short(strings.TrimPrefix(r.schedule, "@every "))
}

func short(s string) bool {
	d, err := time.ParseDuration(s)
	return err == nil && d <= 10*time.Minute
}
