package inject

import (
	"slices"
	"testing"
)

// TestSurveyIsNarrow: who looks for writers in the whole cluster sees no Secret,
// and writes nothing but the question of who may do something.
func TestSurveyIsNarrow(t *testing.T) {
	t.Parallel()
	for _, r := range survey() {
		if r.Group == "*" || r.Group == "" && (slices.Contains(r.Resources, "*") || slices.Contains(r.Resources, "secrets")) {
			t.Errorf("%+v shows Secrets", r)
		}
		for _, verb := range r.Verbs {
			if !slices.Contains([]string{"get", "list", "watch"}, verb) && r.Group != "authorization.k8s.io" {
				t.Errorf("%+v writes", r)
			}
		}
	}
}
