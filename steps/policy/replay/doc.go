// Package replay judges an input by policies in Rego as a commit holds them, with the engine of OPA as a library.
//
// Policies are programs of others. They run in a process of their own that can open nothing (steps/confined), and
// without the functions that reach out of it: http.send, net.*, opa.runtime, random numbers, and schemas, which may
// name a remote one. A policy that calls one of them is not judged. The time that a policy sees is that of the caller.
//
// Of the files of a commit (openpolicyagent.org/docs, "Bundles: Bundle File Format"): *.rego are modules, without those
// of tests (*_test.rego); data.json, data.yaml and data.yml are data, below the names of their directories. Others are
// not loaded, and are listed.
//
// A query is the name of one rule, data.PACKAGE.RULE, or stands for all rules of its package that conftest takes for failures:
// deny, violation, and those names with an underscore and more behind them (conftest, policy/engine.go). An error of a function makes an expression undefined, as in
// `opa eval`; such errors are listed too.
package replay
