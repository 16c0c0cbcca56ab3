// Package drills runs practised incidents: a real failure, injected into the
// practice lab, walked with the same session as a real one, and judged
// afterwards by a client of the drill's own.
//
// A drill is a YAML document of kind Drill with a script of reference answers
// beside it. Its injection is a list of verbs, a closed table in Go (drills/inject):
// a document cannot run anything that the table does not have. Everything is
// injected as the ServiceAccount robot and only into the lab, recognised by the UID
// of its namespace kube-system; the trainee reads and acts as operator. That is what
// makes the proof possible: every write that the audit log of the lab ascribes
// to operator must be one that an act in the bundle names.
//
// What an injection leaves behind is written down (drills/stage) before it is made,
// so that a drill that was killed half-way can be stopped. A drill may keep an
// injection for later, when a gate was shown: a script waits for it
// ([Running.Before]), and beside a person the drill follows the journal
// ([Running.Follow]).
//
// Vocabulary: a scene is a drill with one variant applied; an exported value is
// read by robot right after the injection and is known as drill.NAME to phrases
// and win conditions; a win condition is judged on a fresh read, never on what
// the bundle says.
package drills
