// Package fakeapi is the API server in the tests of controllers: the fake client of controller-runtime with a clock, a recorder of events, and
// writes that are noted in one form and fail where a test says so. It holds nothing of what a controller does, and starts nothing.
// Start reading at New.
package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// ErrKilled is what a manager gets that is stopped while it writes.
var ErrKilled = errors.New("the manager was killed")

// Server is a fake API server. A write is "VERB KIND NAME", with the subresource before the kind where it has one ("patch status Deployment op"),
// and with " as NAMESPACE/NAME" at its end where a service account makes it. The verb of a dry run is try.
type Server struct {
	// WithWatch is how the manager reads and writes.
	client.WithWatch
	// Inner is the same without notes and faults: what others do in the cluster.
	Inner  client.WithWatch
	Clock  *clocktesting.FakeClock
	Events *record.FakeRecorder

	// Before is asked before each write, and After when it is done, as where an answer is lost. Their errors are what the writer gets.
	Before, After func(write string) error
	// Authorize is asked before each write and read by name ("get") of a service account, as RBAC is. What it refuses is not noted.
	Authorize func(account, verb, kind, name string) error
	// Read is asked before each object is read by its name.
	Read func(o client.Object, name string) error
	// Stale is returned for each object of its kind, as by a cache that lags behind.
	Stale client.Object
	// Answer is asked before each list is read: where it is true that is all, as of a cache that lags behind.
	Answer func(list client.ObjectList) bool
	// OneAtATime lets parallel writes be made one after the other, with what Before and After do.
	OneAtATime bool

	mu        sync.Mutex
	writes    []string
	made      int
	uids      int
	kill      int // the write that is to fail, counted from the next one
	killAfter bool
	killed    bool
	turn      sync.Mutex
}

// New is a server at a time, with the objects and indexes of the builder.
func New(at time.Time, builder *fake.ClientBuilder) *Server {
	s := &Server{Inner: builder.Build(), Clock: clocktesting.NewFakeClock(at), Events: record.NewFakeRecorder(100_000)}
	s.WithWatch = s.As("")
	return s
}

// Beneath puts functions between what is noted and the fake client: what a real API server does besides.
func (s *Server) Beneath(funcs interceptor.Funcs) {
	s.Inner = interceptor.NewClient(s.Inner, funcs)
	s.WithWatch = s.As("")
}

// Scheme of the types that the packages register.
func Scheme(add ...func(*runtime.Scheme) error) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range add {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

// Fault asks one function before each write and after it; nil is none.
func (s *Server) Fault(fault func(write string, after bool) error) {
	if fault == nil {
		s.Before, s.After = nil, nil
		return
	}
	s.Before = func(write string) error { return fault(write, false) }
	s.After = func(write string) error { return fault(write, true) }
}

// KillAt lets the nth write from now fail with ErrKilled, before it is done or after. None does where n is 0.
func (s *Server) KillAt(n int, after bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill, s.killAfter, s.killed = n, after, false
}

// Killed tells whether the write of KillAt has come.
func (s *Server) Killed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.killed
}

// Writes are those since the last Taken.
func (s *Server) Writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

// Count is how many of the writes since the last Taken begin with a text.
func (s *Server) Count(prefix string) int {
	return len(slices.DeleteFunc(s.Writes(), func(write string) bool { return !strings.HasPrefix(write, prefix) }))
}

// Taken returns the writes since the last call.
func (s *Server) Taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.writes
	s.writes = nil
	return taken
}

