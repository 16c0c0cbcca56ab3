// Command consul is the agent of consul and none of its other commands: they
// would take longer to build than the agent.
package main

import (
	"os"

	mcli "github.com/mitchellh/cli"

	"github.com/hashicorp/consul/command/agent"
	"github.com/hashicorp/consul/command/cli"
)

func main() {
	out := &cli.BasicUI{BasicUi: mcli.BasicUi{Writer: os.Stdout, ErrorWriter: os.Stderr}}
	os.Exit(agent.New(out).Run(os.Args[1:]))
}
