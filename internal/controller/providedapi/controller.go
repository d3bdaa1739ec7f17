package providedapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/tools/record"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
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
	// live reads the operators of namespaces that a limited manager does not watch.
	live       client.Reader
	clock      clock.PassiveClock
	events     record.EventRecorder
	namespaces []string // those that the manager is limited to, if any
	// managerRoles is set where the manager needs a role of its own for each CRD, see managerRole.
	managerRoles bool
	// told is what was last reported of operators that justify no roles, by definition and UID of the operator.
	told map[string]map[types.UID]string
	// seen is which operators the passes of this manager have found, by definition. The roles remember the same, but are written late, when no operator is
	// being installed.
	seen map[string]memory
	// squats are the foreign roles whose names are needed, by name.
	squats sync.Map
}

// Reconcile brings the roles of the APIs of one definition up to date.
func (c *Controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	definition, kind := client.Object(&apiextensionsv1.CustomResourceDefinition{}), req.Namespace
	if kind == kindAPIService {
		definition = &apiregistrationv1.APIService{}
	}
	err := c.client.Get(ctx, client.ObjectKey{Name: req.Name}, definition)
	if apierrors.IsNotFound(err) || err == nil && !definition.GetDeletionTimestamp().IsZero() {
		delete(c.told, kind+"/"+req.Name)
		delete(c.seen, kind+"/"+req.Name)
		return ctrl.Result{}, nil // its roles go with it
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("read %s %s: %w", kind, req.Name, err)
	}
	var own error // of the manager's own role, which keeps users from none of theirs
	if crd, ok := definition.(*apiextensionsv1.CustomResourceDefinition); ok {
		own = c.applyManagerRole(ctx, crd)
	}
	result, err := c.reconcileUsers(ctx, kind, definition)
	return result, errors.Join(own, err)
}

// reconcileUsers brings the roles up to date that give users access.
func (c *Controller) reconcileUsers(ctx context.Context, kind string, definition client.Object) (ctrl.Result, error) {
	about := kind + "/" + definition.GetName()
	var owners v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &owners, client.MatchingFields{indexByOwned: about}, client.UnsafeDisableDeepCopy); err != nil {
		return ctrl.Result{}, fmt.Errorf("list the ClusterServiceVersions that own %s %s: %w", kind, definition.GetName(), err)
	}
	operators := slices.Clone(owners.Items)
	slices.SortFunc(operators, func(a, b v1alpha1.ClusterServiceVersion) int { // the oldest first
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var list rbacv1.ClusterRoleList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexByDefinition: about}, client.UnsafeDisableDeepCopy); err != nil {
		return ctrl.Result{}, fmt.Errorf("list the ClusterRoles of %s %s: %w", kind, definition.GetName(), err)
	}
	roles := list.Items
	j := judgement{Controller: c, kind: kind, definition: definition}
	if kind == kindCRD {
		// The memory of the roles of a CRD, and what was seen before there were any. What another field manager wrote into a role, such as
		// a bundle that brings one of that name, is not believed.
		seen := c.seen[about]
		m := memory{}
		for name, all := range seen {
			m[name] = slices.Clone(all)
		}
		for i := range roles {
			if !isOwnMemory(&roles[i]) {
				continue
			}
			for entry := range strings.SplitSeq(roles[i].Annotations[v1alpha1.ProvidersAnnotation], ",") {
				name, ids, ok := strings.Cut(entry, "=")
				uid, plan, _ := strings.Cut(ids, "/")
				if one := (meant{uid, plan}); ok && !slices.Contains(m[name], one) {
					m[name] = append(m[name], one)
				}
			}
		}
		j.memory = m.with(definition, operators)
	}
	if c.seen[about] = j.memory; len(j.memory) == 0 {
		delete(c.seen, about)
	}
	if len(operators)+len(roles)+len(j.memory) == 0 {
		delete(c.told, about)
		return ctrl.Result{}, nil
	}
	var providers []provider
	for i := range operators {
		p, err := j.of(ctx, &operators[i])
		if err != nil {
			return ctrl.Result{}, err
		}
		providers = append(providers, p)
	}
	c.tell(ctx, j, providers)
	if len(roles) == 0 { // otherwise before those are removed
		if err := j.forget(ctx, providers); err != nil {
			return ctrl.Result{}, err
		}
	}
	if wait, err := c.unrest(ctx, providers); err != nil || wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, err
	}
	// What is opened comes before what is closed: the roles of two versions of an API give the same access.
	if err := j.applyAll(ctx, providers); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, j.remove(ctx, roles, providers)
}

// tell reports the operators that run and justify no roles, once each. What was reported of operators that no longer own the definition is forgotten.
func (c *Controller) tell(ctx context.Context, j judgement, providers []provider) {
	about := j.kind + "/" + j.definition.GetName()
	before, now := c.told[about], map[types.UID]string{}
	for _, p := range providers {
		if p.csv.Status.Phase != v1alpha1.CSVPhaseSucceeded || p.why == "" {
			continue
		}
		now[p.csv.UID] = p.why
		if before[p.csv.UID] == p.why {
			continue
		}
		ctrl.LoggerFrom(ctx).Info("an operator owns an API that it does not open to the users of the cluster", "kind", j.kind, "name", j.definition.GetName(),
			"clusterServiceVersion", nameOf(p.csv), "reason", p.why)
		c.events.Eventf(p.csv, corev1.EventTypeWarning, ReasonRolesRefused, "no ClusterRoles give users access to %s %s: %s", j.kind, j.definition.GetName(), p.why)
	}
	if len(now) == 0 {
		delete(c.told, about)
		return
	}
	c.told[about] = now
}

