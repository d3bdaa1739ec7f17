package image

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"go.podman.io/image/v5/types"
)

// watch follows the requests made to one endpoint and cuts them off when the
// registry stays silent, or asks to come back later. The transport would wait
// for the latter by itself, for up to minutes and without saying so; callers
// want to know at once, and decide themselves when to try again.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	stall  time.Duration

	mu       sync.Mutex
	timer    *time.Timer // fires when nothing has happened for too long
	opening  bool        // a request is being made, rather than a body read
	answered bool        // the latest request has been answered
	last     string      // URL of the latest request
	lastTime time.Time
}

// backOff is less than the transport waits before it repeats a request by
// default, and more than it takes to replace a lost connection.
const backOff = time.Second

// newWatch starts to follow requests that use w.ctx. The caller must call stop.
func newWatch(ctx context.Context, stall time.Duration) *watch {
	w := &watch{stall: stall}
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { w.event(false) },
		GotFirstResponseByte: func() { w.event(true) },
	})
	w.timer = time.AfterFunc(stall, w.expire)
	w.timer.Stop()
	return w
}

// stop ends the watch and everything that still uses its context.
func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// context returns a copy of the endpoint's configuration whose requests pass
// through the watch.
func (w *watch) context(e endpoint) *types.SystemContext {
	sys := *e.sys
	insecure := sys.DockerInsecureSkipTLSVerify == types.OptionalBoolTrue
	sys.DockerProxy = func(u *url.URL) (*url.URL, error) {
		if err := checkScheme(u, insecure); err != nil {
			return nil, err
		}
		w.mu.Lock()
		repeated := w.opening && u.String() == w.last && time.Since(w.lastTime) >= backOff
		w.last, w.lastTime = u.String(), time.Now()
		w.mu.Unlock()
		if repeated {
			return nil, problem(RateLimited, "the registry answers 429 Too Many Requests")
		}
		if e.sys.DockerProxy != nil {
			return e.sys.DockerProxy(u)
		}
		return http.ProxyFromEnvironment(&http.Request{URL: u})
	}
	return &sys
}

// open runs one call of the transport that makes requests, and classifies its
// error.
func (w *watch) open(call func(ctx context.Context) error) error {
	w.mu.Lock()
	w.opening, w.last, w.answered = true, "", false
	w.timer.Reset(w.stall)
	w.mu.Unlock()

	err := call(w.ctx)

	w.mu.Lock()
	w.opening = false
	w.timer.Stop()
	w.mu.Unlock()
	return classify(w.ctx, err)
}

type watchedBody struct {
	w *watch
	r io.Reader
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if cause := context.Cause(b.w.ctx); cause != nil {
		return 0, cause
	}
	b.w.timer.Reset(b.w.stall)
	n, err := b.r.Read(p)
	b.w.timer.Stop()
	if err != nil && err != io.EOF {
		err = classify(b.w.ctx, err)
	}
	return n, err
}

// event notes that a request starts or has been answered.
func (w *watch) event(answered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered = answered
	if w.opening {
		w.timer.Reset(w.stall)
	}
}

// expire runs when nothing has happened for too long. An endpoint that has
// answered, and yet the call has not returned, has asked the transport to wait.
func (w *watch) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.opening && w.answered {
		w.cancel(problem(RateLimited, "the registry answered and then let the client wait, as with 429 Too Many Requests, for more than %s", w.stall))
		return
	}
	w.cancel(problem(Unavailable, "the registry stayed silent for %s", w.stall))
}
