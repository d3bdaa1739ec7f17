package manager

import (
	"fmt"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestInstallWithDependencyAndUpgrade(t *testing.T) {
	w := newWorld(t)
	provider := operator{pkg: "provider", version: "1.0.0", kind: "Thing"}
	dependent := operator{pkg: "dependent", version: "1.0.0", kind: "Other", requires: "Thing"}
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(provider, dependent)), w.subscribe("dependent"))
	w.succeeds("dependent.v1.0.0")
	w.succeeds("provider.v1.0.0")
	w.ready()
	if sub := w.subscription("dependent"); sub.Status.State != v1alpha1.SubscriptionStateAtLatest || sub.Status.InstalledCSV != "dependent.v1.0.0" {
		t.Errorf("status of the Subscription: %+v", sub.Status)
	}
	newProvider, newDependent := provider, dependent
	newProvider.version, newDependent.version = "1.1.0", "1.1.0"
	w.catalog(provider, newProvider, dependent, newDependent)
	w.succeeds("dependent.v1.1.0")
	w.succeeds("provider.v1.1.0")
	w.eventually("the replaced versions to go", func() error {
		for _, name := range []string{"dependent.v1.0.0", "provider.v1.0.0"} {
			if _, err := w.csv(name); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is still there, or cannot be read: %w", name, err)
			}
		}
		return nil
	})
	w.ready()
	// Check how many times the Deployment of an operator was rolled out: once a version.
	w.t.Helper()
	var d appsv1.Deployment
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "dependent"}, &d); err != nil {
		w.t.Fatal(err)
	}
	if got := d.Annotations["deployment.kubernetes.io/revision"]; got != fmt.Sprint(2) {
		w.t.Errorf("Deployment %s was rolled out %s times, want %d", "dependent", got, 2)
	}
}
