package catalogtest

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// hostData is the directory of the cluster that the tests share.
var hostData string

// shared is the cluster of the tests, with a manager.
var shared = sync.OnceValues(func() (*Host, error) {
	program, err := devcluster.Program()
	if err == nil {
		hostData, err = os.MkdirTemp("", "fairlead-catalogtest-")
	}
	if err != nil {
		return nil, err
	}
	return Start(ctrl.SetupSignalHandler(), devcluster.Options{Name: "catalogtest", DataDir: hostData, Executable: program})
})

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if hostData != "" {
		if host, err := shared(); err == nil {
			if err := host.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		_ = os.RemoveAll(hostData)
	}
	os.Exit(code)
}

// tested runs the test on the shared cluster.
func tested(t *testing.T, o Options) *Report {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	o.Cluster = must.Value(shared())(t).Cluster
	o.Seen = func(r Result) {
		t.Logf("%s %s %s %.2fs %s", r.API, r.Edge.Package, r.Edge, r.Took.Seconds(), r.Skipped)
		for _, f := range r.Findings {
			t.Logf("    %s: %s", f.Rule, f)
		}
	}
	report := must.Value(Run(t.Context(), o))(t)
	if tried := tries(report); tried > 0 {
		t.Logf("%d edges in %.1fs: %.2fs an edge", tried, report.Took.Seconds(), report.Took.Seconds()/float64(tried))
	}
	return report
}

// tries is how many edges were tried.
func tries(r *Report) (n int) {
	for _, result := range r.Results {
		if result.Skipped == "" && result.Edge.To != "" {
			n++
		}
	}
	return n
}

