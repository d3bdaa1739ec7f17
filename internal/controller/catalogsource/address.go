package catalogsource

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogcache"
	"fairlead.dev/fairlead/internal/catalogimage"
	"fairlead.dev/fairlead/internal/catalogset"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// remoteTime bounds reading everything from a registry server, and answerTime an answer of it.
	remoteTime = 5 * time.Minute
	answerTime = 8 * time.Second
	// completeEvery is how often everything is read from a server whose outline stays the same.
	completeEvery = time.Hour
)

// addresses is the origin of catalogs that a registry server serves.
type addresses struct {
	links   *links
	indexes *catalogcache.Cache
	secrets client.Reader
	clock   clock.PassiveClock
}

func (o addresses) read(ctx context.Context, source *v1alpha1.CatalogSource, known content) (reading, error) {
	authorities, err := o.authorities(ctx, source)
	if err != nil {
		return reading{}, err
	}
	return o.readFrom(ctx, source, known, source.Spec.Address, authorities)
}

// readFrom reads the catalog of a server.
func (o addresses) readFrom(ctx context.Context, source *v1alpha1.CatalogSource, known content, address string, authorities []byte) (reading, error) {
	ref := catalogset.Ref{Namespace: source.Namespace, Name: source.Name}
	connection, err := o.links.to(ctx, ref, address, authorities)
	if err != nil {
		return reading{}, err
	}
	server := connection.remote
	answering, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := server.Serving(answering); err != nil {
		return reading{}, err
	}
	ctx, cancel = context.WithTimeout(ctx, remoteTime)
	defer cancel()
	outline, err := server.Outline(ctx)
	if err != nil {
		return reading{}, err
	}
	now := o.clock.Now()
	connection.note(now)
	found := reading{answer: outline, session: connection.state().session}
	if known.index != nil && known.answer == outline && now.Sub(known.complete) < completeEvery {
		return found, nil
	}
	all, err := server.Catalog(ctx)
	if err != nil {
		return reading{}, err
	}
	found.complete = now
	found.digest, found.index, err = o.index(ctx, all, known, address)
	if err != nil {
		return reading{}, err
	}
	return found, nil
}

// index makes the index of what a server said, unless it is that which is known. It goes by way of a file, as it can be large.
func (o addresses) index(ctx context.Context, all *catalog.Catalog, known content, address string) (string, *catalog.Index, error) {
	dir, err := os.MkdirTemp("", "fairlead-catalog-")
	if err != nil {
		return "", nil, fmt.Errorf("make room for the catalog of %s: %w", address, err)
	}
	defer os.RemoveAll(dir) // the index does not need it any more
	digest, err := write(filepath.Join(dir, "catalog.json"), all)
	if err != nil {
		return "", nil, fmt.Errorf("write down the catalog of %s: %w", address, err)
	}
	if known.index != nil && known.digest == digest {
		return digest, nil, nil
	}
	index, err := o.indexes.FS(ctx, digest, os.DirFS(dir))
	if err != nil {
		return "", nil, fmt.Errorf("index the catalog of %s: %w", address, err)
	}
	return digest, index, catalogimage.Check(index, "the registry server at "+address)
}

// write writes a catalog into a file, always the same for the same catalog, and returns its digest.
func write(path string, all *catalog.Catalog) (string, error) {
	for i := range all.Channels {
		slices.SortFunc(all.Channels[i].Entries, func(a, b catalog.Entry) int { return cmp.Compare(a.Name, b.Name) })
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if err := catalog.WriteJSON(io.MultiWriter(file, sum), all); err != nil {
		_ = file.Close() // the write has failed already
		return "", err
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), file.Close()
}

// authorities are the certificates, in secrets of the catalog, of those who vouch for its server.
func (o addresses) authorities(ctx context.Context, source *v1alpha1.CatalogSource) ([]byte, error) {
	var all bytes.Buffer
	for _, name := range source.Spec.Secrets {
		var secret corev1.Secret
		if err := o.secrets.Get(ctx, client.ObjectKey{Namespace: source.Namespace, Name: name}, &secret); err != nil {
			return nil, secretError{fmt.Errorf("read secret %s/%s: %w", source.Namespace, name, err)}
		}
		if ca := secret.Data[corev1.ServiceAccountRootCAKey]; len(ca) > 0 {
			all.Write(ca)
			all.WriteByte('\n')
		}
	}
	return all.Bytes(), nil
}
