package catalogsource

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/messages"
)

const (
	// standbyTurn is how long a manager waits for its turn to lead before it reads catalogs beside the one that does.
	standbyTurn = 3 * time.Second
	// standbyInterval is how often it is looked for what is due without an event.
	standbyInterval = 15 * time.Second
	// serversEvery is how often registry servers are read again: nothing says that they have something new.
	serversEvery = 15 * time.Minute
	// standbyReads is how many catalogs are read at a time.
	standbyReads = 2
	// collectEvery is the time between two checks of the size of the content store, and unusedIndexAge how long indexes are kept that no one needs.
	collectEvery   = 10 * time.Minute
	unusedIndexAge = 24 * time.Hour
)

// StandbyOptions are what a Standby works with. All but TLS and Log are required.
type StandbyOptions struct {
	Sources client.Reader // a cache
	Live    client.Reader // for what is read rarely, and not to be kept
	Images  catalogstore.ImageReader
	// Leading is what the controllers publish, and Contents where the content goes that is read here.
	Leading, Contents *catalogstore.Set
	StoreBytes        int64
	// TLS returns how one connection to a server of a catalog speaks TLS; nil leaves it to Go.
	TLS func() *tls.Config
	// Turns bound what reading catalogs of servers takes; those of all readers in a process.
	Turns   *grpccatalog.Turns
	Keep    func() []string // digests of contents that others serve
	Clock   clock.WithTicker
	Elected <-chan struct{} // closed once this manager leads
	Log     logr.Logger
}

// Standby reads what catalogs hold in a manager that does not lead: so packages can be read through every manager, and the next one to lead finds what
// it needs on its disk. It reads from where the manager that leads does, when the status of a CatalogSource says that there may be something new.
// It never writes to the cluster, and decides nothing: what a catalog is, and whether it is run as a pod, is up to the Controller.
type Standby struct {
	StandbyOptions

	mu      sync.Mutex
	known   map[catalog.Ref]*standbyKnown
	changed chan struct{}
	dial    func(address string, o grpccatalog.Options) (*grpccatalog.Client, error)
}

// standbyKnown is what is known of a catalog.
type standbyKnown struct {
	uid      types.UID
	asked    string // what it was when the last attempt began
	index    *catalog.Index
	from     standbyImage // of the index
	at       time.Time    // of the last attempt
	attempts int          // failures in a row
	reading  bool
}

// standbyImage is the image that an index was made from, or that its pod runs, as it was verified. It is empty for content of another origin.
type standbyImage struct {
	ref, digest string
	policy      string    // the signature policy that accepted it
	expires     time.Time // when that ends; zero when it does not
}

// entry is what may be offered of a catalog: content of an image that the signature policy has not accepted as it is now is withheld.
func (s *Standby) entry(k *standbyKnown, problem string) catalogstore.Entry {
	if k.index != nil && s.stale(k) {
		return catalogstore.Entry{Problem: problem, Withheld: true}
	}
	return catalogstore.Entry{Index: k.index, Problem: problem}
}

// stale reports whether content has to be verified again before it may be offered.
func (s *Standby) stale(k *standbyKnown) bool {
	if k.from.ref == "" {
		return false
	}
	return k.from.policy != s.Images.Images.Policy() || !k.from.expires.IsZero() && !s.Clock.Now().Before(k.from.expires)
}

// NewStandby prepares a Standby.
func NewStandby(o StandbyOptions) *Standby {
	dial := func(address string, to grpccatalog.Options) (*grpccatalog.Client, error) {
		to.TLS, to.Turns, to.Memory = o.TLS, o.Turns, o.Images.Indexes.Limits.MemoryBytes
		return grpccatalog.Dial(address, to)
	}
	return &Standby{StandbyOptions: o, known: map[catalog.Ref]*standbyKnown{}, changed: make(chan struct{}, 1), dial: dial}
}

// NeedLeaderElection says that it is for managers that do not lead.
func (s *Standby) NeedLeaderElection() bool { return false }

// Changed says that a CatalogSource may have changed.
func (s *Standby) Changed() {
	select {
	case s.changed <- struct{}{}:
	default: // it is known already
	}
}

// Start reads what is due until the context ends. Once this manager leads nothing is read any more, and what the controllers have read takes
// the place of what was read here.
func (s *Standby) Start(ctx context.Context) error {
	wait := s.Clock.NewTimer(standbyTurn)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-s.Elected:
		return nil // nothing was read
	case <-wait.C():
	}
	ticker, collected := s.Clock.NewTicker(standbyInterval), s.Clock.Now()
	defer ticker.Stop()
	slots := make(chan struct{}, standbyReads)
	for elected := false; ; {
		if err := s.look(ctx, slots, elected); err != nil && ctx.Err() == nil {
			s.Log.Error(err, "the catalogs of this manager, which does not lead, stay as they are; it is tried again")
		}
		if elected && len(s.known) == 0 {
			return nil
		}
		if !elected && s.Clock.Since(collected) >= collectEvery {
			collected = s.Clock.Now()
			s.collect(ctx)
		}
		if elected {
			s.Elected = nil // it is closed for good
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.Elected:
			elected = true
		case <-s.changed:
		case <-ticker.C():
		}
	}
}

