package kube

import (
	"testing"
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
		lean, err := metadataItem(newScan(raw))
		if err != nil {
			return
		}
		whole, err := wholeItem(newScan(raw))
		if err != nil {
			return // what stands outside metadata is not looked into
		}
		_ = lean.GetFinalizers()
		if lean.GetName() != whole.GetName() || lean.GetUID() != whole.GetUID() || len(lean.GetOwnerReferences()) != len(whole.GetOwnerReferences()) {
			t.Errorf("%q: %v and %v differ", raw, lean.Object, whole.Object)
		}
	})
}
