package operatorgroup

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

// life are the things that happen to a group, each followed by passes until it rests.
var life = []struct {
	name string
	do   func(k *cluster)
}{
	{"it is made", func(k *cluster) { k.create(newGroup("group", withAccount(byLabel("x")))) }},
	{"an operator is installed", func(k *cluster) { k.create(operator(ns, "op.v1", "Goose")) }},
	{"other namespaces are meant", func(k *cluster) {
		g := k.group("group")
		g.Spec = withAccount(v1.OperatorGroupSpec{TargetNamespaces: []string{"b", "c"}})
		k.update(g)
	}},
	{"the operator goes", func(k *cluster) {
		must.NoError(k.t, k.client.Delete(k.t.Context(), operator(ns, "op.v1")))
	}},
	{"it is deleted", func(k *cluster) {
		must.NoError(k.t, k.client.Delete(k.t.Context(), k.group("group")))
	}},
}

func withAccount(spec v1.OperatorGroupSpec) v1.OperatorGroupSpec {
	spec.ServiceAccountName = "installer"
	return spec
}

func newLife(t *testing.T) *cluster {
	return newCluster(t, namespace("a", "x"), namespace("b", "x"), namespace("c"), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "installer", UID: "sa"}})
}

// state is all that the controller writes.
func (k *cluster) state() string {
	var b strings.Builder
	if g := k.group("group"); g != nil {
		fmt.Fprintf(&b, "%v %v %v\n", g.Annotations, g.Status.Namespaces, g.Status.ServiceAccountRef)
	}
	for _, r := range k.roles() {
		fmt.Fprintf(&b, "%s %v %+v\n", r.Name, r.Labels, r.AggregationRule)
	}
	account := &corev1.ServiceAccount{}
	must.NoError(k.t, k.client.Get(k.t.Context(), client.ObjectKey{Namespace: ns, Name: "installer"}, account))
	fmt.Fprintf(&b, "%v; labelled: %v\n", account.Labels, k.labelled("group-uid"))
	return b.String()
}

// TestKilledAtEveryWrite of the life of a group, before the cluster has it and before the answer arrives: a new controller finishes, and
// everything is as if nothing had happened.
func TestKilledAtEveryWrite(t *testing.T) {
	for when, set := range map[string]func(k *cluster, kill func(string) error){
		"before it is done":          func(k *cluster, kill func(string) error) { k.Before = kill },
		"before the answer is there": func(k *cluster, kill func(string) error) { k.After = kill },
	} {
		t.Run(when, func(t *testing.T) {
			whole, k := newLife(t), newLife(t)
			kills := 0
			for _, step := range life {
				step.do(whole)
				whole.pass("group")
				whole.quiet("group")

				step.do(k)
				killed := map[string]bool{}
				set(k, func(write string) error {
					if killed[write] {
						return nil
					}
					killed[write] = true
					return fakeapi.ErrKilled
				})
				for range 20 {
					k.restart()
					if k.try("group") == nil {
						break
					}
				}
				set(k, nil)
				k.pass("group")
				must.Equal(t, "after "+step.name+", killed at", k.state(), whole.state())
				k.quiet("group")
				kills += len(killed)
			}
			if kills < 15 {
				t.Errorf("only %d kills", kills)
			}
		})
	}
}

// TestConflictOnEveryWrite: another client was faster, whichever object it is about. That is no error of the controller where an event tells
// of it, and nothing is lost.
func TestConflictOnEveryWrite(t *testing.T) {
	whole, k := newLife(t), newLife(t)
	for _, step := range life {
		step.do(whole)
		whole.pass("group")
		step.do(k)
		met := map[string]bool{}
		k.Before = func(write string) error {
			if met[write] {
				return nil
			}
			met[write] = true
			return apierrors.NewConflict(schema.GroupResource{}, write, errors.New("changed"))
		}
		for range 20 {
			_ = k.try("group")
		}
		k.Before = nil
		k.pass("group")
		must.Equal(t, "after "+step.name+", with conflicts at", k.state(), whole.state())
	}
}
