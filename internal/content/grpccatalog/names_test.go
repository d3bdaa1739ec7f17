package grpccatalog

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 70)
	for catalog, want := range map[string]struct{ service, label, policy string }{
		"operators": {"operators", "operators", "operators-grpc-server"},
		"a.b":       {"a-b", "a.b", "a.b-grpc-server"},
		"1st":       {"catalog-1st", "1st", "1st-grpc-server"},
		long:        {long[:54] + "-" + hashOf(long), long[:54] + "-" + hashOf(long), long + "-grpc-server"},
		// what is cut off ends in a dot: the hyphen may not come right after it
		strings.Repeat("a", 53) + ".bbbbbbbbbbbbb": {
			strings.Repeat("a", 53) + "-" + hashOf(strings.Repeat("a", 53)+".bbbbbbbbbbbbb"),
			strings.Repeat("a", 53) + "-" + hashOf(strings.Repeat("a", 53)+".bbbbbbbbbbbbb"),
			strings.Repeat("a", 53) + ".bbbbbbbbbbbbb-grpc-server",
		},
	} {
		must.Equal(t, catalog, ServiceName(catalog), want.service)
		must.Equal(t, catalog, LabelValue(catalog), want.label)
		must.Equal(t, catalog, objectName(catalog, serverPolicy), want.policy)
	}
}

// TestHashes holds the values that other implementations compute.
func TestHashes(t *testing.T) {
	for want, value := range map[string]any{
		"4JmfNSKty2gqXbrQg2UonZs2626R3g4xHXikSh": map[string]any{},
		"a4RLNWGF3wSwU3ZnthCsifWQxo6Y0mf6jrpF2c": nil,
	} {
		must.Equal(t, "the hash", must.Value(bundle.Hash62(value))(t), want)
	}
	objects := must.Value(Wanted(grpcSource(), defaults().Settings, Observed{}))(t)
	spec := objects.Service.Spec.DeepCopy()
	spec.Ports[0].Protocol = "" // a default of the API server, which is not hashed
	for label, o := range map[string]struct {
		labels map[string]string
		spec   any
	}{
		v1alpha1.PodSpecHashLabel:     {objects.Pod.Labels, objects.Pod.Spec},
		v1alpha1.ServiceSpecHashLabel: {objects.Service.Labels, spec},
	} {
		if want, err := bundle.Hash62(o.spec); err != nil || o.labels[label] != want {
			t.Errorf("%s is %q, want %q, the hash of the spec (%v)", label, o.labels[label], want, err)
		}
	}
}

// FuzzNames makes the names of everything for any catalog that the API server accepts.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{
		"operators", "a.b", "1", "1.2", "a-", strings.Repeat("a", 253), strings.Repeat("a.", 126) + "a", strings.Repeat("b", 52) + ".c" + strings.Repeat("d", 20),
		strings.Repeat("a-", 40) + "b", "0." + strings.Repeat("x", 63),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, catalog string) {
		if validation.IsDNS1123Subdomain(catalog) != nil {
			t.Skip()
		}
		source := grpcSource()
		source.Name = catalog
		objects := must.Value(Wanted(source, defaults().Settings, Observed{}))(t)
		for _, o := range objects.companions() {
			if bad := validation.IsDNS1123Subdomain(o.GetName()); bad != nil {
				t.Errorf("%T %q: %v", o, o.GetName(), bad)
			}
		}
		if bad := validation.IsDNS1035Label(objects.Service.Name); bad != nil {
			t.Errorf("Service %q: %v", objects.Service.Name, bad)
		}
		p := podName(objects.Pod.GenerateName, "x")
		if bad := validation.IsDNS1123Subdomain(p); bad != nil || len(p) > 63 || !strings.HasPrefix(p, (catalog + "-")[:min(len(catalog)+1, 58)]) {
			t.Errorf("pod %q: %v", p, bad)
		}
		for _, o := range append(objects.companions(), objects.Pod) {
			for key, value := range o.GetLabels() {
				if bad := validation.IsValidLabelValue(value); bad != nil {
					t.Errorf("label %s of %T: %q: %v", key, o, value, bad)
				}
			}
		}
		for _, o := range everything(source) {
			if bad := validation.IsDNS1123Subdomain(o.name); bad != nil {
				t.Errorf("%s %q: %v", o.kind.Kind, o.name, bad)
			}
		}
		must.Equal(t, "the pod of an update is labelled", UpdatePod(objects.Pod).Labels[v1alpha1.CatalogSourceUpdateLabel], LabelValue(catalog))
	})
}

// FuzzShortenedNamesDiffer finds two catalogs that would share a name because both had to be shortened.
func FuzzShortenedNamesDiffer(f *testing.F) {
	f.Add(strings.Repeat("a", 70), strings.Repeat("a", 71))
	f.Add(strings.Repeat("a.", 40)+"a", strings.Repeat("a-", 40)+"a")
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == b || len(a) <= 63 || len(b) <= 63 || validation.IsDNS1123Subdomain(a) != nil || validation.IsDNS1123Subdomain(b) != nil {
			t.Skip()
		}
		if LabelValue(a) == LabelValue(b) || ServiceName(a) == ServiceName(b) {
			t.Errorf("%q and %q share %q or %q", a, b, LabelValue(a), ServiceName(a))
		}
	})
}