// rules are the rules that are broken, each once.
func rules(r *Report, api API) []string {
	var all []string
	for _, result := range r.Results {
		for _, f := range result.Findings {
			if result.API == api {
				all = append(all, string(f.Rule))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSamplesAreUpgraded walks the sample operators, of which one needs the other: every upgrade of both is taken, and nothing is wrong.
func TestSamplesAreUpgraded(t *testing.T) {
	c := must.Value(catalog.Load(t.Context(), must.Value(fs.Sub(examples.Catalogs, "catalog"))(t), catalog.LoadOptions{}))(t)
	report := tested(t, Options{Catalog: c, Name: "examples", Bundles: must.Value(fs.Sub(examples.Bundles, "bundles"))(t)})
	taken := map[string]bool{}
	for _, r := range report.Results {
		if len(r.Findings) > 0 || r.Skipped != "" {
			t.Errorf("%s %s: %s %v", r.API, r.Edge, r.Skipped, r.Findings)
		}
		taken[string(r.API)+" "+r.Edge.String()] = true
	}
	for _, pkg := range []string{"greeter-operator", "guestbook-operator"} {
		for _, edge := range []string{
			"v0 1.0.0 1.1.0", "v0 1.0.1 1.1.0", "v0 1.1.0 1.2.0",
			"v1 1.0.0 1.0.1", "v1 1.0.0 1.1.0", "v1 1.0.1 1.1.0", "v1 1.1.0 1.2.0",
		} {
			part := strings.Fields(edge)
			if want := fmt.Sprintf("%s %s.v%s -> %s.v%s", part[0], pkg, part[1], pkg, part[2]); !taken[want] {
				t.Errorf("not taken: %s", want)
			}
		}
	}
}

// seedOptions publishes the bundles of a seed for its catalog, whose images are in the registry of the cluster.
func seedOptions(t *testing.T, seed fixture.Seed) Options {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	registry := must.Value(shared())(t).Registry
	for _, version := range fixture.SeededVersions() {
		must.Value(image.Push(t.Context(), registry+"/widget-operator:v"+version, fstest.MapFS{"operator": {Data: []byte(version)}}, nil, image.PushOptions{}))(t)
	}
	tree := seed.Tree(registry)
	published := must.Value(bundleio.Publisher{Registry: registry}.Bundles(t.Context(), tree))(t)
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	return Options{Catalog: must.Value(seed.Catalog(published))(t), Name: seed.Name, Bundles: tree, Images: &ImageChecker{Store: store}}
}

// TestSeededFaultsAreFound finds each fault on the cluster, by its rule, and nothing in a healthy package. Every day those that only a cluster or a registry shows.
func TestSeededFaultsAreFound(t *testing.T) {
	for _, seed := range fixture.Seeds() {
		if !sweep.Whole() && len(seed.Live) == 0 && seed.Name != "healthy" && seed.Name != "selector changed" {
			continue
		}
		t.Run(seed.Name, func(t *testing.T) {
			report := tested(t, seedOptions(t, seed))
			for api, want := range map[API]string{V0: seed.V0, V1: seed.V1} {
				got := rules(report, api)
				if want == "" && len(got) > 0 {
					t.Errorf("%s: found %v where nothing is wrong", api, got)
				}
				if want != "" && !slices.Contains(got, want) {
					t.Errorf("%s: found %v, not %s", api, got, want)
				}
				if slices.Contains(got, string(InstallFailed)) || slices.Contains(got, string(UpgradeFailed)) {
					t.Errorf("%s: found %v: that the upgrade fails is said in addition to why", api, got)
				}
			}
		})
	}
}

// publicOptions are the packages of the public catalog of which there are bundles, and only their bundles.
func publicOptions(t *testing.T, wanted func(pkg string) bool) Options {
	t.Helper()
	tree := fstest.MapFS{}
	packages := map[string]bool{}
	for key, files := range publicdata.BundleTrees(t) {
		pkg, _, _ := strings.Cut(key, "/")
		packages[pkg] = true
		for name, file := range files {
			tree[key+"/"+name] = file
		}
	}
	all := &catalog.Catalog{}
	o := Options{Catalog: all, Name: "community", Bundles: tree, Timeout: time.Minute}
	publicPackages(t, func(name string, c *catalog.Catalog) {
		all.Packages, all.Channels, all.Bundles = append(all.Packages, c.Packages...), append(all.Channels, c.Channels...), append(all.Bundles, c.Bundles...)
		if packages[name] && wanted(name) {
			o.Packages = append(o.Packages, name)
		}
	})
	return o
}

// TestPublicPackagesAreUpgraded walks public packages as they are, without an error of the test itself, in less than two seconds an edge: all of those that have bundles.
// What is found is in its log, to be judged.
func TestPublicPackagesAreUpgraded(t *testing.T) {
	sweep.Nightly(t, "TestSamplesAreUpgraded and TestSeededFaultsAreFound walk packages of ours")
	report := tested(t, publicOptions(t, func(string) bool { return true }))
	tried := tries(report)
	if tried < 8 {
		t.Fatalf("%d edges were tried", tried)
	}
	if mean := report.Took / time.Duration(tried); mean > 2*time.Second {
		t.Errorf("%s an edge", mean)
	}
}

// TestRunSaysWhatItCannotTest refuses what is not in the catalog, before a cluster is asked.
func TestRunSaysWhatItCannotTest(t *testing.T) {
	c := must.Value(catalog.Load(t.Context(), must.Value(fs.Sub(examples.Catalogs, "catalog"))(t), catalog.LoadOptions{}))(t)
	_, err := Run(t.Context(), Options{Catalog: c, Name: "examples", Packages: []string{"etcd"}})
	must.Fail(t, "test a package that is not there", err, `test package "etcd"`, "greeter-operator")
	_, err = Run(t.Context(), Options{Catalog: &catalog.Catalog{}, Name: "none"})
	must.Fail(t, "test no package", err, "test catalog none: it has no package")
	_, err = Run(t.Context(), Options{Catalog: c, Name: "examples", Bundles: fstest.MapFS{}})
	must.Fail(t, "test without bundles", err, "<package>/<version>/manifests")
}
