package webhooks

import (
	"fmt"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// configurations are the webhook configurations of the operators of a namespace.
func (w *world) configurations(namespace string) (validating []admissionv1.ValidatingWebhookConfiguration, mutating []admissionv1.MutatingWebhookConfiguration) {
	w.Helper()
	of := client.MatchingLabels{v1alpha1.OwnerNamespaceLabel: namespace}
	var v admissionv1.ValidatingWebhookConfigurationList
	var m admissionv1.MutatingWebhookConfigurationList
	if err := w.List(w.Context(), &v, of); err != nil {
		w.Fatal(err)
	}
	if err := w.List(w.Context(), &m, of); err != nil {
		w.Fatal(err)
	}
	return v.Items, m.Items
}

// judged says what the validating webhook does in a namespace: an error tells that it is not asked there, or cannot be.
func (w *world) judged(namespace string) error {
	err := w.Create(w.Context(), w.thing(namespace, "v1", "bad", -1), client.DryRunAll)
	switch {
	case err == nil:
		return fmt.Errorf("what the webhook refuses is admitted in %s", namespace)
	case strings.Contains(err.Error(), refusal):
		return nil
	default:
		return err
	}
}

// selects waits until the operator's validating webhook has a namespace selector.
func (w *world) selects(want *metav1.LabelSelector) {
	w.Helper()
	w.eventually("the namespace selector", func() error {
		validating, _ := w.configurations(w.namespace)
		if len(validating) != 1 {
			return fmt.Errorf("there are %d configurations", len(validating))
		}
		got := validating[0].Webhooks[0].NamespaceSelector
		if want == nil {
			want = &metav1.LabelSelector{} // what the API server makes of none
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("(-want +got):\n%s", diff)
		}
		return nil
	})
}

// TestSelectors limits webhooks to the namespaces of the OperatorGroup: all of them, a named one, those that are selected.
func TestSelectors(t *testing.T) {
	t.Parallel()
	install := func(t *testing.T, w *world, group *operatorsv1.OperatorGroup) {
		t.Helper()
		w.serve("manager")
		w.make(w.things(), group, w.operator("op.v1", w.hooks("manager", validating)))
		w.succeeds("op.v1")
	}
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := devcluster.Namespace(t)
		install(t, w, w.everywhere())
		w.selects(nil)
		w.eventually("a thing of another namespace to be refused", func() error { return w.judged(other) })
		w.make(w.thing(other, "v1", "good", 1))
	})
	t.Run("named", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		target := devcluster.Namespace(t)
		group := w.everywhere()
		group.Spec.TargetNamespaces = []string{target}
		install(t, w, group)
		w.selects(&metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.OperatorGroupUIDLabelPrefix + string(group.UID): ""}})
		w.eventually("a thing of the target to be refused", func() error { return w.judged(target) })
		w.make(w.thing(w.namespace, "v1", "bad", -1))
	})
	t.Run("selected", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		one, two := devcluster.Namespace(t), devcluster.Namespace(t)
		of := func(team string) *metav1.LabelSelector {
			return &metav1.LabelSelector{MatchLabels: map[string]string{"team": team + "-" + w.namespace}}
		}
		for namespace, team := range map[string]string{one: "a", two: "b"} {
			edit(w, namespace, &corev1.Namespace{}, func(n *corev1.Namespace) { n.Labels["team"] = of(team).MatchLabels["team"] })
		}
		group := w.everywhere()
		group.Spec.Selector = of("a")
		install(t, w, group)
		w.selects(of("a"))
		w.eventually("a thing of the first namespace to be refused", func() error { return w.judged(one) })
		w.make(w.thing(two, "v1", "bad", -1))
		edit(w, "group", &operatorsv1.OperatorGroup{}, func(g *operatorsv1.OperatorGroup) { g.Spec.Selector = of("b") })
		w.selects(of("b"))
		w.eventually("a thing of the second namespace to be refused", func() error { return w.judged(two) })
		w.eventually("a thing of the first namespace not to be refused any more", func() error {
			return w.Create(t.Context(), w.thing(one, "v1", "bad", -1))
		})
	})
}

