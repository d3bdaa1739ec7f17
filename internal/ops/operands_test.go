package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// operandCluster has an operator of each API, a copy of the first, and custom resources. What refuse returns an error for is not listed.
func operandCluster(t *testing.T, refuse func(kind, namespace string) error) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(olmv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)))
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	for _, kind := range []string{"Kite", "Wind"} {
		scheme.AddKnownTypeWithName(gv.WithKind(kind), &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(gv.WithKind(kind+"List"), &unstructured.UnstructuredList{})
	}
	csv := func(namespace, name string, phase v1alpha1.ClusterServiceVersionPhase) *v1alpha1.ClusterServiceVersion {
		c := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Status: v1alpha1.ClusterServiceVersionStatus{Phase: phase}}
		c.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "kites.example.com", Kind: "Kite", Version: "v1"}}
		return c
	}
	old := csv("ops", "kite.v1", v1alpha1.CSVPhaseReplacing)
	old.Spec.CustomResourceDefinitions.Owned[0].Version = "v1alpha1"
	copied := csv("apps", "kite.v2", v1alpha1.CSVPhaseSucceeded)
	copied.Labels, copied.Status.Reason = map[string]string{v1alpha1.CopiedFromLabel: "ops"}, v1alpha1.CSVReasonCopied
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "my"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"}, Status: v1alpha1.SubscriptionStatus{InstalledCSV: "kite.v2"}}
	definition := func(name, kind string, served bool) client.Object {
		d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: "wind"}}}
		d.Spec.Names.Kind, d.Spec.Versions = kind, []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: served, Storage: true}}
		return d
	}
	objects := []client.Object{old, csv("ops", "kite.v2", v1alpha1.CSVPhaseSucceeded), copied, sub, newExtension("wind", "gale", nil),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}},
		definition("winds.example.com", "Wind", true), definition("calms.example.com", "Calm", false)}
	add := func(kind, namespace, name string) {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind}}
		u.SetNamespace(namespace)
		u.SetName(name)
		objects = append(objects, u)
	}
	for i := range 7 {
		add("Kite", "apps", fmt.Sprintf("kite-%d", i))
	}
	add("Kite", "ops", "mine")
	add("Wind", "", "north")
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(opts)
			kind := list.GetObjectKind().GroupVersionKind().Kind
			if kind == "" {
				kinds, _, err := scheme.ObjectKinds(list)
				if err != nil {
					return err
				}
				kind = kinds[0].Kind
			}
			if refuse != nil {
				if err := refuse(kind, o.Namespace); err != nil {
					return err
				}
			}
			return c.List(ctx, list, opts...)
		}}).Build()
}

func operandText(t *testing.T, c client.Client, namespace, name string) string {
	t.Helper()
	var b strings.Builder
	must.NoError(t, must.Value(ReadOperands(t.Context(), c, namespace, name))(t).Write(&b))
	return b.String()
}

