package copiedcsv

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// Controller reconciles copies: a request names the namespace and the name that a copy has, or may have.
type Controller struct {
	// client reads everything but copies, from caches that have the indexes of watches.go.
	client client.Client
	// copies reads the metadata of copies, as trim leaves it.
	copies client.Reader
	writer writer
	limits limits
	clock  clock.PassiveClock

	// written is the resource version of the last write to each copy.
	written  sync.Map // types.NamespacedName -> string
	prepared prepared
}

// limits are what the manager was told.
type limits struct {
	namespaces []string // that the manager is limited to, if any
	protected  []string // that have copies even where these are disabled
}

// Reconcile brings the copy of one name in one namespace up to date.
func (c *Controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	key := req.NamespacedName
	from, keep, err := c.sourceOf(ctx, key)
	if err != nil {
		return ctrl.Result{}, err
	}
	if from != nil {
		// While operators are being installed, nothing is copied: the status of one changes many times a second then, and each change that is copied is
		// written to every target namespace.
		wait, err := reconcile.UntilQuiet(from, c.clock.Now(), reconcile.ListOperators(ctx, c.client))
		if err != nil || wait > 0 {
			return ctrl.Result{RequeueAfter: wait}, err
		}
	}
	live, err := c.find(ctx, key)
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case live == nil && from != nil:
		err = c.make(ctx, key, from)
	case live != nil && from != nil:
		err = c.keepUp(ctx, key, from, live)
	case live != nil && !keep(origin(live)) && live.DeletionTimestamp.IsZero():
		if err = c.writer.remove(ctx, key, live.UID); err != nil {
			err = fmt.Errorf("remove the copy %s of a ClusterServiceVersion that is no longer managed from namespace %s: %w", key, origin(live), err)
		}
	}
	if live == nil && from == nil {
		c.written.Delete(key)
	}
	return ctrl.Result{}, quiet(err)
}

// find reads the metadata of the copy; nil when there is none. One that has lost its label is not in the cache of copies,
// but in that of all others.
func (c *Controller) find(ctx context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	live := emptyCopy()
	err := c.copies.Get(ctx, key, live)
	if err == nil {
		return live, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read the copy %s of a ClusterServiceVersion: %w", key, err)
	}
	if !c.watches(key.Namespace) {
		return nil, nil
	}
	unlabelled := &v1alpha1.ClusterServiceVersion{}
	err = c.client.Get(ctx, key, unlabelled)
	if apierrors.IsNotFound(err) || err == nil && !v1alpha1.IsCopied(unlabelled) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ClusterServiceVersion %s: %w", key, err)
	}
	return trimmed(&metav1.PartialObjectMetadata{ObjectMeta: unlabelled.ObjectMeta}), nil
}

// make makes a copy. Where there is a ClusterServiceVersion of this name that is no copy, that one stays.
func (c *Controller) make(ctx context.Context, key types.NamespacedName, from *v1alpha1.ClusterServiceVersion) error {
	if taken, err := c.taken(ctx, key); err != nil || taken {
		return err
	}
	content, err := c.prepared.contentOf(from)
	if err != nil {
		return err
	}
	made, err := c.writer.create(ctx, key, content.request("", 1, "spec"))
	if apierrors.IsAlreadyExists(err) {
		// Write a copy that the caches do not show yet. What is no copy stays.
		full, err := c.writer.read(ctx, key)
		if apierrors.IsNotFound(err) || err == nil && !v1alpha1.IsCopied(full) {
			return nil // the event about it follows
		}
		if err != nil {
			return fmt.Errorf("read the copy %s of a ClusterServiceVersion: %w", key, err)
		}
		return c.write(ctx, key, content, full, true)
	}
	if err != nil {
		return fmt.Errorf("copy ClusterServiceVersion %s/%s into namespace %s: %w", from.Namespace, from.Name, key.Namespace, err)
	}
	c.written.Store(key, made.ResourceVersion)
	answer, err := c.writer.replace(ctx, key, "status", content.request(made.ResourceVersion, 0, "status"))
	if err != nil {
		return fmt.Errorf("write the status of the copy %s of a ClusterServiceVersion: %w", key, err)
	}
	c.written.Store(key, answer.ResourceVersion)
	return nil
}

