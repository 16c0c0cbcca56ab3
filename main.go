// Command handrail walks the people on an incident bridge through one triage
// loop: evidence first, then the smallest safe change.
package main

import (
	"os"

	"handrail/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
