package console

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/clock"
)

// readings are values that take longer to be read than a page may, kept for a while: a page shows what was read before, or that it is being read, and
// follows. What is read as a user is kept for that user alone, whose key has to say so.
type readings[K comparable, V any] struct {
	clock clock.PassiveClock
	most  int // are kept

	mu   sync.Mutex
	kept map[K]*reading[V]
}

// reading is one of them.
type reading[V any] struct {
	mu      sync.Mutex
	under   chan struct{} // is closed when the reading ends that is under way; nil when none is
	read    time.Time
	used    time.Time
	version string // of what it is about
	value   V
	err     error
	// took is how long the last reading took, failures how many in a row have failed, and waking that one is to begin later.
	took     time.Duration
	failures int
	waking   bool
}

// Times of a reading.
const (
	// fresh is how long a value is shown without being read again, and stale when it is not shown any more while it is.
	fresh = 30 * time.Second
	stale = 2 * time.Minute
	// patience is how long a page waits for first readings, all of its together.
	patience = 80 * time.Millisecond
	// readingTime is how long a reading may take, which does not end with the page that asked for it.
	readingTime = 2 * time.Minute
	// retry is how long a failure is shown before it is tried again, and twice as long after each further one, up to longestRetry.
	retry        = 5 * time.Second
	longestRetry = 5 * time.Minute
	// restTimes is how many times as long as a reading took it is not begun again: pages that follow ask for all that they show when one of it is there.
	restTimes = 10
)

// fresh is how long the value is shown without being read again.
func (o *reading[V]) fresh() time.Duration {
	if o.err != nil {
		return max(min(retry<<min(max(o.failures-1, 0), 10), longestRetry), restTimes*o.took)
	}
	return max(fresh, restTimes*o.took)
}

// pause is how long one is not read again although what it is about has another version: a cluster may change all the time.
func (o *reading[V]) pause() time.Duration { return 2 * o.took }

func newReadings[K comparable, V any](c clock.PassiveClock, most int) *readings[K, V] {
	return &readings[K, V]{clock: c, most: most, kept: map[K]*reading[V]{}}
}

// get is the value of a key, read for a user. Under is true while there is none to be shown and to read it takes longer than a page waits; whole waits for
// what is being read all the same. When a reading has ended, the pages of the user follow.
func (r *readings[K, V]) get(ctx context.Context, key K, whole bool, u *User, read func(context.Context) (V, error)) (value V, under bool, err error) {
	return r.of(ctx, key, "", whole, u, read)
}

// of is get for a version of what the value is about: one of another version is read again at once, and shown until that is done.
func (r *readings[K, V]) of(ctx context.Context, key K, version string, whole bool, u *User, read func(context.Context) (V, error)) (value V, under bool, err error) {
	o := r.slot(key)
	end, first := r.begin(ctx, o, version, whole, u, read)
	switch {
	case whole && end != nil:
		return o.after(ctx, end, readingTime)
	case first:
		return o.after(ctx, end, patienceLeft(ctx))
	}
	return o.now()
}

// again is the value as it is now: a person asks for it, and is not content with what was read before, nor with what began to be read before.
func (r *readings[K, V]) again(ctx context.Context, key K, version string, u *User, read func(context.Context) (V, error)) (value V, under bool, err error) {
	o := r.slot(key)
	o.mu.Lock()
	before := o.under
	o.mu.Unlock()
	if before != nil {
		if _, under, err = o.after(ctx, before, readingTime); under || ctx.Err() != nil {
			return value, under, err
		}
	}
	o.mu.Lock()
	o.read = time.Time{}
	o.mu.Unlock()
	end, _ := r.begin(ctx, o, version, true, u, read)
	return o.after(ctx, end, readingTime)
}

// begin begins a reading where one is due. End is closed when the one that is under way has ended, nil when none is; first is that there is
// nothing to be shown meanwhile. Who asks for the whole is not answered with another version.
func (r *readings[K, V]) begin(ctx context.Context, o *reading[V], version string, whole bool, u *User, read func(context.Context) (V, error)) (end chan struct{}, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := r.clock.Now()
	age := now.Sub(o.read)
	o.used = now
	other := !o.read.IsZero() && o.version != version
	switch pause := o.pause(); {
	case o.under != nil:
	case o.read.IsZero() || age > o.fresh() || other && (whole || age >= pause):
		o.under = make(chan struct{})
		go r.reads(context.WithoutCancel(ctx), o, version, u, read)
	case other && !o.waking: // pages ask again when it may be read
		o.waking = true
		time.AfterFunc(pause-age, func() {
			o.mu.Lock()
			o.waking = false
			o.mu.Unlock()
			u.changed()
		})
	}
	// A page that follows keeps what it shows, however old that is, until there is something newer.
	return o.under, o.read.IsZero() || o.under != nil && age > max(stale, 2*o.fresh()) && !following(ctx)
}

