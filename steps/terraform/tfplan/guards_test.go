package tfplan

import (
	"slices"
	"strings"
	"testing"
)

// TestGuards: what the last values of an object say about its protection. What is off
// or says nothing does not count as protection.
func TestGuards(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		before     map[string]any
		held, open []string
	}{
		{"a database that is protected, and leaves no snapshot", map[string]any{"deletion_protection": true, "skip_final_snapshot": true, "name": "orders"},
			[]string{"deletion_protection=true"}, []string{"skip_final_snapshot=true"}},
		{"a database with a snapshot at its end", map[string]any{"deletion_protection": false, "skip_final_snapshot": false, "backup_retention_period": float64(7)},
			[]string{"backup_retention_period=7", "skip_final_snapshot=false"}, []string{"deletion_protection=false"}},
		{"a bucket with versions", map[string]any{"versioning": []any{map[string]any{"enabled": true}}, "force_destroy": true},
			[]string{"versioning.enabled=true"}, []string{"force_destroy=true"}},
		{"a volume that is deleted with its claim", map[string]any{"spec": []any{map[string]any{"persistent_volume_reclaim_policy": "Delete"}}},
			nil, []string{"spec.persistent_volume_reclaim_policy=Delete"}},
		{"a volume that stays", map[string]any{"spec": []any{map[string]any{"persistent_volume_reclaim_policy": "Retain"}}},
			[]string{"spec.persistent_volume_reclaim_policy=Retain"}, nil},
		{"an object with a finalizer", map[string]any{"metadata": []any{map[string]any{"finalizers": []any{"example.com/keep"}}}},
			[]string{"metadata.finalizers=example.com/keep"}, nil},
		{"nothing of that sort", map[string]any{"input": "x", "deletion_protection": nil}, nil, nil},
		{"another type than is known", map[string]any{"deletion_protection": "yes"}, nil, []string{"deletion_protection=yes"}},
		{"no values", nil, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if held, open := guardsOf(tc.before); !slices.Equal(held, tc.held) || !slices.Equal(open, tc.open) {
				t.Errorf("guards = %q and %q, want %q and %q", held, open, tc.held, tc.open)
			}
		})
	}
}

// TestGuardsOfAPlan: they are of what would end, a replacement too, and of nothing else.
func TestGuardsOfAPlan(t *testing.T) {
	t.Parallel()
	change := func(name, actions string) string {
		return `{"address":"db.` + name + `","mode":"managed","type":"db","name":"` + name + `","change":{"actions":[` + actions +
			`],"before":{"deletion_protection":true,"name":"a"},"after":{"deletion_protection":false,"name":"b"}}}`
	}
	d, err := ReadJSON(strings.NewReader(`{"format_version":"1.2","terraform_version":"1.12.0","resource_changes":[`+
		change("gone", `"delete"`)+","+change("again", `"delete","create"`)+","+change("stays", `"update"`)+`]}`), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"db.gone": 1, "db.again": 1, "db.stays": 0}
	for _, c := range d.Changes {
		if len(c.Held) != want[c.Address] {
			t.Errorf("%s is held by %q", c.Address, c.Held)
		}
		delete(want, c.Address)
	}
	if len(want) > 0 {
		t.Errorf("the plan has no %v", want)
	}
}
