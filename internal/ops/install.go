package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InstallOptions say what to install where.
type InstallOptions struct {
	Package   string
	Namespace string
	// Channel is empty where none is asked for: DefaultChannel is written then, and an existing Subscription agrees whichever it follows.
	Channel, DefaultChannel string
	StartingCSV             string
	// Catalog is [NAMESPACE/]NAME of a CatalogSource; it may be empty when only one is in view of the namespace.
	Catalog string
	// Offered are the catalogs that are known to have the package, each as NAMESPACE/NAME: they need not be looked for, which not every user may do.
	Offered []string
	// GlobalNamespace holds the catalogs that every namespace can see.
	GlobalNamespace string
	Manual          bool
	// Targets are the namespaces that the operator is to watch, when the namespace has no OperatorGroup yet; none means all, or the namespace alone
	// where its Modes allow no more.
	Targets []string
	// Modes are the install modes that the operator supports; none where that is not known.
	Modes []string
	// DryRun lets the API server check the objects, and writes nothing.
	DryRun bool
}

// AskedSubscription is what came of asking for a package by a Subscription.
type AskedSubscription struct {
	Subscription *v1alpha1.Subscription
	// Objects are those that are missing, in the order in which they are created.
	Objects []client.Object
	// Created has a line for each object that was created, or would be.
	Created []string
	// Notes are what does not stand in the way and should be known.
	Notes []string
}

// PlanPackage finds out what is missing for the package to be installed, and writes nothing: its namespace, an OperatorGroup and a Subscription. What
// stands in the way is an error that says so.
func PlanPackage(ctx context.Context, c client.Client, o InstallOptions) (AskedSubscription, error) {
	var a AskedSubscription
	catalog, err := findCatalog(ctx, c, o)
	if err != nil {
		return a, err
	}
	if a.Subscription, err = o.existing(ctx, c); err != nil {
		return a, err
	}
	missing, err := o.noNamespace(ctx, c)
	if err != nil {
		return a, err
	}
	group, err := o.group(ctx, c)
	if err != nil {
		return a, err
	}
	if missing {
		a.Objects = append(a.Objects, &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: o.Namespace}})
	}
	if group != nil {
		a.Objects = append(a.Objects, group)
	}
	if group != nil && o.alone() {
		a.Notes = append(a.Notes, fmt.Sprintf("the operator supports no operation in all namespaces: it is to watch namespace %s alone", o.Namespace))
	}
	if a.Subscription == nil {
		a.Subscription = o.subscription(catalog)
		a.Objects = append(a.Objects, a.Subscription)
	}
	return a, nil
}

// InstallPackage creates what is missing for the package to be installed. What stands in the way is an error that says so, before anything is written.
func InstallPackage(ctx context.Context, c client.Client, o InstallOptions) (AskedSubscription, error) {
	a, err := PlanPackage(ctx, c, o)
	if err != nil {
		return a, err
	}
	missing := false // is the namespace
	for _, object := range a.Objects {
		_, is := object.(*corev1.Namespace)
		if err := o.create(ctx, c, &a, object, is || !missing); err != nil {
			return a, err
		}
		if missing = missing || is; is && o.DryRun {
			a.Notes = append(a.Notes, fmt.Sprintf("the API server has not checked what would be created in namespace %s, because that does not exist yet", o.Namespace))
		}
	}
	return a, nil
}

// create creates an object, and notes that. A dry run asks the API server only where it can answer: checked.
func (o InstallOptions) create(ctx context.Context, c client.Client, a *AskedSubscription, object client.Object, checked bool) error {
	var options []client.CreateOption
	if o.DryRun {
		options = append(options, client.DryRunAll)
	}
	kind := object.GetObjectKind().GroupVersionKind().Kind // the answer of the API server may have none
	if !o.DryRun || checked {
		err := c.Create(ctx, object, options...)
		switch {
		case apierrors.IsAlreadyExists(err): // since it was looked for
			return nil
		case apierrors.IsForbidden(err) && kind != v1alpha1.SubscriptionKind:
			return fmt.Errorf("install package %s: it needs %s %s, which is missing, and you may not create it: ask an administrator of the cluster to do so, then try again: %w",
				o.Package, kind, strings.TrimPrefix(client.ObjectKeyFromObject(object).String(), "/"), err)
		case err != nil:
			return fmt.Errorf("create %s %s: %w", kind, strings.TrimPrefix(client.ObjectKeyFromObject(object).String(), "/"), err)
		}
	}
	a.Created = append(a.Created, kind+" "+object.GetName())
	return nil
}

