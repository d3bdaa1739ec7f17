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
	// sendTime is how long a client may take to take a message.
	sendTime = 10 * time.Second
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

// Pods, events and custom resources are in no stream: pages that show them are read again from time to time, while they are seen.
func (*operatorPage) slowly()      {}
func (*operandsPage) slowly()      {}
func (*operandKindPage) slowly()   {}
func (*operandObjectPage) slowly() {}

// ofV1 reports whether a kind is of the v1 API, whose objects belong to no namespace.
func ofV1(kind schema.GroupVersionKind) bool { return kind.Group == olmv1.GroupVersion.Group }

// stream tells a browser when something may have changed that the user sees, and not what: the browser then asks for its page again.
func (c *Console) stream(w http.ResponseWriter, r *http.Request) {
	s := r.Context().Value(sessionKey{}).(*session)
	done, ok := s.stream()
	if !ok {
		http.Error(w, fmt.Sprintf("a session has %d streams at most: close other pages of the console", maxStreams), http.StatusTooManyRequests)
		return
	}
	defer done()
	select {
	case c.streams <- struct{}{}:
		defer func() { <-c.streams }()
	default:
		http.Error(w, fmt.Sprintf("the console has %d streams at most: pages do not follow the cluster until others are closed; load them again", allStreams), http.StatusServiceUnavailable)
		return
	}
	control := http.NewResponseController(w)
	send := func(text string) bool {
		if err := control.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
			c.Log.Debug("bound a message of a stream", "err", err)
		}
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	changes := c.follow(ctx, s.user, (&query{session: s, values: r.URL.Query()}).namespace(ctx))
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if !send("retry: 5000\n\n") {
		return
	}
	idle := time.NewTicker(beat)
	defer idle.Stop()
	for {
		text := "event: change\ndata: {}\n\n"
		select {
		case <-ctx.Done():
			return
		case <-s.ended:
			return
		case <-changes:
			select { // gather those that come together
			case <-ctx.Done():
				return
			case <-time.After(settles):
			}
			select {
			case <-changes:
			default:
			}
		case <-idle.C:
			text = ": beat\n\n"
		}
		if s.user.present(ctx) != nil || !c.sessions.alive(s) || !send(text) {
			return
		}
	}
}

// follow has an element when something may have changed for the user, in a namespace or everywhere, until the context ends: one at most.
func (c *Console) follow(ctx context.Context, u *User, namespace string) <-chan struct{} {
	changes := make(chan struct{}, 1)
	changed := func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	}
	forget := u.listen(changed)
	context.AfterFunc(ctx, forget)
	c.Changes(ctx, u, namespace, func() {
		u.saw()
		changed()
	})
	return changes
}

// Changes tells, until the context ends, when something may have changed that a user may see, in a namespace or everywhere. It returns at once.
type Changes func(ctx context.Context, u *User, namespace string, changed func())

// watchAs watches all kinds as the user.
func watchAs(ctx context.Context, u *User, namespace string, changed func()) {
	for _, kind := range watched {
		go func() {
			for ctx.Err() == nil {
				u.watchKind(ctx, kind, namespace, changed)
				select {
				case <-ctx.Done():
				case <-time.After(again):
				}
			}
		}()
	}
}

// watchKind watches the metadata of the objects of a kind until the watch ends. What the user may not watch does not change pages.
func (u *User) watchKind(ctx context.Context, kind schema.GroupVersionKind, namespace string, changed func()) {
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
		changed()
	}
}

// listeners are the streams of a user.
type listeners struct {
	mu  sync.Mutex
	all map[*func()]bool
}

// listen adds one, until forget is called.
func (u *User) listen(changed func()) (forget func()) {
	l := &u.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[*func()]bool{}
	}
	l.all[&changed] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, &changed)
	}
}

// changed tells the streams of the user that something that pages show is another now.
func (u *User) changed() {
	l := &u.listeners
	l.mu.Lock()
	defer l.mu.Unlock()
	for tell := range l.all {
		(*tell)()
	}
}
