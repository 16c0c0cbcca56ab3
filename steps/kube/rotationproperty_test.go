package kube

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// rotationCase is a generated Pod and what it takes its values of.
type rotationCase struct {
	// owners are the managers of each key, of two Secrets and two ConfigMaps.
	owners [4][3][]int
	late   [3]bool // managers that wrote after the start
	uses   []turnedUse
}

// turnedUse is one way in which a container takes a value.
type turnedUse struct {
	container, source int
	key               int  // -1 for all
	optional          bool // of what may not be there
}

// missingSource is one that is never made.
const missingSource = 4

func turns() *rapid.Generator[rotationCase] {
	return rapid.Custom(func(r *rapid.T) rotationCase {
		var out rotationCase
		for s := range out.owners {
			for k := range out.owners[s] {
				out.owners[s][k] = rapid.SliceOfNDistinct(rapid.IntRange(0, 2), 1, 2, rapid.ID[int]).Draw(r, "managers")
			}
		}
		for i := range out.late {
			out.late[i] = rapid.Bool().Draw(r, "late")
		}
		out.uses = rapid.SliceOfN(rapid.Custom(func(r *rapid.T) turnedUse {
			return turnedUse{rapid.IntRange(0, 1).Draw(r, "container"), rapid.IntRange(0, missingSource).Draw(r, "source"),
				rapid.IntRange(-1, 2).Draw(r, "key"), rapid.Bool().Draw(r, "optional")}
		}), 0, 6).Draw(r, "uses")
		return out
	})
}

func (u turnedUse) secret() bool { return u.source%2 == 0 }

// changed reports whether a manager that stands for a key wrote after the start.
func (x rotationCase) changed(u turnedUse) bool {
	if u.source == missingSource {
		return false
	}
	for k, managers := range x.owners[u.source] {
		if (u.key < 0 || u.key == k) && slices.ContainsFunc(managers, func(m int) bool { return x.late[m] }) {
			return true
		}
	}
	return false
}

// TestRotationProperty lays what the probe says of generated Pods on the real
// server beside what they were generated from.
func TestRotationProperty(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	// The start lies ahead, so that nothing has to be waited for: what is made now
	// was there before it, and a manager may have written after it.
	start := time.Now().UTC().Add(time.Hour).Truncate(time.Second)
	home, some := t.TempDir(), 0
	for i := range 12 {
		x := turns().Example(i)
		pod := fmt.Sprintf("pod-%d", i)
		w.turn(pod, x, start)
		env := w.root()
		env.Home = home
		obs := w.probe(env, "kube/rotation", "pod", pod)
		var want []string
		missing := false
		for _, u := range x.uses {
			name, key := turnedName(pod, u.source), ""
			if u.key >= 0 {
				key = fmt.Sprintf(" key k%d", u.key)
			}
			if x.changed(u) {
				want = append(want, fmt.Sprintf("%s%s|container c%d", name, key, u.container))
			}
			missing = missing || u.source == missingSource && !u.optional
		}
		var got []string
		for _, line := range obs.Facts["changed_after_start"].Strings() {
			name, rest, _ := strings.Cut(line, " was written ")
			_, rest, _ = strings.Cut(rest, "; ")
			container, _, _ := strings.Cut(rest, " of pod ")
			got = append(got, name+"|"+container)
		}
		slices.Sort(want)
		slices.Sort(got)
		some += len(want)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("%+v: changed_after_start = %q, want %q", x, obs.Facts["changed_after_start"].Strings(), want)
		}
		var gone []string
		if missing {
			gone = []string{turnedName(pod, missingSource)}
		}
		if got := obs.Facts["missing"].Strings(); !slices.Equal(got, gone) {
			t.Errorf("%+v: missing = %q, want %q", x, got, gone)
		}
	}
	if some == 0 {
		t.Error("nothing was rotated: the Pods prove nothing")
	}
}

func turnedName(pod string, source int) string {
	kind := "configmap"
	if source%2 == 0 {
		kind = "secret"
	}
	return fmt.Sprintf("%s/%s-%d", kind, pod, source)
}

// turn makes one generated Pod, its sources with the books that were generated.
func (w *keepersWorld) turn(pod string, x rotationCase, start time.Time) {
	w.t.Helper()
	for s, keys := range x.owners {
		owned := [3]fields{{}, {}, {}}
		data := fields{}
		for k, managers := range keys {
			key := fmt.Sprintf("k%d", k)
			data[key] = "YQ=="
			for _, m := range managers {
				owned[m]["f:"+key] = fields{}
			}
		}
		var books []fields
		for m, own := range owned {
			at := start.Add(-30 * time.Minute)
			if x.late[m] {
				at = start.Add(time.Minute)
			}
			if len(own) > 0 {
				books = append(books, fields{"manager": fmt.Sprintf("manager-%d", m), "operation": "Update", "apiVersion": "v1", "time": at.Format(time.RFC3339),
					"fieldsType": "FieldsV1", "fieldsV1": fields{"f:data": own}})
			}
		}
		plural, name, _ := strings.Cut(turnedName(pod, s), "/")
		w.create(w.in("", plural+"s", ""), fields{"metadata": fields{"name": name}, "data": data})
		w.merge(w.in("", plural+"s", name), fields{"metadata": fields{"managedFields": books, "labels": fields{"app": pod}}})
	}
	containers := []fields{{"name": "c0", "image": "i"}, {"name": "c1", "image": "i"}}
	env, from := [2][]fields{}, [2][]fields{}
	for i, u := range x.uses {
		_, name, _ := strings.Cut(turnedName(pod, u.source), "/")
		ref := fields{"name": name, "optional": u.optional}
		one, whole := "configMapKeyRef", "configMapRef"
		if u.secret() {
			one, whole = "secretKeyRef", "secretRef"
		}
		if u.key < 0 {
			from[u.container] = append(from[u.container], fields{whole: ref})
			continue
		}
		ref["key"] = fmt.Sprintf("k%d", u.key)
		env[u.container] = append(env[u.container], fields{"name": fmt.Sprintf("V%d", i), "valueFrom": fields{one: ref}})
	}
	var ready []fields
	for i := range containers {
		containers[i]["env"], containers[i]["envFrom"] = env[i], from[i]
		ready = append(ready, containerIs(fmt.Sprintf("c%d", i), 0, fields{"running": fields{"startedAt": start.Format(time.RFC3339)}}, nil))
	}
	w.create(w.in("", "pods", ""), fields{"metadata": fields{"name": pod}, "spec": fields{"containers": containers}})
	w.podStatus(pod, fields{"phase": "Running", "containerStatuses": ready})
}
