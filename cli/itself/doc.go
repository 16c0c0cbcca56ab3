// Package itself holds the commands that tell of handrail itself and change nothing:
// its version, its settings, its manual pages.
package itself
