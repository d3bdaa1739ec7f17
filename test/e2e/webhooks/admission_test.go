package webhooks

import (
	"fmt"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

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
	must.NoError(w, w.List(w.Context(), &v, of))
	must.NoError(w, w.List(w.Context(), &m, of))
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
	must.Eventually(w, "the namespace selector", func() error {
		validating, _ := w.configurations(w.Namespace)
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
		w.Make(w.things(), group, w.operator("op.v1", w.hooks("manager", validating)))
		w.Succeeds("op.v1")
	}
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		other := devcluster.Namespace(t)
		install(t, w, w.everywhere())
		w.selects(nil)
		must.Eventually(w, "a thing of another namespace to be refused", func() error { return w.judged(other) })
		w.Make(w.thing(other, "v1", "good", 1))
	})
	t.Run("named", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		target := devcluster.Namespace(t)
		group := w.everywhere()
		group.Spec.TargetNamespaces = []string{target}
		install(t, w, group)
		w.selects(&metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.OperatorGroupUIDLabelPrefix + string(group.UID): ""}})
		must.Eventually(w, "a thing of the target to be refused", func() error { return w.judged(target) })
		w.Make(w.thing(w.Namespace, "v1", "bad", -1))
	})
	t.Run("selected", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		one, two := devcluster.Namespace(t), devcluster.Namespace(t)
		of := func(team string) *metav1.LabelSelector {
			return &metav1.LabelSelector{MatchLabels: map[string]string{"team": team + "-" + w.Namespace}}
		}
		for namespace, team := range map[string]string{one: "a", two: "b"} {
			edit(w, namespace, &corev1.Namespace{}, func(n *corev1.Namespace) { n.Labels["team"] = of(team).MatchLabels["team"] })
		}
		group := w.everywhere()
		group.Spec.Selector = of("a")
		install(t, w, group)
		w.selects(of("a"))
		must.Eventually(w, "a thing of the first namespace to be refused", func() error { return w.judged(one) })
		w.Make(w.thing(two, "v1", "bad", -1))
		edit(w, "group", &operatorsv1.OperatorGroup{}, func(g *operatorsv1.OperatorGroup) { g.Spec.Selector = of("b") })
		w.selects(of("b"))
		must.Eventually(w, "a thing of the second namespace to be refused", func() error { return w.judged(two) })
		must.Eventually(w, "a thing of the first namespace not to be refused any more", func() error {
			return w.Create(t.Context(), w.thing(one, "v1", "bad", -1))
		})
	})
}

// TestTwoInstalls of one operator are asked about their own namespaces each, although their webhooks have the same names.
func TestTwoInstalls(t *testing.T) {
	t.Parallel()
	one := newWorld(t)
	one.Make(one.things())
	two := newWorld(t)
	two.group = one.group
	for _, w := range []*world{one, two} {
		w.serve("manager")
		w.Make(w.here(), w.operator("op.v1", w.hooks("manager", validating, mutating)))
	}
	for _, w := range []*world{one, two} {
		w.Succeeds("op.v1")
		must.Eventually(w, "things to be refused", func() error { return w.judged(w.Namespace) })
		thing := w.thing(w.Namespace, "v1", "good", 1)
		w.Make(thing)
		if got, want := thing.GetAnnotations()[mark], w.Namespace+"/manager"; got != want {
			t.Errorf("a thing of %s was seen by %q, want %q", w.Namespace, got, want)
		}
	}
	one.uninstall(one.Namespace)
	if validating, mutating := one.configurations(one.Namespace); len(validating)+len(mutating) > 0 {
		t.Errorf("after the first was uninstalled there are %v, %v", validating, mutating)
	}
	must.Eventually(one, "the first not to be asked any more", func() error { return one.Create(t.Context(), one.thing(one.Namespace, "v1", "bad", -1)) })
	if err := two.judged(two.Namespace); err != nil {
		t.Error(err)
	}
}

// TestLongWebhookNames installs webhooks whose names are longer than the value of a label, up to what the name of a webhook may have.
func TestLongWebhookNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	w.Make(w.here(), w.things(), w.operator("op.v1", w.hooks("manager", validating, mutating), func(csv *v1alpha1.ClusterServiceVersion) {
		for i, length := range []int{70, 253} {
			name := csv.Spec.WebhookDefinitions[i].GenerateName
			csv.Spec.WebhookDefinitions[i].GenerateName = strings.Repeat("long.", 50)[:length-len(name)-1] + "-" + name
		}
	}))
	w.Succeeds("op.v1")
	must.Eventually(w, "things to be refused", func() error { return w.judged(w.Namespace) })
	if validating, mutating := w.configurations(w.Namespace); len(validating) != 1 || len(mutating) != 1 {
		t.Errorf("configurations %v, %v, want one of each", validating, mutating)
	}
	w.uninstall(w.Namespace)
	if validating, mutating := w.configurations(w.Namespace); len(validating)+len(mutating) > 0 {
		t.Errorf("after it was uninstalled there are %v, %v", validating, mutating)
	}
}

// TestTheCertificateIsKept as long as it is good, whatever else is installed again.
func TestTheCertificateIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	w.Make(w.things(), w.everywhere(), w.operator("op.v1", w.hooks("manager", validating)))
	w.Succeeds("op.v1")
	before := w.secret("manager-service-cert")
	edit(w, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image = "example.com/manager:2"
	})
	must.Eventually(w, "the edit to be rolled out", func() error {
		if image := w.deployment("manager").Spec.Template.Spec.Containers[0].Image; image != "example.com/manager:2" {
			return fmt.Errorf("the image is %s", image)
		}
		return nil
	})
	w.Succeeds("op.v1")
	w.Remove(w.deployment("manager"))
	must.Eventually(w, "the Deployment to be made again", func() error {
		if w.deployment("manager") == nil {
			return fmt.Errorf("it is not there")
		}
		return nil
	})
	w.Succeeds("op.v1")
	if after := w.secret("manager-service-cert"); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the certificate was written again: %v, then %v", before.ManagedFields, after.ManagedFields)
	}
	must.Eventually(w, "things to be refused", func() error { return w.judged(w.Namespace) })
}

// TestNothingIsServedAnyMore after an edit: who is not served is not asked, and nothing stays behind.
func TestNothingIsServedAnyMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve("manager")
	w.Make(w.things(), w.everywhere(), w.operator("op.v1", fixture.Modes("AllNamespaces"), w.owns, w.hooks("manager", validating, converting)))
	w.Succeeds("op.v1")
	must.Eventually(w, "things to be refused", func() error { return w.judged(w.Namespace) })
	edit(w, "op.v1", &v1alpha1.ClusterServiceVersion{}, func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions = nil })
	w.Goes("manager-service", &corev1.Service{})
	w.Goes("manager-service-cert", &corev1.Secret{})
	must.Eventually(w, "nobody to be asked", func() error {
		if err := w.Create(t.Context(), w.thing(w.Namespace, "v1", "bad", -1)); err != nil {
			return err
		}
		read := w.thing(w.Namespace, "v2", "bad", 0)
		if err := w.Get(t.Context(), client.ObjectKeyFromObject(read), read); err != nil || size(read) != -1 {
			return fmt.Errorf("in v2 it has the size %d: %w", size(read), err)
		}
		return nil
	})
	w.Succeeds("op.v1")
}
