package registryv1

import (
	"encoding/json"
	"errors"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
)

// loaded are the public bundles that have been loaded, by <package>/<version>.
var loaded sync.Map

// loadReal loads a public bundle once for all tests, which must not change it.
func loadReal(t testing.TB, name string) *bundle.Bundle {
	t.Helper()
	if b, ok := loaded.Load(name); ok {
		return b.(*bundle.Bundle)
	}
	files := publicdata.BundleTrees(t)[name]
	if files == nil {
		t.Fatalf("%s is not among the public bundles", name)
	}
	b := must.Value(bundle.Load(files))(t)
	loaded.Store(name, b)
	return b
}

// refused are the public bundles that cannot be installed, by package and version, and what the reason says.
var refused = map[string]string{
	"cockroachdb/3.0.7":            "no cluster since Kubernetes 1.22 serves apiextensions.k8s.io/v1beta1",
	"lib-bucket-provisioner/1.0.0": "no cluster since Kubernetes 1.22 serves apiextensions.k8s.io/v1beta1",
	"prometheus/0.32.0":            "no cluster since Kubernetes 1.22 serves apiextensions.k8s.io/v1beta1",
	"prometheus/0.37.0":            "no cluster since Kubernetes 1.22 serves apiextensions.k8s.io/v1beta1",
}

// TestRealBundles renders every public bundle for each install mode that it supports, and knows those that cannot be installed.
func TestRealBundles(t *testing.T) {
	names := slices.Sorted(maps.Keys(publicdata.BundleTrees(t)))
	if len(names) < 138 {
		t.Errorf("%d public bundles, want 138 at least", len(names))
	}
	rendered := 0
	for i, name := range names {
		if last := i+1 == len(names) || path.Dir(names[i+1]) != path.Dir(name); !last && refused[name] == "" && !sweep.Whole() {
			continue // every day one bundle of each package, and those that are refused
		}
		t.Run(name, func(t *testing.T) {
			b := loadReal(t, name)
			if reason, ok := refused[name]; ok {
				_, err := Render(b, Options{Namespace: "operators"})
				var invalid *InvalidError
				if !errors.As(err, &invalid) || !strings.Contains(err.Error(), reason) {
					t.Errorf("error %v, want an InvalidError with %q", err, reason)
				}
				return
			}
			providers := []CertificateProvider{CertManager, ServiceCA, BuiltIn}
			if len(bundle.ServingDeployments(b.CSV)) == 0 {
				providers = providers[2:] // there is no difference
			}
			twice := false // the same result twice is asked for once a bundle, to be fast
			before := asJSON(t, b.AllObjects()) + asJSON(t, b.CSV)
			// Configurations for every install mode of a bundle.
			modes := must.Value(modesOf(b))(t)
			const deployment = `"deploymentConfig": {"nodeSelector": {"a": "b"}, "env": [{"name": "A", "value": "b"}]}`
			out := map[string]json.RawMessage{}
			if modes[v1alpha1.InstallModeTypeAllNamespaces] {
				out["all"], out["all, configured"] = nil, json.RawMessage(`{`+deployment+`}`)
			}
			if modes[v1alpha1.InstallModeTypeOwnNamespace] {
				out["own"] = json.RawMessage(`{"watchNamespace": "operators", ` + deployment + `}`)
			}
			if modes[v1alpha1.InstallModeTypeSingleNamespace] {
				out["single"] = json.RawMessage(`{"watchNamespace": "tenant"}`)
			}
			if modes[v1alpha1.InstallModeTypeMultiNamespace] {
				out["multi"] = json.RawMessage(`{"watchNamespaces": ["tenant-b", "tenant-a"]}`)
			}
			for mode, config := range out {
				for _, certificates := range providers {
					o := Options{Namespace: "operators", Config: config, Certificates: certificates, OperatorCondition: "condition"}
					out, err := Render(b, o)
					must.NoErrorf(t, err, "%s, %s", mode, certificates)
					rendered++
					checkObjects(t, b, o, out)
					if twice {
						continue
					}
					twice = true
					again := must.Value(Render(b, o))(t)
					if !reflect.DeepEqual(out, again) {
						t.Errorf("%s, %s: two results:\n%s", mode, certificates, cmp.Diff(out, again))
					}
				}
			}
			must.Equal(t, "rendering changed the bundle", asJSON(t, b.AllObjects())+asJSON(t, b.CSV), before)
		})
	}
	t.Logf("%d bundles, %d of them refused, %d renderings", len(names), len(refused), rendered)
}

// checkObjects checks what has to hold for all that is rendered: every workload is there, what objects refer to exists, and what is in a
// namespace is in one that is known.
func checkObjects(t *testing.T, b *bundle.Bundle, o Options, out *Rendered) {
	t.Helper()
	have := map[string]bool{}
	deployments := 0
	for _, object := range out.Objects {
		have[object.GetKind()+"/"+object.GetNamespace()+"/"+object.GetName()] = true
		if object.GetKind() == "Deployment" {
			deployments++
		}
		if ns := object.GetNamespace(); ns != "" && ns != o.Namespace && !slices.Contains(out.WatchNamespaces, ns) {
			t.Errorf("%s %s is in namespace %q", object.GetKind(), object.GetName(), ns)
		}
		if object.GetAPIVersion() == "" || object.GetKind() == "" || object.GetName() == "" {
			t.Errorf("incomplete object %v", object.Object)
		}
	}
	must.Equal(t, "Deployments", deployments, len(b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs))
	for _, name := range bundle.ServingDeployments(b.CSV) {
		if !have["Service/"+o.Namespace+"/"+bundle.ServingServiceName(name)] {
			t.Errorf("no Service for Deployment %s", name)
		}
		if o.Certificates == CertManager && !have["Certificate/"+o.Namespace+"/"+bundle.ServingSecretName(name)] {
			t.Errorf("no Certificate for Deployment %s", name)
		}
	}
	for i, want := 0, bundle.ServingDeployments(b.CSV); o.Certificates == BuiltIn && i < len(want); i++ {
		if out.Serving[i].Deployment != want[i] || len(out.Serving) != len(want) {
			t.Errorf("serving %v, want %v", out.Serving, want)
		}
	}
	for _, crd := range b.CSV.Spec.CustomResourceDefinitions.Owned {
		if !have["CustomResourceDefinition//"+crd.Name] {
			t.Errorf("no CRD %s", crd.Name)
		}
	}
	text := out.Properties
	if b.CSV.Annotations[propertiesAnnotation] == "" && len(b.Properties) == 0 {
		if text != nil {
			t.Errorf("properties %s", text)
		}
		return
	}
	var list []struct {
		Type  string
		Value json.RawMessage
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list) < len(b.Properties) || list[0].Type == "" {
		t.Errorf("properties %s, error %v", text, err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	return string(must.Value(json.Marshal(v))(t))
}
