// Package plan makes plans and reads them: a plan that is thrown away, a saved plan
// for a gate to apply, the file of a saved plan, and the output of `show -json`.
//
// The probes that make a plan are heavy: they run the program of a trusted
// directory, always with -lock=false and -input=false, and only where a native read
// has seen a state, or that there is none where opening it creates none. They read lock and
// state before and after, and say when either moved. Neither initialises anything.
//
// A plan holds secrets in clear. One that is thrown away goes into a file in memory
// that only the program inherits, or into a private directory that is swept; a
// saved one stays in handrail's own directory, known by its SHA-256, and never in
// the bundle. What a saved plan is bound to (state, content, configuration,
// selection of providers, tool, workspace, backend) is held against what is here
// now, each binding as same, moved or unknown.
package plan
