package helm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
)

// statuses are what the status of a revision may be (helm.sh/helm/v3, pkg/release/status.go).
func statuses() []string {
	return []string{"unknown", "deployed", "uninstalled", "superseded", "failed", "uninstalling", "pending-install", "pending-upgrade", "pending-rollback"}
}

// record is one revision of a release.
type record struct {
	storage  cluster.Resource
	name     string
	uid      string
	revision int64
	status   string
	began    time.Time
}

// pending says that helm began it, and that no other goes on before it is finished.
func (r record) pending() bool { return strings.HasPrefix(r.status, "pending-") }

func (r record) String() string { return fmt.Sprintf("revision %d is %s", r.revision, r.status) }

// recordOf reads the metadata of a record. The error says what is no record of that release.
func recordOf(storage cluster.Resource, o cluster.Object) (record, error) {
	r := record{storage: storage, name: o.GetName(), uid: string(o.GetUID()), began: o.GetCreationTimestamp().Time}
	labels := o.GetLabels()
	n, err := strconv.ParseInt(labels["version"], 10, 64)
	if err != nil || n < 1 {
		return r, fmt.Errorf("%s names no revision in its label version (%q)", r.name, steps.Clip(labels["version"], 40))
	}
	r.revision, r.status = n, labels["status"]
	if !slices.Contains(statuses(), r.status) {
		return r, fmt.Errorf("%s has a status that helm does not know (%q)", r.name, steps.Clip(r.status, 40))
	}
	// Helm writes when it made the record; without it the server's time is as good.
	if sec, err := strconv.ParseInt(labels["createdAt"], 10, 64); err == nil && sec > 0 && r.began.IsZero() {
		r.began = time.Unix(sec, 0).UTC()
	}
	return r, nil
}

// history are the revisions of a release, the newest first.
type history []record

func newHistory(list []record) history {
	slices.SortFunc(list, func(a, b record) int { return cmp.Compare(b.revision, a.revision) })
	return list
}

// twice are revisions of which there are two records: it is not known which one counts.
func (h history) twice() (out []int64) {
	for i := 1; i < len(h); i++ {
		if h[i].revision == h[i-1].revision {
			out = append(out, h[i].revision)
		}
	}
	return slices.Compact(out)
}

// deployed is the newest revision that is in force, false where there is none.
func (h history) deployed() (record, bool) {
	i := slices.IndexFunc(h, func(r record) bool { return r.status == "deployed" })
	if i < 0 {
		return record{}, false
	}
	return h[i], true
}

// lines say of each revision what it is, at most a few.
func (h history) lines(most int) []string {
	out := []string{}
	for i, r := range h {
		if i == most {
			out = append(out, fmt.Sprintf("and %d older", len(h)-most))
			break
		}
		out = append(out, fmt.Sprintf("%d %s, begun %s", r.revision, r.status, r.began.UTC().Format(time.RFC3339)))
	}
	return out
}
