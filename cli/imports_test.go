package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// room says what the packages under a path may import: of ours, and which of the
// libraries that are kept to few rooms.
type room struct {
	path string   // the room itself and all below it
	ours []string // prefixes of our packages, "" never matches
	libs []string // prefixes of kept libraries
}

// rooms is the table of who may import whom. The most specific row wins.
var rooms = []room{
	{path: "handrail/triage/record"}, // the nouns of steps and journal; standard library only
	{path: "handrail/triage", ours: []string{"=handrail/triage/record"}},
	{path: "handrail/steps/fault"},
	{path: "handrail/steps/confined"}, // work on what others wrote, in a process of its own
	{path: "handrail/steps/gitread"},
	{path: "handrail/steps/joblog"},
	{path: "handrail/steps/promtext"},
	{path: "handrail/steps/strict", libs: []string{yaml}},
	{path: "handrail/evidence", ours: []string{"handrail/evidence"}},
	{path: "handrail/evidence/disk"},
	{path: "handrail/evidence/escrow", ours: []string{"handrail/evidence/disk"}},
	{path: "handrail/evidence/jsontree"},
	{path: "handrail/evidence/redact", ours: []string{"handrail/evidence/jsontree"}},
	{path: "handrail/evidence/sig"},
	{path: "handrail/evidence/visible"},
	{path: "handrail/steps/catalog", ours: []string{"handrail/steps"}, libs: []string{k8s, tfexec, yaml}},
	{path: "handrail/steps/compare", ours: []string{"handrail/steps"}, libs: []string{k8s, tfexec, yaml}},
	{path: "handrail/steps", libs: []string{k8s, tfexec, yaml}}, // and what sameWorld allows
	{path: "handrail/steps/cluster", ours: []string{"=handrail/steps", "handrail/steps/transport", "handrail/steps/cluster"}, libs: []string{k8s}}, // the client of every world that asks an API server
	// The world of clusters, each room above those that it names. What stands beside them reads no cluster.
	{path: "handrail/steps/kube", ours: []string{"handrail/steps/kube", "=handrail/steps"}},
	// The world of Argo CD and Flux stands on that of clusters: their objects are read there, and owners told.
	{path: "handrail/steps/gitops", ours: []string{"=handrail/steps", "=handrail/steps/cluster", "=handrail/steps/gitops/adopt", "=handrail/steps/gitops/app", "=handrail/steps/gitops/manifests", "=handrail/steps/gitops/metrics", "=handrail/steps/gitops/render", "=handrail/steps/gitread", "=handrail/steps/kube/act", "=handrail/steps/kube/change", "=handrail/steps/kube/patch", "=handrail/steps/kube/contexts", "=handrail/steps/kube/owner", "=handrail/steps/kube/podstate", "=handrail/steps/kube/report", "=handrail/steps/kube/workload"}, libs: []string{k8s}},
	{path: "handrail/steps/gitops/adopt", ours: []string{"=handrail/steps/strict"}, libs: []string{yaml}}, // edits what it is given
	{path: "handrail/steps/gitops/app", ours: []string{"=handrail/steps"}, libs: []string{k8s}},           // judges what it is given
	{path: "handrail/steps/gitops/manifests", ours: []string{"=handrail/steps", "=handrail/steps/cluster", "=handrail/steps/gitops/app", "=handrail/steps/gitops/render", "=handrail/steps/gitread", "=handrail/steps/kube/report"}},
	{path: "handrail/steps/gitops/metrics", ours: []string{"=handrail/steps", "=handrail/steps/promtext", "=handrail/steps/transport"}},                                                                          // asks no cluster
	{path: "handrail/steps/gitops/render", ours: []string{"=handrail/steps/confined", "=handrail/steps/gitread", "=handrail/steps/fault", "=handrail/steps/strict"}, libs: []string{k8s, kustomizeLib, helmLib}}, // what others wrote, in a process of its own
	// A realm is told by its server, by the cluster that would write over it, and by the application that would do that.
	{path: "handrail/steps/keycloak", ours: []string{"=handrail/steps", "=handrail/steps/cluster", "=handrail/steps/gitops/app", "=handrail/steps/kube/act", "=handrail/steps/kube/contexts", "=handrail/steps/kube/report", "=handrail/steps/transport"}, libs: []string{k8s}},
	{path: "handrail/steps/forge", ours: []string{"=handrail/steps", "=handrail/steps/joblog", "=handrail/steps/transport"}},                                   // pull requests, reviews and runs of CI
	{path: "handrail/steps/forge/propose", ours: []string{"=handrail/steps", "=handrail/steps/forge", "=handrail/steps/gitops", "=handrail/steps/gitops/app"}}, // a change of the one world, written to the other
	{path: "handrail/steps/git", ours: []string{"=handrail/steps", "=handrail/steps/gitread"}},
	{path: "handrail/steps/policy/replay", ours: []string{"=handrail/steps/confined", "=handrail/steps/fault", "=handrail/steps/strict"}, libs: []string{opaLib}},                                                         // policies of others, in a process of its own
	{path: "handrail/steps/policy", ours: []string{"=handrail/steps", "=handrail/steps/gitread", "=handrail/steps/policy/register", "=handrail/steps/policy/replay", "=handrail/steps/joblog", "=handrail/steps/strict"}}, // outputs of policy gates, and exceptions
	{path: "handrail/steps/prometheus", ours: []string{"=handrail/steps", "=handrail/steps/transport"}},                                                                                                                   // metrics, by queries
	{path: "handrail/steps/store", ours: []string{"=handrail/steps", "=handrail/steps/awsauth", "=handrail/steps/store/iam", "=handrail/steps/transport"}, libs: []string{aws}},                                           // what a store of objects holds, and why it refuses a write
	{path: "handrail/steps/policy/register", ours: []string{"=handrail/steps/strict"}},                                                                                                                                    // a register of break-glass sessions
	{path: "handrail/steps/awsauth", ours: []string{"=handrail/steps", "=handrail/steps/transport"}, libs: []string{aws}},                                                                                                 // credentials of the AWS tools
	{path: "handrail/steps/references", ours: []string{"=handrail/steps", "=handrail/steps/gitread"}},                                                                                                                     // what names a server
	{path: "handrail/steps/cloud", ours: []string{"=handrail/steps", "=handrail/steps/awsauth", "=handrail/steps/references", "=handrail/steps/transport"}, libs: []string{aws}},                                          // what a cloud says of a run, a database and a bill; one gate
	{path: "handrail/steps/store/iam"}, // policies, evaluated; standard library only
	{path: "handrail/steps/registry", ours: []string{"=handrail/steps", "=handrail/steps/transport"}},                                                 // image references and their signatures
	{path: "handrail/steps/own", ours: []string{"=handrail/steps", "=handrail/steps/strict", "=handrail/steps/transport"}, libs: []string{yaml, cel}}, // what a runbook runs, reads and asks by itself
	{path: "handrail/steps/kube/admission", libs: []string{k8s, cel}},
	{path: "handrail/steps/kube/allowlist", ours: []string{"=handrail/steps/strict"}, libs: []string{yaml}},
	{path: "handrail/steps/kube/document", ours: []string{"=handrail/steps", "=handrail/steps/strict"}, libs: []string{yaml}},
	{path: "handrail/steps/kube/egress"},
	{path: "handrail/steps/kube/fieldpath"},
	{path: "handrail/steps/kube/loglayer"},
	{path: "handrail/steps/kube/nodereport"},
	{path: "handrail/steps/kube/podstate"},
	{path: "handrail/steps/kube/rbac"},
	{path: "handrail/steps/kube/permit", ours: []string{"=handrail/steps"}},
	{path: "handrail/steps/kube/weaken", libs: []string{k8s}},
	{path: "handrail/steps/kube/patch", ours: []string{"=handrail/steps", "=handrail/steps/kube/document"}},
	{path: "handrail/steps/kube/persist", ours: []string{"=handrail/steps", "=handrail/steps/kube/allowlist"}, libs: []string{k8s}},
	{path: "handrail/steps/kube/order", ours: []string{"=handrail/steps", "=handrail/steps/kube/report"}},
	{path: "handrail/steps/kube/report", ours: []string{"=handrail/steps"}},
	{path: "handrail/steps/kube/contexts", ours: []string{"=handrail/steps", "=handrail/steps/cluster"}},
	{path: "handrail/steps/kube/object", ours: kubeRoom("fieldpath"), libs: []string{k8s}},
	{path: "handrail/steps/kube/course", ours: kubeRoom("document", "patch"), libs: []string{k8s}},
	{path: "handrail/steps/kube/owner", ours: kubeRoom(), libs: []string{k8s}},
	{path: "handrail/steps/kube/alike", ours: kubeRoom("owner"), libs: []string{k8s}},
	{path: "handrail/steps/kube/helm", ours: kubeRoom(), libs: []string{k8s}},
	{path: "handrail/steps/kube/blame", ours: append(kubeRoom("fieldpath", "object", "owner"), "=handrail/steps/strict"), libs: []string{k8s, yaml}},
	{path: "handrail/steps/kube/writers", ours: kubeRoom("admission", "podstate", "rbac", "owner", "blame"), libs: []string{k8s}},
	{path: "handrail/steps/kube/catch", ours: kubeRoom("fieldpath", "object", "blame", "writers"), libs: []string{k8s}},
	{path: "handrail/steps/kube/stuck", ours: kubeRoom("rbac", "object", "owner", "blame", "writers"), libs: []string{k8s}},
	{path: "handrail/steps/kube/sweep", ours: append(kubeRoom("allowlist", "nodereport", "persist", "object"), "handrail/steps/cluster/wire"), libs: []string{k8s}},
	{path: "handrail/steps/kube/timeline", ours: append(kubeRoom(), "=handrail/steps/gitread"), libs: []string{k8s}},
	{path: "handrail/steps/kube/workload", ours: kubeRoom("egress", "fieldpath", "loglayer", "podstate", "object"), libs: []string{k8s}},
	{path: "handrail/steps/kube/webhook", ours: kubeRoom("admission"), libs: []string{k8s}},
	{path: "handrail/steps/kube/centre", ours: append(kubeRoom("admission", "owner", "podstate", "webhook"), "=handrail/steps/gitops/app"), libs: []string{k8s}},
	{path: "handrail/steps/kube/admit", ours: kubeRoom("admission", "blame", "document", "object", "webhook", "act"), libs: []string{k8s}},
	{path: "handrail/steps/kube/act", ours: append(kubeRoom("patch", "object"), "handrail/steps/transport"), libs: []string{k8s}},
	{path: "handrail/steps/kube/change", ours: append(kubeRoom("admission", "course", "document", "fieldpath", "patch", "weaken", "object", "owner", "alike", "blame", "stuck", "act"), "handrail/steps/transport"), libs: []string{k8s, yaml}},
	// One way inside terraform: words, the directory, the program, the backend, what is read there, the gates.
	{path: "handrail/steps/terraform", ours: []string{"=handrail/steps", terraformRoom + "change", terraformRoom + "configuration", terraformRoom + "holder", terraformRoom + "module", terraformRoom + "plan", terraformRoom + "registry", terraformRoom + "runlog", terraformRoom + "state"}},
	{path: "handrail/steps/terraform/prose", ours: []string{"=handrail/steps"}},
	{path: "handrail/steps/terraform/module", ours: []string{"=handrail/steps", terraformRoom + "prose"}},
	{path: "handrail/steps/terraform/tool", ours: []string{"=handrail/steps", "=handrail/steps/joblog", terraformRoom + "prose", terraformRoom + "module"}},
	{path: "handrail/steps/terraform/backend", ours: []string{"=handrail/steps", "=handrail/steps/cluster", "handrail/steps/transport", terraformRoom + "prose", terraformRoom + "module", terraformRoom + "tool", terraformRoom + "jsonscan"}, libs: []string{k8s, aws, azure, pgLib}}, // each state backend has its own way in
	{path: "handrail/steps/terraform/state", ours: []string{"=handrail/steps", terraformRoom + "prose", terraformRoom + "module", terraformRoom + "backend", terraformRoom + "tfstate"}},
	{path: "handrail/steps/terraform/holder", ours: []string{"=handrail/steps", terraformRoom + "prose", terraformRoom + "module", terraformRoom + "backend"}},
	{path: "handrail/steps/terraform/configuration", ours: []string{"=handrail/steps", "=handrail/steps/gitread", terraformRoom + "prose", terraformRoom + "module", terraformRoom + "loosetype", terraformRoom + "providerlock"}},
	{path: "handrail/steps/terraform/plan", ours: []string{"=handrail/steps", terraformRoom + "prose", terraformRoom + "module", terraformRoom + "tool", terraformRoom + "backend", terraformRoom + "state", terraformRoom + "tfplan", terraformRoom + "tfstate"}},
	{path: "handrail/steps/terraform/runlog", ours: []string{"=handrail/steps", "=handrail/steps/joblog", terraformRoom + "prose", terraformRoom + "module"}},
	{path: "handrail/steps/terraform/change", ours: []string{"=handrail/steps", terraformRoom + "prose", terraformRoom + "module", terraformRoom + "tool", terraformRoom + "backend", terraformRoom + "state", terraformRoom + "holder", terraformRoom + "configuration", terraformRoom + "plan", terraformRoom + "runlog", terraformRoom + "loosetype", terraformRoom + "tfplan", terraformRoom + "tfstate"}, libs: []string{tfexec}},
	{path: "handrail/steps/terraform/closure", ours: []string{terraformRoom + "providerlock"}},
	{path: "handrail/steps/terraform/loosetype", ours: []string{terraformRoom + "jsonscan"}},
	{path: "handrail/steps/terraform/tfplan", ours: []string{"=handrail/steps", terraformRoom + "jsonscan"}},
	{path: "handrail/steps/terraform/tfstate", ours: []string{"=handrail/steps", terraformRoom + "jsonscan"}},
	{path: "handrail/steps/terraform/jsonscan"},
	{path: "handrail/steps/terraform/providerlock"},
	{path: "handrail/steps/terraform/registry", ours: []string{"=handrail/steps", "=handrail/steps/transport", terraformRoom + "prose", terraformRoom + "module", terraformRoom + "providerlock"}},
	{path: "handrail/runbooks", ours: []string{"handrail/runbooks", "handrail/triage", "=handrail/steps", "=handrail/steps/fault", "=handrail/steps/joblog", "=handrail/steps/strict"}, libs: []string{yaml, cel}},
	// One way inside session: what entries mean, the forms of two persons and of acts, the owner, its walks.
	{path: "handrail/session", ours: []string{"=handrail/session/approval", "=handrail/session/claim", "=handrail/session/journal", "=handrail/session/live", "=handrail/session/pin", "=handrail/session/policy", "=handrail/session/report", "=handrail/session/view",
		"handrail/triage", "handrail/runbooks", "=handrail/steps", "handrail/evidence"}},
	{path: "handrail/session/journal", ours: []string{"handrail/triage", "handrail/runbooks", "handrail/evidence", "=handrail/steps"}},
	{path: "handrail/session/live"},
	{path: "handrail/session/claim", ours: []string{"=handrail/session/live", "handrail/triage", "handrail/evidence", "=handrail/steps"}},
	{path: "handrail/session/approval", ours: []string{"=handrail/session/journal", "handrail/triage", "=handrail/evidence", "handrail/evidence/sig", "=handrail/steps"}},
	{path: "handrail/session/pin", ours: []string{"=handrail/session/journal", "handrail/triage", "=handrail/evidence", "=handrail/steps"}},
	{path: "handrail/session/policy", ours: []string{"=handrail/session/journal", "handrail/triage", "handrail/evidence/sig", "=handrail/steps"}},
	// What is shown of an incident needs no evidence: it follows from the state.
	{path: "handrail/session/view", ours: []string{"=handrail/session/approval", "=handrail/session/journal", "=handrail/session/live", "=handrail/session/policy", "handrail/triage", "handrail/runbooks", "=handrail/steps"}},
	{path: "handrail/session/replay", ours: []string{"=handrail/session/approval", "=handrail/session/journal", "=handrail/session/pin", "=handrail/session/view", "handrail/triage", "handrail/runbooks", "=handrail/evidence", "=handrail/steps"}},
	{path: "handrail/session/audit", ours: []string{"=handrail/session/approval", "=handrail/session/journal", "=handrail/session/policy", "handrail/triage", "handrail/runbooks", "=handrail/evidence", "handrail/evidence/sig", "=handrail/steps"}},
	{path: "handrail/session/trial", ours: []string{"=handrail/session/journal", "=handrail/session/view", "=handrail/session/walk", "handrail/triage", "handrail/runbooks", "=handrail/steps", "=handrail/steps/strict"}},
	{path: "handrail/session/walk", ours: []string{"=handrail/session", "=handrail/session/approval", "=handrail/session/journal", "=handrail/session/view", "handrail/triage", "handrail/runbooks", "=handrail/steps", "=handrail/steps/strict"}},
	{path: "handrail/session/index/depot", ours: []string{"handrail/session/index/depot", "handrail/evidence", "=handrail/steps/transport"}, libs: []string{aws, oras, ociSpec}},
	{path: "handrail/drills/lab"},
	{path: "handrail/drills/lab/gitops", ours: []string{"=handrail/drills/lab"}},
	{path: "handrail/drills/lab/forge", ours: []string{"=handrail/drills/lab"}},
	{path: "handrail/drills/lab/mariadb", ours: []string{"=handrail/drills/lab"}},
	{path: "handrail/drills/lab/minio", ours: []string{"=handrail/drills/lab"}},
	{path: "handrail/drills/bucket"},
	{path: "handrail/drills/keycloak", ours: []string{"=handrail/drills/bucket"}},                 // stands in for a server, and ends as the bucket does
	{path: "handrail/drills/aws", ours: []string{"=handrail/drills/bucket"}, libs: []string{aws}}, // stands in for a cloud, and ends as the bucket does
	{path: "handrail/drills/store", ours: []string{"=handrail/drills/lab", "=handrail/drills/bucket"}, libs: []string{aws, azure, pgLib}},
	{path: "handrail/drills/stage", ours: []string{"=handrail/drills/lab", "=handrail/drills/lab/forge", "=handrail/drills/lab/mariadb", "=handrail/drills/aws", "=handrail/drills/bucket", "=handrail/drills/keycloak", "=handrail/drills/store", "=handrail/session/journal", "=handrail/steps", "=handrail/steps/terraform/backend", "=handrail/evidence/escrow"}, libs: []string{k8s}},
	{path: "handrail/drills/inject", ours: []string{"=handrail/drills/stage", "=handrail/drills/lab", "=handrail/drills/lab/forge", "=handrail/drills/lab/gitops", "=handrail/steps", "=handrail/steps/policy/replay", "=handrail/steps/strict"}},
	{path: "handrail/drills", ours: []string{"handrail/drills", "handrail/session", "handrail/triage", "handrail/runbooks", "handrail/steps", "handrail/evidence"},
		libs: []string{k8s, tfexec, yaml, cel}},
	{path: "handrail/tui", ours: []string{"handrail/tui", "handrail/session", "handrail/triage", "handrail/runbooks", "=handrail/steps", "handrail/evidence"},
		libs: []string{charm, charmX}},
	{path: "handrail/tui/", ours: screenFloor, libs: []string{charm, charmX}}, // a screen: none imports another
	{path: "handrail/tui/viewer", ours: append([]string{"=handrail/tui/longtext", "=handrail/tui/page"}, screenFloor...), libs: []string{charm, charmX}},
	{path: "handrail/tui/sheets", ours: []string{"=handrail/tui/screen", "=handrail/tui/incident", "=handrail/tui/form", "=handrail/tui/ink", "handrail/triage", "=handrail/session/view", "=handrail/steps"}, libs: []string{charm}},
	{path: "handrail/tui/screen", ours: []string{"=handrail/tui/incident", "=handrail/tui/form", "=handrail/tui/keymap", "=handrail/tui/ink", "handrail/session", "handrail/triage", "=handrail/steps"}, libs: []string{charm}},
	{path: "handrail/tui/incident", ours: []string{"=handrail/tui/ink", "=handrail/session/view", "handrail/triage"}},
	{path: "handrail/tui/form", ours: []string{"=handrail/tui/ink"}, libs: []string{charm}},
	{path: "handrail/tui/keymap", ours: []string{"=handrail/tui/ink"}, libs: []string{charm}},
	{path: "handrail/tui/ink", ours: []string{"handrail/evidence/visible"}, libs: []string{charm, charmX}},
	{path: "handrail/tui/page", ours: []string{"=handrail/session/report", "handrail/evidence/visible"}, libs: []string{charmX}},
	{path: "handrail/tui/longtext"},
	{path: "handrail/cli/process", ours: []string{"=handrail/session", "=handrail/session/claim", "=handrail/runbooks", "=handrail/steps", "handrail/triage", "handrail/evidence", "=handrail/steps/cluster", "=handrail/steps/strict"}, libs: []string{k8s, cobraLib}}, // each room's errors have their exit code
	{path: "handrail/cli/plain", ours: []string{"handrail/cli/process", "handrail/session", "handrail/triage", "=handrail/steps"}},
	{path: "handrail/cli/settings", ours: []string{"handrail/cli/process", "handrail/session", "handrail/runbooks", "handrail/triage", "handrail/steps", "handrail/evidence", "=handrail/tui"}},
	{path: "handrail/cli/books", ours: []string{"handrail/cli/process", "handrail/cli/settings", "=handrail/cli/bundle", "handrail/session", "handrail/runbooks", "handrail/triage", "=handrail/steps", "=handrail/steps/catalog", "=handrail/steps/kube/permit", "=handrail/steps/strict", "=handrail/evidence"}, libs: []string{cobraLib}},
	{path: "handrail/cli/bundle", ours: []string{"handrail/cli/process", "handrail/cli/settings", "handrail/session", "handrail/runbooks", "handrail/triage", "=handrail/steps", "=handrail/steps/catalog", "=handrail/steps/transport", "handrail/evidence", "=handrail/tui"}, libs: []string{cobraLib}},
	{path: "handrail/cli/watchdog", ours: []string{"=handrail/cli/process", "=handrail/cli/settings", "=handrail/runbooks", "=handrail/steps", "=handrail/steps/catalog", "=handrail/triage", "=handrail/evidence/visible"}, libs: []string{cobraLib}},
	{path: "handrail/cli/debts", ours: []string{"=handrail/cli/process", "=handrail/cli/settings", "=handrail/cli/bundle", "=handrail/session/index", "=handrail/session/journal", "=handrail/triage", "=handrail/steps/policy/register", "=handrail/steps/strict"}, libs: []string{cobraLib}},
	{path: "handrail/cli/itself", ours: []string{"=handrail/cli/process", "=handrail/cli/settings"}, libs: []string{cobraLib}},
	{path: "handrail/cli", ours: []string{"handrail/"}, libs: []string{k8s, cobraLib}},
	{path: "handrail", ours: []string{"=handrail/cli"}},
}

