package revision

import (
	"context"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// setOf is a revision of an extension.
func setOf(extension string, protection olmv1.CollisionProtection) *olmv1.ClusterObjectSet {
	set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: extension + "-1", UID: types.UID(extension + "-1"),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: extension, UID: types.UID(extension), Controller: new(true)}}}}
	set.Spec.Revision, set.Spec.CollisionProtection = 1, protection
	return set
}

// TestOwnersOfWhatIsThere: whose an object is, what a revision that may adopt does with it and one that may not, and what people are advised to do.
func TestOwnersOfWhatIsThere(t *testing.T) {
	const kites = "kites.example.com"
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "hawk.v1"}}
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: kites}}
	cleaning := csv.DeepCopy()
	cleaning.Spec.Cleanup.Enabled = true
	copied := csv.DeepCopy()
	copied.Namespace, copied.Labels = "else", map[string]string{v1alpha1.CopiedFromLabel: "ops"}
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "hawk"}, Status: v1alpha1.SubscriptionStatus{InstalledCSV: "hawk.v1"}}
	labelled := map[string]string{v1alpha1.OwnerKindLabel: "ClusterServiceVersion", v1alpha1.OwnerLabel: "hawk.v1", v1alpha1.OwnerNamespaceLabel: "ops"}
	helm := metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"}, Annotations: map[string]string{"meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": "n"}}
	reference := func(apiVersion, kind, name string, controller bool) metav1.ObjectMeta {
		return metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name), Controller: &controller}}}
	}
	ours := metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: "ClusterExtension", Name: "ext", UID: "ext"}}}
	for name, c := range map[string]struct {
		meta    metav1.ObjectMeta
		config  bool // a ConfigMap, and no definition
		cluster []client.Object
		owner   string // empty is none
		remedy  string
	}{
		"no one's":                             {remedy: "fairlead install kite --api v1 --name ext --namespace ops --adopt"},
		"no one's, with copies of others":      {cluster: []client.Object{copied}, remedy: "--adopt"},
		"a ConfigMap of no one":                {config: true, cluster: []client.Object{csv}, remedy: "--adopt"},
		"referenced by the extension":          {meta: ours, remedy: "--adopt"},
		"of an operator":                       {cluster: []client.Object{csv, copied, sub}, owner: "belongs to ClusterServiceVersion ops/hawk.v1", remedy: "fairlead uninstall ext, then: fairlead migrate hawk --namespace ops"},
		"of an operator that cleans up":        {cluster: []client.Object{cleaning}, owner: "belongs to ClusterServiceVersion ops/hawk.v1", remedy: "removing it deletes its custom resources, as its spec.cleanup.enabled asks for"},
		"of an operator without Subscription":  {cluster: []client.Object{csv}, owner: "belongs to ClusterServiceVersion ops/hawk.v1", remedy: "kubectl delete csv hawk.v1 --namespace ops"},
		"labelled by an operator":              {config: true, meta: metav1.ObjectMeta{Labels: labelled}, cluster: []client.Object{csv, sub}, owner: "belongs to ClusterServiceVersion ops/hawk.v1", remedy: "fairlead migrate hawk"},
		"labelled by an operator that is gone": {config: true, meta: metav1.ObjectMeta{Labels: labelled}, remedy: "--adopt"},
		"of a Helm release":                    {meta: helm, owner: "belongs to Helm release n/r", remedy: "see that helm get manifest r --namespace n has it: on the object alone it does not count"},
		"managed by Helm, it says":             {meta: metav1.ObjectMeta{Labels: helm.Labels}, remedy: "--adopt"},
		"of another extension":                 {meta: reference(olmv1.GroupVersion.String(), "ClusterObjectSet", "other-1", true), cluster: []client.Object{setOf("other", "")}, owner: "is controlled by ClusterObjectSet other-1", remedy: "fairlead uninstall other"},
		"of Argo CD":                           {meta: metav1.ObjectMeta{Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "team_kites:apiextensions.k8s.io/CustomResourceDefinition:ops/" + kites}}, owner: "belongs to Argo CD Application team_kites", remedy: "Prune=false,Delete=false"},
		"copied from what Argo CD has":         {meta: metav1.ObjectMeta{Annotations: map[string]string{"argocd.argoproj.io/tracking-id": "kites:apiextensions.k8s.io/CustomResourceDefinition:ops/hawks.example.com"}}, remedy: "--adopt"},
		"of Flux":                              {config: true, meta: metav1.ObjectMeta{Labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": "kites", "kustomize.toolkit.fluxcd.io/namespace": "flux"}}, owner: "belongs to Flux Kustomization flux/kites", remedy: "kustomize.toolkit.fluxcd.io/prune: disabled in the source of Kustomization flux/kites"},
		"of a controller":                      {meta: reference("apps/v1", "Deployment", "web", true), owner: "is controlled by Deployment web", remedy: "let Deployment web give it up"},
		"of an owner":                          {meta: reference("v1", "Secret", "keys", false), owner: "belongs to Secret keys", remedy: "let Secret keys give it up"},
	} {
		t.Run(name, func(t *testing.T) {
			var live client.Object = &apiextensionsv1.CustomResourceDefinition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, ObjectMeta: c.meta}
			if c.config {
				live = &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: c.meta}
			}
			live.SetName(kites)
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{olmv1.AddToScheme, v1alpha1.AddToScheme, corev1.AddToScheme, apiextensionsv1.AddToScheme} {
				must.NoError(t, add(scheme))
			}
			ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "ext", UID: "ext"}, Spec: olmv1.ClusterExtensionSpec{Namespace: "ops",
				Source: olmv1.SourceConfig{Catalog: &olmv1.CatalogFilter{PackageName: "kite"}}}}
			cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(c.cluster, live.DeepCopyObject().(client.Object), ext)...).WithStatusSubresource().Build()
			for _, protection := range []olmv1.CollisionProtection{olmv1.CollisionProtectionPrevent, olmv1.CollisionProtectionIfNoController} {
				claims := &Claims{Reader: cluster, Count: counted(1_000_000, nil), Set: setOf("ext", protection)}
				is := must.Value(claims.Judge(t.Context(), protection, live))(t)
				adopts := protection == olmv1.CollisionProtectionIfNoController && c.owner == ""
				if (is.Verdict == rollout.Granted) != adopts || !strings.Contains(is.Reason, c.owner) {
					t.Errorf("%s: %+v, want %q", protection, is, c.owner)
				}
				if adopts {
					continue
				}
				if number := strings.Contains(is.Reason, "it has at least 1000 custom resources"); number != (c.owner == "" && !c.config) {
					t.Errorf("%s: %s", protection, is.Reason)
				}
				remedy := claims.Remedy(t.Context(), live)
				if !strings.Contains(remedy, c.remedy) || strings.Contains(remedy, "rename") {
					t.Errorf("%s: %s, want %q", protection, remedy, c.remedy)
				}
			}
		})
	}
}

