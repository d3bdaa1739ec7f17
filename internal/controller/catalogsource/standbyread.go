package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/content/image"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Contents are the catalogs that the controllers publish once this manager leads, and until they do those that were read before. Content that
// the controllers withhold has no substitute.
type Contents struct{ Leading, Standby *catalogstore.Set }

// Get returns the entry of one catalog.
func (c Contents) Get(ref catalog.Ref) (catalogstore.Entry, bool) {
	leading, known := c.Leading.Get(ref)
	if leading.Index != nil || leading.Withheld {
		return leading, true
	}
	if standby, ok := c.Standby.Get(ref); ok && (standby.Index != nil || !known) {
		return standby, true
	}
	return leading, known
}

// readTime bounds the reading of one catalog.
const readTime = 5 * time.Minute

// errNowhere says that no one knows yet where a catalog can be read.
var errNowhere = errors.New("the status names no address yet")

// standbyRead is the content of a catalog, and the image that it is from.
type standbyRead struct {
	index *catalog.Index
	from  standbyImage
}

// digest is that of the index; empty for none.
func (f standbyRead) digest() string {
	if f.index == nil {
		return ""
	}
	return f.index.Digest()
}

// read reads the content of a catalog, whose spec can be acted on, unless it is that which was found before.
func (s *Standby) read(ctx context.Context, source *v1alpha1.CatalogSource, before standbyRead) (standbyRead, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	switch spec := source.Spec; {
	case spec.SourceType == v1alpha1.SourceTypeConfigmap || spec.SourceType == v1alpha1.SourceTypeInternal:
		return before.or(s.readConfigMap(ctx, source, before.digest()))
	case spec.Image == "":
		return before.or(s.readServer(ctx, source, spec.Address, before.digest()))
	}
	now, err := s.readImage(ctx, source, before)
	if errors.Is(err, image.ErrNoCatalog) {
		pod, err := before.or(s.readServer(ctx, source, source.Status.RegistryServiceStatus.Address(), before.digest()))
		pod.from = now.from // it is what the pod is to run
		return pod, err
	}
	return now, err
}

// or is an index that was read from no image, or the one that was found before where that is the same.
func (f standbyRead) or(index *catalog.Index, err error) (standbyRead, error) {
	if index == nil {
		index = f.index
	}
	return standbyRead{index: index}, err
}

// readImage verifies the image as it is now, also where its content is known: the policy may be another.
func (s *Standby) readImage(ctx context.Context, source *v1alpha1.CatalogSource, before standbyRead) (standbyRead, error) {
	ref := source.Spec.Image
	auth, err := bundleio.PullSecrets(ctx, s.Live, source.Namespace, source.Spec.Secrets)
	if err != nil {
		return standbyRead{}, err
	}
	now := standbyRead{from: standbyImage{ref: ref, policy: s.Images.Images.Policy()}}
	if now.from.digest, err = s.Images.Digest(ctx, ref, auth); err != nil {
		return standbyRead{}, err
	}
	v, err := s.Images.Images.Verify(ctx, ref, image.VerifyOptions{Auth: auth, Digest: now.from.digest})
	if err != nil {
		return standbyRead{}, err
	}
	if v != nil {
		now.from.expires = v.Expires
	}
	if before.digest() == now.from.digest {
		now.index = before.index
		return now, nil
	}
	now.index, _, err = s.Images.ReadFor(ctx, image.Pin(ref, now.from.digest), ref, auth)
	return now, err
}

// keep is what may be offered of what was found before, while nothing can be read: of an image, what the signature policy accepts now. What is not
// decided on is withheld, and stays known: its registry may be away for longer.
func (s *Standby) keep(ctx context.Context, source *v1alpha1.CatalogSource, before standbyRead) standbyRead {
	if before.index == nil || before.from.ref == "" {
		return before
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	policy := s.Images.Images.Policy()
	// Without the secrets the registry may still answer, and what was verified before under this policy needs none.
	auth, _ := bundleio.PullSecrets(ctx, s.Live, source.Namespace, source.Spec.Secrets)
	v, err := s.Images.Images.Verify(ctx, before.from.ref, image.VerifyOptions{Auth: auth, Digest: before.from.digest})
	if image.Refuses(err) {
		return standbyRead{} // it is read again once the policy accepts it
	}
	if err != nil {
		before.from.policy = "" // it is withheld until that is decided
		return before
	}
	before.from.policy, before.from.expires = policy, time.Time{}
	if v != nil {
		before.from.expires = v.Expires
	}
	return before
}

func (s *Standby) readConfigMap(ctx context.Context, source *v1alpha1.CatalogSource, known string) (*catalog.Index, error) {
	key := client.ObjectKey{Namespace: source.Namespace, Name: source.Spec.ConfigMap}
	var object corev1.ConfigMap
	if err := s.Live.Get(ctx, key, &object); err != nil {
		return nil, fmt.Errorf("read ConfigMap %s, which spec.configMap names: %w", key, err)
	}
	read, err := catalogstore.ReadConfigMap(ctx, object.Data, object.BinaryData)
	if err != nil {
		return nil, fmt.Errorf("read the catalog in ConfigMap %s: %w", key, err)
	}
	if read.Digest == known {
		return nil, nil
	}
	index, err := s.Images.Indexes.FS(ctx, read.Digest, read.Files, read.Problems...)
	if err != nil {
		return nil, fmt.Errorf("index the catalog in ConfigMap %s: %w", key, err)
	}
	return index, catalogstore.CheckImage(index, "ConfigMap "+key.String())
}

// readServer reads the catalog of a registry server. The Secrets of a catalog in an image are those of the image.
func (s *Standby) readServer(ctx context.Context, source *v1alpha1.CatalogSource, address, known string) (*catalog.Index, error) {
	if address == "" {
		return nil, errNowhere
	}
	var o grpccatalog.Options
	if source.Spec.Image == "" {
		var err error
		if o.Authorities, err = bundleio.SecretAuthorities(ctx, s.Live, source.Namespace, source.Spec.Secrets); err != nil {
			return nil, err
		}
	}
	server, err := s.dial(address, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }() // all has been read
	_, index, err := catalogstore.FromServer(ctx, s.Images.Indexes, server, address, func(digest string) bool { return digest == known }, catalogstore.CheckImage)
	return index, err
}