// screenFloor is what a screen stands on.
var screenFloor = []string{"=handrail/tui/sheets", "=handrail/tui/screen", "=handrail/tui/incident", "=handrail/tui/form", "=handrail/tui/keymap", "=handrail/tui/ink",
	"handrail/session", "handrail/triage", "=handrail/steps"}

// kubeRoom is what a room of the world of clusters may import: the contract, the
// client, what probes report with, and the rooms below it.
func kubeRoom(below ...string) []string {
	ours := []string{"=handrail/steps", "=handrail/steps/cluster", "=handrail/steps/kube/report"}
	for _, b := range below {
		ours = append(ours, "=handrail/steps/kube/"+b)
	}
	return ours
}

// terraformRoom begins the path of a room of steps/terraform.
const terraformRoom = "=handrail/steps/terraform/"

// The libraries that only some rooms may import.
const (
	k8s          = "k8s.io/"
	tfexec       = "github.com/hashicorp/terraform-exec"
	kustomizeLib = "sigs.k8s.io/kustomize/"
	helmLib      = "helm.sh/helm/"
	opaLib       = "github.com/open-policy-agent/opa/"
	yaml         = "gopkg.in/yaml.v3"
	cel          = "cel.dev/cel-go"
	charm        = "charm.land/"
	charmX       = "github.com/charmbracelet/"
	cobraLib     = "github.com/spf13/cobra"
	aws          = "github.com/aws/"
	azure        = "github.com/Azure/"
	pgLib        = "github.com/lib/pq"
	oras         = "oras.land/"
	ociSpec      = "github.com/opencontainers/"
)

