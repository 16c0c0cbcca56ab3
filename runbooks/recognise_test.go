package runbooks

import (
	"strings"
	"testing"
)

// TestRecognise holds texts as tools print them against the whole library: the
// runbook that is meant must come first.
func TestRecognise(t *testing.T) {
	t.Parallel()
	lib, err := theLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ want, text string }{
		"checksum": {"iac-init", `Initializing the backend...
Initializing provider plugins...
- Reusing previous version of lab.example/lab/records from the dependency lock file
- Installing lab.example/lab/records v0.1.0...
╷
│ Error: Failed to install provider
│ 
│ Error while installing lab.example/lab/records v0.1.0: the local package for
│ lab.example/lab/records 0.1.0 doesn't match any of the checksums previously
│ recorded in the dependency lock file
╵`},
		"registry": {"iac-init", `╷
│ Error: Failed to query available provider packages
│ 
│ Could not retrieve the list of available versions for provider
│ lab.example/lab/records: could not query provider registry for
│ lab.example/lab/records: failed to retrieve: dial tcp 127.0.0.1:1: connect:
│ connection refused
╵`},
		"backend refused": {"iac-init", "Initializing the backend...\n╷\n│ Error: Failed to get existing workspaces: Unauthorized\n╵"},
		"credentials":     {"apply-before-mutation", "╷\n│ Error: No valid credential sources found\n│ \n│   with provider[\"lab.example/lab/records\"],\n│   on main.tf line 18, in provider \"records\":\n╵"},
		"expired":         {"apply-before-mutation", "Error: refreshing credentials: ExpiredToken: the security token included in the request is expired"},
		"throttled": {"provider-throttling", `╷
│ Error: Error creating entry
│ 
│   with records_entry.cache,
│   on main.tf line 33, in resource "records_entry" "cache":
│ 
│ PUT cache: StatusCode: 429, ThrottlingException: Rate exceeded
╵`},
		"late": {"provider-throttling", "│ Error: Error reading entry\n│ \n│ couldn't find resource \"search\" after it was created: NotFound: the entry\n│ does not exist"},
		"hung": {"hung-apply", strings.Repeat("records_entry.search: Still destroying... [id=search, 9m50s elapsed]\n", 3) + "records_entry.search: Still destroying... [id=search, 24m10s elapsed]\n"},
		"typed": {"loose-type-trap", `╷
│ Error: Unsupported attribute
│ 
│   on modules/database/main.tf line 6, in resource "terraform_data" "replica":
│    6:   input = "${var.routing["read_replica_routing"].host}:${var.routing["read_replica_routing"].weight}"
│     ├────────────────
│     │ var.routing["read_replica_routing"] is "blue"
│ 
│ Can't access attributes on a primitive-typed value (string).
╵`},
		"undone":        {"reverting-fixes", "scrape interval of prometheus was reverted again after 90s\nall panels: No data\n"},
		"masked":        {"reverting-fixes", "root  4711 12.0  [kworker/u8:2-events] KUBECONFIG=/opt/.cache/kubeconfig kubeconfig open\n"},
		"roleRef":       {"reverting-fixes", "The ClusterRoleBinding \"monitoring-scrape\" is invalid: roleRef: Invalid value: rbac.RoleRef{Name:\"scrape\"}: cannot change roleRef"},
		"inappropriate": {"loose-type-trap", "Error: Incorrect attribute value type\n\nInappropriate value for attribute \"tags\": element \"a\": string required."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hits := Match(lib, tc.text)
			if len(hits) == 0 || hits[0].Runbook != tc.want {
				t.Errorf("Match() = %+v, want %s first", hits, tc.want)
			}
		})
	}
}
