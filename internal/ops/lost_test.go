package ops

import (
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// withoutSecrets are the objects of extensions whose revisions have lost their content.
func withoutSecrets(objects ...client.Object) []client.Object {
	return slices.DeleteFunc(objects, func(o client.Object) bool {
		_, is := o.(*corev1.Secret)
		return is
	})
}

// TestLostContent: the manager takes out a revision that nobody can read any more, and so does the command: its definitions are those that it
// controls in the cluster, and they are treated like any.
func TestLostContent(t *testing.T) {
	for name, test := range map[string]struct {
		more   []client.Object
		named  []string
		goes   bool
		behind string
	}{
		"without custom resources":  {nil, nil, true, "goes: it has no custom resources"},
		"with a custom resource":    {[]client.Object{kite("a")}, nil, false, "stays: it has custom resources"},
		"with one, and it is named": {[]client.Object{kite("a")}, []string{"kites.example.com"}, true, "goes with its custom resources: you named it"},
	} {
		t.Run(name, func(t *testing.T) {
			c := removalCluster(t, append(withoutSecrets(modern(t, "kite", definition("kites.example.com", false), "")...), test.more...)...)
			r := must.Value(UninstallExtension(t.Context(), c, UninstallOptions{Name: "kite", DeleteCRDs: test.named}))(t)
			text := shown(t, r)
			must.Contain(t, "text", text, "revision kite-1 cannot be read: its content is lost: Secret olm/", "kites.example.com", test.behind)
			must.NoError(t, r.Run(t.Context(), c, func(string) {}))
			if there(t, c, definition("kites.example.com", false)) == test.goes || there(t, c, &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kite"}}) {
				t.Error("it is not as was told")
			}
		})
	}
}

// TestLostContentOfDependency: it is no obstacle either that a dependency has lost its content.
func TestLostContentOfDependency(t *testing.T) {
	dependency := modern(t, "string", definition("kites.example.com", false), "")
	dependency[0].(*olmv1.ClusterExtension).Spec.Source.Catalog = &olmv1.CatalogFilter{PackageName: "string"}
	dependency[0].SetLabels(map[string]string{"operators.fairlead.dev/dependency": "true"})
	dependency[0].SetAnnotations(map[string]string{"operators.fairlead.dev/required-by": "kite"})
	r := must.Value(UninstallExtension(t.Context(), removalCluster(t, append(modern(t, "kite", nil, ""), withoutSecrets(dependency...)...)...), UninstallOptions{Name: "kite"}))(t)
	if len(r.Along) != 1 || len(r.Along[0].CRDs) != 1 || r.Along[0].CRDs[0].Name != "kites.example.com" {
		t.Errorf("what goes along is %+v, want string with its definition", r.Along)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "revision string-1 cannot be read: its content is lost") {
		t.Errorf("the warnings are %q", r.Warnings)
	}
}