var kept = []string{k8s, kustomizeLib, helmLib, opaLib, tfexec, yaml, cel, charm, charmX, cobraLib, aws, azure, pgLib, oras, ociSpec}

// impure is what the loop and its nouns must not reach: they have no I/O, clock or randomness.
var impure = []string{"os", "net", "log", "io", "syscall", "context", "math/rand", "crypto/rand", "path/filepath", "runtime", "unsafe"}

// listed is what `go list` says of a package. Imports leave tests out, which are
// exempt so that they may use the lab.
type listed struct {
	ImportPath string
	Name       string
	Imports    []string
}

func ourPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Name,Imports", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var list []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		if ours(p.ImportPath) {
			list = append(list, p)
		}
	}
	if len(list) < 10 {
		t.Fatalf("go list names %d packages of ours, which cannot be all", len(list))
	}
	return list
}

func ours(p string) bool { return p == "handrail" || strings.HasPrefix(p, "handrail/") }

func TestImportsGoOneWay(t *testing.T) {
	t.Parallel()
	for _, p := range ourPackages(t) {
		r := roomOf(p.ImportPath)
		for _, imp := range p.Imports {
			if why := refuses(r, p.ImportPath, imp); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imp, why)
			}
		}
	}
}

// helpers are packages of tests.
var helpers = []string{"handrail/evidence/corpus", "handrail/evidence/sig/sigtest", "handrail/steps/stepstest", "handrail/drills/lab/minio"}

