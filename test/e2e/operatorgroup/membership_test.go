package operatorgroup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
)

// TestMembership is the whole way of a group that selects by label: targets, annotations, permissions, copies, pods; and back.
func TestMembership(t *testing.T) {
	w := newWorld(t)
	n := w.namespaces(4)
	home, a, b, c := n[0], n[1], n[2], n[3]
	label := func(namespace, value string) {
		edit(w, "", namespace, &corev1.Namespace{}, func(n *corev1.Namespace) { n.Labels[w.Namespace] = value })
	}
	label(a, "yes")
	label(b, "yes")
	w.group(home, v1.OperatorGroupSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{w.Namespace: "yes"}}})
	csv := w.operator(home, permitted)
	w.Make(csv)
	// Make what an InstallPlan makes for a CSV that is in the cluster, and return the name of its Role.
	accounts := must.Value(bundle.RBAC(csv))(w)
	var role string
	for _, a := range accounts {
		w.Make(a.ServiceAccount)
		for i := range a.Roles {
			role = a.Roles[i].Name
			w.Make(a.Roles[i], a.RoleBindings[i])
		}
	}
	got := w.In(home).Succeeds(w.csv)
	for key, want := range map[string]string{"olm.operatorGroup": "group", "olm.operatorNamespace": home, "olm.targetNamespaces": a + "," + b} {
		must.Equal(t, fmt.Sprintf("annotation %s of the CSV", key), got.Annotations[key], want)
	}
	deployment := &appsv1.Deployment{}
	w.In(home).Read("manager", deployment)
	must.Equal(t, "the pods are told to watch", deployment.Spec.Template.Annotations["olm.targetNamespaces"], a+","+b)
	w.copies(w.csv, home, a, b)
	copied := &v1alpha1.ClusterServiceVersion{}
	w.In(a).Read(w.csv, copied)
	if _, leaks := copied.Annotations["olm.targetNamespaces"]; leaks || copied.Annotations["olm.operatorNamespace"] != home || copied.Status.Phase != v1alpha1.CSVPhaseSucceeded {
		t.Errorf("the copy has annotations %v and phase %s", copied.Annotations, copied.Status.Phase)
	}
	for _, namespace := range []string{a, b} {
		if !w.In(namespace).Read(role, &rbacv1.Role{}) || !w.In(namespace).Read(role, &rbacv1.RoleBinding{}) {
			t.Errorf("the operator has no permissions in %s", namespace)
		}
	}
	// One namespace leaves, another one joins.
	label(b, "no")
	label(c, "yes")
	w.copies(w.csv, home, a, c)
	w.In(b).Goes(role, &rbacv1.Role{})
	w.In(b).Goes(role, &rbacv1.RoleBinding{})
	must.Eventually(w, "permissions in "+c, func() error {
		if !w.In(c).Read(role, &rbacv1.Role{}) || !w.In(c).Read(role, &rbacv1.RoleBinding{}) {
			return fmt.Errorf("there are none")
		}
		return nil
	})
	w.Remove(got)
	w.copies(w.csv, home)
	w.In(a).Goes(role, &rbacv1.Role{})
}

// TestInstallModes goes through every kind of targets with operators that support one mode each, and back.
func TestInstallModes(t *testing.T) {
	w := newWorld(t)
	n := w.namespaces(3)
	home, a, b := n[0], n[1], n[2]
	w.group(home, naming(home))
	csv := w.operator(home, fixture.Modes("OwnNamespace"))
	w.Make(csv)
	w.In(home).Succeeds(w.csv)
	steps := []struct {
		targets []string
		needs   v1alpha1.InstallModeType
	}{
		{[]string{a}, "SingleNamespace"}, {[]string{a, b}, "MultiNamespace"}, {nil, "AllNamespaces"}, {[]string{home}, "OwnNamespace"},
	}
	for _, step := range steps {
		w.targets(home, step.targets...)
		failed := w.In(home).Is(w.csv, v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonUnsupportedOperatorGroup)
		if m := failed.Status.Message; !strings.HasPrefix(m, string(step.needs)+" InstallModeType not supported") || !strings.Contains(m, `apply {"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup"`) {
			t.Errorf("message %q", m)
		}
		edit(w, home, w.csv, &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { fixture.Modes(step.needs)(csv) })
		w.In(home).Succeeds(w.csv)
	}
}

// TestNoAndSeveralGroups: an operator waits for the only group of its namespace.
func TestNoAndSeveralGroups(t *testing.T) {
	w := newWorld(t)
	home := w.namespaces(1)[0]
	w.Make(w.operator(home))
	w.In(home).Is(w.csv, v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonNoOperatorGroup)
	w.group(home, naming(home))
	w.In(home).Succeeds(w.csv)
	second := &v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "second"}}
	w.Make(second)
	w.In(home).Is(w.csv, v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonTooManyOperatorGroups)
	w.Remove(second)
	w.In(home).Succeeds(w.csv)
}

// TestNamespaceLabels are put on and taken off with the targets, for both ways to select, and go with the group.
func TestNamespaceLabels(t *testing.T) {
	t.Parallel()
	for how, spec := range map[string]func(w *world, names ...string) v1.OperatorGroupSpec{
		"named": func(_ *world, names ...string) v1.OperatorGroupSpec { return naming(names...) },
		"selected": func(_ *world, names ...string) v1.OperatorGroupSpec {
			return v1.OperatorGroupSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: names}}}}
		},
	} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			n := w.namespaces(3)
			w.group(n[0], spec(w, n[1], n[2]))
			group := &v1.OperatorGroup{}
			w.In(n[0]).Read("group", group)
			labelled := func(want ...string) {
				t.Helper()
				must.Eventually(w, fmt.Sprintf("labels on %v", want), func() error {
					var got []string
					for _, namespaceName := range n {
						var namespace corev1.Namespace
						w.In("").Read(namespaceName, &namespace)
						if _, ok := namespace.Labels["olm.operatorgroup.uid/"+string(group.UID)]; ok {
							got = append(got, namespaceName)
						}
					}
					if !slices.Equal(got, want) {
						return fmt.Errorf("they are on %v", got)
					}
					return nil
				})
			}
			labelled(n[1], n[2])
			edit(w, n[0], "group", group, func(g *v1.OperatorGroup) { g.Spec = spec(w, n[2]) })
			labelled(n[2])
			w.Remove(group)
			labelled()
		})
	}
}
