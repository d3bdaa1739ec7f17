package packageserver

import (
	"context"
	"errors"
	"sync"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// watcher tells one client what changes of what it sees. It keeps what it has told and compares, so a catalog that is exchanged for one
// with the same content tells nothing, and changes that come quickly are told as one.
//
// Of packages with the same name in the same namespace it tells of the one that comes first in lists, which is what a client gets that
// asks for the name.
type watcher struct {
	storage   *storage
	namespace string
	selection selection
	bookmarks bool

	told   told
	events chan watch.Event
	stop   context.CancelFunc
	once   sync.Once
}

// errGone says that the client does not listen any more.
var errGone = errors.New("the client has gone")

func newWatcher(ctx context.Context, s *storage, namespace string, o *internalversion.ListOptions) (watch.Interface, error) {
	if o == nil {
		o = &internalversion.ListOptions{}
	}
	changed, unsubscribe := s.revisions.subscribe()
	revision := s.revisions.now()
	initial, err := wantsInitial(o, revision)
	if err != nil {
		unsubscribe()
		return nil, err
	}
	w := &watcher{storage: s, namespace: namespace, selection: selectionOf(o), bookmarks: o.AllowWatchBookmarks, events: make(chan watch.Event)}
	state, err := w.look(ctx)
	if err == nil && s.revisions.now() != revision && !initial {
		err = expired(revision, s.revisions.now()) // what the client knows is not what was looked at
	}
	if err != nil {
		unsubscribe()
		return nil, err
	}
	if !initial {
		w.told, state = state, nil
	}
	ctx, w.stop = context.WithCancel(ctx)
	go func() {
		defer close(w.events)
		defer unsubscribe()
		defer w.stop()
		w.run(ctx, changed, state, revision, o.SendInitialEvents != nil && *o.SendInitialEvents)
	}()
	return w, nil
}

// wantsInitial tells whether a client is to be told what there is now. Without, it has to know that already.
func wantsInitial(o *internalversion.ListOptions, now uint64) (bool, error) {
	if o.SendInitialEvents != nil && *o.SendInitialEvents || o.ResourceVersion == "" || o.ResourceVersion == "0" {
		return true, checkRevision(&internalversion.ListOptions{ResourceVersion: o.ResourceVersion}, now)
	}
	known, err := parseRevision(o.ResourceVersion)
	if err == nil && known < now {
		err = expired(known, now)
	}
	if err == nil {
		err = checkRevision(&internalversion.ListOptions{ResourceVersion: o.ResourceVersion}, now)
	}
	return false, err
}

// Stop ends the watch.
func (w *watcher) Stop() { w.once.Do(w.stop) }

// ResultChan is what is told.
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

func (w *watcher) run(ctx context.Context, changed <-chan struct{}, initial told, revision uint64, marked bool) {
	if initial != nil {
		if w.tell(ctx, initial, revision) != nil {
			return
		}
		if marked && w.bookmark(ctx, revision, map[string]string{metav1.InitialEventsAnnotationKey: "true"}) != nil {
			return
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.storage.ended:
			return
		case <-changed:
		}
		revision := w.storage.revisions.now()
		state, err := w.look(ctx)
		if err != nil {
			status := apierrors.NewInternalError(err).Status()
			_ = w.send(ctx, watch.Event{Type: watch.Error, Object: &status}) // it ends in any case
			return
		}
		if w.tell(ctx, state, revision) != nil || w.bookmarks && w.bookmark(ctx, revision, nil) != nil {
			return
		}
	}
}

// look is what there is to be told now.
func (w *watcher) look(ctx context.Context) (told, error) {
	offers, err := w.storage.view.offers(ctx, w.namespace)
	if err != nil {
		return nil, err
	}
	return remember(w.selection.of(offers))
}

// tell sends what differs from what was told.
func (w *watcher) tell(ctx context.Context, state told, revision uint64) error {
	for _, change := range w.told.changes(state) {
		object, err := change.item.whole(revisionText(revision))
		if err != nil && change.kind == watch.Deleted {
			object, err = &packagesv1.PackageManifest{TypeMeta: typeMeta(packagesv1.PackageManifestKind), ObjectMeta: change.item.meta(revisionText(revision))}, nil
		}
		if err != nil {
			status := apierrors.NewInternalError(err).Status()
			return errors.Join(err, w.send(ctx, watch.Event{Type: watch.Error, Object: &status}))
		}
		if err := w.send(ctx, watch.Event{Type: change.kind, Object: object}); err != nil {
			return err
		}
	}
	w.told = state
	return nil
}

// bookmark says up to which revision everything was told.
func (w *watcher) bookmark(ctx context.Context, revision uint64, annotations map[string]string) error {
	var mark runtime.Object = &packagesv1.PackageManifest{
		TypeMeta:   typeMeta(packagesv1.PackageManifestKind),
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: revisionText(revision), Annotations: annotations},
	}
	return w.send(ctx, watch.Event{Type: watch.Bookmark, Object: mark})
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
