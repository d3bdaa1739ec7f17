package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/catalogtest"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/kubeconfig"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const catalogTestHelp = `Walk the upgrade graph of packages on a cluster, under both APIs, and say of every edge what is wrong with it: install a version, create the custom
resources of its annotation alm-examples, upgrade, compare, uninstall. Every edge is taken at least once, in as few walks as there can be.
No PACKAGE is all packages of the catalog.

After an upgrade the operator has to run; its custom resources have to be there, to be read in every version that is served, and to have what they had; what
only the version before brought has to be gone; and under v1 the way back has to be open. After the removal nothing is left. What needs no cluster is found
too: stored versions that are dropped, schemas that are narrowed, needs that nothing meets, channels without one head, selectors that change, webhooks without a certificate,
permissions that a patch release adds. Each finding says what its author does about it.

The cluster is an embedded one, which is started and stopped: its pods are simulated, so that operators become ready and run no code; their webhooks are answered for.
With --real-node their pods run on this machine: it needs what 'fairlead cluster start --real-node' needs. With --kubeconfig or --context it is a cluster on which
a manager runs; --registry says where that gets the catalog of the test from.

The bundles are read from the images that the catalog names, or from --bundles DIR, laid out as DIR/<package>/<version>/{manifests,metadata}: what a catalog has
and the directory does not is skipped.

Exit code 0: nothing is wrong. 3: there are findings. 1: the test could not be made. 2: wrong usage. What may be meant, such as a permission
that a patch release adds, is reported and does not count.`

// catalogTest is `fairlead catalog test`: what its flags say.
type catalogTest struct {
	command.Streams
	cluster  kubeconfig.Flags
	catalog  string
	bundles  string
	api      string
	format   string
	files    []string
	registry string
	images   bool
	other    bool // another cluster than an embedded one
	host     devcluster.Options
	options  catalogtest.Options
}

func newCatalogTestCommand(s command.Streams) *cobra.Command {
	t := catalogTest{Streams: s}
	cmd := &cobra.Command{
		Use:   "test [PACKAGE...]",
		Short: "Try every upgrade of packages on a cluster, and say what is wrong with it",
		Long:  catalogTestHelp,
		Example: `  fairlead catalog test --catalog ./catalog --bundles ./bundles
  fairlead catalog test my-operator --catalog quay.io/example/catalog:v1 --api v1 --report junit.xml --report findings.sarif
  sudo fairlead catalog test my-operator --catalog ./catalog --real-node`,
		RunE: func(cmd *cobra.Command, args []string) error {
			t.options.Packages = args
			t.other = cmd.Flags().Changed("kubeconfig") || cmd.Flags().Changed("context")
			if err := t.check(); err != nil {
				return command.UsageError{Err: err}
			}
			return t.run(cmd.Context())
		},
	}
	t.cluster.AddCluster(cmd.Flags())
	cmd.Flags().Lookup("kubeconfig").Usage = "kubeconfig of a cluster with a manager (default: an embedded cluster)"
	flags := cmd.Flags()
	flags.StringVar(&t.catalog, "catalog", "", "catalog to test: a directory, a file or an image")
	flags.StringVar(&t.bundles, "bundles", "", "directory of bundles to take in the place of their images")
	flags.StringVar(&t.api, "api", "", "API to install with: v0 or v1 (default: both)")
	flags.StringVarP(&t.format, "output", "o", catalogtest.Text, "how to print the result: "+strings.Join(catalogtest.Formats(), ", "))
	flags.StringArrayVar(&t.files, "report", nil, "also write the result to a file, in the format that its name says: .xml (JUnit), .sarif, .json, .md or .txt (may be repeated)")
	flags.IntVar(&t.options.Parallel, "parallel", 4, "how many packages are tested at a time; those that have to do with each other never are")
	flags.BoolVar(&t.images, "check-images", false, "ask the registries whether the images exist that bundles name")
	flags.BoolVar(&t.host.RealNode, "real-node", false, "run the pods on this machine; Linux, as root, with containerd")
	flags.StringVar(&t.host.Name, "name", "catalog-test", "name of the embedded cluster")
	flags.StringVar(&t.host.DataDir, "data-dir", "", "directory of the embedded cluster (default: one in the user's cache directory)")
	flags.StringVar(&t.registry, "registry", "", "with --kubeconfig or --context: where to push what is installed, HOST[:PORT][/PATH]; the cluster pulls from there")
	flags.DurationVar(&t.options.Timeout, "timeout", 2*time.Minute, "how long to wait for a version to be installed")
	return cmd
}