// taken reports whether nothing can be copied to a namespace: because it is gone or going, or because it has a
// ClusterServiceVersion of that name.
func (c *Controller) taken(ctx context.Context, key types.NamespacedName) (bool, error) {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := c.client.Get(ctx, client.ObjectKey{Name: key.Namespace}, namespace)
	if apierrors.IsNotFound(err) || err == nil && !namespace.DeletionTimestamp.IsZero() {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read namespace %s: %w", key.Namespace, err)
	}
	if !c.watches(key.Namespace) {
		return false, nil // the cache knows nothing of this namespace, the cluster will tell
	}
	err = c.client.Get(ctx, key, &v1alpha1.ClusterServiceVersion{})
	return err == nil, client.IgnoreNotFound(err)
}

// keepUp makes a copy like its source again, writing only the part that differs.
func (c *Controller) keepUp(ctx context.Context, key types.NamespacedName, from *v1alpha1.ClusterServiceVersion, live *metav1.PartialObjectMetadata) error {
	content, err := c.prepared.contentOf(from)
	if err != nil {
		return err
	}
	_, touched := live.Annotations[foreignKey]
	mark := live.Annotations[markAnnotation]
	_, was, _ := strings.Cut(mark, ".") // the part of a mark that tells of the status
	_, is, _ := strings.Cut(content.mark, ".")
	touched = touched || was == is && live.Annotations[fieldsKey] != content.fields
	if last, ok := c.written.Load(key); ok {
		order, err := resourceversion.CompareResourceVersion(live.ResourceVersion, last.(string))
		if err == nil && order < 0 {
			return nil // the event of the last write follows
		}
		touched = live.ResourceVersion != last.(string)
	}
	if !touched && mark == content.mark && live.Annotations[aboutKey] == content.about {
		c.written.Store(key, live.ResourceVersion)
		return nil
	}
	return c.write(ctx, key, content, live, touched || was != is)
}

// write replaces a copy, with its status where that is to be written. The status comes first: the mark, which tells of it,
// is written with the rest. The mark tells the generation too, which grows with this write if the spec was another one; where that was
// guessed wrong, because a user has edited the copy, the mark is corrected.
func (c *Controller) write(ctx context.Context, key types.NamespacedName, content *content, live *metav1.PartialObjectMetadata, status bool) error {
	resourceVersion, generation := live.ResourceVersion, live.Generation
	was, _, _ := strings.Cut(live.Annotations[markAnnotation], ".") // the part of a mark that tells of the spec
	if is, _, _ := strings.Cut(content.mark, "."); was != is {
		generation++
	}
	if status {
		answer, err := c.writer.replace(ctx, key, "status", content.request(resourceVersion, 0, "status"))
		if err != nil {
			return fmt.Errorf("write the status of the copy %s of a ClusterServiceVersion: %w", key, err)
		}
		resourceVersion = answer.ResourceVersion
		c.written.Store(key, resourceVersion)
	}
	for {
		answer, err := c.writer.replace(ctx, key, "", content.request(resourceVersion, generation, "spec"))
		if err != nil {
			return fmt.Errorf("write the copy %s of a ClusterServiceVersion: %w", key, err)
		}
		c.written.Store(key, answer.ResourceVersion)
		if answer.Generation == generation {
			return nil
		}
		resourceVersion, generation = answer.ResourceVersion, answer.Generation
	}
}

// quiet leaves out what an event follows that wakes the copy up, if anything is to be done at all: it has changed or is gone
// since it was read, or its namespace is going.
func quiet(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return reconcile.IgnoreSuperseded(err, watched...)
}

// watched are the resources whose conflicts an event follows.
var watched = []string{"clusterserviceversions", "olmconfigs"}