// TestEveryRoomIsReached: a screen without its line in the table, or a room that was
// left behind, is code that the program does not have.
func TestEveryRoomIsReached(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{}
	for _, p := range ourPackages(t) {
		imports[p.ImportPath] = p.Imports
	}
	reached := map[string]bool{}
	var reach func(string)
	reach = func(path string) {
		if !reached[path] {
			reached[path] = true
			for _, imp := range imports[path] {
				reach(imp)
			}
		}
	}
	reach("handrail")
	for path := range imports {
		if helper := slices.Contains(helpers, path); reached[path] == helper {
			t.Errorf("%s: part of the program: %v, of the helpers of tests: %v", path, reached[path], helper)
		}
	}
}

// TestImportTableRefuses proves that the table can fail.
func TestImportTableRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ from, imports string }{
		{"handrail/triage", "handrail/steps"},
		{"handrail/triage", "os"},
		{"handrail/triage/record", "handrail/steps"},
		{"handrail/triage/record", "handrail/triage"},
		{"handrail/triage/record", "os"},
		{"handrail/triage/record", "github.com/google/go-cmp/cmp"},
		{"handrail/evidence", "handrail/triage/record"},
		{"handrail/triage", "github.com/google/go-cmp/cmp"},
		{"handrail/evidence", "handrail/triage"},
		{"handrail/evidence", "handrail/evidence/sig/sigtest"},
		{"handrail/evidence/disk", "handrail/evidence"},
		{"handrail/evidence/jsontree", "handrail/evidence/disk"},
		{"handrail/evidence/redact", "handrail/evidence/disk"},
		{"handrail/evidence/redact", "handrail/evidence/corpus"},
		{"handrail/evidence/sig", "handrail/evidence"},
		{"handrail/steps", "handrail/steps/kube"},
		{"handrail/steps/terraform", "handrail/steps/kube"},
		{"handrail/steps/terraform", "handrail/steps/kube/object"},
		{"handrail/steps/cluster", "handrail/steps/kube/object"},
		{"handrail/steps/kube/object", "handrail/steps/kube/owner"},
		{"handrail/steps/kube/stuck", "handrail/steps/kube/change"},
		{"handrail/steps/kube/act", "handrail/steps/kube/change"},
		{"handrail/steps/kube/rbac", "handrail/steps/cluster"},
		{"handrail/steps/terraform", "handrail/session"},
		{"handrail/steps/terraform", "github.com/lib/pq"},
		{"handrail/steps/terraform/backend", "handrail/steps/terraform/state"},
		{"handrail/steps/terraform/backend", "github.com/hashicorp/terraform-exec/tfexec"},
		{"handrail/steps/terraform/state", "handrail/steps/terraform/change"},
		{"handrail/steps/terraform/plan", "handrail/steps/transport"},
		{"handrail/runbooks", "handrail/steps/terraform"},
		{"handrail/session", "handrail/tui"},
		{"handrail/session", "handrail/session/walk"},
		{"handrail/session", "handrail/session/replay"},
		{"handrail/session", "handrail/session/audit"},
		{"handrail/session/view", "handrail/session"},
		{"handrail/session/view", "handrail/evidence"},
		{"handrail/session/replay", "handrail/session"},
		{"handrail/session/replay", "handrail/steps/catalog"},
		{"handrail/session/audit", "handrail/session/view"},
		{"handrail/session/policy", "handrail/runbooks"},
		{"handrail/session/pin", "handrail/steps/cluster"},
		{"handrail/session/journal", "handrail/session"},
		{"handrail/session/claim", "handrail/session"},
		{"handrail/session/approval", "handrail/session"},
		{"handrail/session/live", "handrail/evidence"},
		{"handrail/session", "handrail/steps/catalog"},
		{"handrail/session", "k8s.io/client-go/rest"},
		{"handrail/drills/lab", "handrail/session"},
		{"handrail/drills/lab", "handrail/drills/lab/gitops"},
		{"handrail/drills/stage", "handrail/drills/inject"},
		{"handrail/drills/inject", "handrail/drills"},
		{"handrail/drills/inject", "handrail/session"},
		{"handrail/evidence", "oras.land/oras-go/v2"},
		{"handrail/tui", "handrail/drills"},
		{"handrail/tui/run", "handrail/tui/gate"},
		{"handrail/tui/run", "handrail/tui"},
		{"handrail/tui/screen", "handrail/tui/run"},
		{"handrail/tui/ink", "handrail/triage"},
		{"handrail/cli", "charm.land/lipgloss/v2"},
		{"handrail/steps", "testing"},
		{"handrail/steps/strict", "handrail/steps"},
		{"handrail/triage", "handrail/steps/strict"},
		{"handrail", "handrail/session"},
	}
	for _, tc := range tests {
		if refuses(roomOf(tc.from), tc.from, tc.imports) == "" {
			t.Errorf("%s may import %s, want it refused", tc.from, tc.imports)
		}
	}
	for _, tc := range []struct{ from, imports string }{
		{"handrail/session", "handrail/steps"},
		{"handrail/steps/terraform/backend", "handrail/steps/transport"},
		{"handrail/steps/catalog", "handrail/steps/terraform"},
		{"handrail/tui", "handrail/tui/run"},
		{"handrail/tui/run", "handrail/tui/sheets"},
		{"handrail/steps/terraform/backend", "handrail/steps/cluster"},
		{"handrail/steps/kube/stuck", "handrail/steps/cluster"},
		{"handrail/tui", "charm.land/bubbletea/v2"},
		{"handrail/triage", "time"},
		{"handrail/triage", "handrail/triage/record"},
		{"handrail/steps", "handrail/triage/record"},
	} {
		if why := refuses(roomOf(tc.from), tc.from, tc.imports); why != "" {
			t.Errorf("%s may not import %s: %s", tc.from, tc.imports, why)
		}
	}
}

