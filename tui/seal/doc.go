// Package seal shows what the seal of a closed incident means, asks who signs,
// and shows what came of it.
//
// The order is fixed: the incident is let go first, so that nothing can be
// recorded between the last entry and the seal; from then on no screen adds to
// it ([screen.SealState]). A seal that was begun goes to its end whatever is
// pressed.
package seal
