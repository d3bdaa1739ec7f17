package rollout

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"fairlead.dev/fairlead/catalog/safetext"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// Outcome is what a run did with an object.
type Outcome int

const (
	// NotAttempted objects were left alone, because they were refused, the run stopped before them, or they are going away.
	NotAttempted Outcome = iota
	// Created objects did not exist before.
	Created
	// Configured objects existed, and were changed.
	Configured
	// Unchanged objects were as desired.
	Unchanged
	// Failed objects could not be read or written.
	Failed
	// Deleted objects were asked to go by a teardown.
	Deleted
	// Gone objects do not exist, as a teardown wants it.
	Gone
	// Kept objects belong to others, so a teardown leaves them.
	Kept
	// Left objects are kept by an owner that takes the caller's place, so a run does not write them.
	Left
)

var outcomeNames = [...]string{"NotAttempted", "Created", "Configured", "Unchanged", "Failed", "Deleted", "Gone", "Kept", "Left"}

// String is the name of the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Result is how far a run got.
type Result struct {
	Phases []PhaseResult
}

// PhaseResult is how far a phase got.
type PhaseResult struct {
	Name    string
	Objects []ObjectResult
}

// ObjectResult is how far one object got.
type ObjectResult struct {
	Ref     Ref
	Outcome Outcome
	// Waiting reports what is still missing; empty is nothing.
	Waiting string
	// Err is why the object was refused or failed.
	Err error
	// Warnings are what the API server said about the object besides, and the fields that its kind does not have.
	Warnings []string
	// Live is the object as last seen; nil when there is none, or it was not read.
	Live *unstructured.Unstructured
}

// Complete reports whether everything is as desired.
func (r *Result) Complete() bool {
	for _, p := range r.Phases {
		for _, o := range p.Objects {
			if o.Outcome == NotAttempted || o.Err != nil || o.Waiting != "" {
				return false
			}
		}
	}
	return true
}

// Waiting lists what is still missing.
func (r *Result) Waiting() []string {
	var all []string
	for _, p := range r.Phases {
		for _, o := range p.Objects {
			if o.Waiting != "" {
				all = append(all, o.Waiting)
			}
		}
	}
	return all
}

// Err is nil, or a Failures with the errors of all objects.
func (r *Result) Err() error {
	var all Failures
	for _, p := range r.Phases {
		for _, o := range p.Objects {
			if o.Err != nil {
				all = append(all, o.Err)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// Failures are the errors of several objects. It works with errors.Is and errors.As.
type Failures []error

// limits of the text of Failures: statuses hold it.
const (
	failuresShown = 5
	failureLength = 1024
)

// Error is the text of the first few, and the number of the others.
func (f Failures) Error() string {
	var texts []string
	for _, err := range f[:min(len(f), failuresShown)] {
		texts = append(texts, safetext.Truncate(err.Error(), failureLength))
	}
	return safetext.Sample(texts, len(f), "; ")
}

// Unwrap returns the errors.
func (f Failures) Unwrap() []error { return f }

// RequestError reports which request about an object failed.
type RequestError struct {
	Verb string // what was attempted: read, create, apply, delete
	Ref  Ref
	Err  error
}

// Error reports what was attempted, on which object, and why it failed.
func (e *RequestError) Error() string { return fmt.Sprintf("%s %s: %v", e.Verb, e.Ref, e.Err) }

// Unwrap returns why it failed.
func (e *RequestError) Unwrap() error { return e.Err }

// UnknownKindError reports that the API server does not serve the kind of an object.
type UnknownKindError struct {
	Ref Ref
	Err error // what the API server said, if it was asked
}

// Error names the object and its kind.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("write %s: the API server does not serve %s %s; install what provides this API, or use a version of it that is served",
		e.Ref, e.Ref.GroupVersion(), e.Ref.Kind)
}

// Unwrap returns what the API server said.
func (e *UnknownKindError) Unwrap() error { return e.Err }

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

func (w *warnings) add(texts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range texts {
		if !slices.Contains(w.all, text) {
			w.all = append(w.all, text)
		}
	}
}
