package grpccatalog

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestPodsOfPrivateCatalogsAreClosed: the pod of a catalog is for the pods of its own namespace and the manager, before it serves, too. Catalogs of the
// global namespace are for all pods, and so are all where the namespace of the manager is not known.
func TestPodsOfPrivateCatalogsAreClosed(t *testing.T) {
	for name, test := range map[string]struct {
		namespace string
		settings  Settings
		want      []string // namespaces; nil is all
	}{
		"private":                               {"tenant", Settings{GlobalNamespace: "catalogs", ManagerNamespace: "olm"}, []string{"tenant", "olm"}},
		"private, beside the manager":           {"olm", Settings{GlobalNamespace: "catalogs", ManagerNamespace: "olm"}, []string{"olm"}},
		"of the global namespace":               {"catalogs", Settings{GlobalNamespace: "catalogs", ManagerNamespace: "olm"}, nil},
		"private, while the manager has no pod": {"tenant", Settings{GlobalNamespace: "catalogs"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			source := grpcSource()
			source.Namespace = test.namespace
			objects := must.Value(Companions(source, test.settings))(t)
			spec := objects.ServerPolicy.Spec
			if len(spec.Ingress) != 1 || len(spec.Ingress[0].Ports) != 1 || spec.Ingress[0].Ports[0].Port.IntVal != Port {
				t.Fatalf("the rules are %+v, want one for port %d", spec.Ingress, Port)
			}
			var got []string
			for _, peer := range spec.Ingress[0].From {
				got = append(got, peer.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
			}
			must.Equal(t, "namespaces that may ask", got, test.want)
			pods := must.Value(metav1.LabelSelectorAsSelector(&spec.PodSelector))(t)
			for what, pod := range map[string]struct {
				label string
				want  bool
			}{"that serves": {source.Name, true}, "of an update": {"", test.want != nil}, "of another catalog": {"another", false}} {
				set := labels.Set{v1alpha1.CatalogSourceLabel: pod.label, v1alpha1.ManagedLabel: "true"}
				must.Equal(t, what, pods.Matches(set), pod.want)
			}
		})
	}
}
