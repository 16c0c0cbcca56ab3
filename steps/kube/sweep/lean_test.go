package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"pgregory.net/rapid"
	"sigs.k8s.io/randfill"

	"handrail/steps/cluster"
	"handrail/steps/cluster/wire"
	"handrail/steps/kube/persist"
)

// leanLists are the lists that a sweep reads in protobuf, by plural.group.
func leanLists() map[string]runtime.Object {
	const apps, batch, rbac = ".apps", ".batch", ".rbac.authorization.k8s.io"
	return map[string]runtime.Object{
		"pods": &corev1.PodList{}, "replicationcontrollers": &corev1.ReplicationControllerList{},
		"replicasets" + apps: &appsv1.ReplicaSetList{}, "deployments" + apps: &appsv1.DeploymentList{}, "daemonsets" + apps: &appsv1.DaemonSetList{},
		"statefulsets" + apps: &appsv1.StatefulSetList{}, "cronjobs" + batch: &batchv1.CronJobList{}, "jobs" + batch: &batchv1.JobList{},
		"roles" + rbac: &rbacv1.RoleList{}, "clusterroles" + rbac: &rbacv1.ClusterRoleList{},
		"rolebindings" + rbac: &rbacv1.RoleBindingList{}, "clusterrolebindings" + rbac: &rbacv1.ClusterRoleBindingList{},
	}
}

// leanPage is one list, filled at random, as a server sends it in both forms.
func leanPage(t testing.TB, list runtime.Object, seed int64) (inJSON, inProtobuf []byte) {
	t.Helper()
	randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(14).Funcs(
		func(s *string, c randfill.Continue) { // words that the judging of a sweep knows, and others
			*s = []string{"", "x", "get", "update", "*", "pods/exec", "secrets", "ServiceAccount", "User", "Complete", "True", "Succeeded", "registry:5/a:1", "ü\"<", "a/b"}[c.Intn(15)]
		},
		func(p *corev1.PodPhase, c randfill.Continue) {
			*p = []corev1.PodPhase{"", "Succeeded", "Running"}[c.Intn(3)]
		},
		func(k *batchv1.JobConditionType, c randfill.Continue) {
			*k = []batchv1.JobConditionType{"Complete", "Failed", "Suspended"}[c.Intn(3)]
		},
		func(s *corev1.ConditionStatus, c randfill.Continue) {
			*s = []corev1.ConditionStatus{"True", "False"}[c.Intn(2)]
		},
		func(f *metav1.FieldsV1, _ randfill.Continue) { *f = *metav1.NewFieldsV1(`{"f:x":{}}`) },
		func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(c.Int63n(1<<33), 0) },
		func(q *kresource.Quantity, c randfill.Continue) {
			*q = *kresource.NewQuantity(c.Int63n(1000), kresource.DecimalSI)
		},
	).Fill(list)
	kind := reflect.TypeOf(list).Elem().Name()
	typed := reflect.ValueOf(list).Elem().FieldByName("TypeMeta")
	typed.FieldByName("Kind").SetString(kind)
	typed.FieldByName("APIVersion").SetString("v1")
	inJSON, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := protobuf.NewSerializer(nil, nil).Encode(list, &b); err != nil {
		t.Fatal(err)
	}
	return inJSON, b.Bytes()
}

// sightOf is all that a sweep takes of an object of a resource.
func sightOf(name string, o cluster.Object) []any {
	spec := []string{"spec", "template", "spec"}
	switch name {
	case "pods":
		spec = spec[:1]
	case "cronjobs.batch":
		spec = append([]string{"spec", "jobTemplate"}, spec...)
	}
	w := &collector{}
	run := w.runOf(cluster.Resource{}, o, spec...)
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	sight := []any{run.label(), run.namespace, run.uid, run.parent, run.account, run.host, run.what, run.digest, jobEnded(o), phase,
		persist.Text(persist.Part(o.Object, "spec"), "schedule"), o.GetFinalizers(), fmt.Sprint(o.GetDeletionTimestamp())}
	for _, kind := range []string{"role", "clusterrole", "rolebinding", "clusterrolebinding"} {
		g := persist.NewGrants()
		g.Role(kind, o.Unstructured)
		g.Bind(kind, o.Unstructured)
		sight = append(sight, g)
	}
	return sight
}

// TestLeanReadersAgree fills every kind at random and reads it plainly, lean in
// JSON and lean in protobuf: a sweep takes the same of each.
func TestLeanReadersAgree(t *testing.T) {
	t.Parallel()
	for name, list := range leanLists() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range int64(12) {
				list := reflect.New(reflect.TypeOf(list).Elem()).Interface().(runtime.Object)
				inJSON, inProtobuf := leanPage(t, list, seed)
				read := func(raw []byte, f cluster.Form) (out [][]any, next string) {
					t.Helper()
					md, err := f.Read(raw, func(o cluster.Object) { out = append(out, sightOf(name, o)) })
					if err != nil {
						t.Fatalf("%v\n%s", err, inJSON)
					}
					return out, md.Continue
				}
				f := cluster.Form{Lean: item(true), Shape: Shapes()[name]}
				plain, end := read(inJSON, cluster.Form{Lean: cluster.WholeItem})
				lean, leanEnd := read(inJSON, f)
				proto, protoEnd := read(inProtobuf, f)
				all := cmp.Exporter(func(reflect.Type) bool { return true })
				if d := cmp.Diff(plain, lean, all); d != "" || end != leanEnd {
					t.Fatalf("lean JSON: %s\n%s", d, inJSON)
				}
				if d := cmp.Diff(plain, proto, all); d != "" || end != protoEnd {
					t.Fatalf("protobuf: %s\n%s", d, inJSON)
				}
			}
		})
	}
}

