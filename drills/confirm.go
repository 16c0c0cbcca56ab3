package drills

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"handrail/drills/lab"
	"handrail/evidence"
)

// ours reports whether a request was sent by handrail itself. A program that it
// ran, as tofu, has a User-Agent of its own, and so has the lab.
func ours(e lab.AuditEvent) bool {
	return e.UserAgent == "handrail" || strings.HasPrefix(e.UserAgent, "handrail/")
}

// named reads out of the journal the Audit-IDs of every request that the bundle
// owns up to, and the entry that does.
func named(path string) (map[string]int64, error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	ids := map[string]int64{}
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return nil, err
		}
		var said struct {
			Audit []string `json:"audit"`
		}
		if err := json.Unmarshal(e.Data, &said); err != nil {
			return nil, err
		}
		for _, id := range said.Audit {
			ids[id] = e.Seq
		}
	}
	return ids, nil
}

// confirm holds the requests of handrail that the server logged against those
// that the bundle names. The log of the lab holds no plain reads, but every
// write, rehearsal and review. The servers of states and a cloud give their requests no Audit-ID: an act answers for them
// by its time and target, or none does ([prove]).
func confirm(events []lab.AuditEvent, ids map[string]int64) (asked int, strange []string) {
	for _, e := range events {
		if !ours(e) || e.Resource == storedState || e.Resource == storedObject || e.Resource == cloudInstance {
			continue
		}
		if _, ok := ids[e.ID]; ok {
			asked++
			continue
		}
		strange = append(strange, fmt.Sprintf("%s %s (Audit-ID %s)", e.Verb, e.URI, e.ID))
	}
	return asked, strange
}
