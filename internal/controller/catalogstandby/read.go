package catalogstandby

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogimage"
	"fairlead.dev/fairlead/internal/configmapcatalog"
	"fairlead.dev/fairlead/internal/image"
	"fairlead.dev/fairlead/internal/registryclient"
	"fairlead.dev/fairlead/internal/unpack"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readTime bounds the reading of one catalog.
const readTime = 5 * time.Minute

// errNowhere says that nobody knows yet where a catalog can be read.
var errNowhere = errors.New("the status names no address yet")

// read reads the content of a catalog, whose spec can be acted on; the index is nil when it is that of a digest that is known.
func (s *Standby) read(ctx context.Context, source *v1alpha1.CatalogSource, known string) (*catalog.Index, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	switch spec := source.Spec; {
	case spec.SourceType == v1alpha1.SourceTypeConfigmap || spec.SourceType == v1alpha1.SourceTypeInternal:
		return s.readConfigMap(ctx, source, known)
	case spec.Image == "":
		return s.readServer(ctx, source, spec.Address, known)
	}
	index, err := s.readImage(ctx, source, known)
	if errors.Is(err, image.ErrNoCatalog) {
		return s.readServer(ctx, source, source.Status.RegistryServiceStatus.Address(), known) // of its pod
	}
	return index, err
}

func (s *Standby) readImage(ctx context.Context, source *v1alpha1.CatalogSource, known string) (*catalog.Index, error) {
	auth, err := unpack.PullSecrets(ctx, s.Live, source.Namespace, source.Spec.Secrets)
	if err != nil {
		return nil, err
	}
	digest, err := s.Images.Digest(ctx, source.Spec.Image, auth)
	if err != nil || digest == known {
		return nil, err
	}
	index, _, err := s.Images.Read(ctx, source.Spec.Image, auth)
	return index, err
}

func (s *Standby) readConfigMap(ctx context.Context, source *v1alpha1.CatalogSource, known string) (*catalog.Index, error) {
	key := client.ObjectKey{Namespace: source.Namespace, Name: source.Spec.ConfigMap}
	var object corev1.ConfigMap
	if err := s.Live.Get(ctx, key, &object); err != nil {
		return nil, fmt.Errorf("read ConfigMap %s, which spec.configMap names: %w", key, err)
	}
	tree, digest, err := configmapcatalog.Read(ctx, object.Data, object.BinaryData)
	if err != nil {
		return nil, fmt.Errorf("read the catalog in ConfigMap %s: %w", key, err)
	}
	if digest == known {
		return nil, nil
	}
	index, err := s.Images.Indexes.FS(ctx, digest, tree)
	if err != nil {
		return nil, fmt.Errorf("index the catalog in ConfigMap %s: %w", key, err)
	}
	return index, catalogimage.Check(index, "ConfigMap "+key.String())
}

// readServer reads the catalog of a registry server. The Secrets of a catalog in an image are those of the image.
func (s *Standby) readServer(ctx context.Context, source *v1alpha1.CatalogSource, address, known string) (*catalog.Index, error) {
	if address == "" {
		return nil, errNowhere
	}
	var o registryclient.Options
	if source.Spec.Image == "" {
		var err error
		if o.Authorities, err = unpack.Authorities(ctx, s.Live, source.Namespace, source.Spec.Secrets); err != nil {
			return nil, err
		}
	}
	server, err := s.dial(address, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }() // all has been read
	_, index, err := catalogimage.FromServer(ctx, s.Images.Indexes, server, address, func(digest string) bool { return digest == known })
	return index, err
}
