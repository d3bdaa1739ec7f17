package authoring

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// judgement is the result of check for programs.
type judgement struct {
	Passed    bool            `json:"passed"`
	Findings  []graph.Finding `json:"findings"`
	Installed []graph.Outcome `json:"installed,omitempty"`
	// Images are those that the catalog names and that cannot be pulled, or read as bundles.
	Images []bundleio.Verdict `json:"images,omitempty"`
}

type checkFlags struct {
	format      command.Output
	pkg         string
	fleet       fleet
	all, strict bool
	images      bool
	bundles     bool
}

func newCatalogCheckCommand(s command.Streams) *cobra.Command {
	var flags checkFlags
	cmd := &cobra.Command{
		Use:   "check REF",
		Short: "Judge the upgrade graphs of a catalog: does everybody get to the newest version?",
		Long: `Judge the upgrade graphs of a catalog under both semantics: v0, by which Subscriptions are resolved, and v1, by which
ClusterExtensions are. Each finding names the file and line of the channel or package, the rule, for which semantics it holds,
and what to do. Errors leave users without a way to the newest version; warnings are probably not meant; --all lists what is
legal, but worth knowing, too. Whether the objects of the catalog are sound otherwise is for "catalog validate": a cluster does not serve a
package that breaks its rules.

With --installed the versions that run in clusters are followed through the catalog, before it is published: each of them that
does not come to the head of its channel is an error, with the reason and the edge that is missing.

Needs of bundles that are accepted and probably not meant are warned of: a bundle that requires itself, a constraint of two kinds. So are those that nothing
in the catalog meets: a package, a range of versions or an API that is not there.
Images that are named without a digest are warned of, too: a signature on the catalog does not cover them.

A bundle whose ClusterServiceVersion has another name than the catalog gives it is an error under v0; v1 installs it under the name in the catalog. The name is
known of bundles whose manifests the catalog holds; with --bundles the images of the others are read for it.

With --images the registries are asked, with the user's credentials, whether the images of bundles and those that bundles need exist.

Exit code 0: no errors. 3: there are errors, or with --strict warnings. 1: the catalog cannot be read. 2: wrong usage.`,
		Example: `  # all that is wrong in a catalog
  fairlead catalog check ./catalog

  # will those who run these versions get to the newest one?
  fairlead catalog check ./catalog --installed etcd=0.9.2 --installed prometheus/beta=0.37.0

  # a whole fleet: one package=version or package/channel=version in each line
  fairlead catalog check ./catalog --installed-from fleet.txt`,
		Args: command.Usage(cobra.ExactArgs(1)),
	}
	flags.format.Flag(cmd)
	cmd.Flags().StringVarP(&flags.pkg, "package", "p", "", "check only this package")
	flags.fleet.flags(cmd, "an installed version to follow")
	cmd.Flags().BoolVar(&flags.all, "all", false, "list what is legal, but worth knowing, too")
	cmd.Flags().BoolVar(&flags.strict, "strict", false, "fail for warnings, too")
	cmd.Flags().BoolVar(&flags.images, "images", false, "ask the registries whether all images exist that the catalog names; those that cannot be had are errors")
	cmd.Flags().BoolVar(&flags.bundles, "bundles", false, "read the images of bundles and compare the names of their ClusterServiceVersions with the catalog; those that cannot be read are errors")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return flags.run(cmd, s, args[0]) }
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, s command.Streams, ref string) error {
	if err := f.format.Check(); err != nil {
		return err
	}
	installed, err := f.fleet.read(s)
	if err != nil {
		return err
	}
	c, whole, err := loadReadable(cmd.Context(), s, ref)
	if err != nil {
		return err
	}
	if len(graph.Packages(c)) == 0 && whole {
		return noChannels("check", ref)
	}
	if f.pkg != "" && !slices.Contains(graph.Packages(c), f.pkg) {
		return fmt.Errorf("check catalog %s: it has no package %q with channels", ref, f.pkg)
	}
	unread, names, err := f.read(cmd, s, c)
	if err != nil {
		return err
	}
	findings := graph.Check(c, graph.Options{Package: f.pkg, Installed: installed})
	for _, p := range constraint.Review(c) { // needs of bundles that cannot be read or are probably not meant; both semantics take them alike
		if f.pkg == "" || p.Object.Package == f.pkg {
			findings = append(findings, graph.Finding{Problem: p, Semantics: []graph.Semantics{graph.V0, graph.V1}})
		}
	}
	index, err := catalog.NewIndex(c, ref)
	if err != nil {
		return fmt.Errorf("check catalog %s: %w", ref, err)
	}
	for _, p := range constraint.Unmet(c, index) {
		if f.pkg == "" || p.Object.Package == f.pkg {
			findings = append(findings, graph.Finding{Problem: p, Semantics: []graph.Semantics{graph.V0, graph.V1}})
		}
	}
	findings = append(findings, unpinned(c, f.pkg)...)
	findings = append(findings, renamed(c, f.pkg, names)...)
	result := judgement{Passed: whole && len(unread) == 0, Findings: []graph.Finding{}, Images: unread}
	if len(installed) > 0 {
		result.Installed = graph.Simulate(c, installed)
	}
	for _, finding := range findings {
		if finding.Severity == catalog.Error || f.strict && finding.Severity == catalog.Warning {
			result.Passed = false
		}
		if f.all || finding.Severity != graph.Info {
			result.Findings = append(result.Findings, finding)
		}
	}
	hidden := len(findings) - len(result.Findings)
	if err := f.format.Write(s.Out, result, func(w io.Writer) error { return printJudgement(w, ref, result, hidden) }); err != nil {
		return err
	}
	if !result.Passed {
		return command.ExitError{Code: command.ExitNo}
	}
	return nil
}

// read gets what the flags ask registries for: verdicts on images that do not exist or are no bundles, and the names of ClusterServiceVersions by image.
func (f *checkFlags) read(cmd *cobra.Command, s command.Streams, c *catalog.Catalog) (bad []bundleio.Verdict, names map[string]string, err error) {
	if f.bundles {
		if bad, names, err = readBundles(cmd.Context(), s, c, f.pkg); err != nil {
			return nil, nil, err
		}
	}
	if f.images {
		missing, err := missingImages(cmd.Context(), s, c, f.pkg)
		if err != nil {
			return nil, nil, err
		}
		for _, v := range missing {
			if !slices.ContainsFunc(bad, func(known bundleio.Verdict) bool { return known.Image == v.Image }) {
				bad = append(bad, v)
			}
		}
	}
	return bad, names, nil
}

func printJudgement(w io.Writer, ref string, j judgement, hidden int) error {
	counts := map[catalog.Severity]int{}
	for _, finding := range j.Findings {
		counts[finding.Severity]++
		if _, err := fmt.Fprintln(w, finding); err != nil {
			return err
		}
	}
	for _, verdict := range j.Images {
		if _, err := fmt.Fprintln(w, "error: "+verdict.String()); err != nil {
			return err
		}
	}
	counts[catalog.Error] += len(j.Images)
	text := fmt.Sprintf("%s: %s, %s", ref, safetext.Count(counts[catalog.Error], "error"), safetext.Count(counts[catalog.Warning], "warning"))
	if n := len(j.Installed); n > 0 {
		there := 0
		for _, o := range j.Installed {
			if o.Journey != nil && o.Journey.V0.Reached && o.Journey.V1.Reached {
				there++
			}
		}
		text += fmt.Sprintf("; %d of %d installed versions come to the newest one", there, n)
	}
	if hidden > 0 {
		text += fmt.Sprintf("; --all lists %d more that are legal, but worth knowing", hidden)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
