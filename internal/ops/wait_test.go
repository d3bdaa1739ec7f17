package ops

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// late is a context whose deadline passes while its timer has not run yet, as on a busy machine.
type late struct {
	context.Context
	deadline time.Time
}

func (l *late) Deadline() (time.Time, bool) { return l.deadline, true }

// impatient answers once, and then fails because there is no time left; only after that the context hears of its end.
type impatient struct {
	client.Reader
	ctx     *late
	hear    context.CancelFunc
	answers int
}

func (i *impatient) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	i.answers++
	if i.answers > 1 {
		time.AfterFunc(time.Millisecond, i.hear)
		return errors.New("rate: Wait(n=1) would exceed context deadline")
	}
	i.ctx.deadline = time.Now()
	switch o := o.(type) {
	case *v1alpha1.Subscription:
		o.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "False", Reason: "Held", Message: "OperatorGroup a/b is in the way"}}
	case *olmv1.ClusterExtension:
		o.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeProgressing, Status: metav1.ConditionTrue, Reason: olmv1.ReasonRetrying, Message: "OperatorGroup a/b is in the way"}}
	}
	return nil
}

func TestAWaitThatIsOverSaysWhatItWaitedFor(t *testing.T) {
	quiet := func(string, string) {}
	for name, wait := range map[string]func(context.Context, client.Reader) error{
		"Subscription": func(ctx context.Context, r client.Reader) error {
			_, err := WaitPackage(ctx, r, client.ObjectKey{Namespace: "ns", Name: "s"}, quiet)
			return err
		},
		"ClusterExtension": func(ctx context.Context, r client.Reader) error {
			_, err := WaitExtension(ctx, r, "e", quiet)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l := &late{Context: ctx, deadline: time.Now().Add(time.Hour)}
			must.Fail(t, "wait", wait(l, &impatient{ctx: l, hear: cancel}), "OperatorGroup a/b is in the way")
		})
	}
	t.Run("an error in time is told", func(t *testing.T) {
		l := &late{Context: t.Context(), deadline: time.Now().Add(time.Hour)}
		r := &impatient{ctx: l, hear: func() {}, answers: 1}
		if _, err := WaitPackage(l, r, client.ObjectKey{Namespace: "ns", Name: "s"}, quiet); err == nil || !strings.Contains(err.Error(), "get Subscription ns/s: rate") {
			t.Errorf("got %v, want the error of the read", err)
		}
	})
}
