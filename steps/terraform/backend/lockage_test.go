package backend

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestLockAge: no clock of a holder makes a lock older than the backend knows it
// to be.
func TestLockAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tc := range []struct {
		name    string
		created time.Duration // before now
		wrote   *time.Duration
		rewrote bool
		why     string // of a backend that should say it
		want    time.Duration
		unknown string
	}{
		{name: "both say the same", created: time.Hour, wrote: ago(time.Hour), want: time.Hour},
		{name: "a minute apart", created: time.Hour, wrote: ago(59 * time.Minute), want: 59 * time.Minute},
		{name: "a minute apart, the other way", created: 59 * time.Minute, wrote: ago(time.Hour), want: 59 * time.Minute},
		{name: "the holder's clock is an hour late", created: time.Hour, wrote: ago(0), unknown: "the lock was written again"},
		{name: "the holder's clock is an hour early", created: 0, wrote: ago(time.Hour), unknown: "the lock was written again"},
		{name: "a blob that its run saved since", created: time.Hour, wrote: ago(10 * time.Minute), rewrote: true, want: 10 * time.Minute},
		{name: "a blob that is older than its lock", created: 0, wrote: ago(time.Hour), rewrote: true, unknown: "the lock was written again"},
		{name: "a backend that keeps no time", created: time.Hour, want: time.Hour},
		{name: "a backend that should and does not", created: time.Hour, why: "its managedFields are gone", unknown: "its managedFields are gone"},
		{name: "both in the future", created: -time.Hour, wrote: ago(-time.Hour), unknown: "in the future"},
	} {
		l := Lock{Held: true, at: now, Info: &LockInfo{Who: "u@h", Created: now.Add(-tc.created)}, wrote: serverWord{rewrote: tc.rewrote, why: tc.why}}
		if tc.wrote != nil {
			l.wrote.at = now.Add(-*tc.wrote)
		}
		age, why := l.Age()
		if tc.unknown == "" && (age != tc.want || why != "") || tc.unknown != "" && !strings.Contains(why, tc.unknown) {
			t.Errorf("%s: age = %s, %q, want %s, %q", tc.name, age, why, tc.want, tc.unknown)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		second := func(name string) time.Time {
			return now.Add(-time.Duration(rapid.IntRange(-7200, 7200).Draw(t, name)) * time.Second)
		}
		l := Lock{Held: true, at: now, Info: &LockInfo{Created: second("created")}, wrote: serverWord{at: second("wrote"), rewrote: rapid.Bool().Draw(t, "rewrote")}}
		if age, why := l.Age(); why == "" && age > max(0, now.Sub(l.wrote.at)) {
			t.Fatalf("age = %s, and the backend wrote it %s ago", age, now.Sub(l.wrote.at))
		}
	})
}

func ago(d time.Duration) *time.Duration { return &d }

// TestHeldSince takes the time from who set the holder, and from no other writer.
func TestHeldSince(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ raw, want string }{
		"its own writer": {`[{"time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:holderIdentity":{}}}},{"time":"2026-01-02T00:00:00Z","fieldsV1":{"f:metadata":{"f:labels":{}}}}]`, "2026-01-01T00:00:00Z"},
		"set again":      {`[{"time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:holderIdentity":{}}}},{"time":"2026-01-03T00:00:00Z","fieldsV1":{"f:spec":{"f:holderIdentity":{}}}}]`, "2026-01-03T00:00:00Z"},
		"none":           {`[]`, "0001-01-01T00:00:00Z"},
		"without a time": {`[{"fieldsV1":{"f:spec":{"f:holderIdentity":{}}}}]`, "0001-01-01T00:00:00Z"},
	} {
		var writers []managedFields
		if err := json.Unmarshal([]byte(tc.raw), &writers); err != nil {
			t.Fatal(err)
		}
		if got := heldSince(writers).Format(time.RFC3339); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestLockInfoWithoutADate: a date that cannot be read costs the date alone.
func TestLockInfoWithoutADate(t *testing.T) {
	t.Parallel()
	for _, created := range []string{`"yesterday"`, `1700000000`, `"2026-01-02 03:04:05 +0000 UTC"`, `{}`, `""`} {
		l, err := parseLockInfo([]byte(`{"ID":"i","Who":"u@h","Operation":"OperationTypeApply","Created":` + created + `}`))
		if err != nil || l.Who != "u@h" || l.ID != "i" || !l.Created.IsZero() {
			t.Errorf("%s: %+v, %v, want the holder", created, l, err)
			continue
		}
		if _, why := (Lock{Held: true, Info: l, at: time.Now()}).Age(); !strings.Contains(why, "cannot be read from "+created) {
			t.Errorf("%s: age is unknown for %q", created, why)
		}
	}
	if l, err := parseLockInfo([]byte(`{"Who":"u@h","Created":null}`)); err != nil || l.NoDate() != "the lock does not say when it was taken" {
		t.Errorf("no date: %+v, %v", l, err)
	}
}
