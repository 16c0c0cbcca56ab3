package object

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"handrail/steps/cluster"
)

// TestMarksAreFound is the breadth: wherever a marker stands in a generated
// object it is found, and where none stands none is.
func TestMarksAreFound(t *testing.T) {
	t.Parallel()
	p := Protection(builtinMarkers())
	more := Protection{{Key: "example.com/tier", Value: "ledger"}, {Key: "*/do-not-touch"}} // what a team wrote into its file
	p = append(p, more...)
	word := rapid.StringMatching(`[a-z]{1,8}(\.[a-z]{1,5})?(/[a-z]{1,8})?`)
	rapid.Check(t, func(r *rapid.T) {
		set := func(label string) map[string]any {
			out := map[string]any{}
			for key, v := range rapid.MapOfN(word, rapid.StringMatching(`[a-z]{0,10}`), 0, 6).Draw(r, label) {
				last := key[strings.LastIndexByte(key, '/')+1:]
				if last != "role" && last != "purpose" && last != "do-not-touch" && key != "example.com/tier" {
					out[key] = v
				}
			}
			return out
		}
		meta := func(label string) map[string]any {
			return map[string]any{"labels": set(label + " labels"), "annotations": set(label + " annotations")}
		}
		own, made, jobs, deep := meta("own"), meta("made"), meta("jobs"), meta("deep")
		o := cluster.Object{Unstructured: &unstructured.Unstructured{Object: map[string]any{"metadata": own, "spec": map[string]any{
			"template":    map[string]any{"metadata": made},
			"jobTemplate": map[string]any{"metadata": jobs, "spec": map[string]any{"template": map[string]any{"metadata": deep}}}}}}}
		if why, is := p.Of(o); is {
			r.Fatalf("of() = %q, want none", why)
		}
		at := rapid.SampledFrom([]map[string]any{own, made, jobs, deep}).Draw(r, "where")
		kind := rapid.SampledFrom([]string{"labels", "annotations"}).Draw(r, "kind")
		m := rapid.SampledFrom(p).Draw(r, "marker")
		key := m.Key
		if name, any := strings.CutPrefix(key, "*/"); any {
			key = rapid.SampledFrom([]string{"", "a/", "example.com/"}).Draw(r, "prefix") + name
		}
		at[kind].(map[string]any)[key] = m.Value
		if _, is := p.Of(o); !is {
			r.Fatalf("the marker %s=%s among the %s is not found", key, m.Value, kind)
		}
	})
}
