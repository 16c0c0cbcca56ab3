// Package runbooks reads runbooks: YAML documents that say which steps belong
// to which phase of the loop for one kind of failure.
//
// Reading is strict and happens in two parts. The structure is checked by a
// walk over YAML nodes: an unknown or repeated key, a tag, an alias, an empty
// expression or a gate without what the laws of the loop need is a [Problem]
// with its line and column. The expressions are CEL over typed dotted variables
// (`facts.<step>.<fact>`, `answers.<step>`, `params.<name>`) and are compiled
// against the declared facts of the step kinds; [Parse] does both, [Library]
// leaves the second part to the first use of each runbook.
//
// Matching is pure too: the weights of the patterns that occur in a text are added
// up, and from [Floor] on a runbook claims it. A pattern earns its weight by what it
// tells apart, over the texts in testdata/errors; one may speak against. What is told
// in words is held to the symptoms, sentence by sentence.
//
// Judging is pure: a [Runbook] is given [Vars] and answers. What is not known
// stays unknown by partial evaluation: an unknown never compares equal or
// unequal to anything, and only `true` opens.
package runbooks
