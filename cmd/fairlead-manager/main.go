// Command fairlead-manager runs the controllers and nothing else: the program for the container image.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"fairlead.dev/fairlead/internal/manager"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	cmd := manager.New(os.Stderr, nil)
	cmd.Use = "fairlead-manager"
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fairlead-manager:", err)
		os.Exit(1)
	}
}
