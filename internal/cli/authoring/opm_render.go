package authoring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newOpmRenderCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "render [catalog-image | catalog-directory | bundle-image | bundle-directory]...",
		Example: `  opm render registry.example.com/etcd-bundle:v0.9.4 -o yaml >> catalog/etcd.yaml`,
		Short:   "Write what references hold as a file-based catalog",
		Long:    "Write what catalogs and bundles hold, images or directories, as one file-based catalog on standard output.",
		Args:    command.Usage(cobra.MinimumNArgs(1)),
	}
	var output formatFlag
	var level migrationFlag
	output.add(cmd.Flags())
	level.add(cmd.Flags())
	all := cmd.Flags().Bool("migrate", false, "bring the catalog up to the highest level")
	cmd.MarkFlagsMutuallyExclusive("migrate", "migrate-level")
	imageRef := cmd.Flags().String("alpha-image-ref-template", "", "(ALPHA: may change) image of the bundles of bundle directories: a template with {{.Package}}, {{.Name}} and {{.Version}}")
	if !showOpmAlpha() {
		hideFlag(cmd.Flags(), "alpha-image-ref-template")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		format, err := output.format()
		if err != nil {
			return err
		}
		r := access.renderer(s.Err, bundleio.Any)
		defer closeNoting(s.Err, r)
		if r.Migrations, err = level.level(); err != nil {
			return err
		}
		if *all {
			r.Migrations = catalog.MigrateAll
		}
		if *imageRef != "" {
			if r.ImageRef, err = bundleio.ParseImageRef(*imageRef); err != nil {
				return command.UsageError{Err: fmt.Errorf("invalid --alpha-image-ref-template: %w", err)}
			}
		}
		c, err := r.Render(cmd.Context(), args...)
		if err != nil {
			return err
		}
		return catalog.Write(s.Out, c, format)
	}
	return cmd
}

func newOpmMigrateCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "migrate <catalogRef> <outputDir>",
		Example: `  opm migrate registry.example.com/catalog:v1 ./catalog`,
		Short:   "Write a catalog as a directory of packages",
		Long:    "Write a catalog, image or directory, to an empty or missing directory, with one directory a package.",
		Args:    command.Usage(cobra.ExactArgs(2)),
	}
	var output formatFlag
	var level migrationFlag
	output.add(cmd.Flags())
	level.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		format, err := output.format()
		if err != nil {
			return err
		}
		r := access.renderer(s.Err, bundleio.Catalogs)
		defer closeNoting(s.Err, r)
		if r.Migrations, err = level.level(); err != nil {
			return err
		}
		c, err := r.Render(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return catalog.WriteDirectory(cmd.Context(), args[1], c, format)
	}
	return cmd
}

// formatFlag is the format of a catalog that is written.
type formatFlag string

func (f *formatFlag) add(flags *pflag.FlagSet) {
	flags.StringVarP((*string)(f), "output", "o", string(catalog.JSON), "format of what is written: json or yaml")
}

// format is the format that is meant.
func (f formatFlag) format() (catalog.Format, error) {
	switch format := catalog.Format(f); format {
	case catalog.JSON, catalog.YAML:
		return format, nil
	}
	return "", command.UsageError{Err: fmt.Errorf("invalid --output value %q, expected (json|yaml)", string(f))}
}

// migrationFlag is the level that a catalog is brought up to.
type migrationFlag string

func (f *migrationFlag) add(flags *pflag.FlagSet) {
	flags.StringVar((*string)(f), "migrate-level", "", "bring the catalog up to a level: "+migrationLevels())
}

// level is the level that is meant; the lowest when none is named. One that does not exist is refused before anything is read.
func (f migrationFlag) level() (catalog.MigrationLevel, error) {
	if f == "" {
		return catalog.MigrateNone, nil
	}
	level := catalog.MigrationLevel(f)
	if !slices.Contains(catalog.MigrationLevels(), level) {
		return "", command.UsageError{Err: fmt.Errorf("unknown migration level %q; choose one of %s", string(f), migrationLevels())}
	}
	return level, nil
}

// migrationLevels names the levels.
func migrationLevels() string {
	var names []string
	for _, level := range catalog.MigrationLevels() {
		names = append(names, string(level))
	}
	return strings.Join(names, ", ")
}