// TestLeanMetadataAgrees is the same of lists of metadata.
func TestLeanMetadataAgrees(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pods", "namespaces", "configmaps"} {
		for seed := range int64(12) {
			inJSON, inProtobuf := leanPage(t, &corev1.PodList{}, seed) // whose items have their metadata where all have
			f := metadataOnly(cluster.Resource{Plural: name, Version: "v1"})
			var plain, lean, proto []any
			for _, way := range []struct {
				raw  []byte
				form cluster.Form
				out  *[]any
			}{{inJSON, cluster.Form{Lean: cluster.WholeItem}, &plain}, {inJSON, f, &lean}, {inProtobuf, f, &proto}} {
				if _, err := way.form.Read(way.raw, func(o cluster.Object) {
					one := []any{o.GetName(), o.GetNamespace(), o.GetUID(), o.GetFinalizers(), fmt.Sprint(o.GetDeletionTimestamp())}
					for _, ref := range o.GetOwnerReferences() {
						one = append(one, ref.Kind, ref.Name, ref.UID, ref.APIVersion, ref.Controller != nil && *ref.Controller)
					}
					switch name {
					case "pods":
						one = append(one, o.GetAnnotations()["x"], len(o.GetAnnotations()))
					case "namespaces":
						one = append(one, o.GetLabels()["x"], len(o.GetLabels()))
					}
					*way.out = append(*way.out, one)
				}); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(plain, lean); d != "" {
				t.Fatalf("%s, lean JSON: %s", name, d)
			}
			if d := cmp.Diff(plain, proto); d != "" {
				t.Fatalf("%s, protobuf: %s", name, d)
			}
		}
	}
}

// TestCutProtobuf: a page that was cut, wherever, is no shorter page.
func TestCutProtobuf(t *testing.T) {
	t.Parallel()
	_, whole := leanPage(t, &rbacv1.RoleBindingList{}, 3)
	f := cluster.Form{Lean: item(true), Shape: Shapes()["rolebindings.rbac.authorization.k8s.io"]}
	seen := func(raw []byte) (n int, err error) {
		_, err = f.Read(raw, func(cluster.Object) { n++ })
		return n, err
	}
	all, err := seen(whole)
	if err != nil || all == 0 {
		t.Fatalf("%d items, %v", all, err)
	}
	for n := range whole {
		if got, err := seen(whole[:n]); err == nil && got != all {
			t.Errorf("%d of %d bytes were read as a whole page of %d", n, len(whole), got)
		}
	}
}

// FuzzLeanProtobuf: what any server answers is read or refused, and an object that
// is read has the form that the accessors want.
func FuzzLeanProtobuf(f *testing.F) {
	for name, list := range leanLists() {
		_, raw := leanPage(f, list, int64(len(name)))
		f.Add(raw, name)
	}
	f.Add([]byte("k8s\x00"), "pods")
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		shape := Shapes()[name]
		if shape == nil {
			shape = metadataShape(name)
		}
		_, _ = wire.List(raw, shape, func(o map[string]any) error {
			if raw, err := json.Marshal(o); err != nil {
				t.Errorf("%s cannot be told: %v", raw, err)
			}
			sightOf(name, cluster.Object{Unstructured: &unstructured.Unstructured{Object: o}})
			return nil
		})
	})
}

// TestLooseWays: what nothing made is read in no more requests than one by one, and
// each of it is read.
func TestLooseWays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		loose map[string]int
		among map[string]int
		want  []looseRead
	}{
		{"none", nil, map[string]int{"a": 5000}, nil},
		{"one of many", map[string]int{"a": 1}, map[string]int{"a": 5000}, []looseRead{{"a", "0"}}},
		{"one of few", map[string]int{"a": 1}, map[string]int{"a": 1}, []looseRead{{"a", "0"}}},
		{"a crowd of one namespace", map[string]int{"a": 90, "b": 1}, map[string]int{"a": 100, "b": 9000}, []looseRead{{"a", ""}, {"b", "0"}}},
		{"everywhere", map[string]int{"a": 3, "b": 3, "c": 3}, map[string]int{"a": 3, "b": 3, "c": 90}, []looseRead{{}}},
	} {
		l := &looseObjects{names: map[string][]string{}, among: tc.among}
		for ns, n := range tc.loose {
			for i := range n {
				l.names[ns] = append(l.names[ns], fmt.Sprint(i))
			}
		}
		if got := l.ways(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		l := &looseObjects{names: map[string][]string{}, among: map[string]int{}}
		total := 0
		for _, ns := range []string{"a", "b", "c"} {
			l.among[ns] = rapid.IntRange(0, 3000).Draw(t, "among")
			for i := range rapid.IntRange(0, min(l.among[ns], 40)).Draw(t, "loose") {
				l.names[ns] = append(l.names[ns], fmt.Sprint(i))
				total++
			}
		}
		ways := l.ways()
		if len(ways) > total {
			t.Fatalf("%d requests for %d objects", len(ways), total)
		}
		for ns, names := range l.names {
			for _, name := range names {
				if !slices.Contains(ways, looseRead{}) && !slices.Contains(ways, looseRead{ns, ""}) && !slices.Contains(ways, looseRead{ns, name}) {
					t.Fatalf("%s/%s is not read by %v", ns, name, ways)
				}
			}
		}
	})
}
