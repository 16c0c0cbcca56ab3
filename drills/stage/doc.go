// Package stage is where one drill happens: its directory, its record, its
// identities in the lab, and the programs that it started.
//
// The record, drill.json, is written before what it tells of is made. A drill that
// was killed half-way is therefore ended from its record alone: the processes that
// carry its mark in their environment, the finalizers that would keep its namespace
// from going, its accounts. The record holds no secret; tokens and passwords are
// in files of their own, readable by their owner.
//
// There are two identities. Robot injects and judges: [Stage.Robot] speaks to the
// lab alone, recognised by the UID of its namespace kube-system, and refuses any
// other cluster. Operator is the trainee: [Stage.OperatorEnviron] is what they see,
// without whatever would lead kubectl or tofu elsewhere.
//
// What runs beside a drill runs in a session of its own and outlives this process:
// an apply of tofu, the API of the bad provider, the message broker, the node, the
// webhooks. [Kill] ends all of them.
//
// The package injects nothing by itself, and reads no drill document.
package stage
