package installplan

import (
	"context"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// behind is a cache that has not heard of the service account of the OperatorGroup.
type behind struct{ client.Client }

func (b behind) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := b.Client.List(ctx, list, opts...)
	if groups, ok := list.(*operatorsv1.OperatorGroupList); ok {
		for i := range groups.Items {
			groups.Items[i].Spec.ServiceAccountName = ""
		}
	}
	return err
}

// TestNewServiceAccountLimitsAtOnce has a plan carried out just when its OperatorGroup got a service account: nothing may be done with
// the permissions of the manager then.
func TestNewServiceAccountLimitsAtOnce(t *testing.T) {
	w := newWorld(t, wholePlan(t), pullSecret())
	group := &operatorsv1.OperatorGroup{}
	w.get(t, group, "ns", "group")
	group.Spec.ServiceAccountName = "limited"
	if err := w.Update(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	w.controller.client = behind{w.WithWatch}
	if p := w.settle(t, time.Minute); p.Status.Phase == v1alpha1.InstallPlanPhaseComplete {
		t.Error("it was carried out with the permissions of the manager")
	}
	if w.get(t, &corev1.Service{}, "ns", "web") {
		t.Error("the Service was made")
	}
}

// TestAccountIsOfTheNamespace has a status that names the account of another namespace.
func TestAccountIsOfTheNamespace(t *testing.T) {
	for name, namespace := range map[string]string{"another": "kube-system", "none": ""} {
		t.Run(name, func(t *testing.T) {
			group := operatorsv1.OperatorGroup{}
			group.Namespace, group.Name, group.Spec.ServiceAccountName, group.Status.Namespaces = "ns", "group", "sa", []string{"ns"}
			group.Status.ServiceAccountRef = &corev1.ObjectReference{Kind: "ServiceAccount", Namespace: namespace, Name: "sa"}
			if ref, problem := accountOf([]operatorsv1.OperatorGroup{group}); problem != "" || ref.Namespace != "ns" {
				t.Errorf("account %v, problem %q", ref, problem)
			}
		})
	}
}
