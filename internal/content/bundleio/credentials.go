package bundleio

import (
	"context"
	"fmt"

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
