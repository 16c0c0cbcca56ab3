// Package tfplan reads plans of OpenTofu and Terraform without running either:
// the JSON of `show -json`, as a stream, and the saved plan itself, which is a
// ZIP. It tells what a plan would do and why, which of it looks like something
// that was only renamed, and what a saved plan is bound to.
//
// Values of a plan are secrets until proven otherwise: nothing that this package
// returns holds one, but for the names and ids that identify objects, and the
// entries of a ConfigMap that is asked for.
package tfplan

import "strings"

// Act is what a plan would do to one instance.
type Act string

// Acts. A move or an import comes with another act, or with None.
const (
	None          Act = "no-op"
	Create        Act = "create"
	Update        Act = "update"
	Delete        Act = "delete"
	Replace       Act = "replace"        // destroy, then create
	ReplaceSafer  Act = "create-destroy" // create, then destroy
	Read          Act = "read"
	Forget        Act = "forget"         // drop from the state, keep the object
	ForgetReplace Act = "forget-replace" // make a new one, and keep the old object beside it
	Strange       Act = "strange"        // of a newer tool
)

// Destroys says whether the act ends a real object.
func (a Act) Destroys() bool { return a == Delete || a == Replace || a == ReplaceSafer }

// Creates says whether the act makes a real object.
func (a Act) Creates() bool {
	return a == Create || a == Replace || a == ReplaceSafer || a == ForgetReplace
}

func actOf(actions []string) Act {
	switch strings.Join(actions, " ") {
	case "no-op", "":
		return None
	case "create":
		return Create
	case "update":
		return Update
	case "delete":
		return Delete
	case "delete create":
		return Replace
	case "create delete":
		return ReplaceSafer
	case "read":
		return Read
	case "forget":
		return Forget
	case "forget create", "create forget":
		return ForgetReplace
	}
	return Strange
}

// Change is what a plan would do to one instance.
type Change struct {
	Address    string
	Previous   string // address before a move
	Mode       string
	Type       string
	Provider   string
	Deposed    string
	Act        Act
	Reason     string   // action_reason, as the tool names it
	Forced     []string // paths that force a replacement
	Importing  string   // id of an import
	Paths      []string // of an update: what changes, never to what
	Labels     bool     // an update of labels, annotations or tags alone
	Credential bool     // an update of something sensitive
	Dummy      bool     // the new value of something sensitive looks like a placeholder
	Object     Object   // of a kubernetes resource that would be created
	Generated  bool     // the configuration was generated for an import
	Held       []string // of what would end: settings that protect it, as name=value
	Open       []string // of what would end: settings that could protect it and do not
	Values     [32]byte // of a saved plan: a sum of the values before and after, as the plan holds them
	before     map[string]any
	after      map[string]any
	unknown    map[string]any
}

// Doc is what a plan would do.
type Doc struct {
	Format    string // format_version of the JSON, or the version inside a saved plan
	Newer     string // why the plan may hold what handrail does not know, "" for no reason
	Tool      string
	Errored   bool
	Changes   []Change // every one that is not None, moved ones and imports, the first 20,000
	Drift     []Change // what was found changed outside, the first 20,000
	Count     map[Act]int
	Moved     int
	Imported  int
	Resources int      // instances that the plan speaks of, no-ops too
	Outputs   int      // outputs that change
	Deferred  int      // changes that the tool leaves for a later plan
	Later     []string // addresses of them, the first 500
	Cut       int      // changes over the limit
	Entries   *Entries // of the ConfigMap that was asked for, nil where the plan does not speak of it
	Moves     []Move
	Doubtful  []string // deletes that more than one create would fit
	Ghosts    []string // recorded, gone in reality, and about to be made anew
	Whole     bool
	Broken    string // why it cannot be read
}

// maxLater bounds the addresses of deferred changes.
const maxLater = 500

// defers notes a change that is left for a later plan.
func (d *Doc) defers(address string) {
	if d.Deferred++; len(d.Later) < maxLater && address != "" {
		d.Later = append(d.Later, address)
	}
}

// Add, Changed and Destroyed count as the tools do in their last line.
func (d *Doc) Add() int { return d.Count[Create] + d.Replaced() + d.Count[ForgetReplace] }

// Destroyed counts objects that end, deposed ones too.
func (d *Doc) Destroyed() int { return d.Count[Delete] + d.Replaced() }

// Replaced counts replacements of either order.
func (d *Doc) Replaced() int { return d.Count[Replace] + d.Count[ReplaceSafer] }

// Reason explains an action_reason in words.
func Reason(c Change) string {
	if why, ok := reasons()[c.Reason]; ok {
		return why
	}
	switch {
	case c.Reason != "":
		return "the tool gives the reason " + c.Reason + ", which handrail does not know"
	case c.Deposed != "":
		return "it is a deposed object: what a replacement left behind"
	case c.Act == Delete:
		return "no reason is given: the whole unit is to be destroyed"
	}
	return "no reason is given"
}

// reasons is the table of action_reason; those of tofu alone are among them.
func reasons() map[string]string {
	return map[string]string{
		"replace_because_cannot_update":              "an attribute cannot be changed in place",
		"replace_because_tainted":                    "it is tainted: its creation did not finish, or it was marked by hand; `untaint` keeps it, after a look at it",
		"replace_by_request":                         "-replace asked for it",
		"replace_by_triggers":                        "replace_triggered_by asks for it",
		"delete_because_no_resource_config":          "its block, or the call of its whole module, is gone from the configuration",
		"delete_because_no_module":                   "its module instance is gone",
		"delete_because_wrong_repetition":            "the block changed between single, count and for_each",
		"delete_because_count_index":                 "its index is over the count",
		"delete_because_each_key":                    "its key is gone from for_each",
		"delete_because_no_move_target":              "a moved block names this address, and nothing in the configuration has it",
		"delete_because_enabled_false":               "enabled is false",
		"forgot_because_lifecycle_destroy_in_state":  "the state says not to destroy it",
		"forgot_because_lifecycle_destroy_in_config": "the configuration says not to destroy it",
		"read_because_config_unknown":                "its configuration is not known before the apply",
		"read_because_dependency_pending":            "something that it depends on changes",
		"read_because_check_nested":                  "it stands in a check",
	}
}
