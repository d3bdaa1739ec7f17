package bundle

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	kyaml "sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestRealBundles takes every public bundle all the way: without errors, without surprises in names, and back from the
// catalog form to the same steps.
func TestRealBundles(t *testing.T) {
	eachRealBundle(t, func(t *testing.T, b *Bundle, last bool) {
		if !last {
			sweep.Nightly(t, "the last bundle of the package")
		}
		if b.Package == "" || b.Name == "" || b.Version.Version.String() == "0.0.0" || len(b.Channels) == 0 {
			t.Errorf("package %q, name %q, version %s, channels %q", b.Package, b.Name, b.Version, b.Channels)
		}
		if err := Validate(b).Err(); err != nil {
			t.Error(err)
		}
		target := StepTarget{Namespace: "operators", Replaces: "before"}
		steps := must.Value(Steps(b, target))(t)
		for _, step := range steps {
			must.Empty(t, fmt.Sprintf("%s %s", step.GetKind(), step.GetName()), validation.IsValidLabelValue(step.GetLabels()[v1alpha1.PermissionsHashLabel]))
			if Namespaced(step.GetKind()) != (step.GetNamespace() == target.Namespace) {
				t.Errorf("%s %s is in namespace %q", step.GetKind(), step.GetName(), step.GetNamespace())
			}
		}
		checkRunning(t, b)
		if last {
			// Make the bundle anew from its form in a catalog and compare the steps.
			c := must.Value(b.ToCatalog("registry.example.com/bundle:v1"))(t)
			var manifests []json.RawMessage
			for _, property := range c.Properties {
				if property.Type == catalog.PropertyBundleObject {
					var object struct{ Data []byte }
					must.NoError(t, json.Unmarshal(property.Value, &object))
					manifests = append(manifests, object.Data)
				}
			}
			again := must.Value(FromManifests(manifests))(t)
			// Put the objects of a bundle into the order of another.
			order := map[string]int{}
			for i, object := range b.Objects {
				order[object.GetKind()+"/"+object.GetName()] = i
			}
			slices.SortFunc(again.Objects, func(x, y *unstructured.Unstructured) int {
				return order[x.GetKind()+"/"+x.GetName()] - order[y.GetKind()+"/"+y.GetName()]
			})
			got := must.Value(Steps(again, target))(t)
			must.Equal(t, "asJSON(t, steps)", asJSON(t, steps), asJSON(t, got))
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	return string(must.Value(json.Marshal(v))(t))
}

// checkRunning renders what the operator runs with, for the first install mode that it supports.
func checkRunning(t *testing.T, b *Bundle) {
	t.Helper()
	csv := b.CSV.DeepCopy()
	csv.Namespace = "operators"
	modes := must.Value(v1alpha1.NewInstallModeSet(csv.Spec.InstallModes))(t)
	target := ""
	if modes.Supports(csv.Namespace, []string{target}) != nil {
		target = csv.Namespace
		if err := modes.Supports(csv.Namespace, []string{target}); err != nil {
			t.Logf("neither AllNamespaces nor OwnNamespace: %v", err)
		}
	}
	csv.Annotations = union(csv.Annotations, map[string]string{v1alpha1.TargetNamespacesAnnotation: target})
	certs := map[string]ServingCert{}
	for _, name := range ServingDeployments(csv) {
		certs[name] = ServingCert{CA: []byte("authority")}
	}
	before := asJSON(t, csv)
	deployments, err := Deployments(csv, DeploymentOptions{Certs: certs, ProxyEnv: env("HTTP_PROXY", "p")})
	if err != nil || len(deployments) != len(csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs) {
		t.Errorf("%d Deployments, error %v", len(deployments), err)
	}
	for _, deployment := range deployments {
		must.Equal(t, fmt.Sprintf("Deployment %s targets", deployment.Name), deployment.Spec.Template.Annotations[v1alpha1.TargetNamespacesAnnotation], target)
	}
	services, err := Services(csv)
	if err != nil || len(services) != len(certs) {
		t.Errorf("%d Services for %d certificates, error %v", len(services), len(certs), err)
	}
	o := WebhookOptions{Certs: certs}
	validating, err := ValidatingWebhooks(csv, o)
	if err != nil {
		t.Error(err)
	}
	mutating, err := MutatingWebhooks(csv, o)
	if err != nil {
		t.Error(err)
	}
	for _, configuration := range validating {
		checkService(t, b, configuration.Name, configuration.Webhooks[0].ClientConfig.CABundle)
	}
	for _, configuration := range mutating {
		checkService(t, b, configuration.Name, configuration.Webhooks[0].ClientConfig.CABundle)
	}
	if _, err := Conversions(csv, o); err != nil {
		t.Error(err)
	}
	must.Equal(t, "the ClusterServiceVersion was changed", asJSON(t, csv), before)
}

func checkService(t *testing.T, b *Bundle, name string, ca []byte) {
	t.Helper()
	if messages := validation.IsDNS1123Subdomain(name); len(messages) > 0 || string(ca) != "authority" {
		t.Errorf("%s: webhook configuration %s: %q, authority %q", b.Name, name, messages, ca)
	}
}

// TestRealCatalogProperties compares with the public catalog, which was written by another tool.
func TestRealCatalogProperties(t *testing.T) {
	// The olm.bundle documents of the public catalog, by package and name, for the packages of which there are bundles.
	packages := map[string]bool{}
	for name := range publicdata.BundleTrees(t) {
		packages[path.Dir(name)] = true
	}
	published := map[string]string{}
	publicdata.Each(t, publicdata.FullCatalog, func(name string, data func() []byte) {
		pkg := path.Base(path.Dir(name))
		if !packages[pkg] {
			return
		}
		for _, text := range strings.Split(string(data()), "\n---\n") {
			if match := bundleNameLine.FindStringSubmatch(text); match != nil && strings.Contains(text, "\nschema: olm.bundle") {
				published[pkg+"/"+match[1]] = text
			}
		}
	})
	compared := 0
	eachRealBundle(t, func(t *testing.T, b *Bundle, _ bool) {
		text, ok := published[b.Package+"/"+b.Name]
		if !ok {
			t.Skipf("%s is not in the public catalog", b.Name)
		}
		var want struct {
			Image         string
			Properties    []catalog.Property
			RelatedImages []catalog.RelatedImage
		}
		must.NoError(t, kyaml.Unmarshal([]byte(text), &want))
		c := must.Value(b.ToCatalog(want.Image))(t)
		compared++
		must.Equal(t, "comparable", comparable(c.Properties), comparable(want.Properties))
		must.Equal(t, "related images", byImage(c.RelatedImages), byImage(want.RelatedImages))
	})
	if compared < 100 {
		t.Errorf("only %d bundles are in the public catalog", compared)
	}
}

// comparable are the properties without manifests, as sorted lines.
func comparable(properties []catalog.Property) []string {
	var out []string
	for _, property := range properties {
		if property.Type != catalog.PropertyBundleObject && property.Type != catalog.PropertyCSVMetadata {
			out = append(out, property.Type+" "+canonicalJSON(property.Value))
		}
	}
	slices.Sort(out)
	return out
}

// byImage puts images into an order in which equal ones do not matter.
func byImage(images []catalog.RelatedImage) []catalog.RelatedImage {
	out := slices.Clone(images)
	slices.SortFunc(out, func(a, b catalog.RelatedImage) int {
		return strings.Compare(a.Image+" "+a.Name, b.Image+" "+b.Name)
	})
	return out
}

var bundleNameLine = regexp.MustCompile(`(?m)^name: (.*)$`)
