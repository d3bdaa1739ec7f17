package operatorgroup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/tenancy"
)

// Names of the cache indexes.
const (
	indexGroupByTarget    = "operatorgroup.target"    // OperatorGroups by target namespace
	indexGroupByAPI       = "operatorgroup.api"       // OperatorGroups by the APIs that they list
	indexCSVByAPI         = "operatorgroup.provides"  // ClusterServiceVersions by the APIs that they provide
	indexCSVByDefinition  = "operatorgroup.owns"      // ClusterServiceVersions by the definitions that they own, see ownedBy
	indexGroupBySelecting = "operatorgroup.selecting" // OperatorGroups that select by label, under "true"
	indexRoleByGroup      = "operatorgroup.owner"     // ClusterRoles by owning OperatorGroup, namespace/name
	indexGroupByUID       = "operatorgroup.uid.own"   // OperatorGroups by their UID
	indexNamespaceByGroup = "operatorgroup.uid"       // Namespaces by the UID of the OperatorGroups whose label they carry
)

// Options are what the controller needs besides the manager. The zero value works.
type Options struct {
	// Clock tells the time; the real one when nil.
	Clock clock.PassiveClock
	// Namespaces are those that the manager is limited to; empty when it manages all. The groups of others are left to
	// their own managers. They are read all the same: two groups may provide the same APIs wherever they are.
	Namespaces []string
}

// Setup adds the controller, its watches and the indexes it reads to the manager. Namespaces and ServiceAccounts are
// read as metadata only.
func Setup(mgr manager.Manager, o Options) error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	for _, i := range indexes() {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), i.object, i.name, i.values); err != nil {
			return fmt.Errorf("set up the OperatorGroup controller: index %s: %w", i.name, err)
		}
	}
	c := &Controller{client: mgr.GetClient(), live: mgr.GetAPIReader(), clock: o.Clock, namespaces: o.Namespaces}
	w := c.watches()
	err := builder.ControllerManagedBy(mgr).Named("operatorgroup").
		For(&v1.OperatorGroup{}, builder.WithPredicates(predicate.NewPredicateFuncs(func(o client.Object) bool { return w.manages(o.GetNamespace()) }))).
		Watches(&v1.OperatorGroup{}, handler.EnqueueRequestsFromMapFunc(w.siblings)).
		Watches(&v1.OperatorGroup{}, handler.EnqueueRequestsFromMapFunc(w.rivals)).
		Watches(&v1alpha1.ClusterServiceVersion{}, handler.EnqueueRequestsFromMapFunc(w.siblings), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, beganToRun))).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, handler.EnqueueRequestsFromMapFunc(w.owners), builder.WithPredicates(evidenceChanged)).
		Watches(&apiregistrationv1.APIService{}, handler.EnqueueRequestsFromMapFunc(w.owners), builder.WithPredicates(evidenceChanged)).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(w.groupsOfNamespace)).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(c.orphaned)).
		WatchesMetadata(&corev1.ServiceAccount{}, handler.EnqueueRequestsFromMapFunc(w.groupsOfAccount)).
		Watches(&rbacv1.ClusterRole{}, handler.EnqueueRequestsFromMapFunc(w.groupOfRole)).
		WithOptions(reconcile.Options(1)). // see claim
		Complete(c)
	if err != nil {
		return fmt.Errorf("set up the OperatorGroup controller: %w", err)
	}
	return nil
}

// index is one cache index.
type index struct {
	object client.Object
	name   string
	values client.IndexerFunc
}

func indexes() []index {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return []index{
		{&v1.OperatorGroup{}, indexGroupByTarget, func(o client.Object) []string {
			group := o.(*v1.OperatorGroup)
			return sortedSet(slices.Concat(group.Spec.TargetNamespaces, group.Status.Namespaces))
		}},
		{&v1.OperatorGroup{}, indexGroupByAPI, func(o client.Object) []string {
			return sets.List(tenancy.AnnotatedOn(o.(*v1.OperatorGroup)))
		}},
		{&v1.OperatorGroup{}, indexGroupByUID, func(o client.Object) []string { return []string{string(o.GetUID())} }},
		{&v1alpha1.ClusterServiceVersion{}, indexCSVByAPI, func(o client.Object) []string {
			csv, ok := o.(*v1alpha1.ClusterServiceVersion)
			if !ok || csv.IsCopied() {
				return nil // copies provide nothing
			}
			return sets.List(tenancy.ProvidedBy(csv))
		}},
		{&v1alpha1.ClusterServiceVersion{}, indexCSVByDefinition, ownedBy},
		{&v1.OperatorGroup{}, indexGroupBySelecting, func(o client.Object) []string {
			if selects(&o.(*v1.OperatorGroup).Spec) {
				return []string{"true"}
			}
			return nil
		}},
		{&rbacv1.ClusterRole{}, indexRoleByGroup, func(o client.Object) []string {
			if group, ok := owningGroup(o); ok {
				return []string{group.String()}
			}
			return nil
		}},
		{namespace, indexNamespaceByGroup, func(o client.Object) []string { return groupUIDs(o) }},
	}
}

// watches find the groups that an event concerns.
type watches struct {
	client     client.Reader
	namespaces []string // those that the manager is limited to, if any
}

func (c *Controller) watches() watches { return watches{c.client, c.namespaces} }

// siblings wakes up the groups of a namespace: whether there are several concerns them all, and so do its operators.
func (w watches) siblings(ctx context.Context, o client.Object) []ctrl.Request {
	return w.groups(ctx, nil, client.InNamespace(o.GetNamespace()))
}

// beganToRun leaves out the changes of an operator but that it has run now and had not before: then it has a claim to its APIs.
var beganToRun = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.ClusterServiceVersion)
	after, ok2 := e.ObjectNew.(*v1alpha1.ClusterServiceVersion)
	return ok1 && ok2 && tenancy.HasRun(before) != tenancy.HasRun(after)
}}

