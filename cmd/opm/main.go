// Command opm is the small program for catalogs and bundles alone, for pipelines and catalog images: opm's command line without
// the manager and the embedded cluster, which the program fairlead has as well.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"fairlead.dev/fairlead/internal/cli/authoring"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(authoring.RunOpm(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
