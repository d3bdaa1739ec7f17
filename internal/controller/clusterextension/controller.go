package clusterextension

import (
	"context"
	"errors"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/schedule"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// workers is how many extensions are worked on at once.
	workers = 4
	// fetchTimeout is how long a pass waits for a bundle that may be at hand; a slower one arrives as an event.
	fetchTimeout = 500 * time.Millisecond
)

// Options are what the controller works with.
type Options struct {
	// Catalogs are the contents of the ClusterCatalogs.
	Catalogs *catalogstore.Set
	Clock    clock.Clock
	// Bundles fetches them, such as an *bundleio.Unpacker. The one who makes it calls Notify when one has arrived.
	Bundles Bundles
	// Credentials are those that the images of bundles are pulled with.
	Credentials bundleio.Credentials
	// AllowedImages are where the images may be that extensions name themselves; none is anywhere.
	AllowedImages image.Prefixes
	// Verifier knows the signature policy that Bundles obeys; nil for a process without one.
	Verifier image.Images
	// SystemNamespace holds the Secrets with the objects of revisions.
	SystemNamespace string
	// Policies judges the admission policies that extensions rely on; nil requires none.
	Policies *permissions.PolicyChecker
	// UpgradeGate is asked about upgrades that annotations allow; nil is no gate.
	UpgradeGate UpgradeGate
	// Metrics count extensions; Setup makes and registers them when there are none.
	Metrics *Metrics
	// Notify is filled by Setup.
	Notify *Notifier
}

// Bundles fetches bundles in the background.
type Bundles interface {
	Get(ctx context.Context, r bundleio.Request, timeout time.Duration) bundleio.State
}

// UpgradeGate is asked about upgrades that annotations allow, such as a server of the fleet.
type UpgradeGate interface {
	// Ask returns why upgrades have to wait, and until when; nil where they may begin.
	Ask(ctx context.Context, upgrades ...schedule.Upgrade) *schedule.Held
}

// environment is what the steps of a pass work with. Setup makes it, and no pass changes it.
type environment struct {
	Options
	client client.Client
	live   client.Reader // uncached
	// secrets has the metadata of Secrets with serving certificates.
	secrets client.Reader
	events  record.EventRecorder
	// kubernetes returns the version of the cluster; zero when it is not known.
	kubernetes func(context.Context) semver.Version
	// providers returns who can issue serving certificates in this cluster, the preferred one first; empty when that is not known.
	providers func(context.Context) []registryv1.CertificateProvider
	// began is when the first extension was reconciled.
	began  func() time.Time
	render func(*bundle.Bundle, registryv1.Options) (*registryv1.Rendered, error)
	// count is how many custom resources of a CRD there are; nil asks the cluster.
	count revision.Count
	// backs are the rollbacks that are known to be blocked.
	backs *crd.Backs
}

// Controller reconciles ClusterExtensions. The steps of a pass are its parts, each with what it remembers.
type Controller struct {
	*environment
	observer     *observer
	fetcher      *fetcher
	preflight    *preflight
	adopter      *adopter
	certificates *certificates
	writer       *writer
	dependencies *dependencies
	remover      *remover
	reporter     *reporter
	interests    *interests
}

func newController(env *environment) *Controller {
	c := &Controller{environment: env, observer: &observer{environment: env}, preflight: &preflight{env}, dependencies: &dependencies{environment: env}, interests: &interests{}}
	c.fetcher = &fetcher{environment: env, preflight: c.preflight, interests: c.interests, rendered: lru.New(maxContents)}
	c.adopter = &adopter{env, c.preflight}
	c.writer = &writer{env, c.fetcher.rendered}
	c.certificates = &certificates{environment: env, writer: c.writer}
	c.dependencies.observer = c.observer
	c.reporter = &reporter{environment: env, observer: c.observer, interests: c.interests,
		status: reconcile.StatusWriter[*olmv1.ClusterExtension, olmv1.ClusterExtensionStatus]{Client: env.client, Owner: fieldOwner,
			Memory: &reconcile.StatusMemory[olmv1.ClusterExtensionStatus]{},
			Status: func(e *olmv1.ClusterExtension) *olmv1.ClusterExtensionStatus { return &e.Status },
			States: func(s *olmv1.ClusterExtensionStatus) []reconcile.State {
				return reconcile.Conditions(s.Conditions, reconcile.TypeReady)
			}}}
	c.remover = &remover{env, c.dependencies, c.certificates, c.reporter, c.forget}
	return c
}

