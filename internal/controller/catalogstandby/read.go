package catalogstandby

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// readServer reads the catalog of a registry server. It goes by way of a file, as it can be large.
func (s *Standby) readServer(ctx context.Context, source *v1alpha1.CatalogSource, address, known string) (*catalog.Index, error) {
	if address == "" {
		return nil, errNowhere
	}
	authorities, err := s.authorities(ctx, source)
	if err != nil {
		return nil, err
	}
	server, err := s.dial(address, registryclient.Options{Authorities: authorities})
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }() // all has been read
	dir, err := os.MkdirTemp("", "fairlead-catalog-")
	if err != nil {
		return nil, fmt.Errorf("make room for the catalog of %s: %w", address, err)
	}
	defer os.RemoveAll(dir) // the index does not need it any more
	file, err := os.Create(filepath.Join(dir, "catalog.json"))
	if err != nil {
		return nil, fmt.Errorf("make room for the catalog of %s: %w", address, err)
	}
	digest, err := server.Write(ctx, file)
	if err = errors.Join(err, file.Close()); err != nil || digest == known {
		return nil, err
	}
	index, err := s.Images.Indexes.FS(ctx, digest, os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("index the catalog of %s: %w", address, err)
	}
	return index, catalogimage.Check(index, "the registry server at "+address)
}

// authorities are the certificates, in secrets of the catalog, of those who vouch for its server.
func (s *Standby) authorities(ctx context.Context, source *v1alpha1.CatalogSource) ([]byte, error) {
	if source.Spec.Image != "" {
		return nil, nil // the secrets are those of the image
	}
	var all bytes.Buffer
	for _, name := range source.Spec.Secrets {
		var secret corev1.Secret
		if err := s.Live.Get(ctx, client.ObjectKey{Namespace: source.Namespace, Name: name}, &secret); err != nil {
			return nil, fmt.Errorf("read secret %s/%s: %w", source.Namespace, name, err)
		}
		all.Write(secret.Data[corev1.ServiceAccountRootCAKey])
		all.WriteByte('\n')
	}
	return bytes.TrimSpace(all.Bytes()), nil
}
