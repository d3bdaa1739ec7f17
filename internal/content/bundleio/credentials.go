package bundleio

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fairlead.dev/fairlead/internal/content/image"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Credentials say where the credentials are for images that no object names any for: in a pull secret for all of them, and in the pull
// secrets of the account that the manager runs as. Its zero value is for none.
type Credentials struct {
	Secret  types.NamespacedName
	Account types.NamespacedName
}

// Read reads them. Those of the Secret win. What does not exist has none: it may be created later.
func (c Credentials) Read(ctx context.Context, reader client.Reader) (image.Auth, error) {
	var all image.Auth
	add := func(namespace string, names ...string) error {
		for _, name := range names {
			auth, err := PullSecrets(ctx, reader, namespace, []string{name})
			if client.IgnoreNotFound(err) != nil {
				return err
			}
			all.DockerConfig = append(all.DockerConfig, auth.DockerConfig...)
		}
		return nil
	}
	if c.Account.Name != "" {
		var account corev1.ServiceAccount
		if err := reader.Get(ctx, c.Account, &account); client.IgnoreNotFound(err) != nil {
			return image.Auth{}, fmt.Errorf("read ServiceAccount %s for its pull secrets: %w", c.Account, err)
		}
		for _, named := range account.ImagePullSecrets {
			if err := add(c.Account.Namespace, named.Name); err != nil {
				return image.Auth{}, err
			}
		}
	}
	if c.Secret.Name != "" {
		if err := add(c.Secret.Namespace, c.Secret.Name); err != nil {
			return image.Auth{}, err
		}
	}
	return all, nil
}

// Authorities lays out a file with certificate authorities as image.Config wants it, for every registry. The caller removes the
// directory that it returns.
func Authorities(file string) (dir string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read CA certificates: %w", err)
	}
	if dir, err = os.MkdirTemp("", "fairlead-authorities-"); err != nil {
		return "", fmt.Errorf("lay out CA certificates: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "root.crt"), data, 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return "", fmt.Errorf("lay out CA certificates: %w", err)
	}
	return dir, nil
}

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
