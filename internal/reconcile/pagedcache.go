package reconcile

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
)

// pageSize is how many objects are asked for at a time, as everywhere in Kubernetes.
const pageSize int64 = 500

// NewPagedInformer is cache.NewSharedIndexInformer, but that lists are read page by page and each is trimmed as the cache trims its objects. What trims
// an object sees it twice therefore: here, and when it is stored.
func NewPagedInformer(from cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	t := &transformer{}
	return &pagedInformer{SharedIndexInformer: cache.NewSharedIndexInformer(paged(from, t), example, resync, indexers), transformer: t}
}

// pagedInformer keeps what trims the objects, which is set later.
type pagedInformer struct {
	cache.SharedIndexInformer
	transformer *transformer
}

// SetTransform implements cache.SharedIndexInformer. It fails when the informer runs, so the function does not change while it is used.
func (i *pagedInformer) SetTransform(f cache.TransformFunc) error {
	if err := i.SharedIndexInformer.SetTransform(f); err != nil {
		return err
	}
	i.transformer.f = f
	return nil
}

// transformer trims objects.
type transformer struct{ f cache.TransformFunc }

// paged asks for pages where it is asked for a list.
func paged(from cache.ListerWatcher, t *transformer) cache.ListerWatcher {
	source := cache.ToListerWatcherWithContext(from)
	list := func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		// Where any version will do, or one that is new enough, the API server sends all of them from its memory, whatever the limit.
		o.ResourceVersion, o.ResourceVersionMatch, o.Limit, o.Continue = "", "", pageSize, ""
		pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			page, err := source.ListWithContext(ctx, o)
			if err != nil {
				return nil, err
			}
			return t.trimmed(page)
		})
		all, _, err := pages.List(ctx, o)
		return all, err
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: list,
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return source.WatchWithContext(ctx, o)
		},
	}, from)
}

// trimmed is a page without what the cache does not hold. Its objects are taken apart from each other: one that is kept would keep all.
func (t *transformer) trimmed(page runtime.Object) (runtime.Object, error) {
	about, err := meta.ListAccessor(page)
	if err != nil {
		return nil, fmt.Errorf("read a page of a list: %w", err)
	}
	objects, err := meta.ExtractListWithAlloc(page)
	if err != nil {
		return nil, fmt.Errorf("read the objects of a page of a list: %w", err)
	}
	for i := range objects {
		if t.f == nil {
			break
		}
		small, err := t.f(objects[i])
		if err != nil {
			return nil, fmt.Errorf("trim an object of a list: %w", err)
		}
		object, ok := small.(runtime.Object)
		if !ok {
			return nil, fmt.Errorf("trim an object of a list: %T became %T, which is no object", objects[i], small)
		}
		objects[i] = object
	}
	out := &internalversion.List{Items: objects}
	out.ResourceVersion, out.Continue = about.GetResourceVersion(), about.GetContinue()
	out.RemainingItemCount = about.GetRemainingItemCount()
	return out, nil
}
