package contexts

import (
	"strings"
	"testing"

	"handrail/steps"
)

// TestOneUIDIsNotOneStore: a copy that was restored from a snapshot has the UID of its cluster.
func TestOneUIDIsNotOneStore(t *testing.T) {
	t.Parallel()
	at := func(name, server string) entry {
		return entry{Cluster: steps.Cluster{Context: name, Server: server, UID: "u"}}
	}
	for want, list := range map[string][]entry{
		"compared with itself":        {at("a", "https://a"), at("b", "https://a")},
		"restored from its data":      {at("a", "https://a"), at("b", "https://b")},
		"Read in both an object that": {at("a", "https://a"), at("b", "https://a"), at("c", "https://c")},
	} {
		obs := tell(list)
		if len(obs.Findings) != 1 || !strings.Contains(obs.Findings[0].Say, want) {
			t.Errorf("%q: %+v", want, obs.Findings)
		}
	}
}
