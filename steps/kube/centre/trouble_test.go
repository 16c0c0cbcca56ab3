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

// TestEmptyingFails: a namespace whose controller cannot empty it hangs from that moment on.
func TestEmptyingFails(t *testing.T) {
	t.Parallel()
	const condemned = `"deletionTimestamp":"2026-11-26T20:59:01Z",`
	for name, tc := range map[string]struct {
		meta, status string
		want         bool
	}{
		"a dead API":              {condemned, `{"type":"NamespaceDeletionDiscoveryFailure","status":"True"}`, true},
		"a webhook refuses":       {condemned, `{"type":"NamespaceDeletionContentFailure","status":"True"}`, true},
		"all goes well":           {condemned, `{"type":"NamespaceDeletionDiscoveryFailure","status":"False"}`, false},
		"it waits for finalizers": {condemned, `{"type":"NamespaceFinalizersRemaining","status":"True"}`, false},
		"it is not to go":         {"", `{"type":"NamespaceDeletionDiscoveryFailure","status":"True"}`, false},
	} {
		o := objectOf(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{%s"name":"n"},"status":{"conditions":[%s]}}`, tc.meta, tc.status))
		if got := emptyingFails(o); got != tc.want {
			t.Errorf("%s: hangs is %v, want %v", name, got, tc.want)
		}
	}
}

// TestDeadAPI: an API service of another server that is not available refuses all requests for
// its API; what the API server serves itself, or has not asked yet, is no row.
func TestDeadAPI(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec, status string
		want         bool
	}{
		"its service is gone": {`{"service":{"namespace":"shop","name":"metrics"}}`, "False", true},
		"it answers":          {`{"service":{"namespace":"shop","name":"metrics"}}`, "True", false},
		"not asked yet":       {`{"service":{"namespace":"shop","name":"metrics"}}`, "Unknown", false},
		"the server itself":   {`{}`, "False", false},
	} {
		o := objectOf(t, fmt.Sprintf(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.x"},"spec":%s,"status":{"conditions":[{"type":"Available","status":%q,"message":"service/metrics is not present"}]}}`, tc.spec, tc.status))
		row, is := deadAPI(o)
		if is != tc.want || is && (!strings.Contains(row.What, "shop/metrics") || !strings.Contains(row.Detail, "not present")) {
			t.Errorf("%s: %v %q, want %v", name, is, row.What, tc.want)
		}
	}
}
