package bundleio

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/image"

	"k8s.io/utils/clock"
)

const (
	// parallelPulls is how many bundles are fetched at once; those that turn out to be slow do not count any more.
	parallelPulls = 4
	// keepFor is how long a result that no one asks for is kept in memory; the content stays on disk.
	keepFor = 2 * time.Minute
	// firstPause and longestPause bound the time between attempts.
	firstPause   = time.Second
	longestPause = 2 * time.Minute
	// policyChanges is how often Fetch starts again because the signature policy changed meanwhile.
	policyChanges = 3
	// refusedPause is the time between attempts to fetch a bundle that the signature policy refuses.
	refusedPause = 15 * time.Minute
)

// Request names a bundle: an image, or the manifests that the catalog itself holds.
type Request struct {
	Name      string // of the bundle in its catalog; empty where it is not known before
	Image     string
	Auth      image.Auth
	Manifests func() ([]json.RawMessage, error) // used when Image is empty
	// Content identifies what Manifests returns: the digest of the catalog.
	Content string
	// NamedBy is the catalog image that names Image; nil when there is none.
	NamedBy *image.Origin
	// Requested is the reference that the catalog has, where Image is what that was resolved to: policies may speak of tags.
	Requested string
	// Judge asks only whether the bundle may be used: nothing of it is read.
	Judge bool
	// ByCatalog accepts a ClusterServiceVersion of another name: the catalog alone says what the bundle is called. Without it everything goes by
	// the name of the ClusterServiceVersion, which has to be Name.
	ByCatalog bool
	Policy
}

// what names the bundle for people.
func (r Request) what() string { return cmp.Or(r.Name, r.Image) }

// State is how far the fetching of a bundle got. While it is not done and Err is not set it is under way.
type State struct {
	Bundle *bundle.Bundle
	// Judged is set where the request is only whether the bundle may be used, and it may.
	Judged bool
	// Pinned is the image reference by digest that the bundle was read from; empty for manifests of a catalog.
	Pinned string
	// Verification is why the signature policy lets the image be used; nil without a policy.
	Verification *image.Verification
	// Err is why the last attempt failed, and RetryAt when the next one is made.
	Err     error
	RetryAt time.Time
	// Slow says how far an attempt has come that takes its time; empty for one that does not, yet.
	Slow string
	// discarded is set where the last attempt was decided under another policy than it was made for.
	discarded bool
}

// Done reports whether the bundle is there, or may be used where the request is only for that.
func (s State) Done() bool { return s.Bundle != nil || s.Judged }

// Unpacker fetches bundles in the background.
type Unpacker struct {
	// Timeout bounds attempts whose Policy says nothing: 0 is DefaultTimeout, less than 0 is no bound. It is set before the first use.
	Timeout time.Duration

	store  *image.Store
	clock  clock.Clock
	slots  chan struct{}
	notify func()
	jitter func() float64 // from 0 to 1

	mu   sync.Mutex
	jobs map[string]*job
}

type job struct {
	state    State
	attempts int
	running  chan struct{} // closed when the attempt that is under way ends; nil when none is
	lastUsed time.Time
}

// NewUnpacker returns an Unpacker over a content store. notify is called, outside any lock, whenever a bundle becomes available, an
// attempt fails, or there is something to say about a slow one; it must not block.
func NewUnpacker(store *image.Store, c clock.Clock, notify func()) *Unpacker {
	return &Unpacker{store: store, clock: c, notify: notify, jitter: rand.Float64, slots: make(chan struct{}, parallelPulls), jobs: map[string]*job{}}
}

