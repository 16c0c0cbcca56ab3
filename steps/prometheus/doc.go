// Package prometheus asks a Prometheus, or what answers as one (Thanos, Mimir, VictoriaMetrics), by its HTTP API: one instant
// query, or one over a range. It reads only: its requests leave through transport.Fetch, which sends GET and HEAD to one server.
//
// Which server stands in the parameter server, and is then asked without credentials, or in the environment of the operator:
//
//	PROMETHEUS_URL    its address, https, or http of this machine
//	PROMETHEUS_TOKEN  a bearer token, "" for none
//
// So no runbook leads a token elsewhere. The token is a secret of the incident. A redirect is not followed.
//
// The query stands in the evidence as it was sent, with the answer. The API is that of "HTTP API" in the documentation of
// Prometheus (Expression queries, Expression query result formats). A value is text there; facts have it as it came, and in
// thousandths where it is a number of that size, since a fact has no fractions. NaN and infinities are unknown in thousandths.
//
// Unknown is never absent. An empty result means that the server has no such series now: a target that is down, a name that
// is spelt otherwise, or nothing. absent says so, and a runbook must not take it for zero. An answer that the server calls
// partial (warnings) is unknown in what it counts.
//
// Bounds: 8 MiB of answer, 200 series, 1,000 points of each; more is unknown.
package prometheus