// Reconcile makes one pass over an extension.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return reconcile.Typed[*olmv1.ClusterExtension]{Client: c.client, Step: c.step, Deleting: c.remover.uninstall,
		Gone: func(_ context.Context, key types.NamespacedName) (ctrl.Result, error) {
			c.forget(key.Name)
			return ctrl.Result{}, nil
		},
		Finalizer: olmv1.CleanupContentManagerCacheFinalizer, Owner: fieldOwner}.Reconcile(ctx, request)
}

// step observes, decides, acts and reports.
func (c *Controller) step(ctx context.Context, ext *olmv1.ClusterExtension) (ctrl.Result, error) {
	// Until it is known what this pass rests on, all events concern the extension: that is noted before anything is read, so that none is missed.
	c.interests.decided.Store(ext.Name, &decision{namespace: ext.Spec.Namespace, open: true, forbidden: true})
	s, err := c.observer.observe(ctx, ext)
	if err != nil {
		return ctrl.Result{}, c.reporter.report(ctx, &state{ext: ext}, &outcome{lost: err}, err)
	}
	o := &outcome{verifies: c.Verifier != nil && c.Verifier.Verifies()}
	if wait, err := c.observer.starting(ctx); err != nil || wait > 0 {
		o.soonest(wait) // new content is an event, which comes before that as a rule
		err = errors.Join(err, c.keepUp(ctx, s, o))
		return ctrl.Result{RequeueAfter: o.again}, err
	}
	err = c.work(ctx, s, o)
	if o.problem != nil && o.stopped() == nil {
		o.soonest(recheck) // what may pass need not be followed by an event
	}
	now := c.Clock.Now()
	if supported := (view{ext: ext, revisions: s.revisions, outcome: o}).support(now); supported != nil {
		o.soonest(supported.In(now)) // a phase of support begins or ends
	}
	return ctrl.Result{RequeueAfter: o.again}, c.reporter.report(ctx, s, o, err)
}

// work decides the next step and executes it. Its error is one that the queue repeats soon; whatever else
// is in the way is in the outcome.
func (c *Controller) work(ctx context.Context, s *state, o *outcome) error {
	if waits, err := c.adopter.fromHelm(ctx, s, o); err != nil || waits {
		return err
	}
	kept := c.keepUp(ctx, s, o)
	o.soonest(s.loaded)
	if in, err := c.observer.request(ctx, s); err == nil && s.waits(in) {
		o.waits = true
		return kept
	}
	rules := s.upgrades.For(olmv1.ClusterExtensionKind+" "+s.ext.Name, s.ext.Annotations)
	step := desired.Next(s.ext, desired.Observed{Revisions: s.revisions, Providers: c.providers(ctx), Rules: rules}, c.resolve(ctx, s, o), c.Clock.Now())
	if step.Held == nil { // it is not upgraded, and what would hold it is reported nevertheless
		o.notes = append(o.notes, rules.Problems()...)
	}
	if err := c.dependencies.ensure(ctx, s, o); err != nil {
		return errors.Join(kept, err)
	}
	if o.made != nil {
		return kept // the next step follows as soon as this revision is observed
	}
	return errors.Join(kept, c.execute(ctx, s, step, o))
}

// forget drops what is remembered of an extension that does not exist.
func (c *Controller) forget(name string) {
	c.fetcher.rendered.Remove(name)
	c.interests.decided.Delete(name)
	c.interests.fetching.Delete(name)
	c.reporter.status.Memory.Forget(types.NamespacedName{Name: name})
	c.Metrics.forget(name)
}

func requestFor(name string) ctrl.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}
}
