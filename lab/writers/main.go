package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "writers:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if dir := os.Getenv(loopVariable); dir != "" {
		return loop(ctx, dir)
	}
	if len(os.Args) < 2 {
		return fmt.Errorf("want webhook, loop, node or amqp")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ContinueOnError)
	dir := flags.String("dir", "", "directory that says what to do")
	if err := flags.Parse(os.Args[2:]); err != nil {
		return err
	}
	switch os.Args[1] {
	case "webhook":
		return serveWebhook(ctx, *dir)
	case "loop":
		return loop(ctx, *dir)
	case "node":
		return serveNode(ctx, *dir)
	case "amqp":
		if flags.NArg() != 3 {
			return fmt.Errorf("want an address, an account and a virtual host")
		}
		return openAMQP(ctx, flags.Arg(0), flags.Arg(1), os.Getenv("AMQP_PASSWORD"), flags.Arg(2))
	}
	return fmt.Errorf("%q: want webhook, loop, node or amqp", os.Args[1])
}
