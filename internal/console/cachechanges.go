package console

import (
	"context"
	"fmt"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reviewed is how long a stream relies on what the API server has said of the rights of its user.
const reviewed = 3 * time.Minute

// CacheChanges tells streams of changes that the caches of a manager see: there is one set of handlers, however many streams there are. A stream is told
// that something has changed where its user may watch it, and never what.
type CacheChanges struct {
	kinds []schema.GroupVersionKind

	mu  sync.Mutex
	all map[*follower]bool
}

// follower is a stream.
type follower struct {
	namespace string // empty is all
	changed   func()
	may       map[schema.GroupVersionKind]bool // what its user may watch there
}

// NewCacheChanges has changes of the kinds that pages show; with v1 those of the v1 API among them.
func NewCacheChanges(v1 bool) *CacheChanges {
	c := &CacheChanges{all: map[*follower]bool{}}
	for _, kind := range watched {
		if v1 || !ofV1(kind) {
			c.kinds = append(c.kinds, kind)
		}
	}
	return c
}

// Watch adds the handlers to the informers of a cache.
func (c *CacheChanges) Watch(ctx context.Context, informers cache.Informers, made func(schema.GroupVersionKind) (client.Object, error)) error {
	for _, kind := range c.kinds {
		object, err := made(kind)
		if err != nil {
			return fmt.Errorf("follow %s for the console: %w", kind.Kind, err)
		}
		informer, err := informers.GetInformer(ctx, object)
		if err != nil {
			return fmt.Errorf("follow %s for the console: %w", kind.Kind, err)
		}
		if _, err := informer.AddEventHandler(c.handler(kind)); err != nil {
			return fmt.Errorf("follow %s for the console: %w", kind.Kind, err)
		}
	}
	return nil
}

func (c *CacheChanges) handler(kind schema.GroupVersionKind) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, there bool) {
			if !there { // since before
				c.happened(kind, object)
			}
		},
		UpdateFunc: func(before, after any) {
			was, err := meta.Accessor(before)
			is, failed := meta.Accessor(after)
			if err != nil || failed != nil || was.GetResourceVersion() != is.GetResourceVersion() { // which are the same when all is only checked again
				c.happened(kind, after)
			}
		},
		DeleteFunc: func(object any) { c.happened(kind, object) },
	}
}

// happened tells the streams whose users may watch an object that something has changed.
func (c *CacheChanges) happened(kind schema.GroupVersionKind, object any) {
	if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return
	}
	namespace := accessor.GetNamespace()
	c.mu.Lock()
	defer c.mu.Unlock()
	for f := range c.all {
		if f.may[kind] && (namespace == "" || f.namespace == "" || f.namespace == namespace) {
			f.changed()
		}
	}
}

// Follow tells a stream of changes in a namespace, or everywhere, until the context ends. It implements Changes.
func (c *CacheChanges) Follow(ctx context.Context, u *User, namespace string, changed func()) {
	go func() {
		f := &follower{namespace: namespace, changed: changed, may: c.review(ctx, u, namespace)}
		forget := c.add(f)
		defer forget()
		ticker := time.NewTicker(reviewed)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				may := c.review(ctx, u, namespace)
				c.mu.Lock()
				f.may = may
				c.mu.Unlock()
			}
		}
	}()
}

func (c *CacheChanges) add(f *follower) (forget func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[f] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, f)
	}
}

// review asks the API server, as the user, which kinds they may watch. What it does not allow, or cannot say, is not followed.
func (c *CacheChanges) review(ctx context.Context, u *User, namespace string) map[schema.GroupVersionKind]bool {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	may := map[schema.GroupVersionKind]bool{}
	for _, kind := range c.kinds {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		at := namespace
		if ofV1(kind) { // whose objects belong to no namespace
			at = ""
		}
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "watch", Group: kind.Group, Version: kind.Version, Resource: resource.Resource, Namespace: at}}}
		may[kind] = u.client.Create(ctx, review) == nil && review.Status.Allowed
	}
	return may
}
