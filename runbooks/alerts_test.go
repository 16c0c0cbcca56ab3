package runbooks

import (
	"fmt"
	"strings"
	"testing"
)

func alertOf(status, labels, annotations string) string {
	return fmt.Sprintf(`{"status":%s,"labels":{"alertname":"A"%s},"annotations":{%s}}`, status, labels, annotations)
}

func webhook(alerts ...string) string {
	return `{"receiver":"r","status":"firing","version":"4","groupKey":"{}","alerts":[` + strings.Join(alerts, ",") + `],"truncatedAlerts":0}`
}

// TestAlerts: what fires is told, of a webhook and of a list; other JSON is left as it is.
func TestAlerts(t *testing.T) {
	t.Parallel()
	const firing, resolved = `"firing"`, `"resolved"`
	for name, tc := range map[string]struct {
		in   string
		want []string
		not  []string
		no   bool
	}{
		"webhook":   {in: "\n" + webhook(alertOf(firing, `,"severity":"critical"`, `"summary":"one","description":"first\nsecond"`)), want: []string{"A", "one", "first", "second", "severity=critical"}},
		"list":      {in: `[` + alertOf(`{"state":"active"}`, ``, `"summary":"one"`) + `]`, want: []string{"one"}},
		"one over":  {in: webhook(alertOf(resolved, ``, `"summary":"gone"`), alertOf(firing, ``, `"summary":"here"`)), want: []string{"here"}, not: []string{"gone"}},
		"all over":  {in: webhook(alertOf(resolved, ``, `"summary":"gone"`)), want: []string{"gone"}},
		"one pod":   {in: webhook(alertOf(firing, `,"pod":"web-1","namespace":"shop","job":"ksm"`, ``)), want: []string{"kind: Pod", "  name: web-1", "  namespace: shop"}},
		"two pods":  {in: webhook(alertOf(firing, `,"pod":"web-1"`, ``), alertOf(firing, `,"pod":"web-2"`, ``)), not: []string{"kind: Pod"}},
		"two kinds": {in: webhook(alertOf(firing, `,"pod":"web-1","deployment":"web"`, ``)), not: []string{"kind:"}},
		"no name":   {in: webhook(alertOf(firing, `,"pod":"a\nkind: Secret"`, ``)), not: []string{"kind: Pod", "metadata:"}},
		"state":     {in: `{"version":4,"terraform_version":"1.9.0","resources":[]}`, no: true},
		"empty":     {in: webhook(), no: true},
		"no labels": {in: `{"alerts":[{"status":"firing"}]}`, no: true},
		"text":      {in: "Error acquiring the state lock", no: true},
		"cut off":   {in: webhook(alertOf(firing, ``, ``))[:40], no: true},
	} {
		got, ok := Alerts(tc.in)
		if ok == tc.no {
			t.Errorf("%s: taken for a notification: %t", name, ok)
		}
		lines := "\n" + got
		for _, want := range tc.want {
			if !strings.Contains(lines, "\n"+want+"\n") {
				t.Errorf("%s: %q lacks %q", name, got, want)
			}
		}
		for _, not := range tc.not {
			if strings.Contains(lines, "\n"+not) {
				t.Errorf("%s: %q has %q", name, got, not)
			}
		}
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = alertOf(firing, ``, fmt.Sprintf(`"summary":"s%d"`, i))
	}
	if got, _ := Alerts(webhook(many...)); strings.Contains(got, "s999") || !strings.Contains(got, "s199") {
		t.Errorf("a notification of 1000 alerts is not bounded")
	}
}
