package attack

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bundleImage pushes an unsigned bundle of goods with a name, and returns its references by tag and by digest.
func (w *world) bundleImage(repository, name string) (tagged, pinned string) {
	w.t.Helper()
	tagged = repository + "/" + name + ":v1"
	digest := harness.Push(w.t, tagged, map[string]string{
		"manifests/csv.json": goods(name, nil)[0],
		"metadata/annotations.yaml": "annotations:\n  operators.operatorframework.io.bundle.mediatype.v1: registry+v1\n  operators.operatorframework.io.bundle.manifests.v1: manifests/\n" +
			"  operators.operatorframework.io.bundle.metadata.v1: metadata/\n  operators.operatorframework.io.bundle.package.v1: " + name + "\n  operators.operatorframework.io.bundle.channels.v1: stable\n",
	}, image.BundleLabels(name, []string{"stable"}, "stable"))
	return tagged, image.Pin(tagged, digest)
}

// signedCatalog pushes and signs a catalog of bundles, by the names of their packages: each is an image, or empty for manifests in the catalog.
func (w *world) signedCatalog(ref string, key *signature.Key, bundles map[string]string) {
	w.t.Helper()
	var b strings.Builder
	for name, ref := range bundles {
		properties := fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":"1.0.0"}}`, name)
		if ref == "" {
			properties += fmt.Sprintf(`,{"type":"olm.bundle.object","value":{"data":%q}}`, base64.StdEncoding.EncodeToString([]byte(goods(name, nil)[0])))
		}
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%[1]q,"defaultChannel":"stable"}{"schema":"olm.channel","package":%[1]q,"name":"stable","entries":[{"name":"%[1]s.v1.0.0"}]}`+
			`{"schema":"olm.bundle","package":%[1]q,"name":"%[1]s.v1.0.0","image":%[2]q,"properties":[%[3]s]}`, name, ref, properties)
	}
	digest := harness.Push(w.t, ref, map[string]string{"configs/catalog.json": b.String()}, image.CatalogLabels())
	must.NoError(w.t, signature.Sign(w.t.Context(), ref, digest, key, image.PushOptions{}))
}

// judged reports whether the first bundle of a plan has a status of its signature, with a text.
func judged(status corev1.ConditionStatus, text string) func(*v1alpha1.InstallPlan) bool {
	return func(p *v1alpha1.InstallPlan) bool {
		if len(p.Status.BundleLookups) == 0 {
			return false
		}
		c := p.Status.BundleLookups[0].GetCondition(v1alpha1.BundleLookupSignatureVerified)
		return c.Status == status && strings.Contains(c.Message, text)
	}
}

// TestOperatorsOfASignedCatalog: only the catalog is signed. An attacker with push rights for bundles can exchange those that it names by a tag,
// so that they are refused; those by digest are covered. When the key is withdrawn, what runs keeps running, and plans that wait for approval
// are not carried out.
func TestOperatorsOfASignedCatalog(t *testing.T) {
	w := newWorld(t)
	const name = "attack-covered"
	namespace := w.namespace(name)
	w.group(namespace, "")
	ref := w.registry + "/" + name + "/catalog:v1"
	key, policy := newSigner(t, w.registry+"/"+name+"/catalog")
	good := must.Value(os.ReadFile(policy))(t)
	tagged, _ := w.bundleImage(w.registry+"/"+name, "tagged")
	_, runs := w.bundleImage(w.registry+"/"+name, "runs")
	_, waits := w.bundleImage(w.registry+"/"+name, "waits")
	w.signedCatalog(ref, key, map[string]string{"tagged": tagged, "runs": runs, "waits": waits, "inside": ""})
	defer w.run(verifying(policy))()
	harness.Create(t, w, &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}},
		order(namespace, "tagged", v1alpha1.ApprovalAutomatic), order(namespace, "runs", v1alpha1.ApprovalAutomatic),
		order(namespace, "waits", v1alpha1.ApprovalManual), order(namespace, "inside", v1alpha1.ApprovalManual))

	covered := judged(corev1.ConditionTrue, "named by catalog "+ref)
	w.planOf(namespace, "runs", "is complete", func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete && covered(p)
	})
	waiting := []string{"waits", "inside"}
	plans := map[string]*v1alpha1.InstallPlan{}
	for _, name := range waiting {
		plans[name] = w.planOf(namespace, name, "waits for approval", func(p *v1alpha1.InstallPlan) bool {
			return p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval && covered(p)
		})
	}
	must.Eventually(t, "the Subscription to say that its bundle is refused", func() error {
		sub := &v1alpha1.Subscription{}
		harness.Read(t, w, namespace, "tagged", sub)
		if c := sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed); c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "no rule is for its repository") {
			return fmt.Errorf("it says %+v", sub.Status.Conditions)
		}
		return nil
	})

	must.NoError(t, os.WriteFile(policy, []byte(`{"version": 1, "default": "reject", "rules": []}`), 0o600))
	// The catalog is refused as well. Until that is known it covers no bundle, and from then on it may cover one once it is served again.
	refused, withheld := judged(corev1.ConditionFalse, policy), judged(corev1.ConditionUnknown, "is withheld until the signature policy accepts it")
	for _, name := range waiting {
		harness.Edit(t, w, namespace, plans[name].Name, &v1alpha1.InstallPlan{}, func(p *v1alpha1.InstallPlan) { p.Spec.Approved = true })
		w.planOf(namespace, name, "is refused", func(p *v1alpha1.InstallPlan) bool { return refused(p) || withheld(p) })
	}
	for name, there := range map[string]bool{"runs": true, "waits": false, "inside": false, "tagged": false} {
		csv := harness.Read(t, w, namespace, name+".v1.0.0", &v1alpha1.ClusterServiceVersion{})
		deployment := harness.Read(t, w, namespace, name, &appsv1.Deployment{})
		if csv != there || deployment && !there {
			t.Errorf("%s: its ClusterServiceVersion is there: %t, its Deployment: %t; want %t", name, csv, deployment, there)
		}
	}
	must.NoError(t, os.WriteFile(policy, good, 0o600))
	for _, name := range waiting {
		w.planOf(namespace, name, "is complete", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete })
	}
	if !harness.Read(t, w, namespace, "runs", &appsv1.Deployment{}) {
		t.Error("what was installed has gone")
	}
	if harness.Read(t, w, namespace, "tagged.v1.0.0", &v1alpha1.ClusterServiceVersion{}) {
		t.Error("a bundle by tag is installed")
	}
}

// TestExtensionsOfASignedCatalog: the same for ClusterExtensions.
func TestExtensionsOfASignedCatalog(t *testing.T) {
	w := newWorld(t)
	const name = "attack-coveredv1"
	namespace := w.namespace(name)
	ref := w.registry + "/" + name + "/catalog:v1"
	key, policy := newSigner(t, w.registry+"/"+name+"/catalog")
	tagged, _ := w.bundleImage(w.registry+"/"+name, "tagged-v1")
	_, runs := w.bundleImage(w.registry+"/"+name, "runs-v1")
	w.signedCatalog(ref, key, map[string]string{"tagged-v1": tagged, "runs-v1": runs})
	defer w.run(verifying(policy))()
	w.clusterCatalog(name, ref)
	for _, test := range []struct {
		pkg    string
		status metav1.ConditionStatus
		says   string
	}{
		{"runs-v1", metav1.ConditionTrue, "bundle runs-v1.v1.0.0 is named by catalog " + ref},
		{"tagged-v1", metav1.ConditionFalse, "no rule is for its repository"},
	} {
		ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: test.pkg}, Spec: olmv1.ClusterExtensionSpec{Namespace: namespace,
			Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: test.pkg,
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: name}}}}}}
		harness.Create(t, w, ext)
		t.Cleanup(func() { _ = w.Delete(context.Background(), ext) })
		harness.Await(t, w, client.ObjectKeyFromObject(ext), ext, fmt.Sprintf("SignatureVerified of %s to be %s", test.pkg, test.status), func() error {
			c := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeSignatureVerified)
			if c == nil || c.Status != test.status || !strings.Contains(c.Message, test.says) {
				return fmt.Errorf("it says %+v", ext.Status.Conditions)
			}
			return nil
		})
		var all olmv1.ClusterObjectSetList
		must.NoError(t, w.List(t.Context(), &all))
		made := false
		for i := range all.Items {
			made = made || all.Items[i].Annotations[olmv1.BundleNameKey] == test.pkg+".v1.0.0"
		}
		must.Equal(t, fmt.Sprintf("%s: a revision of it is there", test.pkg), made, test.status == metav1.ConditionTrue)
	}
}
