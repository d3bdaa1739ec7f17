package reconcile

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const finalizer = "example.com/cleanup"

func TestTyped(t *testing.T) {
	now := metav1.Now()
	away := apierrors.NewServiceUnavailable("starting")
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}}
		if change != nil {
			change(p)
		}
		return p
	}
	for name, test := range map[string]struct {
		live      *corev1.Pod
		reads     error // what reading fails with
		finalizer string
		want      string // the function that ran
		err       string
		finalizes bool
	}{
		"an object is reconciled":                {live: pod(nil), want: "step"},
		"a finalizer is added first":             {live: pod(nil), finalizer: finalizer, want: "step", finalizes: true},
		"a finalizer is there":                   {live: pod(func(p *corev1.Pod) { p.Finalizers = []string{finalizer} }), finalizer: finalizer, want: "step", finalizes: true},
		"an object is deleted":                   {live: pod(func(p *corev1.Pod) { p.Finalizers, p.DeletionTimestamp = []string{finalizer}, &now }), finalizer: finalizer, want: "deleting"},
		"an object is gone":                      {want: "gone a/p"},
		"that it cannot be read is no deletion":  {live: pod(nil), reads: away, err: "read Pod a/p: starting"},
		"a deletion held by others adds nothing": {live: pod(func(p *corev1.Pod) { p.Finalizers, p.DeletionTimestamp = []string{"other"}, &now }), finalizer: finalizer, want: "deleting"},
	} {
		t.Run(name, func(t *testing.T) {
			b := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if test.reads != nil {
						return test.reads
					}
					return c.Get(ctx, key, o, options...)
				}})
			if test.live != nil {
				b = b.WithObjects(test.live)
			}
			c, ran := b.Build(), ""
			typed := Typed[*corev1.Pod]{Client: c, Finalizer: test.finalizer, Owner: "test",
				Step: func(_ context.Context, p *corev1.Pod) (reconcile.Result, error) {
					ran += "step"
					must.Equal(t, "has a finalizer", len(p.Finalizers) > 0, test.finalizes)
					return reconcile.Result{RequeueAfter: time.Minute}, nil
				},
				Deleting: func(ctx context.Context, p *corev1.Pod) (reconcile.Result, error) {
					ran += "deleting"
					return reconcile.Result{RequeueAfter: time.Minute}, RemoveFinalizer(ctx, c, p, test.finalizer, "test")
				},
				Gone: func(_ context.Context, key types.NamespacedName) (reconcile.Result, error) {
					ran += "gone " + key.String()
					return reconcile.Result{RequeueAfter: time.Minute}, nil
				}}
			request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "a", Name: "p"}}
			result, err := typed.Reconcile(t.Context(), request)
			if got := fmt.Sprint(err); test.err == "" && err != nil || test.err != "" && got != test.err {
				t.Errorf("error: %v, want %q", err, test.err)
			}
			if ran != test.want || result.RequeueAfter != time.Minute && test.want != "" {
				t.Errorf("ran %q and again after %s, want %q", ran, result.RequeueAfter, test.want)
			}
			typed.Step, typed.Deleting, typed.Gone = nil, nil, nil
			if result, err := typed.Reconcile(t.Context(), request); test.reads == nil && (err != nil || result != reconcile.Result{}) {
				t.Errorf("without steps: %v, %v", result, err)
			}
		})
	}
}

func TestResult(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "p", errors.New("modified"))
	for name, test := range map[string]struct {
		err      error
		want     time.Duration
		failed   string
		terminal bool
	}{
		"nothing":                           {want: time.Hour},
		"no retry helps":                    {err: fmt.Errorf("write: %w", Terminal(errors.New("too large"))), failed: "terminal error: write: too large", terminal: true},
		"a retry helps with one of two":     {err: errors.Join(Terminal(errors.New("a")), errors.New("b")), failed: "a\nb"},
		"the object has changed":            {err: fmt.Errorf("write: %w", conflict), want: time.Hour},
		"one of two, whose object changed":  {err: errors.Join(conflict, errors.New("b")), failed: conflict.Error() + "\nb"},
		"a refusal may pass without events": {err: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("no")), failed: `pods "p" is forbidden: no`},
	} {
		t.Run(name, func(t *testing.T) {
			typed := Typed[*corev1.Pod]{Client: fake.NewFakeClient(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}), Resources: []string{"pods"},
				Step: func(context.Context, *corev1.Pod) (reconcile.Result, error) {
					return reconcile.Result{RequeueAfter: time.Hour}, test.err
				}}
			result, err := typed.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "p"}})
			if test.failed == "" && err != nil || test.failed != "" && fmt.Sprint(err) != test.failed {
				t.Errorf("error: %v, want %q", err, test.failed)
			}
			must.Equal(t, "requeue after", result.RequeueAfter, test.want)
			if got := errors.Is(err, reconcile.TerminalError(nil)); got != test.terminal {
				t.Errorf("terminal: %t, want %t", got, test.terminal)
			}
		})
	}
}
