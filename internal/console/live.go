package console

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// streamPath is the stream of a page.
const streamPath = "/live"

// Bounds of streams.
const (
	// settles is for how long changes are gathered: an installation writes tens of objects in a second.
	settles = 500 * time.Millisecond
	// beat keeps proxies from closing a stream on which nothing happens.
	beat = 25 * time.Second
	// again is how long to wait before a watch that has ended begins once more.
	again = 5 * time.Second
	// allStreams is how many there may be at once, of all sessions.
	allStreams = 500
)

// watched are the kinds whose objects pages show.
var watched = []schema.GroupVersionKind{
	v1alpha1.GroupVersion.WithKind(v1alpha1.SubscriptionKind),
	v1alpha1.GroupVersion.WithKind(v1alpha1.InstallPlanKind),
	v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind),
	v1alpha1.GroupVersion.WithKind(v1alpha1.CatalogSourceKind),
	operatorsv1.GroupVersion.WithKind(operatorsv1.OperatorGroupKind),
	olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind),
	olmv1.GroupVersion.WithKind(olmv1.ClusterCatalogKind),
	olmv1.GroupVersion.WithKind(olmv1.ClusterObjectSetKind),
}

// stream tells a browser when something may have changed that the user sees, and not what: the browser then asks for its page again.
func (c *Console) stream(w http.ResponseWriter, r *http.Request) {
	s := r.Context().Value(sessionKey{}).(*session)
	done, ok := s.stream()
	if !ok {
		http.Error(w, fmt.Sprintf("a session has %d streams at most: close other pages of the console", maxStreams), http.StatusTooManyRequests)
		return
	}
	defer done()
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Time{}); err != nil {
		c.Log.Debug("keep a stream open", "err", err)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	send := func(text string) bool {
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	if !send("retry: 5000\n\n") {
		return
	}
	changes := c.watch(r.Context(), s.user, r.URL.Query().Get("namespace"))
	idle := time.NewTicker(beat)
	defer idle.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-changes:
			select { // gather those that come together
			case <-r.Context().Done():
				return
			case <-time.After(settles):
			}
			select {
			case <-changes:
			default:
			}
			if !send("event: change\ndata: {}\n\n") {
				return
			}
		case <-idle.C:
			if !send(": beat\n\n") {
				return
			}
		}
	}
}

// watch watches all kinds as the user, in a namespace or everywhere. The channel has one element at most: that something has changed.
func (c *Console) watch(ctx context.Context, u *User, namespace string) <-chan struct{} {
	changes := make(chan struct{}, 1)
	var all sync.WaitGroup
	for _, kind := range watched {
		all.Go(func() {
			for ctx.Err() == nil {
				u.watchKind(ctx, kind, namespace, changes)
				select {
				case <-ctx.Done():
				case <-time.After(again):
				}
			}
		})
	}
	return changes
}

// watchKind watches the metadata of the objects of a kind until the watch ends. What the user may not watch does not change pages.
func (u *User) watchKind(ctx context.Context, kind schema.GroupVersionKind, namespace string, changes chan<- struct{}) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	watching, err := u.client.Watch(ctx, list, client.InNamespace(namespace))
	if err != nil {
		return
	}
	defer watching.Stop()
	begun := time.Now()
	for event := range watching.ResultChan() {
		if event.Type == watch.Bookmark || event.Type == watch.Error || event.Type == watch.Added && time.Since(begun) < settles { // what was there before
			continue
		}
		select {
		case changes <- struct{}{}:
		default:
		}
	}
}
