package report

import (
	"fmt"
	"slices"
	"strings"
)

// recoverySpec is one artifact: what it proves, and the parts that prove it.
type recoverySpec struct {
	name, title, proves string
	parts               []recoveryPart
}

// recoveryPart is one part of an artifact. An artifact is proven when each of its parts that are proof was found.
type recoveryPart struct {
	name    string
	proof   bool
	applies func(*recovery) bool // nil for always
	find    func(*recovery) []Stand
	lack    string // what is not in the bundle where nothing is found
	how     string // to get it
}

// again is how what a runbook could have read is had.
const again = "; what is read after the incident is no evidence of it, so note where it came from and when"

func recoverySpecs() []recoverySpec {
	run := recoveryPart{name: "run", find: item("E3"), lack: "which run this was", how: "take the run's id from CI, and the commit and the actor with it"}
	commit := recoveryPart{name: "commit", find: item("E1"), lack: "the commit that the change was made from", how: "take the commit SHA from the run in CI"}
	return []recoverySpec{
		{"plan-artifact", "Plan artifact", "what the change was meant to do", []recoveryPart{
			{name: "plan", proof: true, find: either(uses("terraform/plan-file", "terraform/saved-plan"), item("E4", "terraform/plan", "compare/plan-live"), actsOf(applies)),
				lack: "the plan that was approved", how: "get the saved plan, or its JSON, from the artifacts of the run" + again},
			{name: "plan of the rest", find: uses("terraform/plan", "compare/plan-live"), lack: "a plan made during the incident, which is never applied", how: "tofu plan -lock=false"},
			commit, run,
			{name: "workspace", find: item("E10"), lack: "the workspace or unit", how: "name the directory and the workspace of the run"},
		}},
		{"plan-digest", "Plan digest", "the approval is bound to one plan", []recoveryPart{
			{name: "digest", proof: true, find: either(appliedDigests, values(uses("terraform/plan-file", "terraform/saved-plan", "terraform/plan"), digests)),
				lack: "a digest of a plan", how: "sha256sum of the saved plan in the artifacts of the run" + again},
			{name: "approval of that digest", proof: true, find: either(confirmedApplies, approvedDigest),
				lack: "an approval that names the digest", how: "ask the approval system which digest, or which run, was approved, and by whom"},
			commit,
		}},
		{"policy-result", "Policy result", "the rules were evaluated", []recoveryPart{
			{name: "policy", proof: true, find: item("E5"), lack: "the result of a policy engine", how: "get the policy check of the run from CI, or the denial from the controller's log" + again},
			{name: "conditions of the gates", applies: acted, find: judged, lack: "conditions of the gates that were acted on", how: "the runbook sets none for them: see bundle show"},
			commit,
		}},
		{"approval-record", "Approval record", "a person who may accepted the risk", []recoveryPart{
			{name: "approval of the change", proof: true, find: item("E6"), lack: "who approved the change that failed", how: "take approver and time from the pull request or the change system" + again},
			{name: "confirmation of each act", proof: true, applies: acted, find: confirmed, lack: "who confirmed an act", how: "see bundle verify: an act without a confirmation does not verify"},
			{name: "second person", applies: acted, find: agreed, lack: "an approval of a second person", how: "a policy asks for one: see docs/safety.md"},
		}},
		{"apply-log", "Apply log", "a mutation was attempted", []recoveryPart{
			{name: "log of the run", proof: true, find: uses("terraform/log"), lack: "the log of the run that failed", how: "download the whole log of the apply job from CI, and pass it to the runbook with -p log=FILE"},
			{name: "acts through gates", proof: true, applies: acted, find: actsOf(nil), lack: "how an act ended", how: "read the target again"},
			{name: "provider's error", find: item("E11", "terraform/log"), lack: "the provider's error apart from the log", how: "it stands at the end of the log"},
			{name: "runner", find: item("E7"), lack: "which runner it was", how: "take the runner's name and image from the job in CI"},
			run,
		}},
		{"cloud-audit", "Cloud audit correlation", "which API calls really happened", []recoveryPart{
			{name: "what the audit log shows", proof: true, find: auditAsked, lack: "an answer to what the provider's audit log shows for the run", how: "read it, and answer the question of the runbook, or note it on the call"},
			{name: "calls", proof: true, find: auditCalls, lack: "the calls of the run in the provider's audit log", how: "list the write events of the run's role from its start on, with their request ids"},
			{name: "requests of handrail", find: auditIDs, lack: "Audit-IDs of requests to an API server", how: "no cluster was asked, or its API server gives none; find the ids in its audit log"},
			run,
		}},
		{"state-version", "State version", "the recorded state before and after", []recoveryPart{
			{name: "before", proof: true, find: stateBefore, lack: "a reading of the state before anything was changed", how: "list the versions of the state object in the backend, and take the last one before the incident"},
			{name: "after", proof: true, applies: wroteState, find: stateAfter, lack: "a reading of the state after the change", how: "tofu state pull, and keep serial and checksum"},
		}},
		{"gitops-sync", "GitOps sync event", "what the controller did", []recoveryPart{
			{name: "controller", proof: true, find: either(loops, item("E12", "kube/events")), lack: "a sync or reconciliation by a GitOps controller", how: "kubectl get application,kustomization,helmrelease -A -o yaml, and the controller's log of that time"},
			{name: "controllers of what was changed", applies: acted, find: ownersSaid, lack: "a controller that owns what was changed", how: "none was found in front of a gate; read labels, ownerReferences and managedFields"},
			commit,
		}},
		{"kube-events", "Kubernetes event snapshot", "how the cluster answered", []recoveryPart{
			{name: "events", proof: true, find: uses("kube/events", "kube/catch"), lack: "the cluster's events", how: "kubectl get events -A --sort-by=.lastTimestamp; a cluster keeps them for an hour by default"},
			{name: "object", find: item("E13"), lack: "the namespace and the resource", how: "kubectl get the object with -o yaml"},
			{name: "live state", find: item("E14"), lack: "a snapshot of the live state", how: "kubectl get the object with -o yaml"},
		}},
		{"exception", "Exception object", "a deviation was accepted", []recoveryPart{
			{name: "deviation", proof: true, find: deviations, lack: "a deviation: no rule was waived, no finding overruled, nothing changed by hand", how: "if one was accepted elsewhere, take its exception id, its owner and its end from there"},
			{name: "until when", find: carried, lack: "a date on which it ends", how: "carry the debt with an owner and a date"},
		}},
		{"incident-link", "Incident link", "the emergency is tied to governance", []recoveryPart{
			{name: "incident", proof: true, find: theIncident, lack: "the incident", how: ""},
			{name: "ticket or channel", proof: true, find: governed, lack: "a note or a proof that names a ticket, a page or a channel", how: "note its address on the call; after the close, handrail resume and a note still can"},
			{name: "acts", applies: acted, find: actsOf(nil), lack: "acts", how: ""},
			{name: "left to do", applies: owes, find: carried, lack: "an owner and a date for what is left to do", how: "settle or carry it"},
		}},
	}
}

