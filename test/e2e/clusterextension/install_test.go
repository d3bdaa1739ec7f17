package clusterextension

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inline configures an extension.
func inline(text string) func(*olmv1.ClusterExtension) {
	return func(e *olmv1.ClusterExtension) {
		e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: olmv1.ClusterExtensionConfigTypeInline, Inline: &apiextensionsv1.JSON{Raw: []byte(text)}}
	}
}

func (w *world) deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: name}}
}

// TestInstall installs the latest version; its revision has the properties of the bundle, the labels of its owner, and its objects in
// immutable Secrets.
func TestInstall(t *testing.T) {
	w := newWorld(t)
	pkg := w.name
	w.publish(operator{pkg: pkg, version: "1.0.0"}, operator{pkg: pkg, version: "1.1.0", replaces: "1.0.0", files: map[string]string{"config": configMap(pkg, "x")},
		csv: `,"minKubeVersion":"1.20.0"`})
	w.extend(w.name, pkg)
	w.installed(w.name, pkg+".v1.1.0")
	w.says(w.name, "Installed", "True", "Succeeded", "Installed bundle "+w.image(operator{pkg: pkg, version: "1.1.0"})+" successfully")
	w.says(w.name, "Deprecated", "False", "NotDeprecated", "not deprecated")
	revision := w.revisions(w.name)[1]
	if revision.Labels[olmv1.OwnerKindKey] != "ClusterExtension" || revision.Annotations[olmv1.BundleVersionKey] != "1.1.0" || !metav1.IsControlledBy(&revision, w.extension(w.name)) {
		t.Errorf("the revision has labels %v, annotations %v and owners %v", revision.Labels, revision.Annotations, revision.OwnerReferences)
	}
	var secrets corev1.SecretList
	must.NoError(w, w.List(t.Context(), &secrets, client.InNamespace("olm"), client.MatchingLabels{olmv1.RevisionNameKey: revision.Name}))
	if len(secrets.Items) == 0 {
		t.Error("the revision has no Secrets")
	}
	for _, s := range secrets.Items {
		if s.Immutable == nil || !*s.Immutable || s.Type != olmv1.SecretTypeObjectData || s.Labels[olmv1.OwnerNameKey] != w.name || len(s.OwnerReferences) == 0 {
			t.Errorf("Secret %s is %v, immutable %v, with labels %v", s.Name, s.Type, s.Immutable, s.Labels)
		}
	}
	d := w.deployment(pkg)
	w.there(d)
	if d.Labels[olmv1.OwnerNameKey] != w.name || d.Annotations[olmv1.PackageNameKey] != pkg {
		t.Errorf("the Deployment has labels %v and annotations %v", d.Labels, d.Annotations)
	}
}

// TestProperties of a bundle are on its revision: those of its author for whoever looks for them, and those of the catalog for decisions.
func TestProperties(t *testing.T) {
	w := newWorld(t)
	o := operator{pkg: w.name, version: "1.0.0", properties: `,{"type":"olm.gvk","value":{"group":"example.com","version":"v1","kind":"Thing"}}`,
		annotations: map[string]string{"olm.properties": `[{"type":"olm.maxOpenShiftVersion","value":"4.20"}]`}}
	w.publish(o)
	w.extend(w.name, w.name)
	w.installed(w.name, o.name())
	got := w.revisions(w.name)[1].Annotations
	must.Contain(t, olmv1.PropertiesKey, got[olmv1.PropertiesKey], `"olm.maxOpenShiftVersion"`)
	must.Contain(t, "kept", got["operators.fairlead.dev/properties"], `"olm.gvk"`, `"olm.package"`)
}

// TestAmbiguousCatalogs are reported, and another priority decides.
func TestAmbiguousCatalogs(t *testing.T) {
	w := newWorld(t)
	pkg, second := w.name, w.name+"-b"
	o := operator{pkg: pkg, version: "1.0.0"}
	ref := w.catalog(o)
	w.serve(w.name, ref)
	w.serve(second, ref)
	w.extend(w.name, pkg, func(e *olmv1.ClusterExtension) {
		e.Spec.Source.Catalog.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: olmv1.MetadataNameKey, Operator: metav1.LabelSelectorOpIn, Values: []string{w.name, second}}}}
	})
	w.says(w.name, "Progressing", "True", "Retrying", fmt.Sprintf("found bundles for package %q in multiple catalogs with the same priority [%s %s]", pkg, w.name, second))
	w.says(w.name, "Installed", "False", "Failed", "No bundle installed")
	catalog := &olmv1.ClusterCatalog{}
	must.NoError(w, w.Get(t.Context(), client.ObjectKey{Name: second}, catalog))
	before := catalog.DeepCopy()
	catalog.Spec.Priority = 1
	must.NoError(w, w.Patch(t.Context(), catalog, client.MergeFrom(before)))
	w.installed(w.name, o.name())
}

