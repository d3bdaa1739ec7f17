package apply

import (
	"context"
	"sync"

	"k8s.io/client-go/rest"
)

// WarningHandler gives the warnings in the answers of the API server to the run that made the request. Set it as
// rest.Config.WarningHandlerWithContext of the clients that an Engine uses, or its results are without warnings.
type WarningHandler struct {
	// Next gets the warnings of other requests; nil drops them.
	Next rest.WarningHandlerWithContext
}

// warningCode is the only one that the API server uses.
const warningCode = 299

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (h WarningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	if w, ok := ctx.Value(warningsKey{}).(*warnings); ok {
		if code == warningCode && text != "" {
			w.add(text)
		}
		return
	}
	if h.Next != nil {
		h.Next.HandleWarningHeaderWithContext(ctx, code, agent, text)
	}
}

type warningsKey struct{}

// warnings collects what was said about one object, each text once.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func collectWarnings(ctx context.Context) (context.Context, *warnings) {
	w := &warnings{}
	return context.WithValue(ctx, warningsKey{}, w), w
}

func (w *warnings) add(texts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
next:
	for _, text := range texts {
		for _, there := range w.all {
			if there == text {
				continue next
			}
		}
		w.all = append(w.all, text)
	}
}

func (w *warnings) texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}
