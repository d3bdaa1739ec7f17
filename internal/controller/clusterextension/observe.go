package clusterextension

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// state is what a pass works with, as it was seen at its beginning.
type state struct {
	ext       *olmv1.ClusterExtension
	revisions revision.History
	catalogs  []resolution.Catalog
	others    []resolution.InstalledExtension
	upgrades  reconcile.UpgradeRules
	loaded    time.Duration // when a catalog that is still being loaded is not waited for any more; zero when there is none
}

// observer reads what decisions depend on.
type observer struct {
	*environment
	properties propertyNotes
	loadings   loadings
}

// observe reads all that a decision depends on, from caches. An error in reading the revisions is the outcome of the pass: without
// them no one knows what is installed.
func (o *observer) observe(ctx context.Context, ext *olmv1.ClusterExtension) (*state, error) {
	own, err := revision.List(ctx, o.client, ext.Name, ext.UID)
	if err != nil {
		return nil, err
	}
	s := &state{ext: ext, revisions: own}
	if s.catalogs, err = snapshot.ListCatalogs(ctx, o.client, o.Catalogs); err != nil {
		return nil, err
	}
	s.loaded = o.loadings.look(s.catalogs, o.Clock.Now())
	if s.upgrades, err = reconcile.ReadUpgradeRules(ctx, o.client, ext.Spec.Namespace); err != nil {
		return nil, err
	}
	s.others, err = o.others(ctx, ext.Name)
	return s, err
}

// others is what other extensions have installed.
func (o *observer) others(ctx context.Context, but string) ([]resolution.InstalledExtension, error) {
	var all olmv1.ClusterObjectSetList
	if err := o.client.List(ctx, &all, client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the revisions of all ClusterExtensions: %w", err)
	}
	o.properties.keep(all.Items)
	byOwner := map[string]revision.History{}
	for i := range all.Items {
		if owner, _ := revision.ExtensionOf(&all.Items[i]); owner != "" && owner != but {
			byOwner[owner] = append(byOwner[owner], all.Items[i])
		}
	}
	var out []resolution.InstalledExtension
	for owner, sets := range byOwner {
		r := revision.Sorted(sets).Installed()
		if r == nil {
			continue
		}
		if installed, err := o.installedOf(r); err == nil { // one that cannot be read is told of in its own status
			out = append(out, resolution.InstalledExtension{Name: owner, Package: r.Annotations[olmv1.PackageNameKey], Installed: *installed})
		}
	}
	return out, nil
}

// installedOf reads the bundle of a revision, properties included, from its annotations. Those are remembered as they were read last:
// every pass of every extension checks all of them.
func (o *observer) installedOf(r *olmv1.ClusterObjectSet) (*resolution.Installed, error) {
	return ops.InstalledBundle(r, func(text string) ([]catalog.Property, error) {
		o.properties.mu.Lock()
		defer o.properties.mu.Unlock()
		if known, ok := o.properties.by[r.Name]; ok && known.text == text {
			return known.properties, nil
		}
		properties, err := ops.ParseProperties(text)
		if err != nil {
			return nil, err
		}
		if o.properties.by == nil {
			o.properties.by = map[string]readProperties{}
		}
		o.properties.by[r.Name] = readProperties{text: text, properties: properties}
		return properties, nil
	})
}

// propertyNotes are the properties of the bundles of active revisions, by the names of those.
type propertyNotes struct {
	mu sync.Mutex
	by map[string]readProperties
}

// readProperties are properties and the text that they were read from.
type readProperties struct {
	text       string
	properties []catalog.Property
}

// keep drops what is known of revisions that are not active any more. The revisions are all that there are.
func (n *propertyNotes) keep(all []olmv1.ClusterObjectSet) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.by) == 0 {
		return
	}
	stay := map[string]bool{}
	for i := range all {
		if revision.Active(&all[i]) {
			stay[all[i].Name] = true
		}
	}
	if len(n.by) <= len(stay) {
		return // nearly always: then there is nothing to look for
	}
	for name := range n.by {
		if !stay[name] {
			delete(n.by, name)
		}
	}
}