// existing is the Subscription of the package that is there already; nil when there is none. It refuses to pass over one that asks for something
// else, and to add a second one to the same package: a namespace has at most one operator of a package.
func (o InstallOptions) existing(ctx context.Context, c client.Client) (*v1alpha1.Subscription, error) {
	var list v1alpha1.SubscriptionList
	if err := c.List(ctx, &list, client.InNamespace(o.Namespace)); err != nil {
		return nil, fmt.Errorf("list the Subscriptions of namespace %s: %w", o.Namespace, err)
	}
	var found *v1alpha1.Subscription
	for i := range list.Items {
		sub := &list.Items[i]
		samePackage := sub.Spec != nil && sub.Spec.Package == o.Package
		switch {
		case !samePackage && sub.Name != o.Package:
		case samePackage && sub.Name == o.Package && o.agrees(sub):
			found = sub
		default:
			change := fmt.Sprintf("kubectl -n %s edit subscription %s", o.Namespace, sub.Name)
			if samePackage && o.Channel != "" && sub.Spec.Channel != o.Channel {
				change = fmt.Sprintf("fairlead upgrade %s -n %s --channel %s", sub.Name, o.Namespace, o.Channel)
			}
			return nil, &messages.AskedError{Lack: messages.NotNow, Part: messages.OfExisting,
				Text:    fmt.Sprintf("install package %s: there is Subscription %s/%s already, and it is not the one that would be created", o.Package, o.Namespace, sub.Name),
				Command: fmt.Sprintf("see it with: fairlead status %[2]s -n %[1]s; change it with: %[3]s; or remove it with: fairlead uninstall %[2]s -n %[1]s", o.Namespace, sub.Name, change)}
		}
	}
	return found, nil
}

// noNamespace reports whether the namespace has to be created.
func (o InstallOptions) noNamespace(ctx context.Context, c client.Client) (bool, error) {
	err := c.Get(ctx, client.ObjectKey{Name: o.Namespace}, &corev1.Namespace{})
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err == nil || apierrors.IsForbidden(err): // a user who may not look may yet be right
		return false, nil
	}
	return false, fmt.Errorf("look for namespace %s: %w", o.Namespace, err)
}

// group is the OperatorGroup to create; nil where the namespace has one.
func (o InstallOptions) group(ctx context.Context, c client.Client) (*operatorsv1.OperatorGroup, error) {
	var groups operatorsv1.OperatorGroupList
	if err := c.List(ctx, &groups, client.InNamespace(o.Namespace)); err != nil {
		return nil, fmt.Errorf("list the OperatorGroups of namespace %s: %w", o.Namespace, err)
	}
	switch {
	case len(groups.Items) > 1:
		return nil, &messages.AskedError{Lack: messages.NotNow, Part: messages.OfPlace, Text: fmt.Sprintf("install package %s: namespace %s has %d OperatorGroups", o.Package, o.Namespace, len(groups.Items)),
			Command: "delete all but one of them"}
	case len(groups.Items) == 1 && len(o.Targets) > 0:
		return nil, &messages.AskedError{Lack: messages.NotNow, Part: messages.OfTargets, Text: "the namespace has an OperatorGroup already, which says what operators watch: " + groups.Items[0].Name,
			Command: "leave out --watch, or change that OperatorGroup"}
	case len(groups.Items) == 1:
		return nil, nil
	case o.alone():
		o.Targets = []string{o.Namespace}
	case o.Namespace == metav1.NamespaceDefault && len(o.Targets) == 0:
		return nil, &messages.AskedError{Lack: messages.NotFit, Part: messages.OfPlace,
			Text:    fmt.Sprintf("install package %s: namespace default has no OperatorGroup, and none that selects all namespaces is created there, because every operator that is ever put into it would watch them all", o.Package),
			Command: "choose another namespace with -n, such as " + DefaultNamespace + ", or say with --watch what the operator is to watch"}
	}
	return &operatorsv1.OperatorGroup{
		TypeMeta:   metav1.TypeMeta{APIVersion: operatorsv1.GroupVersion.String(), Kind: operatorsv1.OperatorGroupKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Namespace},
		Spec:       operatorsv1.OperatorGroupSpec{TargetNamespaces: o.Targets},
	}, nil
}

