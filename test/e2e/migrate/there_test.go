package migrate

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestThereAndBack: F6 an operator with a configuration of its Subscription becomes a ClusterExtension and a Subscription again, and neither
// way its pods are restarted.
func TestThereAndBack(t *testing.T) {
	w := newWorld(t, nil, func(s *v1alpha1.Subscription) {
		s.Spec.Config = &v1alpha1.SubscriptionConfig{Env: []corev1.EnvVar{{Name: "COLOUR", Value: "blue"}}}
	})
	before := w.workload()
	roles := w.rolesOfCSVs()
	w.says(0, []string{"Adopted as they run", "Deployment", ".spec.template.metadata.annotations", "Removed:", "Secret olm/fairlead-migration-" + w.name + ".greeter"},
		"migrate", "greeter", "--name", w.name, "--catalog", w.name, "--dry-run")
	w.untouched(before)
	if out, code := w.fairlead("n\n", "migrate", "greeter", "--name", w.name, "--catalog", w.name); code != 3 || !strings.Contains(out, "Nothing was changed") {
		t.Errorf("without a yes: exit code %d", code)
	}

	w.says(0, []string{"fairlead migrate --undo " + w.name}, "migrate", "greeter", "--name", w.name, "--catalog", w.name, "--yes")
	w.extended("greeter-operator.v1.1.0")
	time.Sleep(3 * time.Second) // for what should not happen
	w.untouched(before)
	if left := w.leftOfV0(); len(left) > 0 {
		t.Errorf("of the v0 API is left:\n%s", strings.Join(left, "\n"))
	}
	w.says(0, []string{"already"}, "migrate", "greeter")

	w.says(0, []string{"Given back as they run"}, "migrate", "--undo", w.name, "--dry-run")
	w.says(0, []string{"has its operator back"}, "migrate", "--undo", w.name, "--yes")
	w.gone()
	w.installed()
	time.Sleep(3 * time.Second) // for what should not happen
	w.untouched(before)
	must.Equal(t, "roles and bindings of the ClusterServiceVersion", w.rolesOfCSVs(), roles)
	sub := &v1alpha1.Subscription{}
	must.NoError(w, w.Get(t.Context(), client.ObjectKey{Namespace: w.name, Name: "greeter"}, sub))
	if sub.Spec.InstallPlanApproval != v1alpha1.ApprovalAutomatic || sub.Spec.Config == nil || len(sub.Annotations) > 0 {
		t.Errorf("the Subscription is %+v, with annotations %v", sub.Spec, sub.Annotations)
	}
}
