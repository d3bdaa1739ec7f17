package authoring

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/catalog/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newCatalogAddBundleCommand(s command.Streams) *cobra.Command {
	var channels, skips []string
	var replaces, skipRange string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "add-bundle IMAGE [CATALOG]",
		Short: "Put a version into a catalog: its bundle, and an entry in channels",
		Long: `Put a version into a catalog. The bundle of an image gets a file of its own beside its package, and each channel that is named an
entry that replaces its head, where it stands; everything else stays as it is, comments included. A package or a channel that is not there is made. A version that the catalog has
already, with that image, comes into the channels that are named.

CATALOG is the directory of the catalog, by default the current one. Nothing is written when the catalog would break rules that it keeps now, or when a channel
has no single head: say then with --replaces what the version upgrades from.`,
		Example: `  fairlead catalog add-bundle registry.example.com/etcd-bundle:v3.6.1 ./catalog --channel stable
  fairlead catalog add-bundle registry.example.com/etcd-bundle@sha256:0f1e... ./catalog --channel stable,fast --skip-range '>=3.5.0 <3.6.1'`,
		Args: command.Usage(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(channels) == 0 {
				return command.UsageError{Err: errors.New("name a channel: --channel stable")}
			}
			dir := "."
			if len(args) > 1 {
				dir = args[1]
			}
			b, err := oneBundle(cmd, s, args[0])
			if err != nil {
				return err
			}
			c, err := catalog.Load(cmd.Context(), os.DirFS(dir), catalog.LoadOptions{})
			if err != nil && isBundle(dir) {
				err = errors.New("it is a bundle: name the directory of a catalog, which may be empty, after the image")
			}
			if err != nil {
				return fmt.Errorf("read catalog %s: %w", dir, err)
			}
			a := scaffold.Addition{Bundle: *b, Channels: channels, Skips: skips, SkipRange: skipRange}
			if cmd.Flags().Changed("replaces") {
				a.Replaces = &replaces
			}
			files, err := scaffold.AddBundle(c, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))) }, a)
			if err != nil {
				return err
			}
			return writeAdded(s, dir, files, dryRun)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&channels, "channel", nil, "channels to put it into (required)")
	flags.StringVar(&replaces, "replaces", "", "version that it upgrades from, '' for none (default: the head of the channel)")
	flags.StringSliceVar(&skips, "skips", nil, "versions that it upgrades from as well, and that are not to be installed any more")
	flags.StringVar(&skipRange, "skip-range", "", "range of versions that it upgrades from as well")
	flags.BoolVar(&dryRun, "dry-run", false, "say what would be written, and write nothing")
	return cmd
}

// oneBundle reads a bundle.
func oneBundle(cmd *cobra.Command, s command.Streams, ref string) (*catalog.Bundle, error) {
	c, err := renderedCatalog(cmd.Context(), s, &bundleio.Renderer{Migrations: catalog.MigrateAll}, ref) // the metadata that clusters need, in the place of all manifests
	if err != nil {
		return nil, fmt.Errorf("read bundle %s: %w", ref, err)
	}
	if len(c.Bundles) != 1 || len(c.Packages) > 0 || len(c.Channels) > 0 {
		return nil, fmt.Errorf("read bundle %s: it holds a catalog, with %s; name the image of one bundle, or merge the catalogs", ref, safetext.Count(len(c.Packages), "package"))
	}
	return &c.Bundles[0], nil
}

// writeAdded writes files, each in one step, those that are new first: an entry without its bundle breaks a catalog, a bundle without its entry does not.
func writeAdded(s command.Streams, dir string, files []scaffold.File, dryRun bool) error {
	for _, pass := range []bool{true, false} {
		for _, f := range files {
			if f.New != pass {
				continue
			}
			name := filepath.Join(dir, filepath.FromSlash(f.Name))
			verb := "changed"
			if f.New {
				verb = "created"
			}
			if dryRun {
				fmt.Fprintf(s.Out, "would be %s: %s\n", verb, name)
				continue
			}
			if err := writeWhole(name, f.Content, f.New); err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
			fmt.Fprintf(s.Out, "%s %s\n", verb, name)
		}
	}
	return nil
}

// writeWhole writes a file that is there whole or not at all. One that is new must not be there.
func writeWhole(name string, content []byte, isNew bool) error {
	if _, err := os.Lstat(name); err == nil && isNew {
		return os.ErrExist
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	partial, err := os.CreateTemp(filepath.Dir(name), ".partial-*")
	if err != nil {
		return err
	}
	_, err = partial.Write(content)
	err = errors.Join(err, partial.Chmod(0o644), partial.Close())
	if err == nil {
		err = os.Rename(partial.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(partial.Name()))
	}
	return nil
}