// alone reports whether the operator can only watch the namespace that it is installed in, and nothing else was asked for.
func (o InstallOptions) alone() bool {
	supports := func(mode v1alpha1.InstallModeType) bool { return slices.Contains(o.Modes, string(mode)) }
	return len(o.Targets) == 0 && !supports(v1alpha1.InstallModeTypeAllNamespaces) && supports(v1alpha1.InstallModeTypeOwnNamespace)
}

// DefaultNamespace is where an operator is installed that suggests no namespace, when the user names none.
const DefaultNamespace = "operators"

// subscription is the Subscription to create.
func (o InstallOptions) subscription(catalog client.ObjectKey) *v1alpha1.Subscription {
	approval := v1alpha1.ApprovalAutomatic
	if o.Manual {
		approval = v1alpha1.ApprovalManual
	}
	return &v1alpha1.Subscription{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Package},
		Spec: &v1alpha1.SubscriptionSpec{
			CatalogSource: catalog.Name, CatalogSourceNamespace: catalog.Namespace,
			Package: o.Package, Channel: cmp.Or(o.Channel, o.DefaultChannel), StartingCSV: o.StartingCSV, InstallPlanApproval: approval,
		},
	}
}

// findCatalog returns the CatalogSource to subscribe to.
func findCatalog(ctx context.Context, c client.Client, o InstallOptions) (client.ObjectKey, error) {
	if key, ok := o.offered(); ok {
		return key, nil
	}
	var inView []client.ObjectKey
	var notSeen error
	for _, namespace := range slices.Compact([]string{o.Namespace, o.GlobalNamespace}) {
		var list v1alpha1.CatalogSourceList
		if err := c.List(ctx, &list, client.InNamespace(namespace)); apierrors.IsForbidden(err) {
			notSeen = &messages.AskedError{Lack: messages.NotThere, Part: messages.OfCatalog, Text: strings.TrimSuffix(messages.Unseen(err, "CatalogSources of namespace "+namespace, ""), ": "),
				Command: "name the one to subscribe to with --catalog NAMESPACE/NAME"}
			continue
		} else if err != nil {
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
	there := cmp.Or(strings.Join(names, ", "), "none")
	if o.Catalog != "" {
		for _, key := range inView {
			if o.Catalog == key.String() || o.Catalog == key.Name {
				return key, nil
			}
		}
		if namespace, name, ok := strings.Cut(o.Catalog, "/"); ok && notSeen != nil && namespace == o.GlobalNamespace { // the manager says where there is none
			return client.ObjectKey{Namespace: namespace, Name: name}, nil
		}
		if notSeen != nil {
			return client.ObjectKey{}, fmt.Errorf("install package %s from catalog %s: %w", o.Package, o.Catalog, notSeen)
		}
		return client.ObjectKey{}, &messages.AskedError{Lack: messages.NotThere, Part: messages.OfCatalog,
			Text: fmt.Sprintf("install package %s: there is no CatalogSource %s in view of namespace %s; there is %s", o.Package, o.Catalog, o.Namespace, there)}
	}
	if notSeen != nil {
		return client.ObjectKey{}, fmt.Errorf("install package %s: %w", o.Package, notSeen)
	}
	if len(inView) == 0 {
		return client.ObjectKey{}, &messages.AskedError{Lack: messages.NotThere, Part: messages.OfCatalogs,
			Text:    fmt.Sprintf("install package %s: no CatalogSource is in view of namespace %s%s", o.Package, o.Namespace, snapshot.Elsewhere(ctx, c, o.Namespace)),
			Command: fmt.Sprintf("create one with fairlead catalog add NAME IMAGE -n NAMESPACE, %s for all namespaces", o.GlobalNamespace)}
	}
	if len(inView) != 1 {
		return client.ObjectKey{}, &messages.AskedError{Lack: messages.NotThere, Part: messages.OfCatalog,
			Text: fmt.Sprintf("install package %s: several CatalogSources are in view of namespace %s: %s", o.Package, o.Namespace, there), Command: "name one of them with --catalog"}
	}
	return inView[0], nil
}

// offered is the catalog to subscribe to, when it is known that it has the package.
func (o InstallOptions) offered() (client.ObjectKey, bool) {
	var found []client.ObjectKey
	for _, catalog := range o.Offered {
		namespace, name, ok := strings.Cut(catalog, "/")
		if ok && (o.Catalog == "" || o.Catalog == catalog || o.Catalog == name) {
			found = append(found, client.ObjectKey{Namespace: namespace, Name: name})
		}
	}
	if len(found) != 1 {
		return client.ObjectKey{}, false
	}
	return found[0], true
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
