package catalogtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// subscription is an operator that a Subscription installs, in a namespace of its own.
type subscription struct {
	*run
	pkg       string
	namespace string
	targets   []string
}

func (s *subscription) key() client.ObjectKey {
	return client.ObjectKey{Namespace: s.namespace, Name: s.pkg}
}

// take makes an edge happen, and waits until the operator runs.
func (s *subscription) take(ctx context.Context, e Edge) error {
	channel := s.edges.of(hopOf(e))
	if e.From == "" {
		if err := s.ask(ctx, channel); err != nil {
			return err
		}
	} else {
		sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.pkg}}
		patch := fmt.Sprintf(`{"spec":{"channel":%q}}`, channel)
		if err := s.client.Patch(ctx, sub, client.RawPatch(types.MergePatchType, []byte(patch)), fieldOwner); err != nil {
			return fmt.Errorf("choose channel %s of Subscription %s: %w", channel, s.key(), err)
		}
	}
	return s.await(ctx, func(ctx context.Context) (state, error) { return s.stands(ctx, e.To) })
}

// ask creates the Subscription, and the catalog and the OperatorGroup that it needs.
func (s *subscription) ask(ctx context.Context, channel string) error {
	from := s.namespace
	if s.Cluster.Own {
		from = manager.DefaultGlobalNamespace
	}
	for _, o := range []client.Object{
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "catalog-test"}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: s.targets}},
		&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.pkg}, Spec: &v1alpha1.SubscriptionSpec{
			CatalogSource: s.catalog, CatalogSourceNamespace: from, Package: s.pkg, Channel: channel, InstallPlanApproval: v1alpha1.ApprovalAutomatic,
		}},
	} {
		if err := s.create(ctx, o); err != nil {
			return err
		}
	}
	if s.Cluster.Own {
		return nil
	}
	_, _, err := ops.AddCatalog(ctx, s.client, ops.CatalogOptions{Namespace: s.namespace, Name: s.catalog, Image: s.image})
	return err
}

// stands is how far the Subscription is on its way to a ClusterServiceVersion.
func (s *subscription) stands(ctx context.Context, to string) (state, error) {
	var sub v1alpha1.Subscription
	if err := s.client.Get(ctx, s.key(), &sub); err != nil {
		return state{}, fmt.Errorf("read Subscription %s: %w", s.key(), err)
	}
	ready := sub.Status.GetCondition("Ready")
	seen := sub.Status.ObservedGeneration >= sub.Generation
	if seen && sub.Status.InstalledCSV == to && ready.Status == corev1.ConditionTrue {
		return state{done: true}, nil
	}
	now := state{reason: cmp.Or(ready.Reason, "Waiting") + ": " + cmp.Or(ready.Message, "the Subscription was not reconciled yet: is the manager running?")}
	now.final = seen && sub.Status.GetCondition(reconcile.TypeStalled).Status == corev1.ConditionTrue
	return now, nil
}

// brought are the objects that a bundle brings here.
func (s *subscription) brought(b *bundle.Bundle) (map[object]bool, error) {
	return broughtV0(b, s.namespace)
}

// remove uninstalls the operator with its CustomResourceDefinitions, and what it needed.
func (s *subscription) remove(ctx context.Context) error {
	var subs v1alpha1.SubscriptionList
	var csvs v1alpha1.ClusterServiceVersionList
	if err := s.client.List(ctx, &subs, client.InNamespace(s.namespace)); err != nil {
		return fmt.Errorf("list the Subscriptions of namespace %s: %w", s.namespace, err)
	}
	names := []string{s.pkg} // before what it needs
	for _, sub := range subs.Items {
		names = append(names, sub.Name)
	}
	for _, name := range unique(names) {
		if !slices.ContainsFunc(subs.Items, func(sub v1alpha1.Subscription) bool { return sub.Name == name }) {
			continue
		}
		if err := s.uninstall(ctx, ops.UninstallOptions{Name: name, Namespace: s.namespace}, ops.UninstallSubscription); err != nil {
			return err
		}
	}
	if err := s.client.List(ctx, &csvs, client.InNamespace(s.namespace)); err != nil {
		return fmt.Errorf("list the ClusterServiceVersions of namespace %s: %w", s.namespace, err)
	}
	for _, csv := range csvs.Items { // of an upgrade that failed there may be two
		if csv.DeletionTimestamp.IsZero() && !csv.IsCopied() {
			if err := s.uninstall(ctx, ops.UninstallOptions{Name: csv.Name, Namespace: s.namespace}, ops.UninstallSubscription); err != nil {
				return err
			}
		}
	}
	return nil
}

// back is not possible: of a Subscription there is no way back.
func (s *subscription) back(context.Context, Edge, func(context.Context) error) error { return nil }

// unique are the texts, each once.
func unique(texts []string) []string {
	var once []string
	for _, t := range texts {
		if !slices.Contains(once, t) {
			once = append(once, t)
		}
	}
	return once
}
