// Package workload says why something does not run, or is not reached: rollouts
// and Pods, the container that blocks and the layer its log complains about,
// events, quotas, claims, endpoints, egress by network policies, and values that
// changed after the containers that took them had started.
//
// Each probe reads one object and what belongs to it by UID, in a time of its own,
// and keeps what it read until then. Pods are judged by steps/kube/podstate, logs
// by steps/kube/loglayer, policies by steps/kube/egress: this package reads, joins
// and says. Messages of the cluster are quoted, never interpreted as commands, and
// no value of a Secret is read.
package workload
