package runbooks

import (
	"testing"
)

// TestMatchState holds real texts of the tools against the whole library: the
// first proposal is the one to open.
func TestMatchState(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, text, want string }{
		{"stale", "╷\n│ Error: Saved plan is stale\n│ \n│ The given plan file can no longer be applied because the state was changed by\n│ another operation after the plan was created.\n╵\n", "stale-plan"},
		{"other lineage", "Error: Saved plan does not match the given state\n\nThe given plan file can not be applied because it was created from a different state lineage.\n", "stale-plan"},
		{"other tool", "Error: Failed to read plan file\n\nplan file was created by OpenTofu 1.11.2, but this is 1.12.6; plan files cannot be transferred between different OpenTofu versions\n", "stale-plan"},
		{"destroys", "  # terraform_data.database will be destroyed\n  # (because terraform_data.database is not in configuration)\n\nPlan: 2 to add, 0 to change, 2 to destroy.\n", "late-destroy"},
		{"replaces", "-/+ destroy and then create replacement\n  # aws_db_instance.orders must be replaced\n      ~ engine = \"a\" -> \"b\" # forces replacement\nPlan: 1 to add, 0 to change, 1 to destroy.\n", "late-destroy"},
		{"prevented", "Error: Instance cannot be destroyed\n\n  on main.tf line 4:\n", "late-destroy"},
		{"exists", "Error: A resource with the ID \"x\" already exists - to be managed via OpenTofu this resource needs to be imported into the State.\n", "creates-that-exist"},
		{"broken off", "kubernetes_config_map.network: Creation complete after 0s [id=shop/network]\n\nError: configmaps \"ledger-db\" already exists\n\n  with kubernetes_config_map.ledger_db,\n  on main.tf line 29\n", "partial-apply"},
		{"not saved", "Error: Failed to save state\n\nError saving state: Put failed\n\nError: Failed to persist state to backend\n\nThe error shown above has prevented OpenTofu from writing the updated state to the configured backend. errored.tfstate\n", "partial-apply"},
		{"torn", "Error: error loading state: 2 problems:\n\n- Unsupported state file format: The state file could not be parsed as JSON: syntax error at byte offset 2048.\n", "state-corruption"},
		{"digest", "Error: error loading state: state data in S3 does not have the expected content.\n\nThe checksum calculated for the state stored in S3 does not match.\n", "state-corruption"},
		{"duplicate", "Error: Duplicate resource instance in state\n\nInstance terraform_data.a appears multiple times in the state file.\n", "state-corruption"},
		{"broken lock", "Error: Error releasing the state lock\n\nError message: failed to unlock: lease is not held\n", "state-collision"},
		{"same serial", "Failed to write state: cannot import state with serial 7 over a different state that has the same serial\n", "state-collision"},
		{"lock", boxed, "state-lock"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			hits := Match(lib, tc.text)
			if len(hits) == 0 || hits[0].Runbook != tc.want {
				t.Errorf("Match() = %+v, want %s first", hits, tc.want)
			}
		})
	}
}
