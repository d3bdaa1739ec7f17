package installplan

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// failedPlan is one that a service account limited, made for Subscriptions with these UIDs.
func failedPlan(name string, generation int, message string, owners ...types.UID) *v1alpha1.InstallPlan {
	p := newPlan()
	p.Name, p.UID, p.Spec.Generation = name, types.UID(name), generation
	p.Status.Phase, p.Status.Message, p.Status.AttenuatedServiceAccountRef = v1alpha1.InstallPlanPhaseFailed, message, account
	for _, uid := range owners {
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: string(uid), UID: uid})
	}
	return p
}

// TestWhichFailedPlansAreRevived has failed plans in a namespace while something changes that may limit them.
func TestWhichFailedPlansAreRevived(t *testing.T) {
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "any"}}
	clusterRole := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "any"}}
	const denied = `create Service ns/web: services is forbidden: User "system:serviceaccount:ns:limited" cannot create resource "services"`
	under := failedPlan("under", 1, "", "a")
	under.Status.Phase = v1alpha1.InstallPlanPhaseInstalling
	unlimited := failedPlan("unlimited", 3, "boom", "a")
	unlimited.Status.AttenuatedServiceAccountRef = nil
	younger := failedPlan("younger", 1, "boom", "a")
	younger.CreationTimestamp = *at(time.Minute)
	tests := map[string]struct {
		plans   []client.Object
		changed client.Object
		revived []string
	}{
		"the newest of a Subscription":             {[]client.Object{failedPlan("one", 1, "boom", "a"), failedPlan("two", 2, "boom", "a")}, role, []string{"two"}},
		"none when the newest is complete":         {[]client.Object{failedPlan("one", 1, "boom", "a"), completePlan("two", 2, "a")}, role, nil},
		"none when the newest is not limited":      {[]client.Object{failedPlan("one", 1, "boom", "a"), unlimited}, role, nil},
		"the younger of one generation":            {[]client.Object{failedPlan("one", 1, "boom", "a"), younger}, role, []string{"younger"}},
		"one of several Subscriptions has a newer": {[]client.Object{failedPlan("one", 1, "boom", "a", "b"), failedPlan("two", 2, "boom", "b")}, role, []string{"two"}},
		"the newest of each Subscription":          {[]client.Object{failedPlan("one", 1, "boom", "a"), failedPlan("two", 2, "boom", "b")}, role, []string{"one", "two"}},
		"those that people wrote":                  {[]client.Object{failedPlan("one", 0, "boom"), failedPlan("two", 0, "boom")}, role, []string{"one", "two"}},
		"what the whole cluster did not deny":      {[]client.Object{failedPlan("one", 1, "boom", "a")}, clusterRole, nil},
		"what the whole cluster may have denied":   {[]client.Object{failedPlan("one", 1, denied, "a")}, clusterRole, []string{"one"}},
		"what is under way is looked at":           {[]client.Object{under}, clusterRole, []string{"under"}},
		"nothing of another namespace":             {[]client.Object{failedPlan("one", 1, "boom", "a")}, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere"}}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, deepCopies(tc.plans)...)
			requests := w.watcher().limitedBy(t.Context(), tc.changed)
			want := map[string]bool{}
			for _, name := range tc.revived {
				want[name] = true
			}
			for _, r := range requests {
				if !want[r.Name] {
					t.Errorf("%s is revived", r.Name)
				}
				if !w.controller.memory.nudged(r.NamespacedName) {
					t.Errorf("%s stays failed", r.Name)
				}
				delete(want, r.Name)
			}
			for name := range want {
				t.Errorf("%s is not revived", name)
			}
		})
	}
}

func completePlan(name string, generation int, owners ...types.UID) *v1alpha1.InstallPlan {
	p := failedPlan(name, generation, "", owners...)
	p.Status.Phase = v1alpha1.InstallPlanPhaseComplete
	return p
}

// TestAFailedPlanIsNotRevivedOverWhatIsInstalled has an old plan that failed, a newer version that another plan installed since, and then a
// change of RBAC. A ClusterRole of somebody else does not wake the plan; and if something wakes it, it still installs nothing.
func TestAFailedPlanIsNotRevivedOverWhatIsInstalled(t *testing.T) {
	for name, changed := range map[string]client.Object{
		"a ClusterRole": &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "of-somebody-else"}},
		"a Role":        &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "any"}},
		"an account":    &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "any"}},
	} {
		t.Run(name, func(t *testing.T) {
			old := failedPlan("plan", 1, "boom", "s")
			old.Status.Plan = newPlan(step(t, csvYAML), step(t, withVersions("v1 served"))).Status.Plan
			w := limitedWorld(t, func(string) error { return nil }, old, csv("ns", "op.v2", "op.v1", "widgets.example.com"), liveCRD(t, "v2, v1 served", "v1"))
			w.watcher().limitedBy(t.Context(), changed)
			p := w.settle(t, time.Hour)
			if p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1") {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			w.get(t, crd, "", "widgets.example.com")
			must.Equal(t, "the CRD went back", len(crd.Spec.Versions), 2)
		})
	}
}
