package clusterextension

import (
	"context"
	"errors"
	"sync"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/policies"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/rollout/serving"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// workers is how many extensions are worked on at once.
	workers = 4
	// patience is how long a pass waits for a bundle that may be at hand; a slower one arrives as an event.
	patience = 500 * time.Millisecond
)

// Options are what the controller works with.
type Options struct {
	// Catalogs are the contents of the ClusterCatalogs.
	Catalogs *catalogstore.Set
	Clock    clock.Clock
	// Bundles fetches them, such as an *bundleio.Unpacker. Whoever makes it calls Notify when one has arrived.
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
	Policies *policies.Checker
	// Metrics count extensions; Setup makes and registers them when there are none.
	Metrics *Metrics
	// Notify is filled by Setup.
	Notify *Notifier
}

// Bundles fetches bundles in the background.
type Bundles interface {
	Get(ctx context.Context, r bundleio.Request, patience time.Duration) bundleio.State
}

// Controller reconciles ClusterExtensions.
type Controller struct {
	Options
	client client.Client
	live   client.Reader // uncached
	// secrets has the metadata of Secrets with serving certificates.
	secrets client.Reader
	events  record.EventRecorder
	// kubernetes tells the version of the cluster; zero when it is not known.
	kubernetes func(context.Context) semver.Version
	// providers tells who can make serving certificates in this cluster, the preferred one first; empty when that is not known.
	providers func(context.Context) []registryv1.CertificateProvider
	issued    serving.Issues
	// began is when the first extension was looked at.
	began  func() time.Time
	render func(*bundle.Bundle, registryv1.Options) (*registryv1.Rendered, error)
	// count is how many custom resources of a CRD there are; nil asks the cluster.
	count revision.Count
	// backs are the ways back that are known to be blocked.
	backs *crd.Backs

	properties propertyNotes
	loadings   loadings
	rendered   contents
	decided    sync.Map // the last *decision, by the names of extensions
	fetching   sync.Map // the names of extensions that wait for a bundle
}

// Reconcile brings one extension up to date.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ext := &olmv1.ClusterExtension{}
	if err := c.client.Get(ctx, request.NamespacedName, ext); err != nil {
		if client.IgnoreNotFound(err) == nil {
			c.forget(request.Name)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	if !ext.DeletionTimestamp.IsZero() {
		return c.uninstall(ctx, ext)
	}
	if err := c.hold(ctx, ext); err != nil {
		return ctrl.Result{}, err
	}
	c.look(ext) // before anything is read, so that no news is missed
	s, err := c.observe(ctx, ext)
	if err != nil {
		return ctrl.Result{}, c.report(ctx, &state{ext: ext}, &outcome{lost: err}, err)
	}
	o := &outcome{verifies: c.Verifier != nil && c.Verifier.Verifies()}
	if wait, err := c.starting(ctx); err != nil || wait > 0 {
		o.soonest(wait) // new content is an event, which comes before that as a rule
		err = errors.Join(err, c.keepUp(ctx, s, o))
		return ctrl.Result{RequeueAfter: o.again}, err
	}
	err = c.work(ctx, s, o)
	if o.problem != nil && o.stopped() == nil {
		o.soonest(recheck) // what may pass need not be followed by an event
	}
	return ctrl.Result{RequeueAfter: o.again}, c.report(ctx, s, o, err)
}

// work decides what is wanted, and makes a revision of it where there is none. Its error is one that the queue repeats soon; whatever else
// is in the way is in the outcome.
func (c *Controller) work(ctx context.Context, s *state, o *outcome) error {
	if waits, err := c.fromHelm(ctx, s, o); err != nil || waits {
		return err
	}
	kept := c.keepUp(ctx, s, o)
	o.soonest(s.loaded)
	if in, err := c.request(ctx, s); err == nil && s.waits(in) {
		o.waits = true
		return kept
	}
	t := c.wanted(ctx, s, o)
	if err := c.dependencies(ctx, s, o); err != nil {
		return errors.Join(kept, err)
	}
	if o.made != nil {
		return kept // what is wanted is the next one, as soon as this one is observed
	}
	if t == nil {
		c.rendered.Delete(s.ext.Name)
		return kept
	}
	return errors.Join(kept, c.bringBest(ctx, s, t, o))
}

// forget drops what is remembered of an extension that is gone.
func (c *Controller) forget(name string) {
	c.rendered.Delete(name)
	c.decided.Delete(name)
	c.fetching.Delete(name)
	c.Metrics.forget(name)
}

func requestFor(name string) ctrl.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}
}
