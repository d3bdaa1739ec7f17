package installplan

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// pullSecret returns a copy, for the namespace of the plan, of a pull secret of one of its catalogs in the global namespace. Other Secrets stay where
// they are: users of the namespace may be able to write the status of a plan, and to read its Secrets.
func (x *stepWriter) pullSecret(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	if err := x.checkPullSecret(ctx, name); err != nil {
		return nil, err
	}
	source := &corev1.Secret{}
	if err := x.live.Get(ctx, client.ObjectKey{Namespace: x.secrets, Name: name}, source); err != nil {
		return nil, fmt.Errorf("copy pull secret %s/%s: %w", x.secrets, name, err)
	}
	if source.Type != corev1.SecretTypeDockerConfigJson && source.Type != corev1.SecretTypeDockercfg {
		return nil, fmt.Errorf("%w: secret %s/%s is of type %s, and only pull secrets are copied", errInvalid, x.secrets, name, source.Type)
	}
	copied := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: secretKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: x.plan.Namespace, Name: name},
		Type:       source.Type,
		Data:       source.Data,
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(copied)
	if err != nil {
		return nil, fmt.Errorf("copy pull secret %s/%s: %w", x.secrets, name, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// checkPullSecret returns an error when no catalog of the plan in the global namespace names a Secret as its pull secret.
func (x *stepWriter) checkPullSecret(ctx context.Context, name string) error {
	for _, catalog := range x.plan.Status.CatalogSources {
		source := &v1alpha1.CatalogSource{}
		err := x.live.Get(ctx, client.ObjectKey{Namespace: x.secrets, Name: catalog}, source)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("copy pull secret %s/%s: read CatalogSource %s/%s, which may name it: %w", x.secrets, name, x.secrets, catalog, err)
		}
		if err == nil && slices.Contains(source.Spec.Secrets, name) {
			return nil
		}
	}
	return fmt.Errorf("copy pull secret %s/%s: no catalog of the plan in namespace %s names it in spec.secrets; add it there, or remove the step from status.plan", x.secrets, name, x.secrets)
}
