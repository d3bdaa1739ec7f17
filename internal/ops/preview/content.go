package preview

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/content/image"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// content reads the catalog of a CatalogSource from where the manager reads it.
func (q *Question) content(ctx context.Context, l *Library, source *v1alpha1.CatalogSource) (*catalog.Index, error) {
	if x := q.heldSource(ctx, l, source); x != nil {
		return x, nil
	}
	switch spec := &source.Spec; {
	case spec.SourceType == v1alpha1.SourceTypeConfigmap || spec.SourceType == v1alpha1.SourceTypeInternal:
		// Read a ConfigMap of the cluster, or among the objects.
		if err := source.Spec.Validate(); err != nil {
			return nil, err
		}
		key := client.ObjectKey{Namespace: source.Namespace, Name: source.Spec.ConfigMap}
		object, err := q.findConfigMap(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("read ConfigMap %s, which spec.configMap names: %w", key, err)
		}
		read, err := catalogstore.ReadConfigMap(ctx, object.Data, object.BinaryData)
		if err != nil {
			return nil, fmt.Errorf("read the catalog in ConfigMap %s: %w", key, err)
		}
		x, err := l.indexes.FS(ctx, read.Digest, read.Files, read.Problems...)
		if err != nil {
			return nil, fmt.Errorf("index the catalog in ConfigMap %s: %w", key, err)
		}
		if err := catalogstore.CheckImage(x, "ConfigMap "+key.String()); err != nil {
			return nil, errors.Join(err, x.Close())
		}
		return x, nil
	case spec.Image != "":
		var auth image.Auth
		if q.Secrets != nil {
			var err error
			if auth, err = bundleio.PullSecrets(ctx, q.Secrets, source.Namespace, spec.Secrets); err != nil {
				return nil, err
			}
		}
		x, err := l.Image(ctx, spec.Image, auth)
		if address := source.Status.RegistryServiceStatus.Address(); errors.Is(err, image.ErrNoCatalog) && address != "" {
			return q.server(ctx, l, address, nil) // a pod runs the image
		}
		return x, err
	case spec.Address != "":
		var authorities []byte
		if q.Secrets != nil {
			var err error
			if authorities, err = bundleio.SecretAuthorities(ctx, q.Secrets, source.Namespace, spec.Secrets); err != nil {
				return nil, err
			}
		}
		return q.server(ctx, l, spec.Address, authorities)
	}
	return nil, source.Spec.Validate()
}

func (q *Question) findConfigMap(ctx context.Context, key client.ObjectKey) (*corev1.ConfigMap, error) {
	if q.Secrets != nil {
		var object corev1.ConfigMap
		return &object, q.Secrets.Get(ctx, key, &object)
	}
	for i := range q.Objects.ConfigMaps {
		object := &q.Objects.ConfigMaps[i]
		if object.Name == key.Name && (object.Namespace == key.Namespace || object.Namespace == "") {
			return object, nil
		}
	}
	return nil, errors.New("it is not among the objects; add it with -f, or name its content with --catalog NAME=DIR")
}

// server reads what a registry server says.
func (q *Question) server(ctx context.Context, l *Library, address string, authorities []byte) (*catalog.Index, error) {
	server, err := grpccatalog.Dial(address, grpccatalog.Options{Authorities: authorities, Dial: q.Dial})
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }() // all has been read
	_, x, err := catalogstore.FromServer(ctx, l.indexes, server, address, func(string) bool { return false }, catalogstore.CheckImage)
	return x, err
}
