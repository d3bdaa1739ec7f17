package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
)

// reconcileForever is what a manager would wait for.
func reconcileForever(started, end chan struct{}) {
	close(started)
	<-end
}

func TestManagerThatDoesNotStopSaysWhatItStillDoes(t *testing.T) {
	started, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	go reconcileForever(started, end)
	<-started
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	timedOut := fmt.Errorf("run the controllers: %w", context.DeadlineExceeded)
	var logged strings.Builder
	log := funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{})
	err := withUnfinished(ended, log, timedOut)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "still running: ") || !strings.Contains(err.Error(), "internal/manager.reconcileForever") {
		t.Errorf("got %q, want the function that still runs named", err)
	}
	if strings.Contains(err.Error(), "withUnfinished") {
		t.Errorf("%q names the one that asks", err)
	}
	if text := logged.String(); !strings.Contains(text, "reconcileForever") || len(text) > 2*maxLoggedStacks {
		t.Errorf("%d bytes are logged, without the stack of the function that still runs or too many", len(text))
	}
	for name, untouched := range map[string]struct {
		ctx context.Context
		err error
	}{
		"another error":   {ended, errors.New("the lease was lost")},
		"before the stop": {t.Context(), timedOut},
	} {
		if got := withUnfinished(untouched.ctx, log, untouched.err); got != untouched.err {
			t.Errorf("%s: got %q, want it as it was", name, got)
		}
	}
}

func TestUnfinishedNamesTheInnermostOfOurs(t *testing.T) {
	stacks := `goroutine 1 [running]:
fairlead.dev/fairlead/internal/manager.withUnfinished({0x1, 0x2}, {0x3, 0x4})
	/src/internal/manager/unfinished.go:24 +0x5

goroutine 7 [select]:
net/http.(*Transport).RoundTrip(0x1)
	/go/src/net/http/transport.go:1 +0x1
fairlead.dev/fairlead/internal/content/image.(*Client).fetch(0xc0, {0x1, 0x2})
	/src/internal/image/fetch.go:10 +0x1
fairlead.dev/fairlead/internal/content/bundleio.(*Unpacker).run(...)
	/src/internal/unpack/run.go:20 +0x1
created by fairlead.dev/fairlead/internal/content/bundleio.New in goroutine 1
	/src/internal/unpack/new.go:3 +0x1

goroutine 9 [chan receive]:
k8s.io/klog/v2.(*loggingT).flushDaemon(0x1)
	/go/klog.go:1 +0x1
created by fairlead.dev/fairlead/internal/manager.Run in goroutine 1
	/src/internal/manager/manager.go:90 +0x1`
	stacks += "\n\n" + strings.ReplaceAll(stacks[strings.Index(stacks, "goroutine 7"):strings.Index(stacks, "\n\ngoroutine 9")], "0x1", "0x7") + `

goroutine 11 [sync.Mutex.Lock]:
sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue.(*priorityqueue[...]).Done(0x1)
	/go/src/priorityqueue.go:468 +0x1`
	names, logged := unfinished(stacks)
	if want := "internal/content/image.(*Client).fetch"; len(names) != 1 || names[0] != want {
		t.Errorf("got %q, want only %q", names, want)
	}
	if len(logged) != 2 || !strings.HasPrefix(logged[0], "goroutine 7 ") || !strings.HasPrefix(logged[1], "goroutine 11 ") {
		t.Errorf("logged are %q; want one of the two that fetch, and the worker of the library", logged)
	}
}
