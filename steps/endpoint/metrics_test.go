package endpoint

import (
	"os"
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

func told(t *testing.T, raw string, unread ...string) (map[string]steps.Value, string) {
	t.Helper()
	list, err := members([]byte(raw), "etcd")
	if err != nil {
		t.Fatal(err)
	}
	f, obs := steps.NewFacts(etcdFacts()), steps.Observation{}
	tell(list, unread, f, &obs)
	var said []string
	for _, finding := range obs.Findings {
		said = append(said, finding.Say)
	}
	return f.Rest("not read"), strings.Join(said, "\n")
}

const one = `# HELP etcd_server_has_leader Whether or not a leader exists.
# TYPE etcd_server_has_leader gauge
etcd_server_has_leader 1
etcd_server_is_leader 1
etcd_server_leader_changes_seen_total 1
etcd_server_proposals_failed_total 0
etcd_server_proposals_committed_total 918301
etcd_server_proposals_pending 0
process_start_time_seconds 1.7e+09
`

// TestHistory: what the counters hold is not what is now.
func TestHistory(t *testing.T) {
	t.Parallel()
	follower := strings.NewReplacer("is_leader 1", "is_leader 0", "1.7e+09", "1.7001e+09").Replace(one)
	labelled := func(text, name string) string {
		var out strings.Builder
		for line := range strings.Lines(text) {
			if name, value, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") {
				line = name + `{job="etcd",instance="NAME"} ` + value
			}
			out.WriteString(line)
		}
		return strings.ReplaceAll(out.String(), "NAME", name)
	}
	for name, tc := range map[string]struct {
		raw       string
		unread    []string
		now, past string
		members   int64
		say       string
	}{
		"one":                      {one, nil, "healthy", "stable", 1, ""},
		"three":                    {one + follower + follower, nil, "healthy", "stable", 3, ""},
		"by label":                 {labelled(one, "a") + labelled(follower, "b"), nil, "healthy", "stable", 2, ""},
		"changes":                  {strings.ReplaceAll(one, "seen_total 1", "seen_total 12"), nil, "healthy", "unstable", 1, "12 changes of the leader and 0 failed"},
		"failed":                   {strings.ReplaceAll(one, "failed_total 0", "failed_total 847"), nil, "healthy", "unstable", 1, "1 changes of the leader and 847 failed"},
		"no leader":                {strings.ReplaceAll(follower, "has_leader 1", "has_leader 0"), nil, "unhealthy", "stable", 1, "have no leader: etcd"},
		"two leaders":              {one + one, nil, "unhealthy", "stable", 2, "say that they lead"},
		"no one leads of those":    {follower, nil, "unknown", "stable", 1, ""},
		"one unread":               {one, []string{"b: refused"}, "unknown", "unknown", 1, ""},
		"one unread, and unstable": {strings.ReplaceAll(one, "failed_total 0", "failed_total 1"), []string{"b: refused"}, "unknown", "unstable", 1, "unstable"},
		"a counter is missing":     {strings.ReplaceAll(one, "etcd_server_proposals_failed_total", "x"), nil, "healthy", "unknown", 1, ""},
		"no start":                 {strings.ReplaceAll(one, "process_start_time_seconds", "x"), nil, "healthy", "unknown", 1, ""},
	} {
		f, say := told(t, tc.raw, tc.unread...)
		if f["now"].Text() != tc.now || f["past"].Text() != tc.past || f["members"].Int() != tc.members || !strings.Contains(say, tc.say) || tc.say == "" && say != "" {
			t.Errorf("%s: now %q, past %q, %d members, %q", name, f["now"].Text(), f["past"].Text(), f["members"].Int(), say)
		}
	}
	f, _ := told(t, one+follower)
	if f["since"].Time() != time.Unix(1700100000, 0).UTC() || f["leader"].Text() != "etcd #1" || f["index"].Table()["etcd #2"] != "918301" {
		t.Errorf("since %v, leader %q, index %v", f["since"].Time(), f["leader"].Text(), f["index"].Table())
	}
	for name, raw := range map[string]string{
		"no number": strings.ReplaceAll(one, "has_leader 1", "has_leader NaN"), "twice": labelled(one, "a") + labelled(one, "a"), "many": strings.Repeat(one, mostMembers+1), "long": "# " + strings.Repeat("x", 2<<20),
	} {
		if list, err := members([]byte(raw), "etcd"); err == nil {
			t.Errorf("%s: %d members", name, len(list))
		}
	}
}

// TestThreeMembers reads what three real members answered after their leader was killed twice.
func TestThreeMembers(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/three.metrics")
	if err != nil {
		t.Fatal(err)
	}
	f, say := told(t, string(raw))
	if f["members"].Int() != 3 || f["now"].Text() != "healthy" || f["past"].Text() != "unstable" || f["leader_changes"].Int() < 2 || !strings.Contains(say, "Whatever it is now") {
		t.Errorf("%+v, %q", f, say)
	}
}

// FuzzMembers: whatever is read, no member is told twice and nothing panics.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(one))
	f.Add([]byte(one + one))
	f.Add([]byte(`etcd_server_has_leader{instance="a"} 1e400`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := members(raw, "etcd")
		if err != nil {
			return
		}
		facts, obs := steps.NewFacts(etcdFacts()), steps.Observation{}
		tell(list, nil, facts, &obs)
		if got := facts.Rest("not read"); got["members"].Int() != int64(len(list)) || len(list) > mostMembers {
			t.Fatalf("%d members, %v told", len(list), got["members"])
		}
	})
}

// FuzzLeaves: each value has a name of its own, within bounds.
func FuzzLeaves(f *testing.F) {
	f.Add([]byte(`{"a":{"b":true,"c":[1,2.50,null]},"a.b":"x"}`))
	f.Add([]byte(`"x"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if entries, err := leaves(raw); err == nil && len(entries) > mostEntries {
			t.Fatalf("%d entries", len(entries))
		}
	})
}
