package cli

import (
	"bytes"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/evidence/redact"
	"handrail/steps"
)

// TestReadAside: what a read outside of an incident prints holds no secret and nothing that a terminal obeys,
// and a check ends badly where something is found or was not seen.
func TestReadAside(t *testing.T) {
	t.Parallel()
	red, err := redact.New(make([]byte, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	red.Secret("hunter2hunter2")
	obs := readDoc{Name: "gitops/trace", Summary: "it is\x1b[2J hunter2hunter2", Command: "kubectl get x",
		Facts: map[string]steps.Value{"chain": steps.StringsOf([]string{"app of hunter2hunter2"}), "link": steps.Unknown(steps.Enum, "not read"),
			"state": steps.TableOf(map[string]string{"a": "hunter2hunter2"}), "name": steps.StringOf("shop")},
		Findings: []steps.Finding{steps.Findingf(steps.Info, "password=hunter2hunter2")}, Gaps: []string{},
		order: []steps.Field{{Name: "chain"}, {Name: "link"}, {Name: "state"}, {Name: "name"}, {Name: "absent"}}}
	told, err := redactedDoc(red, obs)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	told.print(&process.Program{Stdout: &out})
	if text := out.String(); strings.Contains(text, "hunter2") || strings.Contains(text, "\x1b") || !strings.Contains(text, "link: unknown: not read") || !strings.Contains(text, "name: shop") {
		t.Errorf("it prints %q", text)
	}
	for name, tc := range map[string]struct {
		findings []steps.Finding
		gaps     []string
		want     bool
	}{
		"nothing": {nil, nil, false}, "a word": {[]steps.Finding{{Level: steps.Info}}, nil, false},
		"a warning": {[]steps.Finding{{Level: steps.Info}, {Level: steps.Warning}}, nil, true}, "half of it": {nil, []string{"forbidden"}, true},
	} {
		if got := (readDoc{Findings: tc.findings, Gaps: tc.gaps}).warns(); got != tc.want {
			t.Errorf("%s: warns %v", name, got)
		}
	}
}
