package packageserver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	apistorage "k8s.io/apiserver/pkg/storage"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
)

// watcher tells one client what changes of what it sees: it compares the snapshot that the client knows with the present one. So a catalog
// that is exchanged for one with the same content tells nothing, changes that come faster than a client takes them are told as one, and
// none is lost or told twice.
//
// Of packages with the same name in the same namespace it tells of the one that comes first in lists, which is what a client gets that
// asks for the name.
type watcher struct {
	storage   *storage
	namespace string
	selection selection
	bookmarks bool

	events chan watch.Event
	stop   context.CancelFunc
	once   sync.Once
}

// errGone says that the client does not listen any more.
var errGone = errors.New("the client has gone")

// begin is the snapshot that a client knows; initial says that it knows none, and is to be told what there is now.
func begin(o *internalversion.ListOptions, p *present) (from *snapshot, initial bool, err error) {
	asked, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return nil, false, err
	}
	if asked == 0 {
		return nil, true, nil
	}
	known, now := p.at(asked), p.now().revision
	switch {
	case known == nil && asked > now:
		return nil, false, apistorage.NewTooLargeResourceVersionError(asked, now, 1)
	case o.SendInitialEvents != nil && *o.SendInitialEvents:
		return nil, true, nil
	case known == nil:
		return nil, false, expired(asked, now)
	}
	return known, false, nil
}

// Stop ends the watch.
func (w *watcher) Stop() { w.once.Do(w.stop) }

// ResultChan is what is told.
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// run tells what there is to be told beyond what is known, for as long as the client listens.
//
// A client that has listed packages, and keeps one object for each name, has the last of a name: it is told of the first at once.
func (w *watcher) run(ctx context.Context, known *snapshot, marked bool) {
	first, listed := known == nil, w.offers(known)
	// The names of packages of which a list has several.
	doubt := map[types.NamespacedName]bool{}
	for i := 1; i < len(listed); i++ {
		if listed[i].key() == listed[i-1].key() {
			doubt[listed[i].key()] = true
		}
	}
	for told := remember(listed); ; {
		now, changed := w.storage.present.follow()
		if first || len(doubt) > 0 || known.revision != now.revision {
			shown := remember(w.offers(now))
			if w.tell(ctx, told.changes(shown, doubt), now.revision) != nil || w.mark(ctx, now.revision, first, marked) != nil {
				return
			}
			doubt = nil
		}
		known, first = now.past(), false
		select {
		case <-ctx.Done():
			return
		case <-w.storage.ended:
			return
		case <-changed:
		}
		told = remember(w.offers(known))
	}
}

// offers are the packages of a snapshot that the client asks for.
func (w *watcher) offers(s *snapshot) []offer {
	if s == nil {
		return nil
	}
	return w.selection.of(s.offers(w.namespace, w.storage.global))
}

// mark sends a bookmark, which says up to which revision everything was told, where the client wants one.
func (w *watcher) mark(ctx context.Context, revision uint64, first, marked bool) error {
	if first && !marked || !first && !w.bookmarks {
		return nil
	}
	mark := &packagesv1.PackageManifest{
		TypeMeta: typeMeta(packagesv1.PackageManifestKind), ObjectMeta: metav1.ObjectMeta{ResourceVersion: revisionText(revision)},
	}
	if first {
		mark.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return w.send(ctx, watch.Event{Type: watch.Bookmark, Object: mark})
}

// tell sends changes. What cannot be read any more ends the watch, unless it is gone: then it is enough to say what it was called.
func (w *watcher) tell(ctx context.Context, changes []change, revision uint64) error {
	text := revisionText(revision)
	for _, change := range changes {
		object, err := change.offer.whole(text)
		if err != nil && change.kind == watch.Deleted {
			object, err = &packagesv1.PackageManifest{TypeMeta: typeMeta(packagesv1.PackageManifestKind), ObjectMeta: change.offer.meta(text)}, nil
		}
		if err != nil {
			status := apierrors.NewInternalError(err).Status()
			return errors.Join(err, w.send(ctx, watch.Event{Type: watch.Error, Object: &status}))
		}
		if err := w.send(ctx, watch.Event{Type: change.kind, Object: object}); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) send(ctx context.Context, e watch.Event) error {
	select {
	case w.events <- e:
		return nil
	case <-ctx.Done():
	case <-w.storage.ended:
	}
	return errGone
}

// told is what a client of a watch knows: of the packages with the same name in the same namespace, the one that comes first in lists.
type told map[types.NamespacedName]offer

// remember picks the first of the packages with the same name.
func remember(offers []offer) told {
	t := make(told, len(offers))
	for i := range offers {
		if _, known := t[offers[i].key()]; !known {
			t[offers[i].key()] = offers[i]
		}
	}
	return t
}

func (o *offer) key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.namespace, Name: o.doc.name}
}

// sum identifies all that is said of a package.
func (o *offer) sum() [sha256.Size]byte {
	text, _ := json.Marshal(struct { // which has nothing that cannot be written
		Meta, Display, Publisher any
	}{o.meta(""), o.source.Spec.DisplayName, o.source.Spec.Publisher})
	return sha256.Sum256(append(text, o.doc.sum[:]...))
}

// change is what a client is told.
type change struct {
	kind  watch.EventType
	offer offer
}

// changes lead from what was told to what is to be known: first what is gone, then what is new or different, each in order. What is in
// doubt is told of in any case.
func (t told) changes(to told, doubt map[types.NamespacedName]bool) []change {
	var gone, other []change
	for key, o := range t {
		if _, stays := to[key]; !stays {
			gone = append(gone, change{watch.Deleted, o})
		}
	}
	for key, o := range to {
		before, known := t[key]
		switch {
		case !known:
			other = append(other, change{watch.Added, o})
		case doubt[key] || (before.source.CatalogSource != o.source.CatalogSource || before.doc != o.doc) && before.sum() != o.sum():
			other = append(other, change{watch.Modified, o})
		}
	}
	inOrder := func(a, b change) int { return a.offer.compare(&b.offer) }
	slices.SortFunc(gone, inOrder)
	slices.SortFunc(other, inOrder)
	return slices.Concat(gone, other)
}