// request is what is to be decided on.
func (o *observer) request(ctx context.Context, s *state) (resolution.ExtensionRequest, error) {
	in, err := snapshot.ExtensionRequest(s.ext)
	if err != nil {
		return in, revision.Misconfigured(err)
	}
	in.Catalogs, in.Others, in.Kubernetes = s.catalogs, s.others, o.kubernetes(ctx)
	if r := s.revisions.Installed(); r != nil {
		if in.Installed, err = o.installedOf(r); err != nil {
			return in, revision.Blocked(err)
		}
	}
	return in, nil
}

// installedBy is what an extension has installed; nil when that is nothing.
func (o *observer) installedBy(ctx context.Context, ext *olmv1.ClusterExtension) (*resolution.Installed, error) {
	all, err := revision.List(ctx, o.client, ext.Name, ext.UID)
	if err != nil {
		return nil, err
	}
	r := revision.Installed(all)
	if r == nil {
		return nil, nil
	}
	is, err := o.installedOf(r)
	if err != nil {
		return &resolution.Installed{}, nil // it is there, and no one knows what it provides
	}
	return is, nil
}

// startTimeout is how long after its start the controller waits for catalogs that were served before. To read them from the store takes a
// second, and to tell meanwhile that their content is gone would be two writes and an Event for each extension.
const startTimeout = 30 * time.Second

// starting is for how long to wait for catalogs that are still to be read after the start; zero when there are none.
func (o *observer) starting(ctx context.Context) (time.Duration, error) {
	left := o.began().Add(startTimeout).Sub(o.Clock.Now())
	if left <= 0 {
		return 0, nil
	}
	var all olmv1.ClusterCatalogList
	if err := o.client.List(ctx, &all); err != nil {
		return 0, fmt.Errorf("list the ClusterCatalogs, to see whether their contents are known yet: %w", err)
	}
	for i := range all.Items {
		catalog := &all.Items[i]
		known, _ := o.Catalogs.Get(snapshot.CatalogRef(catalog.Name))
		if known.Index == nil && known.Problem == "" && snapshot.CatalogDigest(catalog) != "" && catalog.Spec.AvailabilityMode != olmv1.AvailabilityModeUnavailable {
			return left, nil
		}
	}
	return 0, nil
}

// loadTimeout is for how long a catalog that was never read may matter before it has anything. Then it counts as one that cannot be read: an
// image that comes slowly must not hold up what other catalogs have.
const loadTimeout = 30 * time.Second

// loadings are since when catalogs are being loaded for the first time. A catalog that could not be read is not loading again, however often
// it is tried: what waits for it would come and go.
type loadings struct {
	mu    sync.Mutex
	since map[string]time.Time // zero for those that could not be read
}

// look says of the catalogs which of them are not to be waited for any more, and returns when the next one is not; zero when none is waited for.
func (l *loadings) look(catalogs []resolution.Catalog, now time.Time) (next time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := map[string]time.Time{}
	for i := range catalogs {
		c := &catalogs[i]
		if c.Disabled || c.Index != nil {
			continue
		}
		began, known := l.since[c.Name]
		switch {
		case c.Problem != "":
			began = time.Time{}
		case !known:
			began = now
		}
		since[c.Name] = began
		if c.Problem != "" {
			continue
		}
		left := began.Add(loadTimeout).Sub(now)
		switch {
		case began.IsZero():
			c.Problem = "it could not be read, and is being read again"
		case left <= 0:
			c.Problem = fmt.Sprintf("it has not been read within %s", loadTimeout)
		case next == 0 || left < next:
			next = left
		}
	}
	l.since = since
	return next
}

// waits reports whether an extension that has what it asks for leaves everything as it is, because a catalog that it selects is still being
// loaded. What its revision says is reported meanwhile; what catalogs have is not asked.
func (s *state) waits(in resolution.ExtensionRequest) bool {
	installed := s.revisions.Installed()
	if installed == nil || installed != s.revisions.Newest() {
		return false
	}
	is := meta.FindStatusCondition(s.ext.Status.Conditions, olmv1.TypeProgressing)
	decided := is != nil && is.ObservedGeneration == s.ext.Generation && olmv1.SeesAnnotations(s.ext)
	return decided && resolution.IsLoading(in)
}
