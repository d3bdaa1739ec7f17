package catalogsource

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc/connectivity"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
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
	polls      *metrics.Polls
	memory     memory
	loads      loads
	// verifications are those of images that are to be run.
	verifications loads
	written       reconcile.StatusMemory[v1alpha1.CatalogSourceStatus]
}

// Reconcile reads what is due, publishes what was read, keeps the Service or the pod, and reports.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return reconcile.Typed[*v1alpha1.CatalogSource]{Client: c.client, Step: c.pass, Gone: func(_ context.Context, key types.NamespacedName) (ctrl.Result, error) {
		c.forget(catalog.Ref{Namespace: key.Namespace, Name: key.Name})
		return ctrl.Result{}, nil
	}}.Reconcile(ctx, request)
}

func (c *Controller) pass(ctx context.Context, source *v1alpha1.CatalogSource) (ctrl.Result, error) {
	ref := catalog.Ref{Namespace: source.Namespace, Name: source.Name}
	tmpl, unset := c.template(ctx, source)
	known := c.recall(ctx, ref, source)
	seen, err := c.look(ctx, ref, source, known)
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
		offered, runs = c.runPod(ctx, ref, source, &known, &seen)
	} else {
		c.verifications.end(ref)
	}
	known, failed := c.refresh(ctx, ref, source, known, seen)
	// What was read while the policy changed is verified once more before it is published.
	seen.policy, seen.now = image.Policy(c.verifier), c.clock.Now()
	known.signatures = known.signatures.Stale(seen.policy, seen.now)
	c.memory.keep(ref, known)
	scheduled := known
	// What may be offered of it: content that the signature policy does not accept now is withheld, and stays known. What a pod has
	// answered is accepted only with the image that the pod ran, and what was set aside with the image that it was read from.
	apart := known.pod != "" || known.setAside && known.ran.Image != ""
	if known.index != nil && (known.signatures.Withheld() || apart && !known.ran.accepted(known.signatures, seen.now)) {
		known.index, known.digest, known.withheld = nil, "", true
	}
	// What the rest of the program gets to see.
	e := catalogstore.Entry{Index: known.index, Image: known.image(), Withheld: known.withheld}
	if known.pod != "" {
		e.Image = "" // what a pod answers is not proven to be what its image holds
	}
	switch {
	case known.invalid != nil:
		e.Problem = messages.Error(known.invalid)
	case known.problem != nil:
		e.Problem = messages.Error(known.problem)
	case known.podVerdict.err != nil && !unanswered(known.podVerdict.err):
		e.Problem = messages.Error(known.podVerdict.err)
	}
	c.catalogs.Publish(ref, e)
	if !seen.podded {
		offered = c.serve(ctx, ref, source, known)
	}
	if reconcile.IsTransient(offered.err) && !offered.refused {
		failed = errors.Join(failed, offered.err)
		offered = offer{podded: offered.podded, undecided: true}
	}
	if err := c.report(ctx, source, report{known, offered, c.links.state(ref), tmpl}); err != nil {
		return ctrl.Result{}, err
	}
	return c.next(source, scheduled, offered, seen, tmpl), errors.Join(unset, failed, runs)
}

// forget drops all that there is of a catalog whose object is gone. What is in the cluster goes with its owner.
func (c *Controller) forget(ref catalog.Ref) {
	uid := c.memory.forget(ref)
	c.pods.without.Delete(uid)
	c.pods.keeper.Forget(&v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{UID: uid}})
	c.secrets.follow(ref, nil)
	c.loads.end(ref)
	c.verifications.end(ref)
	c.links.close(ref)
	c.catalogs.Withdraw(ref)
	c.services.withdraw(ref)
	c.written.Forget(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	if c.records.dir != "" {
		_ = os.Remove(c.records.path(ref)) // when it stays it is of no consequence: a new object of that name is asked for something else, or the same
	}
	c.metrics.Gone(ref.Namespace, ref.Name)
	c.polls.Gone(ref.Namespace, ref.Name)
}

// next asks to be called again when the catalog, or its Service, is next to be reconciled. A load that is under way says itself when it is
// done.
func (c *Controller) next(source *v1alpha1.CatalogSource, known content, offered offer, seen signs, tmpl template) ctrl.Result {
	pause := time.Duration(0)
	at, ever := due(source, known, seen)
	if ever && c.loads.of(catalog.Ref{Namespace: source.Namespace, Name: source.Name}, known.spec) == nil {
		pause = max(at.Sub(c.clock.Now()), catalogstore.MinimumPause)
	}
	if c.pods.desired(source, known) != seen.podded || known.polled != "" && !offered.undecided {
		pause = catalogstore.MinimumPause // what was found out calls for something else to be done
	}
	if seen.podded && known.signatures.Due(seen.policy, seen.now) && !offered.undecided && !known.podVerdict.holds(source, known.signatures, seen) {
		pause = catalogstore.MinimumPause // the policy changed just now
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

// report writes the status when it says something new. A load that has ended has the catalog reconciled again, often before the cache shows what
// was written then.
func (c *Controller) report(ctx context.Context, source *v1alpha1.CatalogSource, r report) error {
	w := reconcile.StatusWriter[*v1alpha1.CatalogSource, v1alpha1.CatalogSourceStatus]{Client: c.client, Owner: fieldOwner, Memory: &c.written,
		Status: func(source *v1alpha1.CatalogSource) *v1alpha1.CatalogSourceStatus { return &source.Status },
		States: func(s *v1alpha1.CatalogSourceStatus) []reconcile.State { return reconcile.Conditions(s.Conditions) }}
	next := status(w.Latest(source), r, c.clock.Now())
	state := next.GRPCConnectionState
	c.metrics.Seen(source.Namespace, source.Name, state != nil && state.LastObservedState == connectivity.Ready.String())
	c.countPoll(source, r.known)
	_, err := w.Write(ctx, source, next)
	return err
}

// countPoll tells when the registry of a catalog that is polled was last asked with success. Behind a digest there is nothing to ask for.
func (c *Controller) countPoll(source *v1alpha1.CatalogSource, known content) {
	interval, _ := pollInterval(source)
	if !pollsImage(source) || known.invalid != nil || strings.Contains(source.Spec.Image, "@") {
		c.polls.Gone(source.Namespace, source.Name)
		return
	}
	var last time.Time
	if known.problem == nil {
		last = known.asked
	}
	c.polls.Polled(source.Namespace, source.Name, last, c.clock.Now(), interval)
}
