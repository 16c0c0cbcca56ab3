// Package course reads several objects that a person named, and the changes that
// are to be made to them in order.
//
// A list of changes is a file:
//
//	apiVersion: handrail/v1
//	kind: Changes
//	changes:
//	- object: configmaps/monitoring/prometheus
//	  why: the scrape interval of the chart
//	  patch: [{op: replace, path: /data/interval, value: 30s}]
//	- create: {apiVersion: v1, kind: ServiceAccount, metadata: {name: prometheus, namespace: monitoring}}
//
// Each change is about one object, named as resource/namespace/name, resource/name
// where it has no namespace or is in that of the step, and no object stands in it
// twice: what a change finds is what was shown, not what an earlier one left. The
// order is that of the file.
package course
