package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAuditLogGrows: what was appended since the last look is found, each event once, when its line is whole; across
// a rotation, and in a log that began anew.
func TestAuditLogGrows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, fileAudit)
	event := func(id string) string { return fmt.Sprintf("{\"auditID\":%q,\"stage\":\"ResponseComplete\"}\n", id) }
	appends := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	log := auditLogOf(dir, "one")
	holds := func(when string, want ...string) {
		t.Helper()
		events, err := log.read()
		var got []string
		for _, e := range events {
			got = append(got, e.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", when, got, err, want)
		}
	}
	holds("no log yet")
	appends(event("a"))
	holds("one event", "a")
	half := event("b")
	appends(half[:10])
	holds("half a line", "a")
	appends(half[10:] + event("c"))
	holds("the rest of it", "a", "b", "c")
	holds("nothing new", "a", "b", "c")
	if err := os.Rename(path, filepath.Join(dir, "audit-2026-01-02T03-04-05.log")); err != nil {
		t.Fatal(err)
	}
	appends(event("d"))
	holds("rotated", "a", "b", "c", "d")
	appends(event("e") + event("f"))
	holds("after a rotation", "a", "b", "c", "d", "e", "f")
	appends("no JSON\n")
	for range 2 {
		if events, err := log.read(); err == nil {
			t.Errorf("a broken line is passed over: %v", events)
		}
	}
	if err := os.WriteFile(path, []byte(event("g")), 0o600); err != nil {
		t.Fatal(err)
	}
	holds("shorter than what was read", "a", "b", "c", "g")
	if auditLogOf(dir, "one") != log || auditLogOf(dir, "two") == log {
		t.Error("a log is that of another lab")
	}
}
