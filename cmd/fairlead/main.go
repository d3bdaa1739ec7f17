// Command fairlead is the one binary for people: command line, manager and embedded cluster.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"fairlead.dev/fairlead/internal/cli"
	"fairlead.dev/fairlead/internal/cli/authoring"
	"fairlead.dev/fairlead/internal/devcluster/components"
)

func main() {
	components.Main() // first: it does not return in the processes of an embedded cluster
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	run := cli.Run
	if authoring.CalledOpm(os.Args[0]) { // by a link of that name
		run = authoring.RunOpm
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
