// Package state says what a backend holds: whether the state is locked, what it
// records, which of its writes can still be read, how two copies differ, and what a
// run left behind. Its probes only read, and answer the command centre too (Ask).
//
// A state is read as a stream with bounded memory (tfstate); what it calls sensitive
// is told to the sink before its bytes are kept. A Ledger is the exception: the
// whole state in memory, up to a bound, as a gate takes it, because an act is undone
// from those bytes.
//
// A state is told from another by serial and lineage, and one content from another
// by sums over what it records, without the bookkeeping that tools rewrite. Where
// either cannot be had, the reading is an error with the reason, and no gate opens
// on it. Two writers are said to have raced only where the serials, lineages or
// tools of the writes prove it.
//
// Live looks in the world for recorded objects. This package has none of its own:
// the table of kinds passes one in.
package state
