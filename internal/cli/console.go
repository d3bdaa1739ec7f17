package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
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
			return withLibrary(cmd.Context(), s, func(library *preview.Library) error {
				c, err := openConsole(cmd.Context(), s, console.Options{Library: library, OwnMachine: true, GlobalNamespace: global}, config, namespace, port)
				if err != nil {
					return err
				}
				fmt.Fprintf(s.Out, "The console, for %s, once: %s\nEnter prints another address, Ctrl-C ends it.\n", c.user, c.address())
				return c.serve(cmd.Context())
			})
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	cmd.Flags().IntVar(&port, "port", 0, "port to serve at (default: any that is free)")
	cmd.Flags().StringVar(&global, "global-namespace", manager.DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see")
	return cmd
}

// openedConsole is the console of a user, on loopback.
type openedConsole struct {
	user     string
	access   *console.OneTime
	listener net.Listener
	console  *console.Console
	streams  command.Streams
}

// openConsole listens on loopback, at a port, or any that is free for 0.
func openConsole(ctx context.Context, s command.Streams, o console.Options, config *rest.Config, namespace string, port int) (*openedConsole, error) {
	user, err := console.NewUser(ctx, config, namespace)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("serve the console: %w; choose another port with --port", err)
	}
	access := console.NewOneTime(user)
	o.Access, o.Hosts, o.Clock = access, console.Loopback(listener.Addr()), clock.RealClock{}
	o.Log = slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c, err := console.New(o)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &openedConsole{user.Name, access, listener, c, s}, nil
}

// address is one that lets a browser in once. Those before are worth nothing then.
func (c *openedConsole) address() string {
	return "http://" + c.listener.Addr().String() + c.access.Query()
}

// serve serves until the context ends, and prints another address for each line of the input.
func (c *openedConsole) serve(ctx context.Context) error {
	go func() { // ends with the process
		for lines := bufio.NewScanner(c.streams.In); lines.Scan(); {
			fmt.Fprintln(c.streams.Out, c.address())
		}
	}()
	return c.console.Serve(ctx, c.listener)
}
