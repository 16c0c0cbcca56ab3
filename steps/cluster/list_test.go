package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// FuzzMetadataItem: what the lean reader takes, the whole one takes too, and
// both see the same owners.
func FuzzMetadataItem(f *testing.F) {
	for _, s := range []string{
		`{"metadata":{"name":"a","uid":"1","managedFields":[{"manager":"x"}],"ownerReferences":[{"uid":"2","kind":"Job","name":"b"}],"finalizers":["x/y"]}}`,
		`{"kind":"PodMetrics","metadata":{"name":"a"}}`, `{"metadata":null}`, `{}`, `[]`, `{"metadata":{"labels":{"a":"b"}}`, `{"metadata":{"ownerReferences":7}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		lean, err := MetadataItem(NewScanner(raw))
		if err != nil {
			return
		}
		whole, err := WholeItem(NewScanner(raw))
		if err != nil {
			return // what stands outside metadata is not looked into
		}
		_ = lean.GetFinalizers()
		if lean.GetName() != whole.GetName() || lean.GetUID() != whole.GetUID() || len(lean.GetOwnerReferences()) != len(whole.GetOwnerReferences()) {
			t.Errorf("%q: %v and %v differ", raw, lean.Object, whole.Object)
		}
	})
}

// FuzzBuild: what is built in one pass is what the library of Kubernetes builds.
func FuzzBuild(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5,1e3,9223372036854775808,true,false,null,"x\u00fc\n",{}],"b\"\u0041":{"c":[]},"a":2}`, `[`, `"\x"`, `-0`, `1.0`, `{"ü":"\ud800"}`, `"` + "\xff" + `"`, ` 7 `, `{}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var plain any
		err := kjson.Unmarshal(raw, &plain)
		s := NewScanner(raw)
		built, berr := s.build()
		if berr == nil {
			berr = s.end()
		}
		if err != nil && berr == nil || err == nil && berr != nil && !strings.Contains(berr.Error(), "deep") {
			t.Fatalf("%q: %v, plainly %v", raw, berr, err)
		}
		if berr == nil {
			if d := cmp.Diff(plain, built); d != "" {
				t.Fatalf("%q: %s", raw, d)
			}
		}
	})
}