// TestOperands: of all operators, of one, and of those that watch a namespace.
func TestOperands(t *testing.T) {
	c := operandCluster(t, nil)
	const head = "KIND  NAMESPACE  COUNT  NAMES  DEFINITION  OPERATOR"
	const kites = "Kite apps 7 kite-0, kite-1, kite-2, kite-3, kite-4 and 2 more kites.example.com ClusterServiceVersion ops/kite.v2"
	const others = "Kite ops 1 mine kites.example.com ClusterServiceVersion ops/kite.v2"
	const both = ", ClusterServiceVersion ops/kite.v1"
	const winds = "Wind - 1 north winds.example.com ClusterExtension wind"
	const calms = "Calm - unknown - calms.example.com ClusterExtension wind"
	const note = "note: the custom resources of calms.example.com are not counted: no version of it is served"
	for _, test := range []struct {
		namespace, name string
		want            []string
	}{
		{"", "", []string{calms, kites + both, others + both, winds, note}},
		{"ops", "", []string{calms, kites + both, others + both, winds, note}},
		{"apps", "", []string{kites, others}},
		{"ops", "my", []string{kites, others}},
		{"", "kite", []string{kites, others}},
		{"", "kite.v2", []string{kites, others}},
		{"apps", "wind", []string{calms, winds, note}},
		{"", "gale", []string{calms, winds, note}},
	} {
		var got []string
		for line := range strings.Lines(operandText(t, c, test.namespace, test.name)) {
			got = append(got, strings.Join(strings.Fields(line), " "))
		}
		want := append([]string{strings.Join(strings.Fields(head), " ")}, test.want...)
		must.Equal(t, "operators of "+test.namespace+", "+test.name, got, want)
	}
	must.Equal(t, "no operator", operandText(t, c, "empty", ""), "no installed operator owns a kind of custom resources; fairlead list lists the operators\n")
	_, err := ReadOperands(t.Context(), c, "ops", "none")
	must.Fail(t, "no such operator", err, "list the custom resources of operator none: namespace ops does not have a Subscription, ClusterServiceVersion or package of that name")
	_, err = ReadOperands(t.Context(), c, "", "none")
	must.Fail(t, "no such operator anywhere", err, "no namespace has a Subscription")
	_, err = ReadOperands(t.Context(), c, "nowhere", "")
	must.Fail(t, "no such namespace", err, "there is no such namespace")
	_, err = ReadOperands(t.Context(), c, "nowhere", "my")
	must.Fail(t, "no such namespace for an operator", err, "there is no such namespace")
}

// TestOperandsThatMayNotBeListed become notes, and what does not answer is an error.
func TestOperandsThatMayNotBeListed(t *testing.T) {
	forbidden := func(what string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: what}, "", errors.New("no"))
	}
	for name, test := range map[string]struct {
		refuse    func(kind, namespace string) error
		namespace string
		want      string
		err       string
	}{
		"of all namespaces": {func(kind, namespace string) error {
			if kind == "KiteList" && namespace == "" {
				return forbidden("kites")
			}
			return nil
		}, "apps", "note: of kites.example.com those of namespace apps alone are counted: you may not list those of all namespaces\n", ""},
		"of any namespace": {func(kind, _ string) error {
			if kind == "KiteList" {
				return forbidden("kites")
			}
			return nil
		}, "apps", "note: the custom resources of kites.example.com cannot be read by this user: they are not counted", ""},
		"of a kind that is gone": {func(kind, _ string) error {
			if kind == "KiteList" {
				return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Kite"}}
			}
			return nil
		}, "apps", "note: the custom resources of kites.example.com are not counted: no matches for kind", ""},
		"ClusterExtensions": {func(kind, _ string) error {
			if kind == "ClusterExtensionList" {
				return forbidden("clusterextensions")
			}
			return nil
		}, "apps", "note: ClusterExtensions cannot be read by this user: the kinds of theirs are not shown", ""},
		"definitions": {func(kind, _ string) error {
			if kind == "CustomResourceDefinitionList" {
				return forbidden("customresourcedefinitions")
			}
			return nil
		}, "ops", "note: CustomResourceDefinitions cannot be read by this user: the kinds of ClusterExtensions are not shown", ""},
		"Subscriptions": {func(kind, _ string) error {
			if kind == "SubscriptionList" {
				return forbidden("subscriptions")
			}
			return nil
		}, "", "", "list the Subscriptions of all namespaces: subscriptions is forbidden"},
		"what does not answer": {func(kind, _ string) error {
			if kind == "KiteList" {
				return errors.New("refused")
			}
			return nil
		}, "", "", "list the custom resources of kites.example.com: refused"},
	} {
		c := operandCluster(t, test.refuse)
		if test.err != "" {
			_, err := ReadOperands(t.Context(), c, test.namespace, "")
			must.Fail(t, name, err, test.err)
			continue
		}
		must.Contain(t, name, operandText(t, c, test.namespace, ""), test.want)
	}
}
