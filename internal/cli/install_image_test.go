package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pushGreeter pushes a bundle of the examples to a registry of the test, and returns its tag and its digest.
func pushGreeter(t *testing.T) (tagged, pinned string) {
	t.Helper()
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	registry := httptest.NewServer(image.NewRegistry(t.TempDir()))
	t.Cleanup(registry.Close)
	name := strings.TrimPrefix(registry.URL, "http://") + "/greeter"
	digest := must.Value(image.Push(t.Context(), name+":hotfix", os.DirFS(filepath.Join("..", "..", "examples", "bundles", "greeter-operator", "1.1.0")),
		image.BundleLabels("greeter-operator", []string{"stable"}, "stable"), image.PushOptions{}))(t)
	return name + ":hotfix", name + "@" + digest
}

// TestInstallFromAnImage: a tag becomes a digest, and the package is that of the bundle; no catalog has to be there.
func TestInstallFromAnImage(t *testing.T) {
	tagged, pinned := pushGreeter(t)
	absent := strings.Replace(pinned, "greeter@", "absent@", 1)
	for name, test := range map[string]struct {
		pkg, image string
		flags      []string
		errs, want string // an error
		code       int
		annotation string
	}{
		"a tag":                          {image: tagged, annotation: pinned, errs: "image " + pinned + " has bundle greeter-operator.v1.1.0 of package greeter-operator\n"},
		"a digest":                       {image: pinned, pkg: "greeter-operator", annotation: pinned},
		"another package":                {image: tagged, pkg: "kite", want: "of package greeter-operator, not one of kite", code: command.ExitFailed},
		"what only the cluster can read": {image: absent, pkg: "greeter-operator", annotation: absent, errs: "note: the image cannot be read by this command, and is left to the manager: "},
		"neither package nor image":      {image: absent, want: "name the package, and the image by its digest", code: command.ExitFailed},
		"no digest":                      {image: strings.Replace(tagged, "/greeter", "/absent", 1), pkg: "greeter-operator", want: "name the package, and the image by its digest", code: command.ExitFailed},
		"a version":                      {image: tagged, flags: []string{"--version", "1.1.0"}, want: "--version says nothing beside --image", code: command.ExitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
			_, errs, err := asked(t, c, bothAPIs{Package: test.pkg, Namespace: "ops"}, append(test.flags, "--image", test.image, "--name", "my")...)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) || command.Code(err) != test.code {
					t.Errorf("%v, exit code %d", err, command.Code(err))
				}
				return
			}
			e := &olmv1.ClusterExtension{}
			if err != nil || !strings.Contains(errs, test.errs) {
				t.Fatalf("%v, %q", err, errs)
			}
			must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "my"}, e))
			if e.Annotations[snapshot.BundleImageKey] != test.annotation || e.Spec.Source.Catalog.PackageName != "greeter-operator" {
				t.Errorf("%v, %+v", e.Annotations, e.Spec.Source.Catalog)
			}
		})
	}
}

// TestInstallFromAnImageAdopts: the extension that is there has the name of the bundle's package, and the namespace need not be given.
func TestInstallFromAnImageAdopts(t *testing.T) {
	tagged, pinned := pushGreeter(t)
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "greeter-operator", Annotations: map[string]string{snapshot.BundleImageKey: pinned}}}
	e.Spec.Namespace = "far-away"
	e.Spec.Source = olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "greeter-operator"}}
	c := cluster(t, e)
	_, errs, err := asked(t, c, bothAPIs{}, "--image", tagged, "--adopt")
	if err != nil || !strings.Contains(errs, "ClusterExtension greeter-operator is there already: it may adopt") {
		t.Errorf("%v, %q", err, errs)
	}
	must.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(e), e))
	must.Equal(t, "leave to adopt", e.Annotations["operators.fairlead.dev/adopt-existing"], "true")
}

// TestInstallLooksBeforeItPulls: what the cluster lacks, and a file that cannot be read, are told before anything is read from a registry.
func TestInstallLooksBeforeItPulls(t *testing.T) {
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	requests := 0
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(registry.Close)
	ref := strings.TrimPrefix(registry.URL, "http://") + "/greeter:hotfix"
	for name, test := range map[string]struct {
		namespace string
		flags     []string
		want      string
		requests  bool
	}{
		"no namespace":        {namespace: "nowhere", want: "install image " + ref + ": there is no namespace nowhere; add --create-namespace"},
		"no account":          {namespace: "ops", flags: []string{"--service-account", "sa"}, want: "install image " + ref + ": there is no ServiceAccount sa in namespace ops"},
		"no configuration":    {namespace: "ops", flags: []string{"--config", "absent.yaml"}, want: "absent.yaml"},
		"all but the image":   {namespace: "ops", want: "name the package, and the image by its digest", requests: true},
		"one that is to come": {namespace: "nowhere", flags: []string{"--create-namespace"}, want: "name the package, and the image by its digest", requests: true},
	} {
		requests = 0
		c := cluster(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
		_, _, err := asked(t, c, bothAPIs{Namespace: test.namespace}, append(test.flags, "--image", ref)...)
		if err == nil || !strings.Contains(err.Error(), test.want) || (requests > 0) != test.requests {
			t.Errorf("%s: after %d requests: %v", name, requests, err)
		}
	}
}

// TestUpgradeToAnImage writes the digest, and takes it away again.
func TestUpgradeToAnImage(t *testing.T) {
	tagged, pinned := pushGreeter(t)
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "my"}}
	e.Spec.Source = olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "greeter-operator"}}
	c := cluster(t, e)
	for _, step := range []struct{ image, annotation string }{{tagged, pinned}, {"", ""}} {
		if out, err := changed(t, c, "my", "--image", step.image); err != nil || strings.Count(out, "\n") != 1 {
			t.Errorf("%q, %v", out, err)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "my"}, e); err != nil || e.Annotations[snapshot.BundleImageKey] != step.annotation {
			t.Errorf("%v, %v", e.Annotations, err)
		}
	}
}