// Made is how many writes there were, ever.
func (s *Server) Made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// write notes a write, and makes it unless it is to fail.
func (s *Server) write(verb string, dryRun []string, account string, o any, do func() error) error {
	kind, name := s.kindAndName(o)
	if err := s.authorize(account, verb, kind, name); err != nil {
		return err
	}
	if len(dryRun) > 0 {
		verb, do = "try", func() error { return nil } // the fake client would apply
	}
	what := verb + " " + kind + " " + name
	if account != "" {
		what += " as " + account
	}
	s.mu.Lock()
	s.writes, s.made = append(s.writes, what), s.made+1
	killed := s.kill == 1
	s.kill, s.killed = max(s.kill-1, 0), s.killed || killed
	before := killed && !s.killAfter
	s.mu.Unlock()
	if s.OneAtATime {
		s.turn.Lock()
		defer s.turn.Unlock()
	}
	if before {
		return ErrKilled
	}
	if s.Before != nil {
		if err := s.Before(what); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if killed {
		return ErrKilled
	}
	if s.After != nil {
		return s.After(what)
	}
	return nil
}

// kindAndName of an object, or of an apply configuration, typed or not.
func (s *Server) kindAndName(o any) (kind, name string) {
	switch o := o.(type) {
	case client.Object:
		gvk, err := apiutil.GVKForObject(o, s.Scheme())
		if err != nil {
			return fmt.Sprintf("%T", o), o.GetName()
		}
		return gvk.Kind, o.GetName()
	case interface {
		GetKind() string
		GetName() string
	}:
		return o.GetKind(), o.GetName()
	case interface {
		GetKind() *string
		GetName() *string
	}:
		return *o.GetKind(), *o.GetName()
	}
	return fmt.Sprintf("%T", o), ""
}

func (s *Server) authorize(account, verb, kind, name string) error {
	if account == "" || s.Authorize == nil {
		return nil
	}
	return s.Authorize(account, verb, kind, name)
}

// As is the server for a service account, "" for the manager itself.
func (s *Server) As(account string) client.WithWatch {
	return interceptor.NewClient(s.Inner, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			kind, _ := s.kindAndName(o)
			if err := s.authorize(account, "get", kind, key.Name); err != nil {
				return err
			}
			if s.Read != nil {
				if err := s.Read(o, key.Name); err != nil {
					return err
				}
			}
			if s.Stale != nil && reflect.TypeOf(o) == reflect.TypeOf(s.Stale) {
				reflect.ValueOf(o).Elem().Set(reflect.ValueOf(s.Stale.DeepCopyObject()).Elem())
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if s.Answer != nil && s.Answer(list) {
				return nil
			}
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return s.write("create", (&client.CreateOptions{}).ApplyOptions(opts).DryRun, account, o, func() error {
				s.begin(o)
				return c.Create(ctx, o, opts...)
			})
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return s.write("update", (&client.UpdateOptions{}).ApplyOptions(opts).DryRun, account, o, func() error { return c.Update(ctx, o, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			return s.write("apply", (&client.ApplyOptions{}).ApplyOptions(opts).DryRun, account, o, func() error { return c.Apply(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return s.write("patch", (&client.PatchOptions{}).ApplyOptions(opts).DryRun, account, o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			options := (&client.DeleteOptions{}).ApplyOptions(opts)
			return s.write("delete", options.DryRun, account, o, func() error {
				if err := sameUID(ctx, c, o, options.Preconditions); err != nil {
					return err
				}
				return c.Delete(ctx, o, opts...)
			})
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteAllOfOption) error {
			return s.write("deletecollection", nil, account, o, func() error { return c.DeleteAllOf(ctx, o, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return s.write("update "+sub, nil, account, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return s.write("patch "+sub, nil, account, o, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

// begin gives a new object what the API server gives it.
func (s *Server) begin(o client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.GetUID() == "" {
		s.uids++
		o.SetUID(types.UID(fmt.Sprintf("uid-%d", s.uids)))
	}
	if created := o.GetCreationTimestamp(); created.IsZero() {
		o.SetCreationTimestamp(metav1.NewTime(s.Clock.Now()))
	}
}

// sameUID refuses to delete another object than the one that is meant, which the fake client does not.
func sameUID(ctx context.Context, c client.Reader, o client.Object, preconditions *metav1.Preconditions) error {
	if preconditions == nil || preconditions.UID == nil {
		return nil
	}
	live := o.DeepCopyObject().(client.Object)
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
		return err
	}
	if live.GetUID() != *preconditions.UID {
		return apierrors.NewConflict(schema.GroupResource{Resource: o.GetObjectKind().GroupVersionKind().Kind}, o.GetName(),
			fmt.Errorf("the UID in the precondition (%s) is not that of the object (%s)", *preconditions.UID, live.GetUID()))
	}
	return nil
}

// Lists is a reader that asks before each list is read, which of a server only some are to do.
type Lists struct {
	client.Reader
	Before func(list client.ObjectList, namespace string) error
}

// List implements client.Reader.
func (l Lists) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := l.Before(list, (&client.ListOptions{}).ApplyOptions(opts).Namespace); err != nil {
		return err
	}
	return l.Reader.List(ctx, list, opts...)
}

// Settle makes passes until one writes nothing, and returns what the others wrote. A pass that fails ends the test, and so does one that would go on for ever.
func (s *Server) Settle(t testing.TB, pass func() error) []string {
	t.Helper()
	s.Taken()
	var all []string
	for range 10 {
		if err := pass(); err != nil {
			t.Fatalf("a pass fails: %v", err)
		}
		taken := s.Taken()
		if len(taken) == 0 {
			return all
		}
		all = append(all, taken...)
	}
	t.Fatalf("every pass writes: %v", all)
	return nil
}
