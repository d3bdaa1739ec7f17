package bundleio

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/internal/content/image"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PullSecrets reads the named pull secrets of a namespace. Secrets of either docker type count; later ones win.
func PullSecrets(ctx context.Context, reader client.Reader, namespace string, names []string) (image.Auth, error) {
	var auth image.Auth
	for _, name := range names {
		var secret corev1.Secret
		if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret); err != nil {
			return image.Auth{}, fmt.Errorf("read pull secret %s/%s: %w", namespace, name, err)
		}
		document, ok := secret.Data[corev1.DockerConfigJsonKey]
		if !ok {
			document, ok = secret.Data[corev1.DockerConfigKey]
		}
		if !ok {
			return image.Auth{}, fmt.Errorf("read pull secret %s/%s: it has neither %s nor %s; create it with type %s",
				namespace, name, corev1.DockerConfigJsonKey, corev1.DockerConfigKey, corev1.SecretTypeDockerConfigJson)
		}
		auth.DockerConfig = append(auth.DockerConfig, document)
	}
	return auth, nil
}

// SecretAuthorities are the certificates, in the named Secrets of a namespace, of those who vouch for a server, in PEM and in the order of the names.
// A Secret may have none.
func SecretAuthorities(ctx context.Context, reader client.Reader, namespace string, names []string) ([]byte, error) {
	var all []byte
	for _, name := range names {
		var secret corev1.Secret
		if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret); err != nil {
			return nil, fmt.Errorf("read secret %s/%s: %w", namespace, name, err)
		}
		if ca := secret.Data[corev1.ServiceAccountRootCAKey]; len(ca) > 0 {
			all = append(append(all, ca...), '\n')
		}
	}
	return all, nil
}
