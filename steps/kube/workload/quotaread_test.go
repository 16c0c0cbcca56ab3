package workload

import "testing"

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
