// Package policy reads what a policy gate left in a file: its decision, and the exceptions of a team. It runs no engine and asks none.
//
// # The decision
//
// policy/result reads one saved output into one model. A result is one rule held to one resource, and its outcome is
//
//	pass   the resource keeps the rule
//	fail   the resource breaks a rule that binds: this denies
//	warn   the resource breaks a rule that does not bind
//	skip   the rule was not evaluated, does not apply, or is excused by an exception
//	error  the engine could not tell
//
// The verdict follows, the first that holds:
//
//	unknown  the output is cut, contradicts itself, or goes beyond a bound
//	error    a result is an error, or the engine says that it failed
//	deny     a result fails, or the engine denies the whole
//	unknown  the format does not say that what was read is all
//	unknown  nothing was evaluated
//	allow    otherwise
//
// A file that is empty or of no known format is no output of a gate: the probe fails.
//
// So nothing allows because no failure was found in it: it must have been read to its end, and something must have been evaluated. One
// thing is told of an output that is cut: a denial of the whole, where the engine says it first (Sentinel).
//
// The formats, and where each is described:
//
//	opa            openpolicyagent.org/docs, "CLI Reference: opa eval" and "REST API: Query API". {} is an undefined query.
//	conftest       conftest.dev, "Output", --output json: a list of files with successes, warnings, failures, exceptions, skipped.
//	conftest-text  the same page, the standard output: WORD - file - namespace - message, and a sum at the end.
//	checkov        checkov.io, "Reviewing Scan Results", JSON: an object or a list of them; results and summary.
//	policy-report  github.com/kubernetes-sigs/wg-policy-prototypes, policy-report/API (wgpolicyk8s.io), and openreports.io/v1alpha1;
//	               kyverno.io, "CLI: apply --policy-report". JSON, a List, or a stream of YAML that ends in a line of three dots.
//	sentinel       developer.hashicorp.com/sentinel, "Commands: apply", -json; HCP Terraform API, "Policy Checks", attribute result.
//	sentinel-text  HCP Terraform, "Sentinel policy results": the log of a policy check.
//	sarif          SARIF 2.1.0 (OASIS Standard), 3.20 invocation, 3.27 result: kind, level, suppressions, baselineState.
//	junit          the XML of the JUnit task of Ant, as conftest, Checkov and others write it.
//
// What holds for each beyond its words:
//
//   - opa: a query that asks what is allowed comes to a truth; one that asks what is denied to a truth or a list. Which of them it is
//     says the end of its text (.allow, .deny, .violation) or the parameter query_means. An undefined allow is a denial. An undefined
//     deny is unknown, since {} does not say which query it was.
//   - conftest-text, checkov, policy-report, junit: sums and lists must agree.
//   - sentinel: a policy that may fail (advisory) warns.
//   - sarif: level error denies, warning and note warn. A run allows only where executionSuccessful is true, and where it warns only with
//     exitCode 0. A suppression that is neither rejected nor under review is a skip that an exception excuses.
//   - An output of no known format with an error of a program in it is the verdict error.
//
// engine_up is false where an error says that a connection was refused, ran out of time or found no host.
//
// # Exceptions
//
// policy/exceptions reads a list in YAML or JSON, or an object that has one as exceptions. An exception is data:
//
//	id, rule, scope, owner, expires, reason   a text each
//	compensatingControls                      a text, or a list that is not empty
//
// expires is a time of RFC 3339 or a date. A date ends as its day begins in UTC, the earliest that can be meant, and at its end an
// exception has ended. One that lacks a field, shares its id, or has a scope that bounds nothing is incomplete, and never holds.
//
// A scope covers a resource of the same text, and with a * at its end that follows a dot, a slash or a bracket what begins so:
// module.net.* covers module.net.aws_vpc.main, aws_vpc.main[*] each instance of it. Part of a name covers nothing.
//
// # Bounds
//
// A file is read once, up to 64 MiB (YAML up to 8), so digest and verdict are of the same bytes. At most 200,000 results are read, 64 deep.
// A key that stands twice, an alias, a tag and a document type are refused: what decides must mean what it shows. Texts are redacted
// before they become facts.
package policy
