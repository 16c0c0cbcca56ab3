// Package writers says who may write an object, and whether an account may do
// something.
//
// kube/writers gathers all that may write one object: owners, mutating and
// validating admission that sees it, autoscalers, accounts by RBAC and what runs
// as them. Rights are read from roles and bindings by steps/kube/rbac, admission
// by steps/kube/admission; other authorizers and members of system:masters are not
// in it, and it says so. What could not be read is named, and keeps the ranking of
// suspects from being called complete.
//
// kube/may asks the server (a review that stores nothing) and walks the roles
// beside it: where the two disagree, that is the finding.
package writers
