package operations

import (
	"fmt"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// laterField is one that a newer version has in the spec of its kinds.
const laterField = "laterField"

// later are the objects that have the field, by the name of their definition.
var later = map[string]struct{ apiVersion, kind, namespace, name string }{
	"subscriptions.operators.coreos.com":         {"operators.coreos.com/v1alpha1", "Subscription", "books", "guestbook"},
	"catalogsources.operators.coreos.com":        {"operators.coreos.com/v1alpha1", "CatalogSource", "olm", "samples"},
	"operatorgroups.operators.coreos.com":        {"operators.coreos.com/v1", "OperatorGroup", "books", "all"},
	"clusterextensions.olm.operatorframework.io": {"olm.operatorframework.io/v1", "ClusterExtension", "", "ledger"},
	"clustercatalogs.olm.operatorframework.io":   {"olm.operatorframework.io/v1", "ClusterCatalog", "", "ledgers"},
}

// TestDowngrade: a manager that works with definitions of a newer version leaves the fields that it does not know, and continues with what is installed. It
// loses them when it brings its own definitions back.
func TestDowngrade(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	harness.Apply(t.Context(), t, c, harness.Kustomized(t, config))
	stop := c.run()
	harness.Apply(t.Context(), t, c, harness.Kustomized(t, filepath.Join(config, "defaults")))
	c.installBoth()
	c.isWhole()
	stop()
	for name := range later {
		c.defineLater(name)
	}
	for name := range later {
		c.setLater(name)
	}
	stop = c.runBeside()
	c.approve("guestbook-operator.v1.2.0") // an upgrade, in which it writes most kinds
	c.In("books").Succeeds("guestbook-operator.v1.2.0")
	c.extensionRuns("ledger", "1.0.0")
	for name := range later {
		must.NoError(t, c.hasLater(name))
	}
	stop()
	must.NoError(t, manager.InstallCRDs(t.Context(), c.admin))
	must.Eventually(t, "the field to be gone with its definition", func() error {
		if err := c.hasLater("subscriptions.operators.coreos.com"); err == nil {
			return fmt.Errorf("Subscription guestbook has it")
		}
		return nil
	})
}

// defineLater adds the field to all versions of a definition.
func (c *cluster) defineLater(name string) {
	c.Helper()
	harness.Edit(c, c, "", name, &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		for i := range crd.Spec.Versions {
			spec := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
			spec.Properties[laterField] = apiextensionsv1.JSONSchemaProps{Type: "string"}
			crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"] = spec
		}
	})
}

// setLater gives the object of a definition the field, as soon as the API server keeps it.
func (c *cluster) setLater(name string) {
	c.Helper()
	must.Eventually(c, "the API server to keep a new field of "+name, func() error {
		o := c.ofLater(name)
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"`+laterField+`":"kept"}}`))
		if err := c.Patch(c.Context(), o, patch); err != nil {
			return err
		}
		return c.hasLater(name)
	})
}

func (c *cluster) ofLater(name string) *unstructured.Unstructured {
	of := later[name]
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(of.apiVersion)
	o.SetKind(of.kind)
	o.SetNamespace(of.namespace)
	o.SetName(of.name)
	return o
}

func (c *cluster) hasLater(name string) error {
	o := c.ofLater(name)
	if err := c.Get(c.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	if value, _, _ := unstructured.NestedString(o.Object, "spec", laterField); value != "kept" {
		return fmt.Errorf("%s %s has no spec.%s", o.GetKind(), o.GetName(), laterField)
	}
	return nil
}