// TestTwoInstalls of one operator are asked about their own namespaces each, although their webhooks have the same names.
func TestTwoInstalls(t *testing.T) {
	t.Parallel()
	one := newWorld(t)
	one.make(one.things())
	two := newWorld(t)
	two.group = one.group
	for _, w := range []*world{one, two} {
		w.serve("manager")
		w.make(w.here(), w.operator("op.v1", w.hooks("manager", validating, mutating)))
	}
	for _, w := range []*world{one, two} {
		w.succeeds("op.v1")
		w.eventually("things to be refused", func() error { return w.judged(w.namespace) })
		thing := w.thing(w.namespace, "v1", "good", 1)
		w.make(thing)
		if got, want := thing.GetAnnotations()[mark], w.namespace+"/manager"; got != want {
			t.Errorf("a thing of %s was seen by %q, want %q", w.namespace, got, want)
		}
	}
	one.uninstall(one.namespace)
	if validating, mutating := one.configurations(one.namespace); len(validating)+len(mutating) > 0 {
		t.Errorf("after the first was uninstalled there are %v, %v", validating, mutating)
	}
	one.eventually("the first not to be asked any more", func() error { return one.Create(t.Context(), one.thing(one.namespace, "v1", "bad", -1)) })
	if err := two.judged(two.namespace); err != nil {
		t.Error(err)
	}
}

// TestLongWebhookNames installs webhooks whose names are longer than the value of a label, up to what the name of a webhook may have.
func TestLongWebhookNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	w.make(w.here(), w.things(), w.operator("op.v1", w.hooks("manager", validating, mutating), func(csv *v1alpha1.ClusterServiceVersion) {
		for i, length := range []int{70, 253} {
			name := csv.Spec.WebhookDefinitions[i].GenerateName
			csv.Spec.WebhookDefinitions[i].GenerateName = strings.Repeat("long.", 50)[:length-len(name)-1] + "-" + name
		}
	}))
	w.succeeds("op.v1")
	w.eventually("things to be refused", func() error { return w.judged(w.namespace) })
	if validating, mutating := w.configurations(w.namespace); len(validating) != 1 || len(mutating) != 1 {
		t.Errorf("configurations %v, %v, want one of each", validating, mutating)
	}
	w.uninstall(w.namespace)
	if validating, mutating := w.configurations(w.namespace); len(validating)+len(mutating) > 0 {
		t.Errorf("after it was uninstalled there are %v, %v", validating, mutating)
	}
}

// TestTheCertificateIsKept as long as it is good, whatever else is installed again.
func TestTheCertificateIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	w.make(w.things(), w.everywhere(), w.operator("op.v1", w.hooks("manager", validating)))
	w.succeeds("op.v1")
	before := w.secret("manager-service-cert")
	edit(w, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image = "example.com/manager:2"
	})
	w.eventually("the edit to be rolled out", func() error {
		if image := w.deployment("manager").Spec.Template.Spec.Containers[0].Image; image != "example.com/manager:2" {
			return fmt.Errorf("the image is %s", image)
		}
		return nil
	})
	w.succeeds("op.v1")
	w.remove(w.deployment("manager"))
	w.eventually("the Deployment to be made again", func() error {
		if w.deployment("manager") == nil {
			return fmt.Errorf("it is not there")
		}
		return nil
	})
	w.succeeds("op.v1")
	if after := w.secret("manager-service-cert"); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the certificate was written again: %v, then %v", before.ManagedFields, after.ManagedFields)
	}
	w.eventually("things to be refused", func() error { return w.judged(w.namespace) })
}

// TestNothingIsServedAnyMore after an edit: who is not served is not asked, and nothing stays behind.
func TestNothingIsServedAnyMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	w.make(w.things(), w.everywhere(), w.operator("op.v1", modes("AllNamespaces"), w.owns, w.hooks("manager", validating, converting)))
	w.succeeds("op.v1")
	w.eventually("things to be refused", func() error { return w.judged(w.namespace) })
	edit(w, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions = nil })
	w.goes("manager-service", &corev1.Service{})
	w.goes("manager-service-cert", &corev1.Secret{})
	w.eventually("nobody to be asked", func() error {
		if err := w.Create(t.Context(), w.thing(w.namespace, "v1", "bad", -1)); err != nil {
			return err
		}
		read := w.thing(w.namespace, "v2", "bad", 0)
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(read), read); err != nil || size(read) != -1 {
			return fmt.Errorf("in v2 it has the size %d: %w", size(read), err)
		}
		return nil
	})
	w.succeeds("op.v1")
}
