package authoring

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/catalogserver"
)

// pollDirs is how often directories are checked for changes.
const pollDirs = 2 * time.Second

// catalogServeFlags are the flags of serve.
type catalogServeFlags struct {
	port, httpPort, pprof string
	profileStart, debug   bool
	terminationLog        string
	cacheDir              string
	cacheOnly, enforce    bool
	pollImages            time.Duration
}

func newCatalogServeCommand(s command.Streams) *cobra.Command {
	var f catalogServeFlags
	cmd := &cobra.Command{
		Use:   "serve [NAME=]SOURCE...",
		Short: "Serve catalogs over gRPC and HTTP",
		Long: `Serve catalogs over gRPC (api.Registry) and HTTP (/catalogs/NAME/api/v1/all and .../metas).

A SOURCE is a directory with a catalog's files or the reference of a catalog image. NAME, under which a catalog is served when there are
several, is the last element of SOURCE when it is not given. A gRPC client of several catalogs dials NAME or NAME.anything, or sends the
metadata ` + catalogserver.MetadataKey + `.

The ports are open at once; the health service says SERVING when all catalogs are read. Directories are read again when their files
change, images when --poll-images is over and their digest is another, and both on SIGHUP. New content takes the place of the old one
between two requests; content that cannot be read leaves the old one in place.

What is wrong with a catalog is logged and left out. With --cache-only it is an error instead, so that an image is never built with it.

A port is a number, 0 for any free one, HOST:PORT to listen at one address only, or "" to serve nothing.`,
		Example: `  # Serve a directory to grpcurl and curl
  fairlead catalog serve ./catalog
  grpcurl -plaintext localhost:50051 api.Registry/ListPackages
  curl localhost:8080/api/v1/all

  # Serve two catalogs from one process, and start in no time the next time
  fairlead catalog serve --cache-dir /var/cache/catalogs mine=./catalog community=quay.io/example/catalog:latest
  curl 'localhost:8080/catalogs/mine/api/v1/metas?schema=olm.channel&package=etcd'

  # Fill the cache while an image is built
  fairlead catalog serve /configs --cache-dir /tmp/cache --cache-only`,
		Args: command.Usage(cobra.MinimumNArgs(1)),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.port, "port", "p", "50051", "port of gRPC")
	flags.StringVar(&f.httpPort, "http-port", "8080", "port of HTTP")
	flags.StringVar(&f.pprof, "pprof-addr", "", "address at which to serve profiles of this process, such as localhost:6060")
	flags.BoolVar(&f.profileStart, "pprof-capture-profiles", false, "profile the start too, and serve it at /debug/pprof/startup/cpu")
	flags.StringVarP(&f.terminationLog, "termination-log", "t", catalogserver.TerminationLog, "file to write the reason to when the server fails")
	flags.StringVar(&f.cacheDir, "cache-dir", "", "directory that keeps indexes and images between runs; a temporary one if not given")
	flags.BoolVar(&f.cacheOnly, "cache-only", false, "fill the cache and end")
	flags.BoolVar(&f.enforce, "cache-enforce-integrity", false, "read all files and the whole cache before either is believed, rather than sizes, times and checksums of what is used")
	flags.DurationVar(&f.pollImages, "poll-images", 0, "how often to ask registries for new images; 0 is never")
	flags.BoolVar(&f.debug, "debug", false, "log every call")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.enforce && f.cacheDir == "" {
			return command.UsageError{Err: errors.New("--cache-dir must be specified with --cache-enforce-integrity")}
		}
		level := slog.LevelInfo
		if f.debug {
			level = slog.LevelDebug
		}
		log := slog.New(slog.NewTextHandler(command.Raw(s.Err), &slog.HandlerOptions{Level: level}))
		err := f.serve(cmd.Context(), log, args)
		if err != nil {
			catalogserver.Terminated(f.terminationLog, err, log)
		}
		return err
	}
	return cmd
}

// serve serves until ctx ends.
func (f *catalogServeFlags) serve(ctx context.Context, log *slog.Logger, args []string) (err error) {
	origins, err := catalogserver.Open(catalogserver.Options{CacheDir: f.cacheDir, Enforce: f.enforce, PollDirs: pollDirs, PollImages: f.pollImages})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, origins.Close()) }()
	catalogs, err := origins.Catalogs(args)
	if err != nil {
		return err
	}
	if f.cacheOnly {
		return catalogserver.Check(ctx, catalogs, log)
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	return catalogserver.Run(ctx, catalogserver.Config{
		GRPC: address(f.port), HTTP: address(f.httpPort), Pprof: f.pprof, StartupProfile: f.profileStart,
		Catalogs: catalogs, Reload: reload, Log: log,
	})
}

// address is what a port flag means: a number is a port of all addresses.
func address(port string) string {
	if port == "" || strings.Contains(port, ":") {
		return port
	}
	return ":" + port
}