func roomOf(pkg string) room {
	var best room
	for _, r := range rooms {
		if under(pkg, r.path) && len(r.path) > len(best.path) {
			best = r
		}
	}
	return best
}

func under(pkg, prefix string) bool {
	return pkg == prefix || strings.HasPrefix(pkg, strings.TrimSuffix(prefix, "/")+"/")
}

// refuses says why pkg may not import imp, "" when it may.
func refuses(r room, pkg, imp string) string {
	switch {
	case r.path == "handrail" && pkg != "handrail":
		return "the package is in no room of the table"
	case imp == "testing" || strings.HasPrefix(imp, "testing/"):
		return "the program itself must not hold the test framework"
	case imp == "handrail/steps/fault" && pkg != "handrail/triage" && !under(pkg, "handrail/evidence") && !under(pkg, "handrail/drills/lab"):
		return "" // the code that starts a goroutine catches its panic
	case imp == "handrail/evidence/sig/sigtest" || imp == "handrail/evidence/corpus":
		return "only tests may import it"
	case ours(imp):
		if mayImport(r, pkg, imp) {
			return ""
		}
		return "the rooms of the table import the other way"
	case r.path == "handrail/triage" || r.path == "handrail/triage/record":
		if strings.Contains(imp, ".") {
			return "the loop and its nouns use the standard library alone"
		}
		if slices.ContainsFunc(impure, func(p string) bool { return under(imp, p) }) {
			return "the loop and its nouns are pure"
		}
	}
	for _, lib := range kept {
		if strings.HasPrefix(imp, lib) && !slices.Contains(r.libs, lib) {
			return "the library is kept to other rooms"
		}
	}
	return ""
}

