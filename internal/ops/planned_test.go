package ops

import (
	"context"
	"errors"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// planned is a cluster with an operator that was planned to be moved.
type planned struct {
	*testing.T
	client.Client
	mover *Mover
	move  *Move
	sub   *v1alpha1.Subscription
	csv   *v1alpha1.ClusterServiceVersion
	// patched is called after the first patch.
	patched func()
}

// record is that of the planned migration.
func (p *planned) record() record { return p.mover.record(p.move.Backup) }

func newPlanned(t *testing.T) *planned {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, rbacv1.AddToScheme, olmv1.AddToScheme, v1alpha1.AddToScheme, operatorsv1.AddToScheme} {
		must.NoError(t, add(scheme))
	}
	p := &planned{T: t}
	p.sub = &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", UID: "s"},
		Spec:   &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable", InstallPlanApproval: v1alpha1.ApprovalAutomatic},
		Status: v1alpha1.SubscriptionStatus{InstalledCSV: "kite.v1", CurrentCSV: "kite.v1"}}
	p.csv = &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite.v1", UID: "c", Generation: 1}, Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded}}
	p.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(p.sub, p.csv, account("a"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}}).
		WithInterceptorFuncs(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			err := c.Patch(ctx, o, patch, options...)
			if then := p.patched; then != nil {
				p.patched = nil
				then()
			}
			return err
		}}).Build()
	p.mover = &Mover{Client: p.Client, Namespace: "olm"}
	key := client.ObjectKeyFromObject(p.sub)
	b := &migrate.Backup{CSV: migrate.CSV{Namespace: "ops", Name: "kite.v1"}, Subscription: p.live(v1alpha1.SubscriptionKind, "kite"), Version: p.live(v1alpha1.ClusterServiceVersionKind, "kite.v1"),
		Extension: &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "kite", Annotations: map[string]string{migrate.AdoptsKey: "ops/kite.v1"}}, Spec: olmv1.ClusterExtensionSpec{Namespace: "ops",
			Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "kite", Version: "1.0.0"}}}}}
	found := must.Value(access{p.Client}.read(t.Context(), migrate.Ref{APIVersion: "v1", Kind: "ServiceAccount", Namespace: "ops", Name: "kite"}))(t)
	b.Adopted = []*unstructured.Unstructured{migrate.Keep(found, false)}
	p.move = &Move{Plan: summary(b, p.mover.secretKey(key)), Backup: b, key: p.mover.secretKey(key)}
	return p
}

// account is a ServiceAccount of the operator.
func account(uid types.UID) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", UID: uid, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: "kite.v1", UID: "c"}}}}
}

func (p *planned) live(kind, name string) *unstructured.Unstructured {
	p.Helper()
	u, err := access{p.Client}.read(p.Context(), migrate.Ref{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Namespace: "ops", Name: name})
	if err != nil || u == nil {
		p.Fatalf("%s %s: %v", kind, name, err)
	}
	return u
}

