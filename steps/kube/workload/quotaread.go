package workload

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	quantity "k8s.io/apimachinery/pkg/api/resource"
)

// quota is what is read of a ResourceQuota.
type quota struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Hard          map[string]quotaAmount `json:"hard"`
		Scopes        []string               `json:"scopes"`
		ScopeSelector any                    `json:"scopeSelector"`
	} `json:"spec"`
	Status struct {
		Hard map[string]quotaAmount `json:"hard"`
		Used map[string]quotaAmount `json:"used"`
	} `json:"status"`
}

// quotaAmount is an amount as Kubernetes writes it: 100m, 1Gi or 3.
type quotaAmount struct{ quantity.Quantity }

func (q quota) scoped() bool { return len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil }

// behind names what of the quota its controller has not counted yet, "" when its
// status is that of its spec.
func (q quota) behind() string {
	for _, what := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
		seen, there := q.Status.Hard[what]
		want := q.Spec.Hard[what]
		if _, counted := q.Status.Used[what]; !there || !counted || seen.Cmp(want.Quantity) != 0 {
			return what
		}
	}
	return ""
}

// left is what of one resource is still free, perhaps less than nothing.
func (q quota) left(what string) (quantity.Quantity, bool) {
	hard, there := q.Spec.Hard[what]
	if !there {
		return quantity.Quantity{}, false
	}
	used := q.Status.Used[what]
	free := hard.DeepCopy()
	free.Sub(used.Quantity)
	return free, true
}

// quotaRefusal is what an API server said when a quota refused something.
type quotaRefusal struct {
	quota string
	asked map[string]quantity.Quantity // what the request asked for
	must  []string                     // what it should have asked for, and did not
	text  string
}

var (
	quotaExceeded = regexp.MustCompile(`exceeded quota: ([a-z0-9][a-z0-9.-]*), requested: ([^ ]+(?: [^ ]+)*?), used: `)
	quotaFailed   = regexp.MustCompile(`failed quota: ([a-z0-9][a-z0-9.-]*): must specify (.*)`)
)

// parseQuotaRefusal reads the words of a refusal; ok is false where they are none.
func parseQuotaRefusal(text string) (r quotaRefusal, ok bool) {
	r.text = text
	if m := quotaFailed.FindStringSubmatch(text); m != nil {
		r.quota = m[1]
		for _, word := range strings.FieldsFunc(m[2], func(c rune) bool { return c == ' ' || c == ',' || c == ':' }) {
			if strings.Contains(word, ".") || word == "cpu" || word == "memory" {
				r.must = append(r.must, word)
			}
		}
		return r, true
	}
	m := quotaExceeded.FindStringSubmatch(text)
	if m == nil {
		return r, false
	}
	r.quota, r.asked = m[1], map[string]quantity.Quantity{}
	for part := range strings.SplitSeq(m[2], ",") {
		what, amount, _ := strings.Cut(part, "=")
		if q, err := quantity.ParseQuantity(amount); err == nil {
			r.asked[what] = q
		}
	}
	return r, true
}

// stands reports whether the quota would still refuse the same request, made so many times. It
// is counted anew: an event outlives what it tells of.
func (r quotaRefusal) stands(quotas []quota, times int64) bool {
	for _, q := range quotas {
		if q.Metadata.Name != r.quota {
			continue
		}
		for _, what := range r.must {
			if _, there := q.Spec.Hard[what]; there {
				return true
			}
		}
		for what, asked := range r.asked {
			all := asked.DeepCopy()
			all.Mul(times)
			if free, there := q.left(what); there && all.Cmp(free) > 0 {
				return true
			}
		}
	}
	return false
}

// headroom is one cell of the table.
func (q quota) headroom(what string) string {
	hard, used := q.Spec.Hard[what], q.Status.Used[what]
	free, _ := q.left(what)
	return fmt.Sprintf("%s free, %s of %s used", free.String(), used.String(), hard.String())
}