// check refuses flags that contradict each other.
func (t *catalogTest) check() error {
	if t.catalog == "" {
		return errors.New("name the catalog to test: --catalog DIR|FILE|IMAGE")
	}
	if t.api != "" && t.api != apiV0 && t.api != apiV1 {
		return fmt.Errorf("--api %q: choose %s or %s, or leave it out for both", t.api, apiV0, apiV1)
	}
	if !slices.Contains(catalogtest.Formats(), t.format) {
		return fmt.Errorf("output format %q: choose one of %s", t.format, strings.Join(catalogtest.Formats(), ", "))
	}
	for _, file := range t.files {
		if _, err := catalogtest.FormatOf(file); err != nil {
			return err
		}
	}
	switch {
	case t.options.Parallel < 1:
		return fmt.Errorf("--parallel %d: at least one package is tested at a time", t.options.Parallel)
	case t.other && t.host.RealNode:
		return errors.New("--real-node starts a cluster: it excludes --kubeconfig and --context")
	case t.other && t.registry == "":
		return errors.New("--kubeconfig and --context need --registry HOST[:PORT][/PATH]: the cluster pulls what the test installs from there")
	case !t.other && t.registry != "":
		return errors.New("--registry is for --kubeconfig or --context: an embedded cluster has a registry")
	}
	return nil
}

func (t *catalogTest) run(ctx context.Context) (err error) {
	// What goes wrong is in the status of objects, and shown from there.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	printer := command.Output(t.format).Progress(t.Streams)
	r := &bundleio.Renderer{Allowed: bundleio.Catalogs}
	done := command.Attach(r, t.Streams)
	defer func() { err = errors.Join(err, done()) }()
	if err := t.read(ctx, r); err != nil {
		return err
	}
	var host *catalogtest.Host
	t.options.Reach = func(ctx context.Context) (catalogtest.Cluster, error) {
		if t.other {
			config, err := t.cluster.Config()
			return catalogtest.Cluster{Config: config, Registry: t.registry}, err
		}
		printer.Doing("starting a Kubernetes control plane")
		var err error
		if host, err = catalogtest.Start(ctx, t.host); err != nil {
			printer.Clear()
			return catalogtest.Cluster{}, err
		}
		printer.Done("a Kubernetes control plane and a manager run")
		return host.Cluster, nil
	}
	defer func() {
		if host != nil {
			err = errors.Join(err, host.Stop())
		}
	}()
	t.options.Seen = func(result catalogtest.Result) { showResult(printer, result) }
	report, err := catalogtest.Run(ctx, t.options)
	if err != nil {
		return err
	}
	return t.write(report)
}

// read reads the catalog. One of which a part cannot be read is tested without it.
func (t *catalogTest) read(ctx context.Context, r *bundleio.Renderer) error {
	c, err := r.Render(ctx, t.catalog)
	var invalid *catalog.InvalidError
	switch {
	case errors.As(err, &invalid) && c != nil:
		fmt.Fprintf(t.Err, "%v\nthe rest of the catalog is tested without it\n", err)
	case err != nil:
		return err
	}
	t.options.Catalog, t.options.Name, t.options.Renderer = c, t.catalog, r
	if info, err := os.Stat(t.catalog); err == nil && info.IsDir() {
		t.options.Root = t.catalog
	}
	if t.bundles != "" {
		t.options.Bundles = os.DirFS(t.bundles)
	}
	if t.api != "" {
		t.options.APIs = []catalogtest.API{catalogtest.API(t.api)}
	}
	if t.images {
		store, err := r.OpenStore(ctx)
		if err != nil {
			return err
		}
		t.options.Images = &catalogtest.ImageChecker{Store: store}
	}
	return nil
}

// showResult prints an edge as soon as it was seen.
func showResult(printer *command.ProgressPrinter, r catalogtest.Result) {
	what := fmt.Sprintf("%s %s %s", r.API, safetext.OneLine(r.Edge.Package), r.Edge)
	switch {
	case len(r.Findings) > 0:
		printer.Problem("%s %.2fs: %s", what, r.Took.Seconds(), safetext.Count(len(r.Findings), "finding"))
	case r.Skipped != "":
		printer.Note("%s was not tried: %s", what, safetext.OneLine(r.Skipped))
	default:
		printer.Done("%s %.2fs", what, r.Took.Seconds())
	}
}

// write writes the reports, and says by its error whether there are findings that count.
func (t *catalogTest) write(report *catalogtest.Report) error {
	for _, file := range t.files {
		if err := report.Save(file); err != nil {
			return err
		}
	}
	if t.format == catalogtest.Text {
		fmt.Fprintln(t.Out)
	}
	if err := report.Write(t.Out, t.format); err != nil {
		return err
	}
	if report.Failed() {
		return command.ExitError{Code: command.ExitNo}
	}
	return nil
}
