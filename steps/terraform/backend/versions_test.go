package backend

import (
	"strings"
	"testing"
	"time"
)

// A state whose head is not where a tool writes it has no serial.
func TestParseHead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, in, err string
		want          Head
	}{
		{"plain", `{"version":4,"terraform_version":"1","serial":7,"lineage":"l","resources":[`, "", Head{7, "l", "1"}},
		{"encrypted", `{"serial":3,"lineage":"l","meta":{"k":"v"},"encrypted_data":"x`, "", Head{3, "l", ""}},
		{"lineage after much", `{"version":4,"outputs":{"o":"` + strings.Repeat("x", headBytes) + `"},"serial":1,"lineage":"l"}`, "hold no serial", Head{}},
		{"no lineage", `{"version":4,"serial":7}`, "no serial or no lineage", Head{}},
		{"empty", ``, "hold no serial", Head{}},
		{"no object", `[]`, "an object should start here", Head{}},
		{"bad serial", `{"serial":"7","lineage":"l"}`, "no serial or no lineage", Head{}},
	} {
		got, err := parseHead(strings.NewReader(tc.in))
		if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %+v, %v; want %+v and %q", tc.name, got, err, tc.want, tc.err)
		}
	}
}

// TestAfterFirstLock: the blob that the lock of a first run made is no write, and one that was emptied later is.
func TestAfterFirstLock(t *testing.T) {
	t.Parallel()
	at := func(minute int, size int64) Version {
		return Version{ID: string(rune('a' + minute)), Size: size, Written: time.Date(2026, 1, 5, 12, minute, 0, 0, time.UTC)}
	}
	for name, tc := range map[string]struct {
		list []Version
		want string
	}{
		"made by a lock":   {[]Version{at(3, 9), at(0, 0), at(1, 0), at(2, 7)}, "dc"},
		"emptied later":    {[]Version{at(0, 7), at(1, 0), at(2, 7)}, "abc"},
		"emptied, and now": {[]Version{at(0, 7), at(1, 0)}, "ab"},
		"nothing saved":    {[]Version{at(0, 0)}, "a"},
	} {
		got := ""
		for _, v := range afterFirstLock(tc.list) {
			got += v.ID
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
