package platform

import (
	"context"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

const (
	group = "config.openshift.io"
	// operatorName is the ClusterOperator that speaks for all operators; versionName the only ClusterVersion.
	operatorName = "olm"
	versionName  = "version"

	fieldOwner = client.FieldOwner("fairlead-platform")
)

var (
	operatorKind = schema.GroupVersionKind{Group: group, Version: "v1", Kind: "ClusterOperator"}
	versionKind  = schema.GroupVersionKind{Group: group, Version: "v1", Kind: "ClusterVersion"}
)

// Controller judges all operators together: it has one kind of request.
type Controller struct {
	client client.Client
	// cluster has what is watched of the platform.
	cluster client.Reader
	clock   clock.PassiveClock
	// versions and operators report whether the kinds are served.
	versions, operators atomic.Bool
	// watch has events of one object of a kind check the cluster again. There is one pass at a time, which counts the kinds that are watched.
	watch   func(kind schema.GroupVersionKind, name string) error
	watched int
}

// Reconcile brings the condition up to date.
func (c *Controller) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if !c.versions.Load() || !c.operators.Load() {
		return reconcile.Result{}, nil
	}
	// Watch what of the platform is not watched yet. A watch that fails is tried again with the next pass.
	for _, o := range []struct {
		kind schema.GroupVersionKind
		name string
	}{{versionKind, versionName}, {operatorKind, operatorName}}[c.watched:] {
		if err := c.watch(o.kind, o.name); err != nil {
			return reconcile.Result{}, fmt.Errorf("watch %s %s, to say whether the cluster may be upgraded: %w", o.kind.Kind, o.name, err)
		}
		c.watched++
	}
	version, err := c.read(ctx, versionKind, versionName)
	if err != nil || version == nil {
		return reconcile.Result{}, err
	}
	// The operators of both APIs.
	var csvs v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &csvs, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list the ClusterServiceVersions: %w", err)
	}
	var installed []platform.Installed
	for i := range csvs.Items {
		if csv := &csvs.Items[i]; !csv.IsCopied() {
			installed = append(installed, platform.Installed{
				Name:       fmt.Sprintf("ClusterServiceVersion %s in namespace %s", csv.Name, csv.Namespace),
				Properties: csv.Annotations[olmv1.PropertiesKey],
			})
		}
	}
	var sets olmv1.ClusterObjectSetList
	if err := c.client.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list the ClusterObjectSets: %w", err)
	}
	for i := range sets.Items {
		if set := &sets.Items[i]; set.Spec.LifecycleState == olmv1.LifecycleStateActive {
			installed = append(installed, platform.Installed{Name: nameOf(set), Properties: set.Annotations[olmv1.PropertiesKey]})
		}
	}
	desired, _, _ := unstructured.NestedString(version.Object, "status", "desired", "version")
	verdict := platform.Upgradeable(desired, installed)
	operator, err := c.read(ctx, operatorKind, operatorName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if operator == nil {
		operator = empty(operatorKind, operatorName)
		operator.Object["spec"] = map[string]any{} // without it the object is refused
		err := c.client.Create(ctx, operator, fieldOwner)
		if apierrors.IsAlreadyExists(err) || gone(err) {
			return reconcile.Result{}, nil // it comes with an event, or its kind is no more
		}
		if err != nil {
			return reconcile.Result{}, fmt.Errorf("create ClusterOperator %s, to say whether the cluster may be upgraded: %w", operatorName, err)
		}
	}
	return reconcile.Result{}, c.write(ctx, operator, verdict)
}

// read returns nil for what does not exist.
func (c *Controller) read(ctx context.Context, kind schema.GroupVersionKind, name string) (*unstructured.Unstructured, error) {
	object := empty(kind, name)
	err := c.cluster.Get(ctx, client.ObjectKey{Name: name}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind.Kind, name, err)
	}
	return object, nil
}

// gone says that a kind was removed while it was being used.
func gone(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// empty is an object of a kind of the platform, of which the project has no types.
func empty(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetName(name)
	return object
}

// nameOf names a revision by what it belongs to.
func nameOf(set *olmv1.ClusterObjectSet) string {
	extension, bundle := revision.NameOf(set), set.Annotations[olmv1.BundleNameKey]
	if extension == "" || bundle == "" {
		return "ClusterObjectSet " + set.Name
	}
	return fmt.Sprintf("ClusterExtension %s with bundle %s", extension, bundle)
}
