package revision

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const prefix = olmv1.SettingsPrefix

const (
	// ExemptionsKey is the annotation of a ClusterExtension that lists what the checks of CRD upgrades let pass: "CHECK [CRD [PATH]]",
	// separated by semicolons.
	ExemptionsKey = crd.ExemptionsKey
	// ContentKey is the annotation of a revision with the digest of the catalog that holds the manifests of its bundle, where that has no
	// image.
	ContentKey = prefix + "catalog-content"
	// ConditionNameKey is the annotation of a revision with the name of its OperatorCondition, where that is not the name of the extension.
	ConditionNameKey = prefix + "operator-condition-name"
	// AcknowledgedAll in the place of a digest acknowledges whatever permissions upgrades ask for.
	AcknowledgedAll = "*"
	// OnFailureKey is the annotation of a ClusterExtension that, set to OnFailureRollback, rolls back to what was installed when the rollout of
	// an upgrade fails.
	OnFailureKey      = prefix + "on-failure"
	OnFailureRollback = "rollback"
	// RollbackDeadlineMinutes is the progress deadline of an extension that rolls back on failure and sets none itself: without one, a stalled
	// rollout would never count as failed. A Deployment allows itself 10 minutes; images may take a few more to arrive.
	RollbackDeadlineMinutes = 15
)

// Count is how many custom resources of a CustomResourceDefinition there are.
type Count = crd.Count

// Preflight checks a change of an extension before a revision is written. It reads, and writes nothing.
type Preflight struct {
	// Client is read from, also from its cache if it has one, and knows the kinds of the cluster.
	Client client.Client
	// Live is not a cache.
	Live client.Reader
	// Count counts custom resources; nil asks Live.
	Count Count
	// Policies judges the admission policies that protect identities; nil requires none.
	Policies *permissions.PolicyChecker
	// Backs remembers rollbacks that are blocked; nil is for those who ask once.
	Backs *crd.Backs
}

// Change is what an extension would be changed to.
type Change struct {
	Extension *olmv1.ClusterExtension
	// Revisions are those of the extension, the oldest first.
	Revisions []olmv1.ClusterObjectSet
	Bundle    Bundle
	Objects   []*unstructured.Unstructured
	// Repeated is true where the objects are those of an earlier revision.
	Repeated bool
}

// Bundle is where the objects come from.
type Bundle struct {
	Name, Version string
	// Image is empty where the manifests are in a catalog; Content is the digest of that.
	Image, Content string
	// Direct is true where the ClusterExtension names the image itself, whatever catalogs have.
	Direct bool
}

// Refusal is an error that retrying does not resolve: something has to change first.
type Refusal struct {
	// Reason is that of the condition Progressing.
	Reason string
	error
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.error }

// Blocked is a refusal that only a change of something else ends.
func Blocked(err error) error { return &Refusal{olmv1.ReasonBlocked, err} }

// Misconfigured is a refusal that only a change of the ClusterExtension ends.
func Misconfigured(err error) error {
	return &Refusal{olmv1.ReasonInvalidConfiguration, err}
}

// RollsBack reports whether an extension rolls back when a rollout fails.
func RollsBack(ext *olmv1.ClusterExtension) bool {
	return ext.Annotations[OnFailureKey] == OnFailureRollback
}

// ProgressDeadlineMinutes returns how long a rollout of an extension may take before it counts as failed; 0 is no limit.
func ProgressDeadlineMinutes(ext *olmv1.ClusterExtension) int32 {
	if ext.Spec.ProgressDeadlineMinutes == 0 && RollsBack(ext) {
		return RollbackDeadlineMinutes
	}
	return ext.Spec.ProgressDeadlineMinutes
}

// Namespace returns an error where the namespace of an extension does not exist or is being deleted.
func (p Preflight) Namespace(ctx context.Context, ext *olmv1.ClusterExtension) error {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := p.Client.Get(ctx, client.ObjectKey{Name: ext.Spec.Namespace}, namespace)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("namespaces %q not found: create namespace %s, which spec.namespace of ClusterExtension %s names; the installation begins when it is there",
			ext.Spec.Namespace, ext.Spec.Namespace, ext.Name)
	case err != nil:
		return fmt.Errorf("read namespace %s: %w", ext.Spec.Namespace, err)
	case !namespace.DeletionTimestamp.IsZero():
		return fmt.Errorf("namespace %s, which spec.namespace of ClusterExtension %s names, is being deleted", ext.Spec.Namespace, ext.Name)
	}
	return nil
}

// ConditionName is that of the OperatorCondition which the pods of a revision know.
func ConditionName(ext *olmv1.ClusterExtension, r *olmv1.ClusterObjectSet) string {
	return cmp.Or(r.Annotations[ConditionNameKey], ext.Name)
}

// Condition reads the OperatorCondition of a revision; nil when nothing has its name. Owns reports whether it belongs to the extension.
func Condition(ctx context.Context, reader client.Reader, ext *olmv1.ClusterExtension, r *olmv1.ClusterObjectSet) (*v2.OperatorCondition, error) {
	live, key := &v2.OperatorCondition{}, client.ObjectKey{Namespace: ext.Spec.Namespace, Name: ConditionName(ext, r)}
	err := reader.Get(ctx, key, live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read OperatorCondition %s of ClusterExtension %s: %w", key, ext.Name, err)
	}
	return live, nil
}

// Owns reports whether an extension is an owner of an object.
func Owns(ext *olmv1.ClusterExtension, o metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == ext.UID })
}

// NotUpgradeable is the refusal of an operator to be upgraded.
type NotUpgradeable struct{ error }

// Unwrap returns the cause.
func (n *NotUpgradeable) Unwrap() error { return n.error }

// Upgradeable returns a *NotUpgradeable where another version must wait: the installed operator reports that it cannot be upgraded. Rollbacks never
// wait.
func (p Preflight) Upgradeable(ctx context.Context, s Change) error {
	installed := Installed(s.Revisions)
	if installed == nil || s.Repeated || installed.Annotations[olmv1.BundleNameKey] == s.Bundle.Name {
		return nil
	}
	live, err := Condition(ctx, p.Client, s.Extension, installed)
	if err != nil || live == nil || !Owns(s.Extension, live) {
		return err
	}
	if err := live.CheckUpgradeable(); err != nil {
		return &NotUpgradeable{fmt.Errorf("operator is not upgradeable: %w; the upgrade to %s continues when the operator says so, or when spec.overrides of the OperatorCondition says Upgradeable=True",
			err, s.Bundle.Name)}
	}
	return nil
}
