package report

import (
	"fmt"
	"slices"
	"strings"

	"handrail/steps"
)

// good are the conditions that are trouble while they are False. Of others False is
// the usual, or it is not known which of the two is.
var good = []string{
	"Ready", "Available", "Progressing", "Synced", "Healthy", "Established", "NamesAccepted", "Accepted", "Programmed", "ResolvedRefs",
	"Initialized", "PodScheduled", "ContainersReady", "Reconciled", "Installed", "Issued", "Bound",
}

// Troubles are the conditions of an object that say what is wrong with it, each with
// its reason and its message: status.conditions as it was decoded. all takes each
// that says anything, for an object that ought to be gone.
func Troubles(conditions any, all bool) []string {
	items, _ := conditions.([]any)
	var out []string
	for _, item := range items {
		c, _ := item.(map[string]any)
		text := func(key string, most int) string {
			s, _ := c[key].(string)
			return steps.OneLine(s, most)
		}
		kind, status, reason, message := text("type", 100), text("status", 20), text("reason", 100), text("message", 300)
		bad := slices.Contains(good, kind) && status == "False" || status == "True" && turnedBad(kind)
		if kind == "" || !bad && (!all || message == "") {
			continue
		}
		say := kind + " is " + OrNothing(status)
		if reason != "" {
			say += " (" + reason + ")"
		}
		if message != "" {
			say += ": " + message
		}
		out = append(out, say)
	}
	return out
}

// turnedBad reports whether a condition is trouble while it is True.
func turnedBad(kind string) bool {
	return kind == "Stalled" || kind == "Degraded" || kind == "Failed" || strings.HasSuffix(kind, "Failure") || strings.HasSuffix(kind, "Error")
}

// Few is the first of some sentences, and how many more there are.
func Few(say []string, most int) string {
	if len(say) > most {
		return strings.Join(say[:most], "\n") + fmt.Sprintf("\nand %d more", len(say)-most)
	}
	return strings.Join(say, "\n")
}
