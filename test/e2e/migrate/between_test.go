package migrate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUpgradedBetween: F6 a Subscription that upgrades after a migration was planned, or after the command for it was killed, is not moved with
// what it had before: nothing is done, and the same command moves what there is now.
func TestUpgradedBetween(t *testing.T) {
	w := newWorld(t, nil, nil)
	key := client.ObjectKey{Namespace: w.name, Name: "greeter"}
	wish, quiet := migrate.Preferences{Name: w.name, Catalog: w.name}, func(string) {}
	old, err := w.mover(w.Client).Plan(t.Context(), key, wish)
	must.NoError(w, err)

	// Killed when the Subscription upgrades nothing by itself any more: somebody approves the next version.
	if err := w.mover(w.mortal(2)).Run(t.Context(), old, quiet); !errors.Is(err, errKilled) {
		t.Fatalf("%v, want that it is killed", err)
	}
	held := &v1alpha1.Subscription{}
	must.NoError(w, w.Get(t.Context(), key, held))
	must.Equal(t, "approval of upgrades", held.Spec.InstallPlanApproval, v1alpha1.ApprovalManual)
	w.publish("1.0.0", "1.1.0", "1.2.0")
	harness.Edit(t, w.Client, w.name, w.name, &v1alpha1.CatalogSource{}, func(c *v1alpha1.CatalogSource) { c.Spec.Image = w.image })
	harness.Edit(t, w.Client, "", w.name, &olmv1.ClusterCatalog{}, func(c *olmv1.ClusterCatalog) { c.Spec.Source.Image.Ref = w.image })
	// Let the InstallPlan of an upgrade be carried out.
	must.Eventually(w, "there is an upgrade to approve", func() error {
		var plans v1alpha1.InstallPlanList
		must.NoError(w, w.List(w.Context(), &plans, client.InNamespace(w.name)))
		for i := range plans.Items {
			if p := &plans.Items[i]; !p.Spec.Approved {
				p.Spec.Approved = true
				return w.Update(w.Context(), p)
			}
		}
		return fmt.Errorf("%d InstallPlans, all approved", len(plans.Items))
	})
	// Wait until the Subscription has a version, alone.
	must.Eventually(w, "the Subscription has "+"greeter-operator.v1.2.0", func() error {
		var csvs v1alpha1.ClusterServiceVersionList
		must.NoError(w, w.List(w.Context(), &csvs, client.InNamespace(w.name)))
		if len(csvs.Items) != 1 || csvs.Items[0].Name != "greeter-operator.v1.2.0" {
			return fmt.Errorf("%d ClusterServiceVersions", len(csvs.Items))
		}
		return nil
	})
	w.installed()
	before := w.workload()
	if v, err := w.mover(w.Client).Plan(t.Context(), key, wish); err == nil {
		err = w.mover(w.Client).Run(t.Context(), v, quiet)
		if err == nil {
			t.Fatal("it was moved with what it had before")
		}
	}
	w.untaken(before)

	// The plan of before is not carried out, and takes back that nothing upgrades.
	err = w.mover(w.Client).Run(t.Context(), old, quiet)
	var stale *ops.StaleError
	if !errors.As(err, &stale) || !strings.Contains(err.Error(), "has installed ClusterServiceVersion greeter-operator.v1.2.0") {
		t.Fatalf("%v, want what has changed", err)
	}
	w.untaken(before)
	sub := &v1alpha1.Subscription{}
	must.NoError(w, w.Get(t.Context(), key, sub))
	if sub.Spec.InstallPlanApproval != v1alpha1.ApprovalAutomatic || len(sub.Annotations) > 0 {
		t.Errorf("the Subscription has approval %s and annotations %v", sub.Spec.InstallPlanApproval, sub.Annotations)
	}

	must.Eventually(w, "what there is now can be moved", func() error { // the catalog of the v1 API is read, and the garbage collector is done
		v, err := w.mover(w.Client).Plan(t.Context(), key, wish)
		if err == nil && len(v.Refused) > 0 {
			err = errors.New(v.Refused[0])
		}
		if err != nil {
			return err
		}
		return w.mover(w.Client).Run(t.Context(), v, quiet)
	})
	w.extended("greeter-operator.v1.2.0")
	w.untouched(before)
}

// untaken: nobody has the operator but its Subscription.
func (w *world) untaken(before map[string]string) {
	w.Helper()
	w.untouched(before)
	if err := w.Get(w.Context(), client.ObjectKey{Name: w.name}, &olmv1.ClusterExtension{}); !apierrors.IsNotFound(err) {
		w.Errorf("the ClusterExtension is there: %v", err)
	}
	account := &corev1.ServiceAccount{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Namespace: w.name, Name: pkg}, account))
	for _, r := range account.OwnerReferences {
		if r.Kind != v1alpha1.ClusterServiceVersionKind {
			w.Errorf("the ServiceAccount belongs to %s %s", r.Kind, r.Name)
		}
	}
}
