package ops

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// traced is a cluster with an operator of each API, and what they own.
func traced() client.Client {
	in := func(namespace, name string, owners ...metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: owners}
	}
	by := func(apiVersion, kind, name string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, Controller: new(true)}
	}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: in("ops", "kite.v2"), Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded}}
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "kites.example.com", Kind: "Kite", Version: "v1"}}
	copied := &v1alpha1.ClusterServiceVersion{ObjectMeta: in("apps", "kite.v2")}
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "ops"}
	copied.Status.Reason = v1alpha1.CSVReasonCopied
	copied.Spec = csv.Spec
	lone := &v1alpha1.ClusterServiceVersion{ObjectMeta: in("ops", "lone.v1"), Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded}}
	sub := &v1alpha1.Subscription{ObjectMeta: in("ops", "kite"), Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable", CatalogSource: "cat", CatalogSourceNamespace: "olm"},
		Status: v1alpha1.SubscriptionStatus{InstalledCSV: "kite.v2"}}
	plan := &v1alpha1.InstallPlan{ObjectMeta: in("ops", "install-2"), Spec: v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"kite.v2"}, Approval: v1alpha1.ApprovalManual, Generation: 2}}
	plan.Annotations = map[string]string{resolution.DecisionAnnotation: `{"namespace":"ops","catalogs":[{"name":"olm/cat","digest":"sha256:1"}],"outcome":{"install":[{"name":"kite.v2","version":"2.0.0","channel":"stable","catalog":"olm/cat","for":"dependency","replaces":"kite.v1"}]}}`}
	plan.Status.Phase = v1alpha1.InstallPlanPhaseComplete
	plan.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "kite.v2", Path: "registry.example.com/kite@sha256:2", CatalogSourceRef: &corev1.ObjectReference{Namespace: "olm", Name: "cat"}}}
	labelled := &corev1.ConfigMap{ObjectMeta: in("ops", "labelled")}
	labelled.Labels = map[string]string{v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind, v1alpha1.OwnerLabel: "lone.v1", v1alpha1.OwnerNamespaceLabel: "ops"}
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "wind", UID: "wind"}}
	set := &olmv1.ClusterObjectSet{ObjectMeta: in("", "wind-3", metav1.OwnerReference{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: "wind", UID: "wind", Controller: new(true)})}
	set.Labels = map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: "wind"}
	set.Annotations = map[string]string{olmv1.PackageNameKey: "wind", olmv1.BundleNameKey: "wind.v3", olmv1.BundleVersionKey: "3.0.0", olmv1.BundleReferenceKey: "registry.example.com/wind@sha256:3",
		desired.CatalogKey: "toys@sha256:4", desired.CopyKey: "wind-1", desired.FailedNameKey: "wind-2"}
	set.Spec.Revision, set.Spec.LifecycleState = 3, olmv1.LifecycleStateActive
	set.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeSucceeded, Status: metav1.ConditionTrue}}
	account := &corev1.ServiceAccount{ObjectMeta: in("wind", "wind", by(olmv1.GroupVersion.String(), olmv1.ClusterObjectSetKind, "wind-3"))}
	account.Labels = map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: "wind"}
	custom := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Kite", "metadata": map[string]any{"namespace": "apps", "name": "mine"}}}
	scheme := fakeapi.Scheme(appsv1.AddToScheme, corev1.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme, operatorsv1.AddToScheme, olmv1.AddToScheme)
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Kite"}, &unstructured.Unstructured{})
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(csv, copied, lone, sub, plan, labelled, ext, set, account, custom,
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: in("", "kites.example.com")},
		&appsv1.Deployment{ObjectMeta: in("ops", "kite", by(v1alpha1.GroupVersion.String(), v1alpha1.ClusterServiceVersionKind, "kite.v2"))},
		&appsv1.ReplicaSet{ObjectMeta: in("ops", "kite-1", by("apps/v1", "Deployment", "kite"))},
		&corev1.Pod{ObjectMeta: in("ops", "kite-1-a", by("apps/v1", "ReplicaSet", "kite-1"))},
		&corev1.Pod{ObjectMeta: in("ops", "orphan", by("apps/v1", "ReplicaSet", "gone"))},
		&corev1.ConfigMap{ObjectMeta: in("ops", "by-hand")},
	).Build()
}

