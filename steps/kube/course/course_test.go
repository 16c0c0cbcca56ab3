package course

import (
	"testing"
	"time"

	"handrail/steps/kube/patch"
)

func TestLongest(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string]time.Duration{
		"* * * * *":                time.Minute,
		"*/5 * * * *":              5 * time.Minute,
		"*/7 * * * *":              7 * time.Minute, // four at the turn of the hour, never more
		"0,1,2 * * * *":            58 * time.Minute,
		"30 2 * * *":               24 * time.Hour,
		"0 9-17 * * mon-fri":       64 * time.Hour, // from Friday evening to Monday morning
		"0 0 * * 7":                7 * 24 * time.Hour,
		"0 0 13 * 5":               7 * 24 * time.Hour, // a day of either
		"0 0 29 2 *":               1461 * 24 * time.Hour,
		"@every 90s":               90 * time.Second,
		"@hourly":                  time.Hour,
		"TZ=Europe/Oslo 0 * * * *": time.Hour,
	} {
		if got, err := Longest(schedule); err != nil || got != want {
			t.Errorf("Longest(%q) = %v, %v, want %v", schedule, got, err, want)
		}
	}
	for _, schedule := range []string{"", "* * * *", "60 * * * *", "5-1 * * * *", "*/0 * * * *", "0 0 31 2 *", "@every", "@every x", "@never", "a * * * *"} {
		if got, err := Longest(schedule); err == nil {
			t.Errorf("Longest(%q) = %v", schedule, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got, err := Names("cronjob/kube-system/audit, validatingwebhookconfigurations.admissionregistration.k8s.io/x\n configmaps/a")
	if err != nil || len(got) != 3 || got[0] != (Name{"cronjob", "kube-system", "audit"}) || got[1].Namespace != "" || got[2].String() != "configmaps/a" {
		t.Errorf("Names() = %v, %v", got, err)
	}
	for _, text := range []string{"audit", "a/b/c/d", "cronjob/*", "cronjob/ns/a,cronjob/ns/a", "cronjob//a", "/a"} {
		if got, err := Names(text); err == nil {
			t.Errorf("Names(%q) = %v", text, got)
		}
	}
}

func TestShows(t *testing.T) {
	t.Parallel()
	doc, err := patch.Decode([]byte(`{"data":{"a":"1"},"spec":{"args":["--quiet","--port=1"],"egress":[{"to":1}],"containers":[{"name":"x","image":"i"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for ops, want := range map[string]bool{
		`[{op: replace, path: /data/a, value: "1"}]`:                         true,
		`[{op: replace, path: /data/a, value: "2"}]`:                         false,
		`[{op: add, path: /data/b, value: "2"}]`:                             false,
		`[{op: remove, path: /data/b}]`:                                      true,
		`[{op: remove, path: /data/a}]`:                                      false,
		`[{op: add, path: /spec/egress/-, value: {to: 1}}]`:                  true,
		`[{op: add, path: /spec/egress/-, value: {to: 2}}]`:                  false,
		`[{op: replace, path: "/spec/containers/[name=x]/image", value: i}]`: true,
		`[{op: replace, path: "/spec/containers/[name=y]/image", value: i}]`: false,
		`[{op: remove, path: "/spec/containers/[name=y]"}]`:                  true,
		`[{op: remove, path: "/spec/args/[=--port=1]"}]`:                     false,
		`[{op: remove, path: "/spec/args/[=--port=2]"}]`:                     true,
	} {
		list, err := patch.Parse(ops)
		if err != nil {
			t.Fatal(err)
		}
		if got := Shows(doc, list[0]); got != want {
			t.Errorf("Shows(%s) = %v", ops, got)
		}
	}
}
