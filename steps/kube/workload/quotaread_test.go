package workload

import (
	"encoding/json"
	"testing"

	"handrail/steps/kube/podstate"
)

func TestParseQuotaRefusal(t *testing.T) {
	t.Parallel()
	r, ok := parseQuotaRefusal(`pods "web-1" is forbidden: exceeded quota: rq, requested: limits.memory=1Gi,pods=1, used: limits.memory=0,pods=1, limited: limits.memory=1Gi,pods=1`)
	cpu := r.asked["limits.memory"]
	if !ok || r.quota != "rq" || len(r.asked) != 2 || cpu.String() != "1Gi" || r.must != nil {
		t.Errorf("%+v %v", r, ok)
	}
	if r, ok := parseQuotaRefusal(`failed quota: rq: must specify requests.cpu for: c; requests.memory for: c`); !ok || len(r.must) != 2 || r.must[1] != "requests.memory" || r.quota != "rq" {
		t.Errorf("%+v %v", r, ok)
	}
	if _, ok := parseQuotaRefusal("no quota at all"); ok {
		t.Error("words that are no refusal were read as one")
	}
}

// TestRefusalOfSeveral: room for one Pod is no room for the two that are lacking.
func TestRefusalOfSeveral(t *testing.T) {
	t.Parallel()
	var q quota
	if err := json.Unmarshal([]byte(`{"metadata": {"name": "rq"}, "spec": {"hard": {"requests.cpu": "900m"}}, "status": {"hard": {"requests.cpu": "900m"}, "used": {"requests.cpu": "400m"}}}`), &q); err != nil {
		t.Fatal(err)
	}
	r, _ := parseQuotaRefusal(`pods "web-1" is forbidden: exceeded quota: rq, requested: requests.cpu=400m, used: requests.cpu=400m, limited: requests.cpu=500m`)
	for times, want := range map[int64]bool{1: false, 2: true} {
		if got := r.stands([]quota{q}, times); got != want {
			t.Errorf("%d times: stands = %v", times, got)
		}
	}
	for text, want := range map[string]int64{
		`{"spec": {"replicas": 3}, "status": {"replicas": 1}}`: 2,
		`{"spec": {"replicas": 3}, "status": {"replicas": 3}}`: 1,
		`{"spec": {}, "status": {}}`:                           1,
		`{"spec": {"replicas": 0}, "status": {"replicas": 0}}`: 1,
	} {
		var w podstate.Workload
		if err := json.Unmarshal([]byte(text), &w); err != nil || lacking(w) != want {
			t.Errorf("%s lacks %d, want %d (%v)", text, lacking(w), want, err)
		}
	}
}