func wroteState(r *recovery) bool { return r.lastWrite() > 0 }

func owes(r *recovery) bool { return len(r.d.Debts) > 0 }

// confirmedApplies are the confirmations of acts that applied a plan.
func confirmedApplies(r *recovery) []Stand {
	var out []Stand
	for _, s := range confirmed(r) {
		if st, _ := r.st.Step(string(s.Step)); applies(st.Uses) {
			out = append(out, s)
		}
	}
	return out
}

// approvedDigest is the approver's item where its words name a digest of a plan that was read, by twelve digits or more.
func approvedDigest(r *recovery) []Stand {
	found := item("E6")(r)
	for _, plan := range values(uses("terraform/plan-file", "terraform/saved-plan", "terraform/plan"), digests)(r) {
		for _, f := range plan.Values {
			if len(f.Value) >= 12 && slices.ContainsFunc(found, func(s Stand) bool { return s.names(string(f.Value[:12])) }) {
				return found
			}
		}
	}
	if len(found) > 0 {
		r.lacks = append(r.lacks, Lack{What: line(fmt.Sprintf("entry %d says who approved, and names no digest", found[0].Entry))})
	}
	return nil
}

func (s Stand) names(text string) bool {
	return strings.Contains(string(s.Says), text) || slices.ContainsFunc(s.Values, func(f Fact) bool { return strings.Contains(string(f.Value), text) })
}