// patientKey is the key of the time until when a page waits.
type patientKey struct{}

// followingKey is the key of a page that is asked for by a script, which brings what is shown up to date.
type followingKey struct{}

func following(ctx context.Context) bool { return ctx.Value(followingKey{}) != nil }

// patient begins the patience of a page.
func patient(ctx context.Context) context.Context {
	return context.WithValue(ctx, patientKey{}, time.Now().Add(patience))
}

// patienceLeft is how long a page still waits for a first reading.
func patienceLeft(ctx context.Context) time.Duration {
	if until, ok := ctx.Value(patientKey{}).(time.Time); ok {
		return max(0, time.Until(until))
	}
	return patience
}

// after is the value once a reading has ended, if it does in time.
func (o *reading[V]) after(ctx context.Context, end <-chan struct{}, wait time.Duration) (value V, under bool, err error) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case <-end: // also without patience
		return o.now()
	default:
	}
	select {
	case <-end:
		return o.now()
	case <-limit.C:
		return value, true, nil
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// now is the value that was read last.
func (o *reading[V]) now() (value V, under bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.value, false, o.err
}

func (r *readings[K, V]) reads(ctx context.Context, o *reading[V], version string, u *User, read func(context.Context) (V, error)) {
	ctx, cancel := context.WithTimeout(ctx, readingTime)
	defer cancel()
	begun := r.clock.Now()
	value, err := turn(ctx, u, read)
	o.mu.Lock()
	o.value, o.err, o.version, o.read = value, err, version, r.clock.Now()
	o.took = o.read.Sub(begun)
	if o.failures++; err == nil {
		o.failures = 0
	}
	close(o.under)
	o.under = nil
	o.mu.Unlock()
	u.changed()
}

// readersOfUser is how many readings of one user there are at once; others wait. It bounds what one may have read by asking for many things.
const readersOfUser = 6

// turns are those of a user to read.
type turns struct {
	once sync.Once
	free chan struct{}
}

// take waits for a turn, which release ends.
func (t *turns) take(ctx context.Context) (release func(), err error) {
	t.once.Do(func() { t.free = make(chan struct{}, readersOfUser) })
	select {
	case t.free <- struct{}{}:
		return func() { <-t.free }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for what you have asked for before: %w", ctx.Err())
	}
}

// turn reads when it is the turn of the user.
func turn[V any](ctx context.Context, u *User, read func(context.Context) (V, error)) (value V, err error) {
	release, err := u.turns.take(ctx)
	if err != nil {
		return value, err
	}
	defer release()
	defer recovered(ctx, "read it", &err)
	return read(ctx)
}

// recovered makes an error of a panic: what runs in the background reads what others have written, and must not end the manager. The log has the rest.
func recovered(ctx context.Context, what string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: the program has a fault there; please report it, with the log of the console: %v", what, r)
		utilruntime.HandleErrorWithContext(ctx, *err, "A panic of the console", "stack", string(debug.Stack()))
	}
}

// slot is where the value of a key is kept. The one that was used least recently goes when there are too many: it is read again.
func (r *readings[K, V]) slot(key K) *reading[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.kept[key]; o != nil {
		return o
	}
	for len(r.kept) >= r.most {
		var oldest K
		var since time.Time
		first := true
		for k, o := range r.kept {
			o.mu.Lock()
			used := o.used
			o.mu.Unlock()
			if first || used.Before(since) {
				oldest, since, first = k, used, false
			}
		}
		delete(r.kept, oldest)
	}
	o := &reading[V]{used: r.clock.Now()}
	r.kept[key] = o
	return o
}

// forget drops what is kept under keys of a user.
func (r *readings[K, V]) forget(is func(K) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.kept, func(key K, _ *reading[V]) bool { return is(key) })
}
