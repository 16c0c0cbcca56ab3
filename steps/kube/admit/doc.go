// Package admit says of one object what its requests meet on their way into the API
// server, and rehearses them.
//
// kube/admission reads what configures admission and traces one request through it
// (steps/kube/admission), without sending it: what may change it, then what may refuse
// it, with why each does or does not see it, and whether anything answers behind a
// webhook. It is a probe like any other.
//
// kube/dry-run asks the server instead: it sends the object with dryRun=All, and a
// good one of the same kind beside it. Nothing is stored, but webhooks run, so it is
// heavy and never starts by itself; its transport lets no other write pass. An outage
// of a webhook, a rehearsal that a webhook does not support and a refusal for want of
// a right are told from a verdict on the object.
//
// Values of Secrets are not read for a trace. A rehearsal that must send them names
// each to the redactor first.
package admit
