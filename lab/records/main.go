package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// address is that of the provider in a mirror.
const address = "lab.example/lab/records"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "records:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) > 1 && os.Args[1] == "api" {
		flags := flag.NewFlagSet("api", flag.ContinueOnError)
		dir := flags.String("dir", "", "directory of the tokens, the address and the log")
		addr := flags.String("addr", "127.0.0.1:0", "address to listen on")
		if err := flags.Parse(os.Args[2:]); err != nil {
			return err
		}
		return serveAPI(*dir, *addr)
	}
	return providerserver.Serve(context.Background(), newProvider, providerserver.ServeOpts{Address: address})
}
