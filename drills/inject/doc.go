// Package inject holds the injections of drills: a closed table of verbs, each
// with the reader of its arguments and what it does to the lab.
//
// A drill document lists [Steps], one verb with its arguments each. What is not in
// the table cannot be asked for, and every argument is checked when the document is
// read: names, files and workspaces by closed forms, objects of kinds that stay
// within the namespace of the drill and give no right that robot lacks.
//
// A verb acts as robot, on the lab or in the drill's own directory, and returns when
// what it injected can be seen: what is exported next must not change by itself.
// What would outlive the drill is written into its record before it is made.
//
// A list of injections also says which values the drill has beside its exports
// ([Steps.Given]), and what they stand for once all is injected ([Steps.Values]).
//
// The root modules that verbs work in are embedded from the directory workspaces;
// a directory in one of them is a later edit of it.
package inject
