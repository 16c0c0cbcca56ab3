package centre

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"handrail/steps/cluster"
)

func objectOf(t *testing.T, text string) cluster.Object {
	t.Helper()
	o, err := cluster.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestWaitingJobs: a Job that has long had no Pod that is ready hangs; one that runs,
// is over, was suspended or has just begun does not.
func TestWaitingJobs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, status string
		began        time.Duration // before now
		want         string        // "" for no row
	}{
		{"no Pod of it is ready", `"active":1,"ready":0`, time.Hour, "none of its 1 Pods is ready"},
		{"and some failed", `"active":1,"failed":3`, time.Hour, "none of its 1 Pods is ready, 3 failed"},
		{"it makes none", `"active":0`, time.Hour, "none of its 0 Pods is ready"},
		{"it runs", `"active":1,"ready":1`, time.Hour, ""},
		{"it has just begun", `"active":1,"ready":0`, time.Minute, ""},
		{"it is over", `"conditions":[{"type":"Complete","status":"True"}]`, time.Hour, ""},
		{"it failed", `"conditions":[{"type":"Failed","status":"True"}]`, time.Hour, ""},
		{"it is suspended", `"conditions":[{"type":"Suspended","status":"True"}]`, time.Hour, ""},
	} {
		o := objectOf(t, fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"n"},"status":{"startTime":%q,%s}}`,
			time.Now().Add(-tc.began).UTC().Format(time.RFC3339), tc.status))
		row, is := waitingJob(o)
		if is != (tc.want != "") || !strings.Contains(row.What, tc.want) {
			t.Errorf("%s: %+v, %v, want %q", tc.name, row, is, tc.want)
		}
	}
}

// TestRowsCarryTheMessage: what a row says in its one line has the message of the
// condition, not its reason alone.
func TestRowsCarryTheMessage(t *testing.T) {
	t.Parallel()
	conditions, err := json.Marshal([]map[string]string{{"type": "Ready", "status": "False", "reason": "NoBucket", "message": "archive has no usable bucket"}})
	if err != nil {
		t.Fatal(err)
	}
	o := objectOf(t, `{"apiVersion":"x/v1","kind":"X","metadata":{"name":"x"},"status":{"health":{"status":"Degraded","message":"archive has no usable bucket"},"conditions":`+string(conditions)+`}}`)
	flux, _ := fluxTrouble(o)
	argo, _ := argoTrouble(o)
	for name, said := range map[string]string{"flux": flux.What, "argo": argo.What, "in deletion": troubles(o)} {
		if !strings.Contains(said, "has no usable bucket") {
			t.Errorf("%s says %q", name, said)
		}
	}
}
