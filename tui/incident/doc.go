// Package incident answers what screens ask of the incident that is shown.
//
// A [Case] holds its newest snapshot. Nothing here decides what is allowed: the
// options of the snapshot say that, and the questions only find the right one.
// The package also draws what stands on several screens: a step in flight, what
// became of an act, and how far the evidence goes ([Coverage]).
package incident
