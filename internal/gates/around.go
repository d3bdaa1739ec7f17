package gates

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespace is why nothing can be installed where the namespace of an extension is not there.
func (j Judge) Namespace(ctx context.Context, ext *olmv1.ClusterExtension) error {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := j.Client.Get(ctx, client.ObjectKey{Name: ext.Spec.Namespace}, namespace)
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

// Condition reads the OperatorCondition of a revision; nil when nothing has its name. Whether it is the extension's own Owns tells.
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

// Owns tells whether an object is an extension's.
func Owns(ext *olmv1.ClusterExtension, o metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == ext.UID })
}

// NotUpgradeable is what an operator says of itself.
type NotUpgradeable struct{ error }

// Unwrap returns what it says.
func (n *NotUpgradeable) Unwrap() error { return n.error }

// Upgradeable is a *NotUpgradeable where another version must wait: what is installed says that it cannot be upgraded. To go back is never held up.
func (j Judge) Upgradeable(ctx context.Context, s Step) error {
	installed := revision.Installed(s.Revisions)
	if installed == nil || s.Repeated || installed.Annotations[olmv1.BundleNameKey] == s.Bundle.Name {
		return nil
	}
	live, err := Condition(ctx, j.Client, s.Extension, installed)
	if err != nil || live == nil || !Owns(s.Extension, live) {
		return err
	}
	if err := live.CheckUpgradeable(); err != nil {
		return &NotUpgradeable{fmt.Errorf("operator is not upgradeable: %w; the upgrade to %s goes on when the operator says so, or when spec.overrides of the OperatorCondition says Upgradeable=True",
			err, s.Bundle.Name)}
	}
	return nil
}
