package providedapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/lull"
)

// fieldManager owns the fields that this controller applies.
const fieldManager = client.FieldOwner("fairlead-providedapi")

// What a request is about stands where others have the namespace.
const (
	kindCRD        = "CustomResourceDefinition"
	kindAPIService = "APIService"
)

// Controller reconciles the roles of the APIs of a CustomResourceDefinition or APIService. Its client reads from caches that
// have the indexes of setup.go.
type Controller struct {
	client client.Client
	clock  clock.PassiveClock
}

// Reconcile brings the roles of the APIs of one definition up to date.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	definition, kind := client.Object(&apiextensionsv1.CustomResourceDefinition{}), req.Namespace
	if kind == kindAPIService {
		definition = &apiregistrationv1.APIService{}
	}
	err := c.client.Get(ctx, client.ObjectKey{Name: req.Name}, definition)
	if apierrors.IsNotFound(err) || err == nil && !definition.GetDeletionTimestamp().IsZero() {
		return reconcile.Result{}, nil // its roles go with it
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read %s %s: %w", kind, req.Name, err)
	}
	operators, err := c.operatorsOf(ctx, kind, definition)
	if err != nil {
		return reconcile.Result{}, err
	}
	if wait, err := c.unrest(ctx, operators); err != nil || wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, err
	}
	apis := apisOf(operators, kind, definition)
	var errs []error
	for _, a := range apis {
		errs = append(errs, c.apply(ctx, a))
	}
	return reconcile.Result{}, errors.Join(errs...)
}

// operatorsOf are the operators that own a definition, the oldest first.
func (c *Controller) operatorsOf(ctx context.Context, kind string, definition client.Object) ([]v1alpha1.ClusterServiceVersion, error) {
	var list v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexByOwned: kind + "/" + definition.GetName()}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the ClusterServiceVersions that own %s %s: %w", kind, definition.GetName(), err)
	}
	operators := slices.Clone(list.Items)
	slices.SortFunc(operators, func(a, b v1alpha1.ClusterServiceVersion) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return operators, nil
}

// unrest is how long the roles of what operators own are put off, because operators are being installed. Only those that run have roles; the
// one of them that has been at rest longest is waited for, so that no other tenant's operator holds its roles up.
func (c *Controller) unrest(ctx context.Context, operators []v1alpha1.ClusterServiceVersion) (time.Duration, error) {
	wait := lull.Pause
	runs := false
	for i := range operators {
		if operators[i].Status.Phase != v1alpha1.CSVPhaseSucceeded {
			continue
		}
		left, err := lull.For(&operators[i], c.clock.Now(), lull.Operators(ctx, c.client))
		if err != nil {
			return 0, err
		}
		wait, runs = min(wait, left), true
	}
	if !runs {
		return 0, nil // an event tells when one does
	}
	return wait, nil
}

// apisOf are the APIs of a definition that operators which run own, each once: as the oldest operator describes it.
func apisOf(operators []v1alpha1.ClusterServiceVersion, kind string, definition client.Object) []api {
	var out []api
	known := map[string]bool{}
	for i := range operators {
		csv := &operators[i]
		if csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
			continue
		}
		for _, a := range described(csv, kind, definition) {
			if !known[a.prefix] {
				known[a.prefix] = true
				out = append(out, a)
			}
		}
	}
	return out
}

// described are the APIs of a definition as one operator describes them.
func described(csv *v1alpha1.ClusterServiceVersion, kind string, definition client.Object) []api {
	group := csv.Annotations[v1alpha1.OperatorGroupAnnotation]
	owner := metav1.OwnerReference{Kind: kind, Name: definition.GetName(), UID: definition.GetUID(), APIVersion: apiextensionsv1.SchemeGroupVersion.String()}
	var out []api
	if kind == kindAPIService {
		owner.APIVersion = apiregistrationv1.SchemeGroupVersion.String()
		for _, d := range csv.OwnedAPIServices() {
			if a, ok := ofAPIService(d, group, owner); ok && d.APIServiceName() == definition.GetName() {
				out = append(out, a)
			}
		}
		return out
	}
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		if d.Name != definition.GetName() {
			continue
		}
		if a, ok := ofCRD(d, group, owner); ok {
			out = append(out, a)
		}
	}
	return out
}

// apply applies the roles of an API that are not as they should be.
func (c *Controller) apply(ctx context.Context, a api) error {
	taken, err := c.taken(ctx, a)
	if err != nil {
		return err
	}
	if taken {
		a = a.elsewhere()
	}
	var errs []error
	for _, wanted := range a.roles() {
		live, err := c.read(ctx, wanted.Name)
		if err == nil && (live == nil || !upToDate(wanted, live)) {
			err = c.client.Apply(ctx, applied(wanted), fieldManager, client.ForceOwnership)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("apply ClusterRole %s, which gives access to %s: %w", wanted.Name, a.gvk, err))
		}
	}
	return errors.Join(errs...)
}

// taken says whether the names of the roles belong to another aggregated API.
func (c *Controller) taken(ctx context.Context, a api) (bool, error) {
	if a.crd != "" {
		return false, nil
	}
	live, err := c.read(ctx, a.roles()[0].Name)
	if err != nil || live == nil {
		return false, err
	}
	return slices.ContainsFunc(live.OwnerReferences, func(r metav1.OwnerReference) bool {
		return r.Kind == kindAPIService && r.Name != a.owner.Name
	}), nil
}

// read reads a ClusterRole; nil when it does not exist.
func (c *Controller) read(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	live := &rbacv1.ClusterRole{}
	err := c.client.Get(ctx, client.ObjectKey{Name: name}, live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// upToDate says whether the live role has all that is wanted. What others add to its metadata stays.
func upToDate(wanted, live *rbacv1.ClusterRole) bool {
	labels := maps.Clone(live.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { _, ok := wanted.Labels[key]; return !ok })
	owned := slices.ContainsFunc(live.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == wanted.OwnerReferences[0].UID })
	return owned && maps.Equal(labels, wanted.Labels) && equality.Semantic.DeepEqual(wanted.Rules, live.Rules)
}

func applied(role *rbacv1.ClusterRole) *applyrbacv1.ClusterRoleApplyConfiguration {
	out := applyrbacv1.ClusterRole(role.Name).WithLabels(role.Labels)
	for _, r := range role.OwnerReferences {
		out.WithOwnerReferences(applymetav1.OwnerReference().WithAPIVersion(r.APIVersion).WithKind(r.Kind).WithName(r.Name).WithUID(r.UID))
	}
	for _, r := range role.Rules {
		out.WithRules(applyrbacv1.PolicyRule().WithVerbs(r.Verbs...).WithAPIGroups(r.APIGroups...).WithResources(r.Resources...).WithResourceNames(r.ResourceNames...))
	}
	return out
}
