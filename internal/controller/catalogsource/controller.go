package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"

	"google.golang.org/grpc/connectivity"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of all that the controller writes.
const fieldOwner = client.FieldOwner("fairlead-catalogsource")

// grace is how long a reconcile waits for content that is being read, so that what is quick to read is reported in one write. Only half
// of the workers may wait: the others begin to read what else is to be read, however many registries are silent.
const grace = 2 * time.Second

// Controller keeps the set of served catalogs in step with the CatalogSources.
type Controller struct {
	client     client.Client
	images     origin
	verifier   image.Images // nil for a process without signature policies
	configMaps origin
	addresses  origin
	pods       *pods
	links      *links
	secrets    *secrets
	services   *services
	records    records
	catalogs   *catalogstore.Set
	clock      clock.Clock
	grace      time.Duration
	waiting    chan struct{} // has room for those who wait that long
	cluster    *reconcile.ClusterVersion[*version.Version]
	metrics    *metrics.CatalogSources
	memory     memory
	loads      loads
	// verifications are those of images that are to be run.
	verifications loads
	written       written
}

// Reconcile looks at what is due, publishes what was read, keeps the Service, and reports.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ref := catalog.Ref{Namespace: request.Namespace, Name: request.Name}
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
	tmpl, unset := c.template(ctx, &source)
	known := c.recall(ctx, ref, &source)
	seen, err := c.look(ctx, ref, &source, known)
	if err != nil {
		return ctrl.Result{}, err
	}
	var offered offer
	var runs error // why a pod that may not run is still there: the queue has the attempt repeated, whatever the status says
	seen.policy, seen.now = image.Policy(c.verifier), c.clock.Now()
	if known.pod != "" && known.signatures.Image == "" {
		known.signatures = image.Restored(c.verifier, source.Spec.Image) // it was read while there was no policy
	}
	known.signatures = known.signatures.Stale(seen.policy, seen.now)
	if seen.podded {
		offered, runs = c.runPod(ctx, ref, &source, &known, &seen)
	} else {
		c.verifications.end(ref)
	}
	known, failed := c.refresh(ctx, ref, &source, known, seen)
	// What was read while the policy changed is verified once more before it is published.
	seen.policy, seen.now = image.Policy(c.verifier), c.clock.Now()
	known.signatures = known.signatures.Stale(seen.policy, seen.now)
	c.memory.keep(ref, known)
	scheduled := known
	known = known.shown(seen.now)
	c.catalogs.Publish(ref, known.entry())
	if !seen.podded {
		offered = c.serve(ctx, ref, &source, known)
	}
	if reconcile.IsTransient(offered.err) && !offered.refused {
		failed = errors.Join(failed, offered.err)
		offered = offer{podded: offered.podded, undecided: true}
	}
	if err := c.report(ctx, &source, report{known, offered, c.links.state(ref), tmpl}); err != nil {
		return ctrl.Result{}, err
	}
	return c.next(&source, scheduled, offered, seen, tmpl), errors.Join(unset, failed, runs)
}

// forget drops all that there is of a catalog whose object is gone. What is in the cluster goes with its owner.
func (c *Controller) forget(ref catalog.Ref) {
	c.pods.forget(c.memory.uid(ref))
	c.secrets.follow(ref, nil)
	c.loads.end(ref)
	c.verifications.end(ref)
	c.links.close(ref)
	c.catalogs.Withdraw(ref)
	c.services.withdraw(ref)
	c.memory.forget(ref)
	c.written.forget(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	c.records.remove(ref)
	c.metrics.Gone(ref.Namespace, ref.Name)
}

// next asks to be called again when the catalog, or its Service, is next to be looked at. A load that is under way says itself when it is
// done.
func (c *Controller) next(source *v1alpha1.CatalogSource, known content, offered offer, seen signs, tmpl template) ctrl.Result {
	pause := time.Duration(0)
	at, ever := due(source, known, seen)
	if ever && c.loads.of(catalog.Ref{Namespace: source.Namespace, Name: source.Name}, known.spec) == nil {
		pause = max(at.Sub(c.clock.Now()), minimumPause)
	}
	if c.pods.wanted(source, known) != seen.podded || known.polled != "" && !offered.undecided {
		pause = minimumPause // what was found out calls for something else to be done
	}
	if seen.podded && known.signatures.Due(seen.policy, seen.now) && !offered.undecided && !known.podVerdict.holds(source, known.signatures, seen) {
		pause = minimumPause // the policy changed just now
	}
	pause = reconcile.Sooner(pause, offered.again)
	if offered.err != nil {
		pause = reconcile.Sooner(pause, offerRetry(source, offered.err))
	}
	if tmpl.text != "" {
		pause = reconcile.Sooner(pause, templateLife)
	}
	return ctrl.Result{RequeueAfter: pause}
}

// report writes the status when it says something new.
func (c *Controller) report(ctx context.Context, source *v1alpha1.CatalogSource, r report) error {
	before := source.DeepCopy()
	source.Status = status(before, r, c.clock.Now())
	state := source.Status.GRPCConnectionState
	c.metrics.Seen(source.Namespace, source.Name, state != nil && state.LastObservedState == connectivity.Ready.String())
	if equality.Semantic.DeepEqual(before.Status, source.Status) || c.written.repeats(before, source.Status) {
		return nil
	}
	wanted := *source.Status.DeepCopy() // what the API server answers is read into the other one
	if err := c.client.Status().Patch(ctx, source, client.MergeFrom(before), fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of CatalogSource %s/%s: %w", source.Namespace, source.Name, err)
	}
	c.written.note(before, wanted)
	return nil
}
