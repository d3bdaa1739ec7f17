package unpack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/image"

	"k8s.io/utils/clock"
)

const (
	// parallelPulls is how many bundles are fetched at once.
	parallelPulls = 4
	// pullTimeout bounds one attempt.
	pullTimeout = 5 * time.Minute
	// keepFor is how long a result that nobody asks for is kept in memory; the content stays on disk.
	keepFor = 2 * time.Minute
	// firstPause and longestPause bound the time between attempts.
	firstPause   = time.Second
	longestPause = 2 * time.Minute
)

// Request names a bundle: an image, or the manifests that the catalog itself holds.
type Request struct {
	Name      string // of the ClusterServiceVersion
	Image     string
	Auth      image.Auth
	Manifests func() ([]json.RawMessage, error) // used when Image is empty
	// Content identifies what Manifests returns: the digest of the catalog.
	Content string
}

func (r Request) key() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q", r.Name, r.Image, r.Content)
	for _, document := range r.Auth.DockerConfig {
		fmt.Fprintf(sum, " %q", document)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// State is how far the fetching of a bundle got. While neither Bundle nor Err is set it is under way.
type State struct {
	Bundle *bundle.Bundle
	// Pinned is the image reference by digest that the bundle was read from; empty for manifests of a catalog.
	Pinned string
	// Err is why the last attempt failed, and RetryAt when the next one is made.
	Err     error
	RetryAt time.Time
}

// Done tells whether the bundle is there.
func (s State) Done() bool { return s.Bundle != nil }

// Unpacker fetches bundles in the background.
type Unpacker struct {
	store  *image.Store
	clock  clock.Clock
	slots  chan struct{}
	notify func()

	mu   sync.Mutex
	jobs map[string]*job
}

type job struct {
	state    State
	attempts int
	running  chan struct{} // closed when the attempt that is under way ends; nil when none is
	lastUsed time.Time
}

// New returns an Unpacker over a content store. notify is called, outside any lock, whenever a bundle becomes available or an
// attempt fails; it must not block.
func New(store *image.Store, c clock.Clock, notify func()) *Unpacker {
	return &Unpacker{store: store, clock: c, notify: notify, slots: make(chan struct{}, parallelPulls), jobs: map[string]*job{}}
}

// Get returns the state of a bundle and, where needed, starts an attempt to fetch it. It waits for that attempt for at most
// patience, so that content which is at hand is there at once.
func (u *Unpacker) Get(ctx context.Context, r Request, patience time.Duration) State {
	key := r.key()
	u.mu.Lock()
	u.forget()
	j := u.jobs[key]
	if j == nil {
		j = &job{}
		u.jobs[key] = j
	}
	j.lastUsed = u.clock.Now()
	if j.running == nil && !j.state.Done() && !u.clock.Now().Before(j.state.RetryAt) {
		j.running = make(chan struct{})
		go u.attempt(r, j, j.running)
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
	s := u.Get(ctx, r, pullTimeout)
	switch {
	case s.Err != nil:
		return s, s.Err
	case ctx.Err() != nil:
		return s, ctx.Err()
	case !s.Done():
		return s, fmt.Errorf("fetch bundle %s: not done after %s", r.Name, pullTimeout)
	}
	return s, nil
}

func (u *Unpacker) attempt(r Request, j *job, running chan struct{}) {
	u.slots <- struct{}{}
	// Nobody's context governs the attempt: whoever asked first may lose interest while others still wait.
	ctx, cancel := context.WithTimeout(context.Background(), pullTimeout)
	b, pinned, err := u.fetch(ctx, r)
	cancel()
	<-u.slots
	u.mu.Lock()
	j.running = nil
	if err == nil {
		b.Image = pinned
		j.state, j.attempts = State{Bundle: b, Pinned: pinned}, 0
	} else {
		j.attempts++
		j.state = State{Err: err, RetryAt: u.clock.Now().Add(pause(j.attempts))}
	}
	u.mu.Unlock()
	close(running)
	u.notify()
}

func (u *Unpacker) fetch(ctx context.Context, r Request) (*bundle.Bundle, string, error) {
	if r.Image == "" {
		return fromManifests(r)
	}
	img, err := u.store.Pull(ctx, r.Image, image.PullOptions{Auth: r.Auth, Select: image.SelectBundle})
	if err != nil {
		return nil, "", fmt.Errorf("fetch bundle %s: %w", r.Name, err)
	}
	defer img.Close()
	b, err := bundle.Load(img.FS())
	if err != nil {
		return nil, "", fmt.Errorf("read bundle %s from image %s: %w", r.Name, r.Image, err)
	}
	return b, img.Pinned, sameName(b, r)
}

func fromManifests(r Request) (*bundle.Bundle, string, error) {
	manifests, err := r.Manifests()
	if err != nil {
		return nil, "", fmt.Errorf("read the manifests of bundle %s from its catalog: %w", r.Name, err)
	}
	b, err := bundle.FromManifests(manifests)
	if err != nil {
		return nil, "", fmt.Errorf("read the manifests of bundle %s from its catalog: %w", r.Name, err)
	}
	return b, "", sameName(b, r)
}

// sameName guards against an image whose content is not what the catalog says it is.
func sameName(b *bundle.Bundle, r Request) error {
	if b.Name == r.Name {
		return nil
	}
	return fmt.Errorf("the catalog says that image %q is bundle %s, but it holds ClusterServiceVersion %s: the catalog must name the image of %s",
		r.Image, r.Name, b.Name, r.Name)
}

// pause grows from a second to two minutes.
func pause(attempts int) time.Duration {
	if attempts > 7 {
		return longestPause
	}
	return min(firstPause<<(attempts-1), longestPause)
}

// forget drops results that nobody asked for lately. The lock is held.
func (u *Unpacker) forget() {
	for key, j := range u.jobs {
		if j.running == nil && u.clock.Since(j.lastUsed) > keepFor {
			delete(u.jobs, key)
		}
	}
}
