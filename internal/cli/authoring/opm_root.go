package authoring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/scaffold"
	"fairlead.dev/fairlead/catalog/template"
	"fairlead.dev/fairlead/internal/cli/command"
)

// CalledOpm tells whether a program was started under the name opm.
func CalledOpm(argument0 string) bool {
	name := strings.ToLower(filepath.Base(argument0))
	return strings.TrimSuffix(name, ".exe") == "opm"
}

// RunOpm runs a command line of opm and returns the exit code: 0, or 1 for any error.
func RunOpm(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(command.Streams{In: stdin, Out: stdout, Err: stderr})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return command.ExitOK
	case command.Silent(err):
	case command.Code(err) == command.ExitUsage:
		fmt.Fprintf(stderr, "Error: %v\n%s", err, cmd.UsageString())
	default:
		fmt.Fprintf(stderr, "opm: %v\n", err)
	}
	return command.ExitFailed
}

// NewOpm is the tree of commands of opm, for what describes them.
func NewOpm() *cobra.Command {
	return newRoot(command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
}

func newRoot(s command.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "opm",
		Short:         "operator package manager",
		Long:          "CLI to write, check and serve catalogs of operators, by Fairlead.\n\n'fairlead catalog' and 'fairlead bundle' do the same and more.",
		Args:          command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
	root.Flags().Bool("debug", false, "accepted and ignored: errors say all there is")
	hideFlag(root.Flags(), "debug")
	access := &accessFlags{}
	flags := root.PersistentFlags()
	flags.BoolVar(&access.skipTLS, "skip-tls", false, "reach registries over plain HTTP (deprecated: use --use-http and --skip-tls-verify)")
	flags.BoolVar(&access.skipTLSVerify, "skip-tls-verify", false, "accept certificates of registries without verifying who signed them")
	flags.BoolVar(&access.useHTTP, "use-http", false, "reach registries over plain HTTP")
	hideFlag(flags, "skip-tls")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { // Refuse flags that contradict each other.
		switch {
		case access.skipTLS && access.useHTTP:
			return command.UsageError{Err: errors.New("invalid flag combination: cannot use --use-http with --skip-tls")}
		case access.skipTLS && access.skipTLSVerify:
			return command.UsageError{Err: errors.New("invalid flag combination: cannot use --skip-tls-verify with --skip-tls")}
		case access.useHTTP && access.skipTLSVerify:
			return command.UsageError{Err: errors.New("invalid flag combination: --use-http and --skip-tls-verify cannot both be true")}
		}
		return nil
	}
	root.AddCommand(opmCommands(s, access)...)
	for _, name := range slices.Sorted(maps.Keys(goneCommands)) {
		root.AddCommand(goneCommand(name, "opm", goneCommands[name]))
	}
	return root
}

func opmCommands(s command.Streams, access *accessFlags) []*cobra.Command {
	alpha := command.Group("alpha", "Commands that may change",
		command.Group("bundle", "Generate, build, validate and unpack operator bundles",
			newOpmBundleBuildCommand(s),
			newOpmBundleExtractCommand(s),
			newOpmBundleGenerateCommand(s),
			newOpmBundleUnpackCommand(s, access),
			newOpmBundleValidateCommand(s, access)),
		newOpmListCommand(s, access),
		newOpmRenderGraphCommand(s, access),
		newOpmRenderTemplateCommand(s, access),
		command.Group("convert-template", "Make a template out of a catalog",
			newOpmConvertCommand(s, template.Basic), newOpmConvertCommand(s, template.Substitutes)),
	)
	alpha.Hidden = !showOpmAlpha()
	for _, name := range slices.Sorted(maps.Keys(goneAlpha)) {
		alpha.AddCommand(goneCommand(name, "opm alpha", goneAlpha[name]))
	}
	return []*cobra.Command{
		alpha,
		command.Group("generate", "Write files for catalogs", newOpmGenerateDockerfileCommand()),
		newOpmInitCommand(s),
		newOpmMigrateCommand(s, access),
		newOpmRenderCommand(s, access),
		newOpmServeCommand(s, access),
		newOpmValidateCommand(s),
		newOpmVersionCommand(s),
	}
}

// showOpmAlpha tells whether help shows commands and flags that may change.
func showOpmAlpha() bool { return os.Getenv("HELP_ALPHA") == "true" }

func newOpmInitCommand(s command.Streams) *cobra.Command {
	var channel, icon, description string
	var output formatFlag
	cmd := &cobra.Command{
		Use:     "init <packageName>",
		Example: `  opm init etcd --default-channel stable -o yaml > catalog/etcd.yaml`,
		Short:   "Write the olm.package object that a package begins with",
		Args:    command.Usage(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVarP(&channel, "default-channel", "c", "", "channel that is followed unless another one is asked for")
	cmd.Flags().StringVarP(&icon, "icon", "i", "", "file with a picture")
	cmd.Flags().StringVarP(&description, "description", "d", "", "file with a description")
	output.add(cmd.Flags())
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		format, err := output.format()
		if err != nil {
			return err
		}
		p, err := scaffold.PackageFromFiles(args[0], channel, description, icon)
		if err != nil {
			return err
		}
		return catalog.Write(s.Out, &catalog.Catalog{Packages: []catalog.Package{p}}, format)
	}
	return cmd
}

func newOpmVersionCommand(s command.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Example: `  opm version`,
		Short:   "Print the version",
		Args:    command.Usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			// What the running binary was built from, in the form that scripts pick apart.
			commit, date := "unknown", "unknown"
			if build, ok := debug.ReadBuildInfo(); ok {
				for _, setting := range build.Settings {
					switch setting.Key {
					case "vcs.revision":
						commit = setting.Value
					case "vcs.time":
						date = setting.Value
					}
				}
			}
			_, err := fmt.Fprintf(s.Out, "Version: version.Version{OpmVersion:%q, GitCommit:%q, BuildDate:%q, GoOs:%q, GoArch:%q}\n",
				command.Version(), commit, date, runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// goneCommands are commands that pipelines may still call and that no opm has any more, with what took their place.
var goneCommands = map[string]string{
	"index": "catalogs are no longer kept in databases; write a file-based catalog: 'opm migrate' or 'opm render' reads the old catalog's " +
		"file-based form, and 'fairlead catalog prune' and 'fairlead catalog merge' do what 'index prune' and 'index add' did",
	"registry": "catalogs are no longer kept in databases; serve a file-based catalog with 'opm serve', and write it with 'opm render'",
}

// goneAlpha are those below alpha.
var goneAlpha = map[string]string{
	"diff":           "use 'fairlead catalog diff'",
	"channelgraph":   "use 'opm alpha render-graph' or 'fairlead catalog graph'",
	"render-veneer":  "veneers are called templates: use 'opm alpha render-template'",
	"convert-veneer": "veneers are called templates: use 'opm alpha convert-template'",
	"generate":       "it is no longer alpha: use 'opm generate dockerfile'",
}

// goneCommand fails with what took its place, whatever its arguments.
func goneCommand(name, parent, instead string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              "Gone: " + instead,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("%s %s is no longer part of it: %s", parent, name, instead)
		},
	}
}