func mayImport(r room, pkg, imp string) bool {
	if r.path == "handrail/steps" {
		return sameWorld(pkg, imp)
	}
	for _, o := range r.ours {
		if exact, ok := strings.CutPrefix(o, "="); ok && imp == exact || !ok && under(imp, o) {
			return true
		}
	}
	return false
}

// sameWorld lets a world of steps import the contract, the transports, the readers of clones, of metrics and
// of YAML, and what lies below itself.
func sameWorld(pkg, imp string) bool {
	if pkg == "handrail/steps" {
		return imp == "handrail/triage/record"
	}
	world := strings.SplitN(strings.TrimPrefix(pkg, "handrail/steps/"), "/", 2)[0]
	return imp == "handrail/steps" || imp == "handrail/steps/gitread" || imp == "handrail/steps/promtext" || imp == "handrail/steps/strict" || under(imp, "handrail/steps/transport") || under(imp, "handrail/steps/"+world)
}

// TestYAMLIsReadInOnePlace: what steps/strict refuses, no other reader may let in.
func TestYAMLIsReadInOnePlace(t *testing.T) {
	t.Parallel()
	parses := regexp.MustCompile(`\byaml\.(NewDecoder|Unmarshal)\b`)
	seen := false
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path.Join("..", f))
		if err != nil {
			t.Fatal(err)
		}
		in := strings.HasPrefix(f, "steps/strict/")
		if found := parses.Match(src); found && !in {
			t.Errorf("%s parses YAML itself: take strict.Single, or a strict.Reader", f)
		} else if found {
			seen = true
		}
	}
	if !seen {
		t.Error("nothing parses YAML: the test looks for the wrong name")
	}
}

// TestNamesSayWhatThingsAre: a package or file named util gathers what has no
// place.
func TestNamesSayWhatThingsAre(t *testing.T) {
	t.Parallel()
	for _, p := range ourPackages(t) {
		for _, part := range strings.Split(p.ImportPath, "/") {
			if slices.Contains(emptyNames, part) {
				t.Errorf("package %s: the name %q says nothing", p.ImportPath, part)
			}
		}
	}
	for _, f := range goFiles(t) {
		base := strings.TrimSuffix(strings.TrimSuffix(path.Base(f), ".go"), "_test")
		if slices.Contains(emptyNames, base) {
			t.Errorf("file %s: the name %q says nothing", f, base)
		}
	}
}

var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "types", "models", "misc"}