// Get returns the state of a bundle and, where needed, starts an attempt to fetch it. It waits for that attempt for at most
// patience, so that content which is at hand is there at once.
func (u *Unpacker) Get(ctx context.Context, r Request, patience time.Duration) State {
	policy := u.policy()
	// Identify a request under a signature policy: what was fetched under another one has to be verified again.
	sum := sha256.New()
	if r.NamedBy != nil {
		fmt.Fprintf(sum, "named by %q %q ", r.NamedBy.Ref, r.NamedBy.Digest)
	}
	fmt.Fprintf(sum, "policy %q requested as %q judge %t by catalog %t ", policy, r.Requested, r.Judge, r.ByCatalog)
	fmt.Fprintf(sum, "%q %q %q %d %d", r.Name, r.Image, r.Content, r.Timeout, r.MinRetry)
	for _, document := range r.Auth.DockerConfig {
		fmt.Fprintf(sum, " %q", document)
	}
	key := hex.EncodeToString(sum.Sum(nil))
	u.mu.Lock()
	// Drop results that no one asked for lately. The lock is held
	for key, j := range u.jobs {
		if j.running == nil && u.clock.Since(j.lastUsed) > keepFor {
			delete(u.jobs, key)
		}
	}
	j := u.jobs[key]
	if j != nil && j.running == nil {
		if v := j.state.Verification; v != nil && !v.Expires.IsZero() && !u.clock.Now().Before(v.Expires) {
			j = nil // the verification of the bundle holds no more
		}
	}
	if j == nil {
		j = &job{}
		u.jobs[key] = j
	}
	j.lastUsed = u.clock.Now()
	if j.running == nil && !j.state.Done() && !u.clock.Now().Before(j.state.RetryAt) {
		j.running = make(chan struct{})
		go u.attempt(r, policy, j, j.running)
	}
	running := j.running
	u.mu.Unlock()
	if running != nil && patience > 0 {
		select {
		case <-running:
		case <-ctx.Done():
		case <-u.clock.After(patience):
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return j.state
}

// Fetch waits until the bundle is there, the attempt fails, or the context ends.
func (u *Unpacker) Fetch(ctx context.Context, r Request) (State, error) {
	patience := u.limit(r) + slowAfter // the attempt says better than we why it ended
	s := u.Get(ctx, r, patience)
	for again := 0; s.discarded && again < policyChanges && ctx.Err() == nil; again++ {
		s = u.Get(ctx, r, patience)
	}
	switch {
	case s.Err != nil:
		return s, s.Err
	case ctx.Err() != nil:
		return s, ctx.Err()
	case !s.Done():
		return s, fmt.Errorf("fetch bundle %s: not done after %s", r.what(), patience)
	}
	return s, nil
}

// attempt fetches a bundle for a job under a policy. What another policy has decided, because it changed meanwhile, is discarded: the listener asks
// again, under that one.
func (u *Unpacker) attempt(r Request, policy string, j *job, running chan struct{}) {
	u.slots <- struct{}{}
	free := sync.OnceFunc(func() { <-u.slots })
	w := &progress{}
	go u.watch(j, w, running, free)
	// No one's context governs the attempt: the one who asked first may lose interest while others still wait.
	ctx, cancel := context.WithTimeout(context.Background(), u.limit(r))
	found, err := u.fetch(ctx, r, w)
	if err != nil && ctx.Err() != nil && !r.Judge {
		err = &TimeoutError{Name: r.what(), After: u.limit(r), Progress: w.String(), Err: err}
	}
	cancel()
	free()
	discarded := u.policy() != policy || policy != "" && found.Verification != nil && found.Verification.PolicyDigest != "" && found.Verification.PolicyDigest != policy
	u.mu.Lock()
	j.running = nil
	if discarded {
		j.state = State{discarded: true}
	} else if err == nil {
		j.state, j.attempts = found, 0
	} else {
		j.attempts++
		j.state = State{Err: err, RetryAt: u.clock.Now().Add(max(u.pause(err, j.attempts), r.MinRetry))}
	}
	close(running)
	u.mu.Unlock()
	u.notify()
}

// pause grows from a second to two minutes. Up to a fifth more of it is random, so that many bundles of a registry that was away do
// not come back all at once.
//
// A bundle that the signature policy refuses stays refused until the registry has another signature: a changed policy does not wait for that.
func (u *Unpacker) pause(err error, attempts int) time.Duration {
	base := longestPause
	if image.KindOf(err) == image.Unverified {
		base = refusedPause
	} else if attempts <= 7 {
		base = min(firstPause<<(attempts-1), longestPause)
	}
	return base + time.Duration(u.jitter()*float64(base)/5)
}

// policy identifies the signature policy as it is now. Without a store there is none.
func (u *Unpacker) policy() string {
	if u.store == nil {
		return ""
	}
	return u.store.Policy()
}
