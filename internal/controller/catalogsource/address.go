package catalogsource

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	remoteTime = 5 * time.Minute // waiting for others aside
	answerTime = 7 * time.Second
	// completeEvery is how often everything is read from a server whose outline stays the same.
	completeEvery = time.Hour
)

// addresses is the origin of catalogs that a registry server serves.
type addresses struct {
	links   *links
	indexes *catalogcache.Cache
	secrets client.Reader
	clock   clock.PassiveClock
	reading chan struct{} // has room for those that are read as a whole
}

// maxReading is how many catalogs of servers are read as a whole at once.
const maxReading = 4

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
	if known.index != nil && !known.earlier && known.answer == outline && now.Sub(known.complete) < completeEvery {
		return found, nil
	}
	found.complete = now
	found.digest, found.index, err = o.index(ctx, server, known, address)
	if err != nil {
		return reading{}, err
	}
	return found, nil
}

// index makes the index of what a server says, unless it is that which is known. It goes by way of a file, as it can be large, and few
// catalogs are read at once.
func (o addresses) index(ctx context.Context, server remote, known content, address string) (string, *catalog.Index, error) {
	select {
	case o.reading <- struct{}{}:
		defer func() { <-o.reading }()
	case <-ctx.Done():
		return "", nil, fmt.Errorf("wait until fewer catalogs are being read: %w", context.Cause(ctx))
	}
	dir, err := os.MkdirTemp("", "fairlead-catalog-")
	if err != nil {
		return "", nil, fmt.Errorf("make room for the catalog of %s: %w", address, err)
	}
	defer os.RemoveAll(dir) // the index does not need it any more
	digest, err := writeDown(ctx, filepath.Join(dir, "catalog.json"), server)
	if err != nil {
		return "", nil, err
	}
	if known.has(digest) {
		return digest, nil, nil
	}
	index, err := o.indexes.FS(ctx, digest, os.DirFS(dir))
	if err != nil {
		return "", nil, fmt.Errorf("index the catalog of %s: %w", address, err)
	}
	return digest, index, catalogimage.Check(index, "the registry server at "+address)
}

// writeDown writes what a server says into a file, and returns its digest.
func writeDown(ctx context.Context, path string, server remote) (string, error) {
	file, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("make room for the catalog of a server: %w", err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	digest, err := server.Write(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	return digest, errors.Join(err, file.Close())
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
