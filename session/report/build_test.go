package report

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/triage"
	"handrail/triage/record"
)

func TestLoopAsItWasWalked(t *testing.T) {
	t.Parallel()
	var got []string
	for _, l := range whole(t, itself, -1).Legs {
		say := string(l.Phase) + " " + l.Took
		if l.Back {
			say = "back to " + say
		}
		if l.Why != "" {
			say += ": " + string(l.Why)
		}
		got = append(got, say)
	}
	want := []string{"declare 21s", "preserve 42s", "mutation 28s: evidence is in", "compare 56s", "recover 7s",
		"back to compare 7s: the target moved", "recover 1m38s", "verify 21s"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("legs (-want +got):\n%s", d)
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, c := range whole(t, itself, -1).Coverage {
		code := string(c.Code)
		got[code] = c.State
		if c.Why != "" {
			got[code] += ": " + string(c.Why)
		}
	}
	const gap, absent = "captured: with gaps: the run's log is gone", "not applicable"
	want := map[string]string{
		"E1": "waived: waived by Grace: there is no CI", "E2": absent, "E3": "waived: waived by Grace: there is no CI",
		"E4": "missing: could not be read: no right to plan", "E5": "missing: demo/extra skipped: no policy engine here", "E6": absent, "E7": gap,
		"E8": absent, "E9": gap, "E10": absent, "E11": absent, "E12": "captured", "E13": absent, "E14": absent,
		"demo/ci": "waived: waived by Grace: there is no CI", "demo/lock": gap,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("coverage (-want +got):\n%s", d)
	}
	early := whole(t, itself, 4).Coverage
	if c := early[6]; c.State != "missing" || c.Why != "it was not captured" {
		t.Errorf("before the first read, E7 is %q (%s), want missing", c.State, c.Why)
	}
}

func TestSides(t *testing.T) {
	t.Parallel()
	kv := func(k, v string) triage.KV { return triage.KV{Key: k, Value: v} }
	got := sides([]triage.KV{kv("a", "1"), kv("b", "1"), kv("b", "2"), kv("c", "1")}, []triage.KV{kv("b", "1"), kv("b", "3"), kv("a", "1"), kv("d", "9")})
	want := []Side{
		{Key: "a", Before: "1", After: "1"}, {Key: "b", Before: "1", After: "1"}, {Key: "b", Before: "2", After: "3", Changed: true},
		{Key: "c", Before: "1", Unread: true}, {Key: "d", After: "9", Added: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sides (-want +got):\n%s", d)
	}
}

// A clock that was set back must not turn a recording back, and long lines break inside its width.
func TestCastKeepsItsOrder(t *testing.T) {
	t.Parallel()
	d := Document{Opened: t0, Timeline: []Moment{
		{At: t0.Add(5 * time.Second), Text: "one"}, {At: t0.Add(2 * time.Second), Text: line(strings.Repeat("x", 300))}, {At: t0.Add(6 * time.Second), Text: "three"},
	}}
	for version, want := range map[int][]float64{2: {5, 5, 6}, 3: {5, 0, 1, 0}} {
		var b bytes.Buffer
		if err := WriteCast(&b, d, version, nil); err != nil {
			t.Fatal(err)
		}
		var got []float64
		for i, l := range strings.Split(strings.TrimSpace(b.String()), "\n") {
			if i == 0 {
				continue
			}
			var e [3]any
			if err := json.Unmarshal([]byte(l), &e); err != nil {
				t.Fatal(err)
			}
			got = append(got, e[0].(float64))
			for _, shown := range strings.Split(e[2].(string), "\r\n") {
				if len(shown) > castCols {
					t.Errorf("version %d has a line of %d columns", version, len(shown))
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("times of version %d (-want +got):\n%s", version, d)
		}
	}
	if err := WriteCast(io.Discard, d, 1, nil); err == nil {
		t.Error("WriteCast of version 1 = nil, want an error")
	}
}

func TestTroubleshootLayout(t *testing.T) {
	t.Parallel()
	blobs := map[string]string{
		"01": `{"kind":"Lease","metadata":{"name":"lock","namespace":"team-a"},"spec":{"old":true}}`,
		"02": `{"kind":"Lease","metadata":{"name":"lock","namespace":"team-a"},"spec":{"new":true}}`,
		"03": `{"kind":"PodList","items":[{"kind":"Pod","metadata":{"name":"p","namespace":"team-a"}},{"kind":"Pod","metadata":{"name":"q","namespace":"team-b"}}]}`,
		"04": `{"kind":"NetworkPolicy","metadata":{"name":"n"}}`,
		"05": `{"kind":"Pod","metadata":{"name":"x","namespace":"../../../../tmp/owned"}}`,
		"06": `{"kind":"../../Pod","metadata":{"name":"x"}}`,
		"07": "a log\n",
		"08": `{"apiVersion":"example.io/v1","kind":"Lease","metadata":{"name":"lock","namespace":"team-a"},"spec":{"other":true}}`,
	}
	d := whole(t, itself, -1)
	d.Artifacts = nil
	for _, sha := range []string{"01", "02", "03", "04", "05", "06", "07", "08"} {
		media := "application/vnd.k8s+json"
		if sha == "07" {
			media = "text/plain"
		}
		d.Artifacts = append(d.Artifacts, Artifact{SHA256: line(sha), Media: line(media)})
	}
	open := func(sha string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(blobs[sha])), nil }
	dir := filepath.Join(t.TempDir(), "out")
	if err := WriteTroubleshoot(dir, d, open, "test"); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, name)
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"analysis.json", "cluster-resources/leases/team-a.json", "cluster-resources/networkpolicies.json", "cluster-resources/pods/team-a.json", "cluster-resources/pods/team-b.json",
		"handrail/artifacts/05", "handrail/artifacts/06", "handrail/artifacts/07", "handrail/report.html", "handrail/report.json", "handrail/report.md", "handrail/timeline.csv", "version.yaml",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	lease, err := os.ReadFile(filepath.Join(dir, "cluster-resources/leases/team-a.json"))
	if err != nil || !bytes.Contains(lease, []byte("new")) || bytes.Contains(lease, []byte("old")) || !bytes.Contains(lease, []byte("other")) {
		t.Errorf("the leases are %s, %v, want the newest capture of each, one of another API group", lease, err)
	}
	if err := WriteTroubleshoot(dir, d, open, "test"); err == nil {
		t.Error("WriteTroubleshoot into a directory that exists = nil, want an error")
	}
}

// TestEachActSaysWhoAndAsWhichUser of the system: of the API server for a cluster, of
// the machine for a program, and that it is not known where the journal does not tell.
func TestEachActSaysWhoAndAsWhichUser(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		uses, proof, want string
	}{
		"a cluster":         {"kube/delete", "kube", "done at 02:17:30Z by ada, as ada@example.org: "},
		"a program":         {"terraform/unlock", "os", "done at 02:17:30Z by ada, as ada@example.org: "},
		"a cluster unheard": {"kube/delete", "os", "done at 02:17:30Z by ada, as a user that the journal does not tell: "},
		"only said so":      {"terraform/unlock", "claimed", "as a user that the journal does not tell: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bodies := story(itself)
			for i, b := range bodies {
				switch b := b.(type) {
				case triage.Person:
					b.ID, b.Proof = "ada", tc.proof
					bodies[i] = b
				case triage.Plan:
					for n := range b.Steps {
						if b.Steps[n].Kind == triage.GateStep {
							b.Steps[n].Uses = tc.uses
						}
					}
				}
			}
			var b strings.Builder
			if err := WriteMarkdown(&b, New(fold(t, bodies, -1))); err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(b.String(), "**", ""); !strings.Contains(got, tc.want) {
				t.Errorf("the page lacks %q:\n%s", tc.want, got)
			}
		})
	}
}