// TestTrace: from anything that an operator consists of to the decision, under both APIs.
func TestTrace(t *testing.T) {
	const plan = `Subscription ops/kite asks for it: package kite, channel stable of catalog olm/cat
InstallPlan ops/install-2 installed it: Complete, approval Manual
Bundle kite.v2 holds its manifests: registry.example.com/kite@sha256:2
Catalog olm/cat offered it: sha256:1
Decision: version 2.0.0 from channel stable, because another operator needs it, in place of kite.v1
`
	const owned = "ClusterServiceVersion ops/kite.v2 owns it: Succeeded\n" + plan
	const lone = "ClusterServiceVersion ops/lone.v1 owns it: Succeeded\nDecision: no InstallPlan of namespace ops that installed lone.v1 is there any more: it was created by hand, or its plan was deleted\n"
	const wind = `ClusterObjectSet wind-3 consists of it: revision 3, active
ClusterExtension wind asks for it: package wind
Bundle wind.v3 holds its manifests: registry.example.com/wind@sha256:3
Catalog toys offered it: sha256:4
Decision: version 3.0.0, which repeats revision wind-1, because the rollout of revision wind-2 failed
`
	const unmanaged = "no operator brought it: it has no owner that a catalog installed, and no label of one\n"
	c := traced()
	for _, test := range []struct{ apiVersion, kind, namespace, name, want string }{
		{"v1", "Pod", "ops", "kite-1-a", "Pod ops/kite-1-a\nReplicaSet ops/kite-1 owns it\nDeployment ops/kite owns it\n" + owned},
		{"apps/v1", "Deployment", "ops", "kite", "Deployment ops/kite\n" + owned},
		{"operators.coreos.com/v1alpha1", "ClusterServiceVersion", "ops", "kite.v2", "ClusterServiceVersion ops/kite.v2: Succeeded\n" + plan},
		{"operators.coreos.com/v1alpha1", "Subscription", "ops", "kite", "Subscription ops/kite\n" + plan[strings.Index(plan, "InstallPlan"):]},
		{"operators.coreos.com/v1alpha1", "ClusterServiceVersion", "apps", "kite.v2", "ClusterServiceVersion apps/kite.v2: a copy of the one in namespace ops\n" + owned},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "kites.example.com", "CustomResourceDefinition kites.example.com\n" + owned},
		{"example.com/v1", "Kite", "apps", "mine", "Kite apps/mine\nCustomResourceDefinition kites.example.com defines it: a person or a program created the custom resource; what follows is who brought its definition\n" + owned},
		{"v1", "ConfigMap", "ops", "labelled", "ConfigMap ops/labelled\n" + lone},
		{"v1", "ServiceAccount", "wind", "wind", "ServiceAccount wind/wind\n" + wind},
		{"olm.operatorframework.io/v1", "ClusterObjectSet", "", "wind-3", "ClusterObjectSet wind-3\n" + wind[strings.Index(wind, "ClusterExtension"):]},
		{"olm.operatorframework.io/v1", "ClusterExtension", "", "wind", "ClusterExtension wind\nClusterObjectSet wind-3 consists of it: revision 3, active\n" + wind[strings.Index(wind, "Bundle"):]},
		{"v1", "Pod", "ops", "orphan", "Pod ops/orphan\nReplicaSet gone owns it: it is gone: the garbage collector removes what it owned\n" + unmanaged},
		{"v1", "ConfigMap", "ops", "by-hand", "ConfigMap ops/by-hand\n" + unmanaged},
	} {
		trace, err := TraceObject(t.Context(), c, schema.FromAPIVersionAndKind(test.apiVersion, test.kind), client.ObjectKey{Namespace: test.namespace, Name: test.name})
		if err != nil {
			t.Errorf("%s %s: %v", test.kind, test.name, err)
			continue
		}
		var text strings.Builder
		must.NoError(t, trace.Write(&text))
		lines := strings.SplitAfter(text.String(), "\n")
		for i := range lines { // the tree is in the indentation
			lines[i] = strings.TrimPrefix(strings.TrimLeft(lines[i], " "), "└── ")
		}
		must.Equal(t, test.kind+" "+test.name, strings.Join(lines, ""), test.want)
		must.Equal(t, "managed", trace.Managed, !strings.Contains(test.want, unmanaged))
	}
	if _, err := TraceObject(t.Context(), c, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, client.ObjectKey{Namespace: "ops", Name: "none"}); err == nil || !strings.Contains(err.Error(), "trace Pod ops/none") {
		t.Error(err)
	}
}