// look begins to read what is due, and forgets what is not needed any more.
func (s *Standby) look(ctx context.Context, slots chan struct{}, elected bool) error {
	var list v1alpha1.CatalogSourceList
	if err := s.Sources.List(ctx, &list); err != nil {
		return fmt.Errorf("list the CatalogSources: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[catalog.Ref]bool{}
	for i := range list.Items {
		source := &list.Items[i]
		ref := catalog.Ref{Namespace: source.Namespace, Name: source.Name}
		there[ref] = true
		k, invalid := s.of(ref, source, elected)
		if elected {
			if leading, ok := s.Leading.Get(ref); invalid != nil || ok && (leading.Index != nil || leading.Withheld || k == nil || k.index == nil) || k != nil && s.stale(k) {
				there[ref] = false
			}
			continue
		}
		if invalid != nil {
			s.Contents.Publish(ref, catalogstore.Entry{Problem: messages.Error(invalid)})
			continue
		}
		if k.index != nil && s.stale(k) {
			served, _ := s.Contents.Get(ref)
			s.Contents.Publish(ref, s.entry(k, served.Problem))
		}
		if !k.reading && s.due(k, source, s.Clock.Now()) {
			// Read a catalog in the background.
			source := source.DeepCopy()
			before := standbyRead{index: k.index, from: k.from}
			k.reading = true
			asked := s.asked(source)
			go func() {
				select {
				case slots <- struct{}{}:
					defer func() { <-slots }()
				case <-ctx.Done():
					return
				}
				now, err := s.read(ctx, source, before)
				if err != nil {
					now = s.keep(ctx, source, before)
				}
				s.finish(ctx, ref, k, asked, now, err)
			}()
		}
	}
	for ref := range s.known {
		if !there[ref] {
			delete(s.known, ref)
			s.Contents.Withdraw(ref)
		}
	}
	return nil
}

// of is what is known of a catalog, and why it cannot be acted on. What was read, or is being read, of an object that is gone or of a spec
// that a user has changed into one that cannot be acted on is void: it must not continue being offered.
func (s *Standby) of(ref catalog.Ref, source *v1alpha1.CatalogSource, elected bool) (k *standbyKnown, invalid error) {
	k, invalid = s.known[ref], source.Spec.Validate()
	switch {
	case k == nil && elected:
		return nil, invalid
	case k == nil, invalid != nil:
		k = &standbyKnown{uid: source.UID}
	case k.uid != source.UID:
		k = &standbyKnown{uid: source.UID}
		s.Contents.Withdraw(ref)
	}
	s.known[ref] = k
	return k, invalid
}

// due reports whether a catalog is to be read now.
func (s *Standby) due(k *standbyKnown, source *v1alpha1.CatalogSource, now time.Time) bool {
	switch since := now.Sub(k.at); {
	case k.asked != s.asked(source):
		return true
	case k.attempts > 0:
		return since >= catalogstore.RetryAfter(k.attempts, catalogstore.LongestRetry)
	case k.index != nil && s.stale(k):
		return true
	default:
		return source.Spec.Image == "" && source.Spec.Address != "" && since >= serversEvery
	}
}

// asked is what a check for something new compares: what is asked for, what the manager that leads has found out last, and the signature
// policy.
func (s *Standby) asked(source *v1alpha1.CatalogSource) string {
	spec, status := &source.Spec, &source.Status
	text := fmt.Sprintf("%s %q %q %q %q %q", source.UID, spec.SourceType, spec.Image, spec.Address, spec.ConfigMap, spec.Secrets)
	if spec.Image != "" {
		text += " policy " + s.Images.Images.Policy()
	}
	if status.LatestImageRegistryPoll != nil {
		text += " polled " + status.LatestImageRegistryPoll.UTC().Format(time.RFC3339)
	}
	if status.ConfigMapResource != nil {
		text += " version " + status.ConfigMapResource.ResourceVersion
	}
	if status.GRPCConnectionState != nil {
		text += " at " + status.GRPCConnectionState.Address + " " + status.GRPCConnectionState.LastConnectTime.UTC().Format(time.RFC3339)
	}
	return text
}

// finish publishes what was read, for what was asked for when that began.
func (s *Standby) finish(ctx context.Context, ref catalog.Ref, k *standbyKnown, asked string, now standbyRead, err error) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k.reading, k.asked, k.at = false, asked, s.Clock.Now()
	k.index, k.from = now.index, now.from
	problem := ""
	if err != nil {
		k.attempts++
		problem = messages.Error(err)
		if !errors.Is(err, errNowhere) {
			s.Log.Error(errors.New(problem), "a catalog cannot be read by this manager, which does not lead; what it had stays if the signature policy accepts it, and it is tried again", "catalog", ref.String())
		}
	} else {
		k.attempts = 0
	}
	if s.known[ref] == k {
		s.Contents.Publish(ref, s.entry(k, problem))
	}
	s.Changed() // what it was asked for may be another by now
}

// collect keeps the content store within its size, as the manager that leads does with its own.
func (s *Standby) collect(ctx context.Context) {
	_, contents := s.Images.Images.GC(ctx, func(string) bool { return false }, s.StoreBytes)
	_, indexes := s.Images.Indexes.GC(ctx, unusedIndexAge, append(s.Keep(), s.Contents.Digests()...)...)
	if err := errors.Join(contents, indexes); err != nil && ctx.Err() == nil {
		s.Log.Error(err, "the content store may outgrow its size and old indexes may stay; retried later")
	}
}
