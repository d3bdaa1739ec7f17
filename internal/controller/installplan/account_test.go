package installplan

import (
	"context"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// behind is a cache that has not heard of the service account of the OperatorGroup.
type behind struct{ client.Client }

func (b behind) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := b.Client.List(ctx, list, opts...)
	if groups, ok := list.(*operatorsv1.OperatorGroupList); ok {
		for i := range groups.Items {
			groups.Items[i].Spec.ServiceAccountName, groups.Items[i].ResourceVersion = "", "1"
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
	must.NoError(t, w.Inner.Update(t.Context(), group))
	w.controller.client = behind{w.WithWatch}
	if p := w.settle(t, time.Minute); p.Status.Phase == v1alpha1.InstallPlanPhaseComplete {
		t.Error("it was carried out with the permissions of the manager")
	}
	if w.get(t, &corev1.Service{}, "ns", "web") {
		t.Error("the Service was made")
	}
}

// counting counts the lists of OperatorGroups that the API server is asked for.
type counting struct {
	client.Reader
	lists int
}

func (r *counting) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*operatorsv1.OperatorGroupList); ok {
		r.lists++
	}
	return r.Reader.List(ctx, list, opts...)
}

// TestGroupsAreConfirmedOnce: the API server is asked again only when the cache shows another group than it did.
func TestGroupsAreConfirmedOnce(t *testing.T) {
	w := newWorld(t, wholePlan(t), pullSecret())
	live := &counting{Reader: w.WithWatch}
	w.controller.live = live
	look := func(want int) {
		t.Helper()
		for range 3 {
			must.Value(w.controller.observe(t.Context(), w.plan(t, "plan")))(t)
		}
		must.Equal(t, "the API server was asked", live.lists, want)
	}
	look(1)
	group := &operatorsv1.OperatorGroup{}
	w.get(t, group, "ns", "group")
	group.Annotations = map[string]string{v1alpha1.ProvidedAPIsAnnotation: "Thing.v1.example.com"} // as every operator that comes lists
	must.NoError(t, w.Inner.Update(t.Context(), group))
	look(1)
	group.Spec.ServiceAccountName = "limited"
	must.NoError(t, w.Inner.Update(t.Context(), group))
	look(2)
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
