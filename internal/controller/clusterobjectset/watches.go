package clusterobjectset

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// settling is how long after a change of its objects a set is checked: the changes of a starting workload come in bursts.
const settling = 100 * time.Millisecond

var secretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// watcher knows the versions of the objects of sets, and wakes sets when they change.
type watcher interface {
	// want makes sure that kinds are watched for a set, and no others. Kinds that are not served yet are left out.
	want(ctx context.Context, set *olmv1.ClusterObjectSet, kinds []schema.GroupVersionKind) error
	// free ends the watches of a set that no one else needs.
	free(ctx context.Context, set string)
	// version is the latest one of an object, empty when it is not there; unknown when its kind is not watched.
	version(ref rollout.Ref) (version string, known bool)
	// secret is the latest version of a Secret with objects; unknown when there was none of that type and name.
	secret(name types.NamespacedName) (version string, known bool)
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// informers are the part of a cache that starts and ends watches.
type informers interface {
	GetInformer(ctx context.Context, o client.Object, options ...cache.InformerGetOption) (cache.Informer, error)
	RemoveInformer(ctx context.Context, o client.Object) error
}

// watches are the watches of the metadata of objects with the label of this controller, one for each kind that a set has.
type watches struct {
	objects informers
	queue   queue

	starting sync.Mutex // one watch is started or ended at a time

	mu      sync.Mutex
	kinds   map[schema.GroupVersionKind]*watched
	users   map[string]user
	secrets map[types.NamespacedName]string
}

// user is a set for which kinds are watched.
type user struct {
	family string
	kinds  map[schema.GroupVersionKind]bool
}

// watched is one kind.
type watched struct {
	synced   func() bool
	versions map[types.NamespacedName]string
}

func newWatches(objects informers) *watches {
	return &watches{objects: objects, kinds: map[schema.GroupVersionKind]*watched{}, users: map[string]user{}, secrets: map[types.NamespacedName]string{}}
}

func (w *watches) want(ctx context.Context, set *olmv1.ClusterObjectSet, kinds []schema.GroupVersionKind) error {
	u := user{family: revision.Labelled(set), kinds: map[schema.GroupVersionKind]bool{}}
	for _, k := range kinds {
		u.kinds[k] = true
	}
	w.starting.Lock()
	defer w.starting.Unlock()
	w.mu.Lock()
	w.users[set.Name] = u
	w.mu.Unlock()
	w.sweep(ctx)
	for _, k := range kinds {
		if err := w.start(ctx, k); err != nil && !meta.IsNoMatchError(err) {
			return fmt.Errorf("watch objects of kind %s: %w", k.GroupKind(), err)
		}
	}
	return nil
}

func (w *watches) free(ctx context.Context, set string) {
	w.starting.Lock()
	defer w.starting.Unlock()
	w.mu.Lock()
	_, known := w.users[set]
	delete(w.users, set)
	w.mu.Unlock()
	if known {
		w.sweep(ctx)
	}
}

// start begins to watch a kind, if no one does yet.
func (w *watches) start(ctx context.Context, kind schema.GroupVersionKind) error {
	w.mu.Lock()
	there := w.kinds[kind] != nil
	w.mu.Unlock()
	if there {
		return nil
	}
	// Waiting for the first list would let one kind that cannot be listed hold up all sets.
	informer, err := w.objects.GetInformer(ctx, metadataOf(kind), cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	k := &watched{versions: map[types.NamespacedName]string{}}
	w.mu.Lock()
	w.kinds[kind] = k
	w.mu.Unlock()
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.seen(k, kind, nil, o) },
		UpdateFunc: func(before, after any) { w.seen(k, kind, before, after) },
		DeleteFunc: func(o any) { w.gone(k, kind, o) },
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		delete(w.kinds, kind)
		return err
	}
	k.synced = registration.HasSynced
	return nil
}

// sweep ends the watches that no one needs any more.
func (w *watches) sweep(ctx context.Context) {
	w.mu.Lock()
	used := map[schema.GroupVersionKind]bool{}
	for _, u := range w.users {
		maps.Copy(used, u.kinds)
	}
	var unused []schema.GroupVersionKind
	for kind := range w.kinds {
		if !used[kind] {
			unused = append(unused, kind)
			delete(w.kinds, kind)
		}
	}
	w.mu.Unlock()
	for _, kind := range unused {
		_ = w.objects.RemoveInformer(ctx, metadataOf(kind)) // it fails only for what has no kind
	}
}

func metadataOf(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(kind)
	return o
}

func (w *watches) version(ref rollout.Ref) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.kinds[ref.GroupVersionKind]
	if k == nil || k.synced == nil || !k.synced() {
		return "", false
	}
	return k.versions[types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}], true
}

func (w *watches) secret(name types.NamespacedName) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	version, known := w.secrets[name]
	return version, known
}
