package report

import (
	"bytes"
	"strings"
	"testing"

	"handrail/triage"
)

// TestByHandInEveryForm: a repair outside of handrail is named as one, by name, and as
// not shown while it is owed; what it says steers no page.
func TestByHandInEveryForm(t *testing.T) {
	t.Parallel()
	st := fold(t, story(itself), 6)
	hand := triage.HandAct{ID: "proof", What: "kubectl scale <b>web</b>", Object: "deploy/web", Person: "Grace", Proof: "demo/clean"}
	st, err := triage.Fold(st, triage.Event{Seq: st.Seq + 1, At: st.Updated, Actor: "ada", Body: hand})
	if err != nil {
		t.Fatal(err)
	}
	d := New(st)
	for name, tc := range map[string]struct {
		write func(*bytes.Buffer) error
		want  []string
	}{
		"html": {func(b *bytes.Buffer) error { return WriteHTML(b, d) }, []string{"By hand, outside handrail", "kubectl scale &lt;b&gt;web&lt;/b&gt;", ">Grace<", "not shown"}},
		"md":   {func(b *bytes.Buffer) error { return WriteMarkdown(b, d) }, []string{"deploy/web: by hand, outside handrail", "by Grace, recorded by ada", "NOT SHOWN: demo/clean owes it"}},
	} {
		var b bytes.Buffer
		if err := tc.write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range tc.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}