// TestWatchNamespace is asked for where the install modes ask for it, and refused where they do not know it.
func TestWatchNamespace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		modes  []string
		steps  []string // configurations, and what is said of each; the last one is taken
		target string
	}{
		"single": {[]string{"SingleNamespace"}, []string{"", `required field "watchNamespace" is missing`, `{"watchNamespace":"NS-other"}`, ""}, "NS-other"},
		"own": {[]string{"OwnNamespace"}, []string{"", `required field "watchNamespace" is missing`, `{"watchNamespace":"NS-other"}`, `invalid value "NS-other"`,
			`{"watchNamespace":"NS"}`, ""}, "NS"},
		"no name of a namespace": {[]string{"SingleNamespace"}, []string{`{"watchNamespace":"NOT_a_name"}`, "watchNamespace", `{"watchNamespace":"NS-other"}`, ""}, "NS-other"},
		"all":                    {[]string{"AllNamespaces"}, []string{`{"watchNamespace":"NS"}`, `unknown field "watchNamespace"`, "", ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "own" {
				sweep.Nightly(t, "TestWatchNamespace of bundle/registryv1, and an operator of its own namespace")
			}
			w := newWorld(t)
			w.namespace(w.name + "-other")
			o := operator{pkg: w.name, version: "1.0.0", modes: test.modes}
			w.publish(o)
			fill := func(text string) string { return strings.ReplaceAll(text, "NS", w.name) }
			configure := func(e *olmv1.ClusterExtension, text string) {
				if e.Spec.Config = nil; text != "" {
					inline(fill(text))(e)
				}
			}
			w.extend(w.name, w.name, func(e *olmv1.ClusterExtension) { configure(e, test.steps[0]) })
			for step := range slices.Chunk(test.steps, 2) {
				w.change(w.name, func(e *olmv1.ClusterExtension) { configure(e, step[0]) })
				if step[1] != "" {
					w.says(w.name, "Progressing", "False", "InvalidConfiguration", fill(step[1]))
				}
			}
			w.installed(w.name, o.name())
			d := w.deployment(w.name)
			w.there(d)
			must.Equal(t, "the operator watches", d.Spec.Template.Annotations["olm.targetNamespaces"], fill(test.target))
		})
	}
}

// TestDeploymentConfig reaches the Deployment.
func TestDeploymentConfig(t *testing.T) {
	sweep.Nightly(t, "TestRecover, whose configuration has a variable of the environment")
	w := newWorld(t)
	o := operator{pkg: w.name, version: "1.0.0"}
	w.publish(o)
	w.extend(w.name, w.name, inline(`{"deploymentConfig":{"nodeSelector":{"kubernetes.io/os":"linux"}}}`))
	w.installed(w.name, o.name())
	d := w.deployment(w.name)
	w.there(d)
	if got := d.Spec.Template.Spec.NodeSelector["kubernetes.io/os"]; got != "linux" {
		t.Errorf("the node selector is %v", d.Spec.Template.Spec.NodeSelector)
	}
}

// TestLargeBundle has a CRD that is larger than an object with all of them could be.
func TestLargeBundle(t *testing.T) {
	sweep.Nightly(t, "TestLargeBundles of internal/rollout/revision, and TestLargeBundle of test/e2e/clusterobjectset")
	w := newWorld(t)
	o := operator{pkg: w.name, version: "1.0.0", files: map[string]string{}}
	var owned []string
	for i := range 3 {
		o.files[fmt.Sprintf("crd%d", i)] = crd(fmt.Sprintf("k%d", i), w.name, strings.Repeat("A long description. ", 40_000))
		owned = append(owned, fmt.Sprintf(`{"name":"k%ds.%s.example.com","version":"v1","kind":"K%[1]d"}`, i, w.name))
	}
	o.csv = `,"customresourcedefinitions":{"owned":[` + strings.Join(owned, ",") + `]}`
	w.publish(o)
	w.extend(w.name, w.name)
	w.installed(w.name, o.name())
}

// crd is a CustomResourceDefinition with a text of some size.
func crd(kind, group, text string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]ss.%[2]s.example.com"},
		"spec":{"group":"%[2]s.example.com","scope":"Namespaced","names":{"plural":"%[1]ss","singular":%[1]q,"kind":%[3]q},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
		"description":%[4]q,"properties":{"size":{"type":"integer","minimum":1}}}}}}}]}}`, kind, group, strings.ToUpper(kind[:1])+kind[1:], text)
}
