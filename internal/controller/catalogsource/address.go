package catalogsource

import (
	"context"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// remoteTime bounds reading everything from a registry server, and answerTime an answer of it.
	remoteTime = 5 * time.Minute // waiting for others aside
	answerTime = 7 * time.Second
	// completeEvery is how often everything is read over one connection from a server whose outline stays the same. Another connection may
	// lead to another server, or to one that was started with other content: everything is read at once.
	completeEvery = time.Hour
)

// addresses is the origin of catalogs that a registry server serves.
type addresses struct {
	links   *links
	indexes *catalogstore.Cache
	secrets client.Reader
	clock   clock.PassiveClock
}

func (o addresses) read(ctx context.Context, source *v1alpha1.CatalogSource, known content) (reading, error) {
	authorities, err := bundleio.SecretAuthorities(ctx, o.secrets, source.Namespace, source.Spec.Secrets)
	if err != nil {
		return reading{}, secretError{err}
	}
	return o.readFrom(ctx, source, known, source.Spec.Address, authorities)
}

// readFrom reads the catalog of a server.
func (o addresses) readFrom(ctx context.Context, source *v1alpha1.CatalogSource, known content, address string, authorities []byte) (reading, error) {
	ref := catalog.Ref{Namespace: source.Namespace, Name: source.Name}
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
	same := known.answer == outline && known.session == found.session
	if known.index != nil && !known.earlier && same && now.Sub(known.complete) < completeEvery {
		return found, nil
	}
	found.complete = now
	found.digest, found.index, err = catalogstore.FromServer(ctx, o.indexes, server, address, known.has, catalogstore.CheckImage)
	if err != nil {
		return reading{}, err
	}
	return found, nil
}
