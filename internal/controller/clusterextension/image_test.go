package clusterextension

import (
	"os"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const imageA = "registry.example.com/greeter@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

var imageB = strings.ReplaceAll(imageA, "aaaa", "bbbb")

// greeter is a bundle of the examples.
func greeter(t *testing.T, version string) *bundle.Bundle {
	t.Helper()
	b := must.Value(bundle.Load(os.DirFS("../../../examples/bundles/greeter-operator/" + version)))(t)
	return b
}

// TestABundleFromAnImage is installed without any catalog, changed to another image, and left for the catalogs again.
func TestABundleFromAnImage(t *testing.T) {
	w := newWorld(t, want("my", "greeter-operator", "9.9.9"))
	w.bundles.images = map[string]*bundle.Bundle{imageA: greeter(t, "1.1.0"), imageB: greeter(t, "1.0.0")}
	w.annotate("my", snapshot.BundleImageKey, imageA)
	w.settle("my")
	w.expect("my", "Installed", "True/Succeeded: Installed bundle "+imageA+" successfully")
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	if got := progressOf(w.extension("my")).Message; !strings.Contains(got, "\nimage "+imageA+" is installed whatever catalogs have, as annotation "+snapshot.BundleImageKey+" asks for") {
		t.Error(got)
	}
	gets, renders := w.bundles.gets, w.renders
	w.controller.forget("my")
	w.settle("my")
	if w.bundles.gets != gets || w.renders != renders {
		t.Errorf("a manager that starts fetches %d and renders %d times what is installed", w.bundles.gets-gets, w.renders-renders)
	}
	w.annotate("my", snapshot.BundleImageKey, imageB) // an older version, which no edge leads to
	w.settle("my")
	w.expectInstalled("my", "greeter-operator.v1.0.0")
	w.version("my", "")
	w.serve("cat", pkg("greeter-operator", "1.0.0", "1.1.0"))
	w.settle("my")
	if got := w.installed("my"); got != "greeter-operator.v1.0.0" {
		t.Fatalf("a catalog upgrades to %s what an image is asked for", got)
	}
	w.annotate("my", snapshot.BundleImageKey, "")
	w.settle("my")
	w.expectInstalled("my", "greeter-operator.v1.1.0")
}

// TestAnImageThatCannotBe: what is in the way is said, and what is installed stays.
func TestAnImageThatCannotBe(t *testing.T) {
	for image, told := range map[string]string{
		"registry.example.com/greeter:latest": "False/InvalidConfiguration: annotation " + snapshot.BundleImageKey + ` is "registry.example.com/greeter:latest": `,
		"":                                    "False/InvalidConfiguration: annotation " + snapshot.BundleImageKey + ` is "": `,
		imageA:                                "False/InvalidConfiguration: image " + imageA + ", which annotation " + snapshot.BundleImageKey + " names, is no bundle of package a",
		strings.ReplaceAll(imageA, "greeter", "absent"): "True/Retrying: there is no image registry.example.com/absent@sha256:",
	} {
		w := newWorld(t, want("my", "a", ""))
		w.bundles.images = map[string]*bundle.Bundle{imageA: greeter(t, "1.1.0")}
		w.serve("cat", pkg("a", "1.0.0"))
		w.settle("my")
		w.change("my", func(e *olmv1.ClusterExtension) { e.Annotations = map[string]string{snapshot.BundleImageKey: image} })
		w.pass("my")
		if got := w.condition("my", "Progressing"); !strings.HasPrefix(got, told) {
			t.Errorf("Progressing is %q, want %q", got, told)
		}
		if got := w.installed("my"); got != "a.v1.0.0" {
			t.Errorf("%q: %s is installed", image, got)
		}
	}
}

// TestPermissionsOfAnImage: whoever names an image has not agreed to what it asks for in addition, whatever version is asked for.
func TestPermissionsOfAnImage(t *testing.T) {
	w := newWorld(t, want("my", "greeter-operator", "1.1.0"))
	w.bundles.images = map[string]*bundle.Bundle{imageA: greeter(t, "1.0.0"), imageB: greeter(t, "1.1.0")}
	w.extra["greeter-operator.v1.0.0"], w.extra["greeter-operator.v1.1.0"] = granting("pods"), granting("secrets")
	w.annotate("my", snapshot.BundleImageKey, imageA)
	w.settle("my")
	w.annotate("my", snapshot.BundleImageKey, imageB)
	w.settle("my")
	w.expect("my", "Progressing", "False/Blocked: greeter-operator.v1.1.0 asks for permissions that greeter-operator.v1.0.0 does not have:")
	_, digest, _ := strings.Cut(progressOf(w.extension("my")).Message, `to "`)
	w.annotate("my", permissions.AcknowledgedKey, digest[:strings.IndexByte(digest, '"')])
	w.settle("my")
	w.expectInstalled("my", "greeter-operator.v1.1.0")
}

// TestAnImageIsNotPulledInVain: what costs nothing is looked at first.
func TestAnImageIsNotPulledInVain(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*world)
		told  string
		mend  func(*world)
	}{
		"no namespace": {
			func(w *world) { w.change("my", func(e *olmv1.ClusterExtension) { e.Spec.Namespace = "later" }) },
			`True/Retrying: namespaces "later" not found: create namespace later`,
			func(w *world) { w.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "later"}}) },
		},
		"no account": {
			func(w *world) {
				w.change("my", func(e *olmv1.ClusterExtension) { e.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: "sa"} })
			},
			`True/Retrying: service account "sa" not found in namespace "ns": create it`,
			func(w *world) { w.change("my", func(e *olmv1.ClusterExtension) { e.Spec.ServiceAccount = nil }) },
		},
		"a registry that is not allowed": {
			func(w *world) {
				w.controller.AllowedImages = allowed(w.t, "registry.example.com:5000,registry.example.com/other")
			},
			"False/InvalidConfiguration: annotation " + snapshot.BundleImageKey + " names image " + imageA + ", and the manager takes images from registry.example.com:5000, registry.example.com/other only, " +
				"as its flag --allowed-bundle-registries says: name an image that is there, or have the flag changed",
			func(w *world) { w.controller.AllowedImages = allowed(w.t, "quay.io,registry.example.com") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "greeter-operator", ""))
			w.bundles.images = map[string]*bundle.Bundle{imageA: greeter(t, "1.1.0")}
			test.spoil(w)
			w.annotate("my", snapshot.BundleImageKey, imageA)
			w.pass("my")
			if got := w.condition("my", "Progressing"); w.bundles.gets != 0 || !strings.HasPrefix(got, test.told) {
				t.Errorf("%d pulls, and Progressing is %q, want %q", w.bundles.gets, got, test.told)
			}
			test.mend(w)
			w.settle("my")
			w.expectInstalled("my", "greeter-operator.v1.1.0")
		})
	}
}

// TestAnImageThatIsAllowedNoMore stays as it is installed.
func TestAnImageThatIsAllowedNoMore(t *testing.T) {
	w := newWorld(t, want("my", "greeter-operator", ""))
	w.bundles.images = map[string]*bundle.Bundle{imageA: greeter(t, "1.1.0")}
	w.annotate("my", snapshot.BundleImageKey, imageA)
	w.settle("my")
	w.controller.AllowedImages = allowed(t, "quay.io")
	w.settle("my")
	if got := w.condition("my", "Progressing"); w.installed("my") != "greeter-operator.v1.1.0" || !strings.HasPrefix(got, "False/InvalidConfiguration: ") {
		t.Errorf("%s is installed: %s", w.installed("my"), got)
	}
}

func allowed(t testing.TB, text string) image.Prefixes {
	t.Helper()
	p := must.Value(image.ParsePrefixes(strings.Split(text, ",")))(t)
	return p
}