// TestOwnersThatCannotBeRead: what may have an owner is not adopted.
func TestOwnersThatCannotBeRead(t *testing.T) {
	live := &apiextensionsv1.CustomResourceDefinition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, ObjectMeta: metav1.ObjectMeta{Name: "kites.example.com"}}
	claims := &Claims{Reader: without(world(live), "ClusterServiceVersionList", errRefused), Set: setOf("ext", olmv1.CollisionProtectionIfNoController)}
	is, err := claims.Judge(t.Context(), olmv1.CollisionProtectionIfNoController, live)
	if err == nil || is.Verdict != rollout.Refused || !strings.Contains(is.Reason, "whether it has an owner is not known: find out whether CustomResourceDefinition kites.example.com has an owner: list the ClusterServiceVersions: connection refused") {
		t.Errorf("%+v", is)
	}
}

// TestWhatWasKeptHasAnotherOwner: what an earlier extension of the name has left goes to the next one, unless it has got another owner since.
func TestWhatWasKeptHasAnotherOwner(t *testing.T) {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "hawk.v1"}}
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "kites.example.com"}}
	for _, protection := range []olmv1.CollisionProtection{olmv1.CollisionProtectionPrevent, olmv1.CollisionProtectionIfNoController} {
		live := &apiextensionsv1.CustomResourceDefinition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
			ObjectMeta: metav1.ObjectMeta{Name: "kites.example.com", Annotations: map[string]string{KeptKey: KeptOf("ext", "before")}}}
		judge := func(cluster ...client.Object) rollout.Ownership {
			return must.Value((&Claims{Reader: world(append(cluster, live)...), Set: setOf("ext", protection)}).Judge(t.Context(), protection, live))(t)
		}
		if is := judge(); is.Verdict != rollout.Granted {
			t.Errorf("%s: %+v", protection, is)
		}
		if is := judge(csv); is.Verdict != rollout.Refused || is.Reason != "belongs to ClusterServiceVersion ops/hawk.v1" {
			t.Errorf("%s, an operator of the v0 API has it: %+v", protection, is)
		}
		live.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
		live.Annotations["meta.helm.sh/release-name"], live.Annotations["meta.helm.sh/release-namespace"] = "r", "n"
		if is := judge(); is.Verdict != rollout.Refused || is.Reason != "belongs to Helm release n/r" {
			t.Errorf("%s, Helm has it: %+v", protection, is)
		}
	}
}

// TestOperatorsAreReadOnce: the claims on all objects of a revision take one list.
func TestOperatorsAreReadOnce(t *testing.T) {
	lists := 0
	reader := interceptor.NewClient(world(), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if _, ok := list.(*v1alpha1.ClusterServiceVersionList); ok {
			lists++
		}
		return c.List(ctx, list, options...)
	}})
	claims := &Claims{Reader: reader, Set: setOf("ext", olmv1.CollisionProtectionIfNoController)}
	for _, name := range []string{"kites.example.com", "hawks.example.com", "owls.example.com"} {
		live := &apiextensionsv1.CustomResourceDefinition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
		if is := must.Value(claims.Judge(t.Context(), olmv1.CollisionProtectionIfNoController, live))(t); is.Verdict != rollout.Granted {
			t.Errorf("%s: %+v", name, is)
		}
	}
	if lists != 1 {
		t.Errorf("ClusterServiceVersions were listed %d times", lists)
	}
}
