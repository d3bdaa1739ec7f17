package catalogsource

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/internal/metrics"

	"google.golang.org/grpc/connectivity"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of all that the controller writes.
const fieldOwner = client.FieldOwner("fairlead-catalogsource")

// grace is how long a reconcile waits for content that is being read, so that what is quick to read is reported in one write.
const grace = 2 * time.Second

// Controller keeps the catalogset in step with the CatalogSources.
type Controller struct {
	client     client.Client
	images     origin
	configMaps origin
	addresses  origin
	links      *links
	services   *services
	records    records
	catalogs   *catalogset.Set
	clock      clock.Clock
	grace      time.Duration
	cluster    *cluster
	metrics    *metrics.CatalogSources
	memory     memory
	loads      loads
}

// Reconcile looks at what is due, publishes what was read, keeps the Service, and reports.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ref := catalogset.Ref{Namespace: request.Namespace, Name: request.Name}
	var source v1alpha1.CatalogSource
	if err := c.client.Get(ctx, request.NamespacedName, &source); err != nil {
		if client.IgnoreNotFound(err) == nil {
			c.forget(ref)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !source.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	image, err := c.template(ctx, &source)
	if err != nil {
		return ctrl.Result{}, err
	}
	known := c.recall(ctx, ref, &source)
	seen, err := c.look(ctx, ref, &source)
	if err != nil {
		return ctrl.Result{}, err
	}
	known = c.refresh(ctx, ref, &source, known, seen)
	c.memory.keep(ref, known)
	c.catalogs.Publish(ref, known.entry())
	offered := c.services.keep(ctx, ref, &source, known)
	if err := c.report(ctx, &source, report{known, offered, c.links.state(ref), image}); err != nil {
		return ctrl.Result{}, err
	}
	return c.next(&source, known, offered, seen, image), nil
}

// forget drops all that there is of a catalog whose object is gone. What is in the cluster goes with its owner.
func (c *Controller) forget(ref catalogset.Ref) {
	c.loads.end(ref)
	c.links.close(ref)
	c.catalogs.Withdraw(ref)
	c.services.withdraw(ref)
	c.memory.forget(ref)
	c.records.remove(ref)
	c.metrics.Gone(ref.Namespace, ref.Name)
}

// template brings the image of the spec in line with its template, if it has one.
func (c *Controller) template(ctx context.Context, source *v1alpha1.CatalogSource) (template, error) {
	if source.Annotations[v1alpha1.CatalogImageTemplateAnnotation] == "" {
		return template{}, nil
	}
	t := resolveTemplate(source, c.cluster.version(ctx))
	if !t.changes(source) {
		return t, nil
	}
	before := source.DeepCopy()
	source.Spec.Image = t.image
	if err := c.client.Patch(ctx, source, client.MergeFrom(before), fieldOwner); err != nil {
		return t, fmt.Errorf("set spec.image of CatalogSource %s/%s to what its template comes to: %w", source.Namespace, source.Name, err)
	}
	return t, nil
}

// recall returns what is known. Right after a start that is what an earlier run has left, so that a registry that is down, or slow, does
// not keep from being served what was served before.
func (c *Controller) recall(ctx context.Context, ref catalogset.Ref, source *v1alpha1.CatalogSource) content {
	known, seen := c.memory.recall(ref, source)
	if !seen {
		known = c.records.restore(ctx, ref, known)
	}
	known.invalid = validate(source)
	if known.invalid != nil {
		// Whoever changes the spec wants something else than was served; that must not go on being installed.
		known.index, known.digest, known.looked = nil, "", c.clock.Now()
	}
	return known
}

// look looks for signs that there is something new.
func (c *Controller) look(ctx context.Context, ref catalogset.Ref, source *v1alpha1.CatalogSource) (signs, error) {
	if !isAddress(source) {
		c.links.close(ref)
	}
	if !isConfigMap(source) {
		return signs{session: c.links.state(ref).session}, nil
	}
	var object metav1.PartialObjectMetadata
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	err := c.client.Get(ctx, client.ObjectKey{Namespace: source.Namespace, Name: source.Spec.ConfigMap}, &object)
	if client.IgnoreNotFound(err) != nil {
		return signs{}, fmt.Errorf("look for ConfigMap %s/%s, which spec.configMap names: %w", source.Namespace, source.Spec.ConfigMap, err)
	}
	return signs{configMap: object.ResourceVersion}, nil
}

// refresh takes over what was read since the last time, or begins to read what is due.
func (c *Controller) refresh(ctx context.Context, ref catalogset.Ref, source *v1alpha1.CatalogSource, known content, seen signs) content {
	running := c.loads.of(ref, known.spec)
	if running == nil {
		if next, ever := due(source, known, seen); !ever || next.After(c.clock.Now()) {
			return known
		}
		from, asked, before := c.originOf(source), source.DeepCopy(), known
		running = c.loads.begin(ctx, ref, known.spec, func(ctx context.Context) (reading, error) { return from.read(ctx, asked, before) })
	}
	if !running.wait(ctx, c.grace) {
		return known
	}
	c.loads.end(ref)
	known = known.after(running.reading, running.err, c.clock.Now())
	if running.reading.index != nil {
		c.records.save(ctx, ref, known)
		c.metrics.Loaded(ref.Namespace, ref.Name)
	}
	return known
}

// next asks to be called again when the catalog, or its Service, is next to be looked at. A load that is under way says itself when it is
// done.
func (c *Controller) next(source *v1alpha1.CatalogSource, known content, offered offer, seen signs, image template) ctrl.Result {
	pause := time.Duration(0)
	at, ever := due(source, known, seen)
	if ever && c.loads.of(catalogset.Ref{Namespace: source.Namespace, Name: source.Name}, known.spec) == nil {
		pause = max(at.Sub(c.clock.Now()), minimumPause)
	}
	if offered.err != nil {
		pause = sooner(pause, serviceRetry)
	}
	if image.text != "" {
		pause = sooner(pause, templateLife)
	}
	return ctrl.Result{RequeueAfter: pause}
}

// sooner is the shorter of two pauses, of which 0 is for none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// report writes the status when it says something new.
func (c *Controller) report(ctx context.Context, source *v1alpha1.CatalogSource, r report) error {
	before := source.DeepCopy()
	source.Status = status(before, r, c.clock.Now())
	state := source.Status.GRPCConnectionState
	c.metrics.Seen(source.Namespace, source.Name, state != nil && state.LastObservedState == connectivity.Ready.String())
	if equality.Semantic.DeepEqual(before.Status, source.Status) {
		return nil
	}
	if err := c.client.Status().Patch(ctx, source, client.MergeFrom(before), fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of CatalogSource %s/%s: %w", source.Namespace, source.Name, err)
	}
	return nil
}
