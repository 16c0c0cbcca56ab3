package runbooks_test

import (
	"strings"
	"testing"

	"handrail/runbooks"
	"handrail/steps/catalog"
)

// TestCoversWhatIsRead: what a person names is covered by a probe only where its kind reads it.
func TestCoversWhatIsRead(t *testing.T) {
	t.Parallel()
	const book = `apiVersion: handrail/v1
kind: Runbook
id: covered
title: Covered
domain: runner
severity: SEV-3
matrix: 8
recognise:
  - {pattern: 'it is covered', weight: 9}
preserve:
  - id: read
    uses: KIND
    with: {WITH}
    covers: [ITEM]
`
	for _, tc := range []struct {
		kind, with, item string
		ok               bool
	}{
		{"forge/run", "repo: a/b, run: '7'", "E1", true},
		{"forge/run", "repo: a/b, run: '7'", "E3", true},
		{"forge/run", "repo: a/b, run: '7'", "E6", false},
		{"forge/pull", "repo: a/b, number: 7", "E6", false}, // it may find that there is no approver
		{"forge/artifacts", "repo: a/b, run: '7'", "E3", false},
		{"policy/result", "file: gate.json", "E5", true},
		{"policy/exceptions", "file: exceptions.yaml", "E5", false},
		{"terraform/lock", "dir: .", "E9", true},
		{"terraform/lock", "dir: .", "E1", false},
	} {
		src := strings.NewReplacer("KIND", tc.kind, "WITH", tc.with, "ITEM", tc.item).Replace(book)
		_, err := runbooks.Parse("covered.yaml", []byte(src), catalog.New())
		if (err == nil) != tc.ok || err != nil && !strings.Contains(err.Error(), "this probe reads no "+tc.item+": a person names it") {
			t.Errorf("%s covers %s: %v", tc.kind, tc.item, err)
		}
	}
}
