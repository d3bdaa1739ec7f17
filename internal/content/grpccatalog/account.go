package grpccatalog

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PullSecretsAnnotation lists, on the service account of a pod, the pull secrets that the catalog brought, so that they can
// be told from those that others added.
const PullSecretsAnnotation = "operators.fairlead.dev/pull-secrets"

// serviceAccount is what the pod runs as.
func serviceAccount(source *v1alpha1.CatalogSource) *corev1.ServiceAccount {
	account := &corev1.ServiceAccount{
		TypeMeta:         metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:       meta(source, source.Name, managed()),
		ImagePullSecrets: pullSecrets(source, nil),
	}
	account.OwnerReferences = []metav1.OwnerReference{owner(source, true)}
	if names := secretNames(account.ImagePullSecrets); len(names) > 0 {
		account.Annotations = map[string]string{PullSecretsAnnotation: strings.Join(names, ",")}
	}
	return account
}

// keepForeign adds the pull secrets that others put on the live service account: the list has one owner, and taking it away from
// the controller of a registry would lead to both writing it for ever.
func keepForeign(wanted, live *corev1.ServiceAccount) {
	brought := strings.Split(live.Annotations[PullSecretsAnnotation], ",")
	for _, secret := range live.ImagePullSecrets {
		if !slices.Contains(brought, secret.Name) {
			wanted.ImagePullSecrets = addSecret(wanted.ImagePullSecrets, secret.Name)
		}
	}
}

func secretNames(secrets []corev1.LocalObjectReference) []string {
	var names []string
	for _, s := range secrets {
		names = append(names, s.Name)
	}
	return names
}

func managed() map[string]string {
	return map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue}
}
