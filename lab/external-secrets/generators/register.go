// Package register takes the place of the list of generators of External Secrets: the lab has none.
package register
