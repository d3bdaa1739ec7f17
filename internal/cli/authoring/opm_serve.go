package authoring

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/catalogserver"
)

// opmServeFlags are the flags of serve.
type opmServeFlags struct {
	port, pprof, terminationLog, cacheDir   string
	profileStart, cacheOnly, enforce, debug bool
}

// profileAddress is where profiles are served when only the one of the start is asked for.
const profileAddress = "localhost:6060"

func newOpmServeCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve <source_path>",
		Example: `  opm serve catalog --cache-dir /tmp/cache`,
		Short:   "Serve a catalog over gRPC",
		Long: `Serve the file-based catalog in a directory over gRPC.

The port is open at once; the health service says SERVING when the catalog is read. 'fairlead catalog serve' serves several catalogs,
images too, and over HTTP as well.`,
		Args: command.Usage(cobra.ExactArgs(1)),
	}
	var f opmServeFlags
	flags := cmd.Flags()
	flags.BoolVar(&f.debug, "debug", false, "log every call")
	flags.StringVarP(&f.terminationLog, "termination-log", "t", catalogserver.TerminationLog, "file to write the reason to when the server fails")
	flags.StringVarP(&f.port, "port", "p", "50051", "port to serve on")
	flags.StringVar(&f.pprof, "pprof-addr", "", "address to serve profiles at, such as localhost:6060")
	flags.BoolVar(&f.profileStart, "pprof-capture-profiles", false, "profile the start too, and serve it at /debug/pprof/startup/cpu of --pprof-addr (default: "+profileAddress+")")
	flags.StringVar(&f.cacheDir, "cache-dir", "", "directory that keeps the index of the catalog; a temporary one if not given")
	flags.BoolVar(&f.cacheOnly, "cache-only", false, "fill the cache and end")
	flags.BoolVar(&f.enforce, "cache-enforce-integrity", false, "read the whole catalog and cache before either is believed (default: with --cache-dir and without --cache-only)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.settle(cmd.Flags().Changed); err != nil {
			return err
		}
		level := slog.LevelInfo
		if f.debug {
			level = slog.LevelDebug
		}
		log := slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: level}))
		err := f.serve(cmd.Context(), s.Err, log, access, args[0])
		if err != nil {
			catalogserver.Terminated(f.terminationLog, err, log)
		}
		return err
	}
	return cmd
}

// settle settles what follows from other flags, and refuses what contradicts them.
func (f *opmServeFlags) settle(given func(flag string) bool) error {
	if !given("cache-enforce-integrity") {
		f.enforce = f.cacheDir != "" && !f.cacheOnly
	}
	if f.profileStart && !given("pprof-addr") {
		f.pprof = profileAddress
	}
	if f.enforce && f.cacheDir == "" {
		return command.UsageError{Err: errors.New("--cache-dir must be specified with --cache-enforce-integrity")}
	}
	return nil
}

// serve serves until ctx ends.
func (f *opmServeFlags) serve(ctx context.Context, stderr io.Writer, log *slog.Logger, access *accessFlags, source string) error {
	origins, err := catalogserver.Open(catalogserver.Options{CacheDir: f.cacheDir, Enforce: f.enforce, Images: access.config()})
	if err != nil {
		return err
	}
	defer closeNoting(stderr, origins)
	served, err := origins.Catalog("catalog", source)
	if err != nil {
		return err
	}
	catalogs := []catalogserver.Catalog{served}
	if f.cacheOnly {
		return catalogserver.Check(ctx, catalogs, log)
	}
	return catalogserver.Run(ctx, catalogserver.Config{
		GRPC: ":" + f.port, Pprof: f.pprof, StartupProfile: f.profileStart, Catalogs: catalogs, Log: log,
	})
}
