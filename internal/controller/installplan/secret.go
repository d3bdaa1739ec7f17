package installplan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pullSecret returns a copy, for the namespace of the plan, of a pull secret in the namespace of the manager. Secrets of other types
// are none of the plan's business.
func (x *execution) pullSecret(ctx context.Context, name string) (*unstructured.Unstructured, error) {
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