// unrest is how long the roles of what operators own are put off, because operators are being installed. Only those that give roles count; the
// one of them that has been at rest longest is waited for, so that no other tenant's operator holds its roles up.
func (c *Controller) unrest(ctx context.Context, providers []provider) (time.Duration, error) {
	wait := reconcile.QuietPeriod
	runs := false
	for _, p := range providers {
		if p.standing != gives {
			continue
		}
		left, err := reconcile.UntilQuiet(p.csv, c.clock.Now(), reconcile.ListOperators(ctx, c.client))
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

// applyAll applies the roles that operators give.
func (j judgement) applyAll(ctx context.Context, providers []provider) error {
	var errs []error
	// The APIs that operators give roles for, each once: as the oldest operator describes it.
	var out []api
	known := map[string]bool{}
	for _, p := range providers {
		for _, a := range p.apis {
			if p.standing == gives && !known[a.prefix] {
				known[a.prefix] = true
				out = append(out, a)
			}
		}
	}
	for _, a := range out {
		a.providers = j.memory.String()
		errs = append(errs, j.apply(ctx, a))
	}
	return errors.Join(errs...)
}

// described are the APIs of a definition as one operator describes them.
func described(csv *v1alpha1.ClusterServiceVersion, kind string, definition client.Object) []api {
	group := csv.Annotations[v1alpha1.OperatorGroupAnnotation]
	owner := metav1.OwnerReference{Kind: kind, Name: definition.GetName(), UID: definition.GetUID(), APIVersion: apiextensionsv1.SchemeGroupVersion.String()}
	var out []api
	if kind == kindAPIService {
		owner.APIVersion = apiregistrationv1.SchemeGroupVersion.String()
		for _, d := range csv.OwnedAPIServices() {
			// The names of roles begin with what the description calls the resource, and must not become those of the cluster's own, such as
			// system:aggregate-to-admin.
			if len(validation.IsDNS1123Label(d.Name)) == 0 && d.APIServiceName() == definition.GetName() {
				out = append(out, api{
					gvk: catalog.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind}, plural: d.Name,
					prefix: d.Name + "-" + d.Version, group: group, owner: owner,
				})
			}
		}
		return out
	}
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		if plural, apiGroup, err := d.PluralAndGroup(); err == nil && d.Name == definition.GetName() {
			out = append(out, api{
				gvk: catalog.GVK{Group: apiGroup, Version: d.Version, Kind: d.Kind}, plural: plural, crd: d.Name,
				prefix: d.Name + "-" + d.Version, group: group, owner: owner,
			})
		}
	}
	return out
}

// apply applies the roles of an API that are not as they should be.
func (j judgement) apply(ctx context.Context, a api) error {
	c := j.Controller
	taken, err := c.taken(ctx, a)
	if err != nil {
		return err
	}
	if taken {
		a = a.elsewhere()
	}
	var errs []error
	for _, desired := range a.roles() {
		live, err := c.read(ctx, desired.Name)
		if err == nil && live != nil && slices.ContainsFunc(live.OwnerReferences, func(r metav1.OwnerReference) bool {
			return (r.Kind == kindCRD || r.Kind == kindAPIService) && (r.Kind != a.owner.Kind || r.Name != a.owner.Name)
		}) {
			ctrl.LoggerFrom(ctx).Info("the ClusterRole of an API stays as it is: it belongs to another definition", "role", desired.Name, "name", a.owner.Name)
			continue
		}
		if why := foreign(live); err == nil && why != "" {
			c.reportForeign(ctx, j.definition, j.kind, live, why)
			continue
		}
		c.squats.Delete(desired.Name)
		if err == nil && (live == nil || !upToDate(desired, live)) {
			err = rollout.Assert(ctx, c.client, applied(desired), fieldManager)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("apply ClusterRole %s, which gives access to %s: %w", desired.Name, a.gvk, err))
		}
	}
	return errors.Join(errs...)
}

// taken reports whether the names of the roles belong to another aggregated API.
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

// upToDate reports whether the live role has all that is desired. What others add to its metadata stays.
func upToDate(desired, live *rbacv1.ClusterRole) bool {
	labels := maps.Clone(live.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { _, ok := desired.Labels[key]; return !ok })
	if want := desired.Annotations[v1alpha1.ProvidersAnnotation]; want != live.Annotations[v1alpha1.ProvidersAnnotation] {
		return false
	}
	owned := slices.ContainsFunc(live.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == desired.OwnerReferences[0].UID })
	return owned && maps.Equal(labels, desired.Labels) && equality.Semantic.DeepEqual(desired.Rules, live.Rules)
}

func applied(role *rbacv1.ClusterRole) *applyrbacv1.ClusterRoleApplyConfiguration {
	out := applyrbacv1.ClusterRole(role.Name).WithLabels(role.Labels).WithAnnotations(role.Annotations)
	for _, r := range role.OwnerReferences {
		out.WithOwnerReferences(applymetav1.OwnerReference().WithAPIVersion(r.APIVersion).WithKind(r.Kind).WithName(r.Name).WithUID(r.UID))
	}
	for _, r := range role.Rules {
		out.WithRules(applyrbacv1.PolicyRule().WithVerbs(r.Verbs...).WithAPIGroups(r.APIGroups...).WithResources(r.Resources...).WithResourceNames(r.ResourceNames...))
	}
	return out
}
