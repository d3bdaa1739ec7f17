package authoring

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newCatalogMigrateCommand(s command.Streams) *cobra.Command {
	var to catalogDestination
	cmd := &cobra.Command{
		Use:   "migrate REF DIRECTORY",
		Short: "Write a catalog as a directory for each package, brought up to date if you like",
		Long: `Write a catalog to <DIRECTORY>/<package>/catalog.<json|yaml>, so that each directory is a catalog of its own that can be
maintained by itself. What belongs to no package is written to <DIRECTORY>/catalog.<json|yaml>. DIRECTORY must be empty or missing;
it never looks like a catalog before all of it is written.

--migrate-level bundle-object-to-csv-metadata puts the metadata that clusters need in the place of the manifests of each bundle
that has an image. The catalog becomes many times smaller; who installs a bundle reads its manifests from the image, as usual.

Exit code 0: written. 1: something cannot be read or written. 2: wrong usage.`,
		Example: `  fairlead catalog migrate quay.io/org/catalog:latest ./catalog
  fairlead catalog migrate ./old ./new -o yaml --migrate-level bundle-object-to-csv-metadata`,
		Args: command.Usage(cobra.ExactArgs(2)),
	}
	to.catalogForm.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := to.check(); err != nil {
			return err
		}
		to.directory = args[1]
		c, err := renderedCatalog(cmd.Context(), s, &bundleio.Renderer{Allowed: bundleio.Catalogs, Migrations: to.migrations()}, args[0])
		if err != nil {
			return err
		}
		return to.write(cmd.Context(), s, c)
	}
	return cmd
}

// ruleCSVName is broken by a bundle that has another name in the catalog than its ClusterServiceVersion: v0 goes by both.
const ruleCSVName catalog.Rule = "csv-name"

// renamed reports the bundles whose ClusterServiceVersion has another name: those whose manifests the catalog holds, and those of names, which has the names
// in images that were read.
func renamed(c *catalog.Catalog, pkg string, names map[string]string) []graph.Finding {
	var findings []graph.Finding
	for i := range c.Bundles {
		b := &c.Bundles[i]
		if pkg != "" && b.Package != pkg {
			continue
		}
		found := names[b.Image]
		for _, p := range b.Payloads {
			if found == "" {
				found = p.CSVName()
			}
		}
		if found == "" || found == b.Name {
			continue
		}
		findings = append(findings, graph.Finding{Semantics: []graph.Semantics{graph.V0}, Problem: catalog.Problem{
			Severity: catalog.Error, Rule: ruleCSVName, Position: b.Position,
			Object:  catalog.Object{Schema: catalog.SchemaBundle, Package: b.Package, Name: b.Name},
			Message: fmt.Sprintf("its ClusterServiceVersion is named %q; v0 does not install it, v1 installs it under the name in the catalog", found),
			Fix:     "give both the same name",
		}})
	}
	return findings
}

// readBundles reads the images of the bundles of a catalog, or of one package of it: names has the name of the ClusterServiceVersion in each, unread those that
// cannot be read.
func readBundles(ctx context.Context, s command.Streams, c *catalog.Catalog, pkg string) (unread []bundleio.Verdict, names map[string]string, err error) {
	r := &bundleio.Renderer{}
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	printer := command.Progress(s.Err)
	defer printer.Clear()
	verdicts, names, err := r.CheckBundles(ctx, onlyPackage(c, pkg), func(done, all int) { printer.Doing("%d of %d bundles read", done, all) })
	return failedVerdicts(verdicts), names, err
}
