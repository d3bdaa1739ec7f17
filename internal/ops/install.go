package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InstallOptions say what to install where.
type InstallOptions struct {
	Package   string
	Namespace string
	// Channel is empty for any channel of the package, the default channel first.
	Channel     string
	StartingCSV string
	// Catalog is [NAMESPACE/]NAME of a CatalogSource; it may be empty when only one is in view of the namespace.
	Catalog string
	// GlobalNamespace holds the catalogs that every namespace can see.
	GlobalNamespace string
	Manual          bool
	// Targets are the namespaces that the operator is to watch, when the namespace has no OperatorGroup yet; none means all.
	Targets []string
}

// InstallPackage creates what is missing for the package to be installed. It returns a line for each object that it created.
func InstallPackage(ctx context.Context, c client.Client, o InstallOptions) (created []string, err error) {
	catalog, err := findCatalog(ctx, c, o)
	if err != nil {
		return nil, err
	}
	// Refuse to pass over a Subscription that asks for something else, and to add a second one to the same package: a namespace has at
	// most one operator of a package.
	var list v1alpha1.SubscriptionList
	if err := c.List(ctx, &list, client.InNamespace(o.Namespace)); err != nil {
		return nil, fmt.Errorf("list the Subscriptions of namespace %s: %w", o.Namespace, err)
	}
	for i := range list.Items {
		sub := &list.Items[i]
		samePackage := sub.Spec != nil && sub.Spec.Package == o.Package
		if !samePackage && sub.Name != o.Package || samePackage && sub.Name == o.Package && o.agrees(sub) {
			continue
		}
		return nil, fmt.Errorf("install package %s: there is Subscription %s/%s already, and it is not the one that would be created; "+
			"see it with: fairlead status -n %s; change it with: kubectl -n %s edit subscription %s; or delete it", o.Package, o.Namespace, sub.Name, o.Namespace, o.Namespace, sub.Name)
	}
	note := func(object client.Object, kind string) error {
		err := c.Create(ctx, object)
		switch {
		case apierrors.IsAlreadyExists(err):
			return nil
		case err != nil:
			return fmt.Errorf("create %s %s: %w", kind, strings.TrimPrefix(client.ObjectKeyFromObject(object).String(), "/"), err)
		}
		created = append(created, kind+" "+object.GetName())
		return nil
	}
	if err := note(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.Namespace}}, "Namespace"); err != nil {
		return created, err
	}
	var groups operatorsv1.OperatorGroupList
	if err := c.List(ctx, &groups, client.InNamespace(o.Namespace)); err != nil {
		return created, fmt.Errorf("list the OperatorGroups of namespace %s: %w", o.Namespace, err)
	}
	switch {
	case len(groups.Items) > 1:
		return created, fmt.Errorf("install package %s: namespace %s has %d OperatorGroups; delete all but one of them", o.Package, o.Namespace, len(groups.Items))
	case len(groups.Items) == 1 && len(o.Targets) > 0:
		return created, errors.New("the namespace has an OperatorGroup already, which says what operators watch; leave out --watch, or change OperatorGroup " + groups.Items[0].Name)
	case len(groups.Items) == 0:
		group := &operatorsv1.OperatorGroup{
			ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Namespace},
			Spec:       operatorsv1.OperatorGroupSpec{TargetNamespaces: o.Targets},
		}
		if err := note(group, operatorsv1.OperatorGroupKind); err != nil {
			return created, err
		}
	}
	approval := v1alpha1.ApprovalAutomatic
	if o.Manual {
		approval = v1alpha1.ApprovalManual
	}
	return created, note(&v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Package},
		Spec: &v1alpha1.SubscriptionSpec{
			CatalogSource: catalog.Name, CatalogSourceNamespace: catalog.Namespace,
			Package: o.Package, Channel: o.Channel, StartingCSV: o.StartingCSV, InstallPlanApproval: approval,
		},
	}, v1alpha1.SubscriptionKind)
}

// findCatalog returns the CatalogSource to subscribe to.
func findCatalog(ctx context.Context, c client.Client, o InstallOptions) (client.ObjectKey, error) {
	var inView []client.ObjectKey
	for _, namespace := range slices.Compact([]string{o.Namespace, o.GlobalNamespace}) {
		var list v1alpha1.CatalogSourceList
		if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return client.ObjectKey{}, fmt.Errorf("list the CatalogSources of namespace %s: %w", namespace, err)
		}
		for i := range list.Items {
			inView = append(inView, client.ObjectKeyFromObject(&list.Items[i]))
		}
	}
	var names []string
	for _, key := range inView {
		names = append(names, key.String())
	}
	there := cmp.Or(strings.Join(names, ", "), "none: create one first")
	if o.Catalog != "" {
		for _, key := range inView {
			if o.Catalog == key.String() || o.Catalog == key.Name {
				return key, nil
			}
		}
		return client.ObjectKey{}, fmt.Errorf("install package %s: there is no CatalogSource %s in view of namespace %s; there is %s",
			o.Package, o.Catalog, o.Namespace, there)
	}
	if len(inView) != 1 {
		return client.ObjectKey{}, fmt.Errorf("install package %s: name the CatalogSource with --catalog; in view of namespace %s there is %s",
			o.Package, o.Namespace, there)
	}
	return inView[0], nil
}

// agrees tells whether a Subscription to the package says what the options ask for, as far as they do.
func (o InstallOptions) agrees(sub *v1alpha1.Subscription) bool {
	spec := sub.Spec
	catalog := spec.CatalogSourceNamespace + "/" + spec.CatalogSource
	return (o.Channel == "" || spec.Channel == o.Channel) &&
		(o.StartingCSV == "" || spec.StartingCSV == o.StartingCSV) &&
		(o.Catalog == "" || o.Catalog == catalog || o.Catalog == spec.CatalogSource) &&
		(!o.Manual || sub.InstallPlanApproval() == v1alpha1.ApprovalManual)
}
