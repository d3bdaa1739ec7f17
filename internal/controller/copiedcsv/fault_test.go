package copiedcsv

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// life are the things that happen to copies, each followed by passes until they rest.
var life = []struct {
	name string
	do   func(k *cluster)
}{
	{"an operator runs", func(k *cluster) { k.create(operator("op.v1")) }},
	{"it fails and changes", func(k *cluster) {
		change(k, &v1alpha1.ClusterServiceVersion{}, ns, "op.v1", func(c *v1alpha1.ClusterServiceVersion) {
			c.Status.Phase, c.Spec.DisplayName = "Failed", "new"
		})
	}},
	{"a copy is edited", func(k *cluster) {
		k.server.edit("a", "op.v1", "kubectl", "", func(c *v1alpha1.ClusterServiceVersion) { c.Spec.DisplayName = "hacked" })
		k.server.edit("a", "op.v1", "kubectl", "status", func(c *v1alpha1.ClusterServiceVersion) { c.Status.Phase = "Hacked" })
	}},
	{"a namespace is meant no more", func(k *cluster) {
		change(k, &v1.OperatorGroup{}, ns, "group", func(g *v1.OperatorGroup) { g.Status.Namespaces = []string{"b"} })
	}},
	{"the operator goes", func(k *cluster) {
		must.NoError(k.t, k.client.Delete(k.t.Context(), operator("op.v1")))
	}},
}

func keysOf(requests []reconcile.Request) []types.NamespacedName {
	var out []types.NamespacedName
	for _, r := range requests {
		out = append(out, r.NamespacedName)
	}
	return out
}

func deepCopies(objects []client.Object) []client.Object {
	var out []client.Object
	for _, o := range objects {
		out = append(out, o.DeepCopyObject().(client.Object))
	}
	return out
}

// copies are all that the controller has written.
func (k *cluster) copies() map[string]v1alpha1.ClusterServiceVersion {
	out := map[string]v1alpha1.ClusterServiceVersion{}
	for key, o := range k.server.objects {
		bare := o.DeepCopy()
		bare.ResourceVersion, bare.Generation, bare.ManagedFields, bare.UID = "", 0, nil, ""
		out[key.String()] = *bare
	}
	return out
}

// TestKilledAtEveryWrite of the life of copies, before the cluster has it and before the answer arrives, and a conflict at every write: a new
// controller finishes, and the copies are as if nothing had happened. Then it rests.
func TestKilledAtEveryWrite(t *testing.T) {
	failures := map[string]error{"killed": errors.New("killed"), "conflict": apierrors.NewConflict(schema.GroupResource{Resource: "clusterserviceversions"}, "op.v1", errors.New("changed"))}
	for what, failure := range failures {
		for when, set := range map[string]func(s *server, kill func(string) error){
			"before it is done":          func(s *server, kill func(string) error) { s.fail = kill },
			"before the answer is there": func(s *server, kill func(string) error) { s.lose = kill },
		} {
			t.Run(fmt.Sprint(what, " ", when), func(t *testing.T) {
				objects := append(namespaces(ns, "a", "b"), group("a", "b"))
				whole, k := newCluster(t, deepCopies(objects)...), newCluster(t, deepCopies(objects)...)
				kills := 0
				for _, step := range life {
					step.do(whole)
					whole.settle()
					step.do(k)
					killed := map[string]bool{}
					set(k.server, func(write string) error {
						if killed[write] {
							return nil
						}
						killed[write] = true
						return failure
					})
					for range 10 {
						k.restart()
						for _, key := range append(k.server.keys(), keysOf(k.c.copiesOfEach(t.Context(), nil))...) {
							_ = k.try(key.Namespace, key.Name)
						}
					}
					set(k.server, nil)
					k.settle()
					must.Equal(t, "after "+step.name+", "+what+" at", k.copies(), whole.copies())
					k.quiet()
					k.restart()
					k.quiet()
					kills += len(killed)
				}
				if kills < 10 {
					t.Errorf("only %d faults", kills)
				}
			})
		}
	}
}

// TestTheReportIsWrittenAgain when its write failed or met a conflict.
func TestTheReportIsWrittenAgain(t *testing.T) {
	for name, failure := range map[string]error{"killed": errors.New("killed"), "conflict": apierrors.NewConflict(schema.GroupResource{Resource: "olmconfigs"}, "cluster", errors.New("changed"))} {
		config := olmConfig()
		disable(true)(config)
		k := newCluster(t, append(namespaces(ns, "a"), group(""), operator("op.v1"), config)...)
		k.settle()
		k.api.Before = func(write string) error {
			if write == "patch status OLMConfig cluster" {
				return failure
			}
			return nil
		}
		_, err := k.reporter.Reconcile(t.Context(), reconcile.Request{})
		if want := name == "killed"; (err != nil) != want {
			t.Errorf("%s: error %v", name, err) // of a conflict an event tells
		}
		k.api.Before = nil
		must.Value(k.reporter.Reconcile(t.Context(), reconcile.Request{}))(t)
		got := &v1.OLMConfig{}
		if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(config), got); err != nil || len(got.Status.Conditions) != 1 || got.Status.Conditions[0].Status != metav1.ConditionTrue {
			t.Errorf("%s: conditions %+v (%v)", name, got.Status.Conditions, err)
		}
	}
}
