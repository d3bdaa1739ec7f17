package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// beingMade is what a page says while its plan is not there yet.
const beingMade = "The plan is being made"

// planned is a page once its plan, or its proof, is there.
func (v *tour) planned(address string) (text string) {
	v.Helper()
	must.Eventually(v, "the plan of "+address, func() error {
		if text = v.shows(http.StatusOK, address).text("main"); strings.Contains(text, " is being made: ") {
			return errors.New("it is being made")
		}
		return nil
	})
	return text
}

// TestPlanOfAnUpgradeThatTakesLong: the page is there at once and says that the plan is being made, programs wait for it, and it is kept until the object changes.
func TestPlanOfAnUpgradeThatTakesLong(t *testing.T) {
	gate := make(chan struct{})
	var made atomic.Int32
	v := newTour(t, func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, asks := list.(*operatorsv1.OperatorGroupList); asks {
				<-gate
				made.Add(1)
			}
			return c.List(ctx, list, options...)
		}})
	}, append(offeredBy(), subscribes("ops", "mine")...)...)
	const at = "/operator/Subscription/ops/mine/upgrade?channel=beta"
	page := v.shows(http.StatusOK, at)
	must.Contain(t, "meanwhile", page.text("main"), "channel: stable -> beta", beingMade)
	must.Contain(t, "the part that follows", page.text("#outcome"), beingMade)
	whole := make(chan upgradePage)
	go func() { whole <- answers[upgradePage](v, at) }()
	close(gate)
	program := <-whole
	must.Equal(t, "programs wait", program.Planning, false)
	must.Equal(t, "what would be installed", program.Subscription.Install[0].Name, "mine.v1.1.0")
	must.Contain(t, "then", v.planned(at), "mine.v1.0.0 → mine.v1.1.0")

	before := made.Load()
	v.planned(at)
	must.Equal(t, "the plan is kept", made.Load(), before)
	sub := &v1alpha1.Subscription{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "mine"}, sub))
	sub.Annotations = map[string]string{"x": "y"}
	must.NoError(t, v.cluster.Update(t.Context(), sub))
	must.Eventually(t, "another plan of another object", func() error {
		v.shows(http.StatusOK, at)
		if made.Load() == before {
			return errors.New("none is made")
		}
		return nil
	})
}

// TestPlanOfAnUpgradeThatFails: the page says why, and what to do; a program has it as an error.
func TestPlanOfAnUpgradeThatFails(t *testing.T) {
	v := newTour(t, func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, asks := list.(*operatorsv1.OperatorGroupList); asks {
				return errors.New("the disk is full " + hostile)
			}
			return c.List(ctx, list, options...)
		}})
	}, append(offeredBy(), subscribes("ops", "mine")...)...)
	const at = "/operator/Subscription/ops/mine/upgrade?channel=beta"
	must.Contain(t, "the page", v.planned(at), "What would come of it is not known:", "the disk is full "+hostile, "What to do:")
	if w := v.ask(http.MethodGet, "/api"+at, nil); w.Code < http.StatusInternalServerError || !strings.Contains(w.Body.String(), "remedy") {
		t.Errorf("a program is answered %d: %s", w.Code, w.Body)
	}
}
