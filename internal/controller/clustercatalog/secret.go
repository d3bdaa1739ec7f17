package clustercatalog

import (
	"context"
	"sync/atomic"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// credentials are those that all catalogs are read with. They are read when they are needed, and not kept.
type credentials struct {
	from    bundleio.Credentials
	reader  client.Reader // uncached
	changes atomic.Int64
}

func (c *credentials) auth(ctx context.Context) (image.Auth, error) {
	return c.from.Read(ctx, c.reader)
}

// sign is a number that grows when the pull secret changes.
func (c *credentials) sign() int { return int(c.changes.Load()) }

// follow watches the pull secret, without its content, so that new credentials are tried at once.
func (c *credentials) follow(ctx context.Context, server metadata.Interface, changed func()) {
	if c.from.Secret.Name == "" {
		return
	}
	reconcile.WatchSecret(ctx, server, c.from.Secret.Namespace, c.from.Secret.Name, func() {
		c.changes.Add(1)
		changed()
	})
}
