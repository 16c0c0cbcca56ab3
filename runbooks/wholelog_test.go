package runbooks

import (
	"slices"
	"strings"
	"testing"

	"handrail/triage"
)

// TestNoneIsSaidOfWholeLogs holds every rule of the library that tells no mutation,
// or agreement, from a log to facts that a partial log does not have.
func TestNoneIsSaidOfWholeLogs(t *testing.T) {
	t.Parallel()
	cases := 0
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lib {
		if err := b.compiled(); err != nil {
			t.Fatal(err)
		}
		logs := map[string]bool{}
		for _, s := range b.Steps {
			if s.Uses == "terraform/log" {
				logs["facts."+s.ID[strings.LastIndexByte(s.ID, '/')+1:]+"."] = true
			}
		}
		for _, s := range b.Steps {
			for _, c := range s.cases {
				calm := s.Topic == triage.TopicMutation && c.is == "no" || s.Topic == triage.TopicConsistent && c.is == "yes" ||
					s.Topic == triage.TopicClass && c.is == "MutationNotStarted"
				if !calm || c.when == nil {
					continue
				}
				for log := range logs {
					refers := func(facts ...string) bool {
						return slices.ContainsFunc(c.when.refs, func(r string) bool {
							fact, is := strings.CutPrefix(r, log)
							return is && (len(facts) == 0 || slices.Contains(facts, fact))
						})
					}
					if !refers() {
						continue
					}
					cases++
					if !refers("whole", "started") {
						t.Errorf("%s concludes %s = %s from %s: a log that is not whole may say the same", b.ID, s.Topic, c.is, c.when.refs)
					}
				}
			}
		}
	}
	if cases < 10 {
		t.Errorf("%d rules were held to it, which cannot be all", cases)
	}
}
