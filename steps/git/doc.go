// Package git answers questions about the history of a clone, from its objects (steps/gitread): git itself is not run,
// and nothing is fetched. What it says is what the clone has, which may be behind its remote.
//
// git/last finds the newest commit on the first-parent line that changed a path, and the commit before it. git/base
// compares a branch with the one that it is to be merged into: merge base, commits ahead and behind.
//
// Unknown is never no: where a clone is shallow, or a history is longer than the bound of 20,000 commits, what depends
// on the rest is unknown.
package git
