package clustercatalog

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxReads is how many catalogs are being read at once. Most of that time is spent waiting for registries; indexes are built by fewer.
const maxReads = 64

// imageReader reads catalogs from a registry, each content once.
type imageReader interface {
	Digest(ctx context.Context, ref string, auth image.Auth) (string, error)
	// ReadFor reads what a requested reference was resolved to: a signature policy is about the requested one.
	ReadFor(ctx context.Context, ref, requested string, auth image.Auth) (*catalog.Index, string, error)
}

// reading is what an attempt has found.
type reading struct {
	resolved string         // the image by digest
	index    *catalog.Index // nil when it is the content that is known

	signatures image.Judgement
}

// find finds out what a reference stands for now, and reads it unless that is known. It is verified in both cases, as what was asked for: the
// policy may be another.
func find(ctx context.Context, from imageReader, attempt *image.Attempt, ref, requested string, auth image.Auth, known content) (reading, error) {
	digest, err := from.Digest(ctx, ref, auth)
	if err != nil {
		return reading{}, err
	}
	if err := attempt.Verify(ctx, image.VerifyOptions{Digest: digest}); err != nil {
		return reading{}, err
	}
	resolved := image.Pin(ref, digest)
	if known.index != nil && !known.earlier && digestOf(known.resolved) == digest {
		return reading{resolved: resolved}, nil
	}
	index, _, err := from.ReadFor(ctx, resolved, requested, auth)
	return reading{resolved: resolved, index: index}, err
}

// reads are the catalogs that are being read, each at most once.
type reads struct {
	finished func(name string) // is called when one ends
	slots    chan struct{}     // has room for those who may continue at once

	mu      sync.Mutex
	running map[string]*read
}

// read is one attempt. Its outcome may be reconciled once ended is true.
type read struct {
	target target
	secret int    // the sign of the pull secret before it began
	policy string // the signature policy then
	begun  time.Time
	cancel context.CancelFunc

	ended bool
	found reading
	err   error
}

// of returns the attempt for what a catalog asks for now, or nil. Ended reports whether its outcome is there; the pass that sees it takes the outcome over.
// An attempt for what was asked for before is of no use any more.
func (r *reads) of(name string, desired target) (running *read, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	running = r.running[name]
	if running == nil {
		return nil, false
	}
	if running.target != desired {
		running.cancel()
		delete(r.running, name)
		return nil, false
	}
	if running.ended {
		delete(r.running, name)
	}
	return running, running.ended
}

// begin reads in the background.
func (r *reads) begin(ctx context.Context, name string, begun *read, do func(context.Context) (reading, error)) {
	ctx, cancel := context.WithCancel(ctx)
	begun.cancel = cancel
	r.mu.Lock()
	if r.running == nil {
		r.running = map[string]*read{}
	}
	r.running[name] = begun
	r.mu.Unlock()
	go func() {
		defer cancel()
		var found reading
		var err error
		select { // wait until there is room for one more
		case r.slots <- struct{}{}:
			found, err = do(ctx)
			<-r.slots
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		r.mu.Lock()
		begun.found, begun.err, begun.ended = found, err, true
		r.mu.Unlock()
		r.finished(name)
	}()
}

// end forgets an attempt; one that is still under way is ended.
func (r *reads) end(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if running := r.running[name]; running != nil {
		running.cancel()
		delete(r.running, name)
	}
}

// credentials are those that all catalogs are read with. They are read when they are needed, and not kept.
type credentials struct {
	from    bundleio.Credentials
	reader  client.Reader // uncached
	changes atomic.Int64
}

// follow watches the pull secret, without its content, so that new credentials are tried at once.
func (c *credentials) follow(ctx context.Context, server metadata.Interface, changed func()) {
	if c.from.Secret.Name == "" {
		return
	}
	reconcile.WatchSecret(ctx, server, c.from.Secret.Namespace, c.from.Secret.Name, func() {
		c.changes.Add(1)
		changed()
	})
}