func (p *planned) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// upgrade is what an Automatic Subscription does.
func (p *planned) upgrade() {
	p.must(p.Create(p.Context(), &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite.v2", UID: "c2"}, Spec: v1alpha1.ClusterServiceVersionSpec{Replaces: "kite.v1"}}))
	p.editSubscription(func(s *v1alpha1.Subscription) { s.Status.InstalledCSV, s.Status.CurrentCSV = "kite.v2", "kite.v2" })
}

func (p *planned) editSubscription(change func(*v1alpha1.Subscription)) {
	p.Helper()
	s := &v1alpha1.Subscription{}
	p.must(p.Get(p.Context(), client.ObjectKeyFromObject(p.sub), s))
	change(s)
	p.must(p.Update(p.Context(), s))
}

func (p *planned) replace(o client.Object) {
	p.Helper()
	p.must(client.IgnoreNotFound(p.Delete(p.Context(), o.DeepCopyObject().(client.Object))))
	p.must(p.Create(p.Context(), o))
}

func (p *planned) plan(approved bool) {
	p.must(p.Create(p.Context(), &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-x", OwnerReferences: []metav1.OwnerReference{{UID: "s"}}},
		Spec: v1alpha1.InstallPlanSpec{Approved: approved, ClusterServiceVersionNames: []string{"kite.v2"}}}))
	p.editSubscription(func(s *v1alpha1.Subscription) { s.Status.CurrentCSV = "kite.v2" })
}

// TestNothingIsDoneThatWasNotPlanned: what changes before the Subscription is frozen, or at that moment, stops a migration, which leaves no trace.
func TestNothingIsDoneThatWasNotPlanned(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*planned)
		told   string
	}{
		"an upgrade":           {(*planned).upgrade, "has installed ClusterServiceVersion kite.v2"},
		"an upgrade under way": {func(p *planned) { p.plan(true) }, "InstallPlan ops/install-x is being carried out"},
		"an upgrade to come": {func(p *planned) {
			p.editSubscription(func(s *v1alpha1.Subscription) { s.Status.CurrentCSV = "kite.v2" })
		}, "continues to ClusterServiceVersion kite.v2"},
		"another version of that name": {func(p *planned) {
			again := p.csv.DeepCopy()
			again.UID, again.ResourceVersion = "c3", ""
			p.replace(again)
		}, "ClusterServiceVersion ops/kite.v1 was deleted and made again"},
		"another Subscription": {func(p *planned) {
			again := p.sub.DeepCopy()
			again.UID, again.ResourceVersion = "s2", ""
			p.replace(again)
		}, "Subscription ops/kite is another one"},
		"no version":      {func(p *planned) { p.must(p.Delete(p.Context(), p.csv)) }, "ClusterServiceVersion ops/kite.v1 is gone"},
		"no Subscription": {func(p *planned) { p.must(p.Delete(p.Context(), p.sub)) }, "Subscription ops/kite is gone"},
		"a configuration": {func(p *planned) {
			p.editSubscription(func(s *v1alpha1.Subscription) {
				s.Spec.Config = &v1alpha1.SubscriptionConfig{NodeSelector: map[string]string{"a": "b"}}
			})
		}, "another client has changed the spec of Subscription ops/kite"},
		"a ServiceAccount":          {func(p *planned) { p.replace(account("b")) }, "ServiceAccount ops/kite was deleted and made again"},
		"no ServiceAccount":         {func(p *planned) { p.must(p.Delete(p.Context(), account("a"))) }, "ServiceAccount ops/kite is gone"},
		"somebody's ServiceAccount": {func(p *planned) { a := account("a"); a.OwnerReferences = nil; p.must(p.Update(p.Context(), a)) }, "cannot be adopted any more: nothing says"},
	} {
		for when, frozen := range map[string]bool{"before": false, "at the moment": true} {
			if frozen && (strings.Contains(test.told, "is another one") || strings.Contains(test.told, "Subscription ops/kite is gone")) {
				continue // then nothing is frozen
			}
			t.Run(name+", "+when, func(t *testing.T) {
				p := newPlanned(t)
				if p.patched = func() {
					p.must(p.Create(p.Context(), &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-waiting", OwnerReferences: []metav1.OwnerReference{{UID: "s"}}}}))
					test.change(p)
				}; !frozen {
					p.patched = nil
					test.change(p)
				}
				err := p.mover.Run(t.Context(), p.move, func(string) {})
				var stale *StaleError
				if !errors.As(err, &stale) || !strings.Contains(err.Error(), test.told) {
					t.Fatalf("%v, want %q", err, test.told)
				}
				sub := &v1alpha1.Subscription{}
				if err := p.Get(t.Context(), client.ObjectKeyFromObject(p.sub), sub); err == nil && (sub.Spec.InstallPlanApproval != v1alpha1.ApprovalAutomatic || len(sub.Annotations) > 0) {
					t.Errorf("the Subscription has approval %s and annotations %v", sub.Spec.InstallPlanApproval, sub.Annotations)
				}
				if err := p.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "install-waiting"}, &v1alpha1.InstallPlan{}); frozen && !apierrors.IsNotFound(err) {
					t.Errorf("the InstallPlan that was made meanwhile: %v", err)
				}
				if err := p.Get(t.Context(), client.ObjectKey{Name: "kite"}, &olmv1.ClusterExtension{}); !apierrors.IsNotFound(err) {
					t.Errorf("the ClusterExtension: %v", err)
				}
				if err := p.Get(t.Context(), p.move.key, &corev1.Secret{}); !apierrors.IsNotFound(err) {
					t.Errorf("the backup: %v", err)
				}
			})
		}
	}
}

// TestNothingIsRetiredThatHasChanged: once the ClusterExtension has the objects, the version that was planned to go still has to be that.
func TestNothingIsRetiredThatHasChanged(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*planned)
		told   string // empty when it is retired
	}{
		"nothing":                        {func(*planned) {}, ""},
		"a plan that waits for approval": {func(p *planned) { p.plan(false) }, ""},
		"an upgrade":                     {(*planned).upgrade, "has installed ClusterServiceVersion kite.v2\nClusterExtension kite has its objects"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlanned(t)
			p.must(p.mover.save(t.Context(), p.move))
			p.must(approval{p.record()}.freeze(t.Context()))
			p.must(adoption{p.record()}.create(t.Context()))
			test.change(p)
			err := adoption{p.record()}.retire(t.Context())
			if (err == nil) != (test.told == "") || err != nil && !strings.Contains(err.Error(), test.told) {
				t.Errorf("%v, want %q", err, test.told)
			}
			if retired := p.live(v1alpha1.ClusterServiceVersionKind, "kite.v1").GetDeletionTimestamp() != nil; retired != (test.told == "") {
				t.Errorf("the ClusterServiceVersion is being deleted: %v", retired)
			}
			if test.told == "" { // again it is found to be so
				p.must(adoption{p.record()}.retire(t.Context()))
			}
		})
	}
}
