// Package persist tells what matters in the objects that may write to a cluster
// unasked: as whom a Pod runs and what, what a webhook matches, what RBAC lets a
// subject write. It is pure: objects go in, and what a person must account for
// comes out, in a form whose digest does not change while nothing that matters
// does.
package persist