// TestPageBeginsWithWhatPeopleLookFor, and the record is the appendix.
func TestPageBeginsWithWhatPeopleLookFor(t *testing.T) {
	t.Parallel()
	var got []string
	for _, b := range Page(whole(t, itself, -1)) {
		if b.Kind == SectionBlock {
			got = append(got, string(b.Spans[0].Text))
		}
	}
	want := []string{"Impact", "Outcome", "What was done, and by whom", "Timeline", "Decisions and their evidence", "Findings",
		"Ruled out, or read without a finding", "Not checked", "Appendix", "On the call", "The path through the loop", "Gates",
		"Facts and their evidence", "Coverage of the evidence", "Every entry", "Verification"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sections (-want +got):\n%s", d)
	}
}

// TestStatusNamesClusterAndObject, and never says that no change began beside what
// was changed.
func TestStatusNamesClusterAndObject(t *testing.T) {
	t.Parallel()
	lines := func(bodies []triage.Body, n int, context string) string {
		return StatusOf(fold(t, bodies, n), context).Text()
	}
	bodies := story(itself)
	got := lines(bodies, -1, "prod-eu")
	if !strings.Contains(got, "Where: cluster prod-eu, directory /work\n") || !strings.Contains(got, "the failed change had not begun") ||
		!strings.Contains(got, "Changed: demo/unlock done") || strings.Contains(got, "a change began") {
		t.Errorf("the update says\n%s", got)
	}
	for i, b := range bodies {
		switch b := b.(type) {
		case triage.Plan:
			b.Params = map[string]triage.Value{"resource": record.StringOf("pods"), "namespace": record.StringOf("team-a"), "name": record.StringOf("web-0")}
			bodies[i] = b
		case triage.GateShown:
			b.Target = append(b.Target, triage.KV{Key: "object", Value: "pods/team-a/web-1"}, triage.KV{Key: "server", Value: "https://prod:6443"})
			bodies[i] = b
		}
	}
	if got := lines(bodies, 20, "prod-eu"); !strings.Contains(got, "Where: cluster prod-eu, pods/team-a/web-0\n") {
		t.Errorf("before the gate the update says\n%s", got)
	}
	if got := lines(bodies, -1, "prod-eu"); !strings.Contains(got, "Where: cluster prod-eu (https://prod:6443), pods/team-a/web-1\n") {
		t.Errorf("after the act the update says\n%s", got)
	}
}

func TestStatusIsShort(t *testing.T) {
	t.Parallel()
	bodies := story(itself)
	for n := 3; n <= len(bodies); n++ {
		got := Status(fold(t, bodies, n))
		if c := strings.Count(got, "\n"); c < 5 || c > 9 {
			t.Errorf("after %d entries the update has %d lines:\n%s", n, c, got)
		}
	}
}
