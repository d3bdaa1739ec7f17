package ops

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keptPlan is an InstallPlan of a generation, which a Subscription owns.
func keptPlan(generation int, owner string, change func(*v1alpha1.InstallPlan)) *v1alpha1.InstallPlan {
	n := string(rune('0' + generation))
	p := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-" + n, CreationTimestamp: metav1.NewTime(time.Date(2026, 1, generation, 8, 0, 0, 0, time.UTC))}}
	if owner != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: owner, UID: "uid-kite"}}
	}
	p.Spec = v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"kite.v" + n}, Approval: v1alpha1.ApprovalAutomatic, Approved: true, Generation: generation}
	p.Status.Phase = v1alpha1.InstallPlanPhaseComplete
	p.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "kite.v" + n, Path: "registry.example.com/kite:v" + n, Replaces: "kite.v" + string(rune('0'+generation-1)), CatalogSourceRef: &corev1.ObjectReference{Namespace: "olm", Name: "cat"}}}
	if change != nil {
		change(p)
	}
	return p
}

// TestSubscriptionHistory: the plans of a Subscription alone, the newest first, and what each was.
func TestSubscriptionHistory(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", UID: "uid-kite"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"}}
	sub.Status.InstalledCSV, sub.Status.InstallPlanRef = "kite.v2", &corev1.ObjectReference{Name: "install-4"}
	c := cluster(t, sub,
		keptPlan(1, "kite", nil),
		keptPlan(2, "", func(p *v1alpha1.InstallPlan) { // by hand, and of a bundle that is in the catalog
			p.Spec.Approval = v1alpha1.ApprovalManual
			p.Status.BundleLookups = nil
			p.Annotations = map[string]string{resolution.DecisionAnnotation: `{"namespace":"ops","outcome":{"install":[{"name":"kite.v2","catalog":"ops/mine"}]}}`}
		}),
		keptPlan(3, "kite", func(p *v1alpha1.InstallPlan) {
			p.Status.Phase = v1alpha1.InstallPlanPhaseFailed
			p.Status.Conditions = []v1alpha1.InstallPlanCondition{{Type: v1alpha1.InstallPlanInstalled, Status: corev1.ConditionFalse, Message: "no rights\nand more"}}
		}),
		keptPlan(4, "", func(p *v1alpha1.InstallPlan) {
			p.Spec.Approval, p.Spec.Approved = v1alpha1.ApprovalManual, false
			p.Status = v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseRequiresApproval, Plan: []*v1alpha1.Step{nil, {Resource: v1alpha1.StepResource{CatalogSource: "cat", CatalogSourceNamespace: "olm"}}}}
		}),
		keptPlan(5, "other", nil),
		keptPlan(6, "kite", func(p *v1alpha1.InstallPlan) { p.OwnerReferences[0].UID = "uid-of-an-older-one" }))
	h := must.Value(ReadSubscriptionHistory(t.Context(), c, client.ObjectKey{Namespace: "ops", Name: "kite"}))(t)
	var text strings.Builder
	must.NoError(t, h.Write(&text))
	must.Equal(t, "text", text.String(), `GENERATION  INSTALLPLAN  INSTALLS  CATALOG   APPROVAL          PHASE             CREATED              NOTE
4           install-4    kite.v4   olm/cat   Manual            RequiresApproval  2026-01-04 08:00:00  -
3           install-3    kite.v3   olm/cat   Automatic         Failed            2026-01-03 08:00:00  no rights
2           install-2    kite.v2   ops/mine  Manual, approved  Complete          2026-01-02 08:00:00  -
1           install-1    kite.v1   olm/cat   Automatic         Complete          2026-01-01 08:00:00  -
installed: kite.v2
`)
	must.Equal(t, "before", h.Before(), "")
	h.Installed = "kite.v3"
	must.Equal(t, "before what was installed last", h.Before(), "kite.v2")
	must.Equal(t, "bundles", h.Plans[3].Bundles, []string{"registry.example.com/kite:v1"})

	sub = &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}}
	h = must.Value(ReadSubscriptionHistory(t.Context(), cluster(t, sub), client.ObjectKeyFromObject(sub)))(t)
	text.Reset()
	must.NoError(t, h.Write(&text))
	must.Equal(t, "without plans", text.String(), "Subscription ops/kite has no InstallPlan any more, or none yet\n")
	_, err := ReadSubscriptionHistory(t.Context(), cluster(t), client.ObjectKeyFromObject(sub))
	must.Fail(t, "no Subscription", err, "read Subscription ops/kite")
}

// TestOpenPlan is one that waits or is carried out.
func TestOpenPlan(t *testing.T) {
	for phase, open := range map[v1alpha1.InstallPlanPhase]bool{v1alpha1.InstallPlanPhaseRequiresApproval: true, v1alpha1.InstallPlanPhaseInstalling: true,
		v1alpha1.InstallPlanPhaseComplete: false, v1alpha1.InstallPlanPhaseFailed: false} {
		objects := approvable(phase)
		plan := must.Value(OpenPlan(t.Context(), cluster(t, objects...), client.ObjectKeyFromObject(objects[0])))(t)
		must.Equal(t, string(phase), plan != nil, open)
		gone := must.Value(OpenPlan(t.Context(), cluster(t, objects[0]), client.ObjectKeyFromObject(objects[0])))(t)
		must.Equal(t, string(phase)+", gone", gone != nil, false)
	}
	_, err := OpenPlan(t.Context(), cluster(t), client.ObjectKey{Namespace: "ops", Name: "kite"})
	must.Fail(t, "no Subscription", err, "read Subscription ops/kite")
}
