package record

import (
	"encoding/json"
	"testing"
	"time"
)

// TestDebtsComeBack holds the form of debts in the journal.
func TestDebtsComeBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		json string
		want Debt
		back string
	}{
		{`{"kind":"resume","text":"paused","due":"4h0m0s"}`, Debt{Kind: "resume", Text: "paused", Due: 4 * time.Hour}, ""},
		{`{"kind":"reconcile","text":"<by hand>"}`, Debt{Kind: "reconcile", Text: "<by hand>"}, `{"kind":"reconcile","text":"\u003cby hand\u003e"}`},
		{`{"kind":"resume","text":"paused","due":14400000000000}`, Debt{Kind: "resume", Text: "paused", Due: 4 * time.Hour}, `{"kind":"resume","text":"paused","due":"4h0m0s"}`},
		{`{"kind":"resume","text":"paused","due":"soon"}`, Debt{Kind: "resume", Text: "paused"}, `{"kind":"resume","text":"paused"}`},
		{`{"kind":"unfinished","text":"no clean-up","item":"job/a"}`, Debt{Kind: "unfinished", Text: "no clean-up", Item: "job/a"}, ""},
	} {
		var got Debt
		if err := json.Unmarshal([]byte(tc.json), &got); err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v, want %+v", tc.json, got, err, tc.want)
		}
		if tc.back == "" {
			tc.back = tc.json
		}
		if b, err := json.Marshal(got); err != nil || string(b) != tc.back {
			t.Errorf("%+v: %s, %v, want %s", got, b, err, tc.back)
		}
	}
}
