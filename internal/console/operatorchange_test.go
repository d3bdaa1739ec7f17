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

// keeps makes sure that what a page says is kept until the object that it is about changes. made counts how often it was made.
func (v *tour) keeps(address string, made *atomic.Int32, key client.ObjectKey, about client.Object) {
	v.Helper()
	before := made.Load()
	v.planned(address)
	must.Equal(v, "how often it is made while nothing changes", made.Load(), before)
	must.NoError(v, v.cluster.Get(v.Context(), key, about))
	about.SetAnnotations(map[string]string{"x": "y"})
	must.NoError(v, v.cluster.Update(v.Context(), about))
	must.Eventually(v, "that it is made for the object as it is", func() error {
		v.shows(http.StatusOK, address)
		if made.Load() == before {
			return errors.New("it is not")
		}
		return nil
	})
}

// fails makes sure that a page whose plan or proof cannot be made says what to do, and that a program has an error of at least a status. It returns
// the text of the page.
func (v *tour) fails(address string, status int) string {
	v.Helper()
	text := v.planned(address)
	must.Contain(v, "the page", text, "What to do:")
	if w := v.ask(http.MethodGet, "/api"+address, nil); w.Code < status || !strings.Contains(w.Body.String(), "remedy") {
		v.Errorf("a program is answered %d: %s", w.Code, w.Body)
	}
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

	v.keeps(at, &made, client.ObjectKey{Namespace: "ops", Name: "mine"}, &v1alpha1.Subscription{})
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
	must.Contain(t, "the page", v.fails(at, http.StatusInternalServerError), "What would come of it is not known:", "the disk is full "+hostile)
}