// evidenceChanged leaves out the changes of a CustomResourceDefinition or APIService but those of whose it is. Claims depend on that, and on its
// existence.
var evidenceChanged = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
	UpdateFunc: func(e event.UpdateEvent) bool { return !maps.Equal(evidence(e.ObjectOld), evidence(e.ObjectNew)) },
}

// evidence are the labels and annotations of a definition that say whose it is.
func evidence(o client.Object) map[string]string {
	all := map[string]string{}
	for key, value := range o.GetAnnotations() {
		if key == v1alpha1.OriginAnnotation || strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) || strings.HasPrefix(key, v1alpha1.BroughtByAnnotationPrefix) {
			all[key] = value
		}
	}
	for _, key := range []string{v1alpha1.OwnerLabel, v1alpha1.OwnerNamespaceLabel, v1alpha1.OwnerKindLabel} {
		all[key] = o.GetLabels()[key]
	}
	return all
}

// Kinds of definitions in indexCSVByDefinition.
const (
	crdKind        = "CustomResourceDefinition"
	apiServiceKind = "APIService"
)

// ownedBy are the definitions that an operator lists as its own, as kind/name.
func ownedBy(o client.Object) []string {
	csv, ok := o.(*v1alpha1.ClusterServiceVersion)
	if !ok || csv.IsCopied() {
		return nil
	}
	var keys []string
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		keys = append(keys, crdKind+"/"+d.Name)
	}
	for _, d := range csv.OwnedAPIServices() {
		keys = append(keys, apiServiceKind+"/"+d.APIServiceName())
	}
	return sortedSet(keys)
}

// owners wakes up the groups of the operators that list a definition as their own: their claims change with it, whomever it was brought for.
func (w watches) owners(ctx context.Context, o client.Object) []ctrl.Request {
	kind := crdKind
	if _, ok := o.(*apiregistrationv1.APIService); ok {
		kind = apiServiceKind
	}
	return w.groupsOfOperators(ctx, indexCSVByDefinition, kind+"/"+o.GetName())
}

// rivals wakes up the groups whose operators provide an API that a group lists, or listed before: they may have to give
// way, or need no longer.
func (w watches) rivals(ctx context.Context, o client.Object) []ctrl.Request {
	group, ok := o.(*v1.OperatorGroup)
	if !ok {
		return nil
	}
	return w.groupsOfOperators(ctx, indexCSVByAPI, sets.List(tenancy.AnnotatedOn(group))...)
}

// groupsOfOperators wakes up the groups of the operators that an index has under some keys.
func (w watches) groupsOfOperators(ctx context.Context, index string, keys ...string) []ctrl.Request {
	var namespaces []string
	for _, key := range keys {
		var list v1alpha1.ClusterServiceVersionList
		if err := w.client.List(ctx, &list, client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy); err != nil {
			return nil // as in groups
		}
		for i := range list.Items {
			namespaces = append(namespaces, list.Items[i].Namespace)
		}
	}
	var requests []ctrl.Request
	for _, namespace := range sortedSet(namespaces) {
		requests = append(requests, w.groups(ctx, nil, client.InNamespace(namespace))...)
	}
	return requests
}

// groupsOfNamespace wakes up the groups that target a namespace or whose selector matches it.
func (w watches) groupsOfNamespace(ctx context.Context, o client.Object) []ctrl.Request {
	matches := func(g *v1.OperatorGroup) bool { // a selector that cannot be read matches nothing
		set := o.GetLabels()
		selector, err := metav1.LabelSelectorAsSelector(g.Spec.Selector)
		return err == nil && selector.Matches(labels.Set(set))
	}
	return append(
		w.groups(ctx, matches, client.MatchingFields{indexGroupBySelecting: "true"}),
		w.groups(ctx, nil, client.MatchingFields{indexGroupByTarget: o.GetName()})...)
}

// groupsOfAccount wakes up the groups that name a service account.
func (w watches) groupsOfAccount(ctx context.Context, o client.Object) []ctrl.Request {
	names := func(g *v1.OperatorGroup) bool { return g.Spec.ServiceAccountName == o.GetName() }
	return w.groups(ctx, names, client.InNamespace(o.GetNamespace()))
}

// groupOfRole wakes up the group of a ClusterRole, even one that no longer exists: the role is then to be deleted.
func (w watches) groupOfRole(_ context.Context, o client.Object) []ctrl.Request {
	group, ok := owningGroup(o)
	if ok && w.manages(group.Namespace) {
		return []ctrl.Request{{NamespacedName: group}}
	}
	return nil
}

// manages reports whether a namespace is one of this manager.
func (w watches) manages(namespace string) bool {
	return len(w.namespaces) == 0 || slices.Contains(w.namespaces, namespace)
}

func owningGroup(o client.Object) (types.NamespacedName, bool) {
	labels := o.GetLabels()
	group := types.NamespacedName{Namespace: labels[v1alpha1.OwnerNamespaceLabel], Name: labels[v1alpha1.OwnerLabel]}
	return group, labels[v1alpha1.OwnerKindLabel] == groupKind && group.Name != "" && group.Namespace != ""
}

// groups lists the groups of this manager that fit. The cache is always there to be read while events arrive, so a failure leaves only
// the possibility that the manager is shutting down.
func (w watches) groups(ctx context.Context, fits func(*v1.OperatorGroup) bool, options ...client.ListOption) []ctrl.Request {
	var list v1.OperatorGroupList
	if err := w.client.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil
	}
	var requests []ctrl.Request
	for i := range list.Items {
		if w.manages(list.Items[i].Namespace) && (fits == nil || fits(&list.Items[i])) {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
