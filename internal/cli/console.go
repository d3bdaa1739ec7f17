package cli

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/console"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops/preview"
)

func newConsoleCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var port int
	var global string
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Open the web console of a cluster, with your rights, on this machine",
		Long: `Serve the web console of a cluster until Ctrl-C, on the loopback address of this machine, and print its address. What it shows and does, it
reads and writes as the user of the kubeconfig. The address lets a browser in once; Enter prints another one.`,
		Example: `  fairlead console
  fairlead console --context production --port 8090`,
		Args: command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return command.UsageError{Err: fmt.Errorf("--port %d: give a port up to 65535, or 0 for any that is free", port)}
			}
			config, err := k.Config()
			if err != nil {
				return err
			}
			namespace, err := k.Namespace()
			if err != nil {
				return err
			}
			user, err := console.NewUser(cmd.Context(), config, namespace)
			if err != nil {
				return err
			}
			return withLibrary(cmd.Context(), s, func(library *preview.Library) error {
				return serveConsole(cmd.Context(), s, console.Options{Library: library, OwnMachine: true, GlobalNamespace: global, Clock: clock.RealClock{}}, user, port)
			})
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	cmd.Flags().IntVar(&port, "port", 0, "port to serve at (default: any that is free)")
	cmd.Flags().StringVar(&global, "global-namespace", manager.DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see")
	return cmd
}

// serveConsole serves the console of a user on loopback until the context ends.
func serveConsole(ctx context.Context, s command.Streams, o console.Options, user *console.User, port int) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("serve the console: %w; choose another port with --port", err)
	}
	access := console.NewOneTime(user)
	o.Access, o.Hosts, o.Log = access, console.Loopback(listener.Addr()), slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c, err := console.New(o)
	if err != nil {
		return err
	}
	tell := func() {
		fmt.Fprintf(s.Out, "The console, for %s, once: http://%s%s\n", user.Name, listener.Addr(), access.Query())
	}
	tell()
	go func() { // ends with the process
		for lines := bufio.NewScanner(s.In); lines.Scan(); {
			tell()
		}
	}()
	return c.Serve(ctx, listener)
}
