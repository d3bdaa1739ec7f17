package preview

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// revised is an extension with a revision of each of some versions.
func revised(t *testing.T, versions ...string) []client.Object {
	t.Helper()
	e := extension(nil)
	objects := []client.Object{e.DeepCopy()}
	for i, version := range versions {
		rendered := must.Value(registryv1.Render(load(t, version), desired.RenderOptions(&e, registryv1.BuiltIn)))(t)
		r := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: "greeter", UID: "ext", Namespace: "ops"}, Number: int64(i + 1), SystemNamespace: "olm", Objects: desired.Objects(rendered),
			Annotations: map[string]string{olmv1.BundleNameKey: "greeter-operator.v" + version, olmv1.BundleVersionKey: version, olmv1.PackageNameKey: "greeter-operator"}}))(t)
		r.Set.UID = types.UID(r.Set.Name)
		objects = append(objects, r.Set)
		for _, s := range r.Secrets {
			objects = append(objects, s)
		}
	}
	return objects
}

// TestDifferenceOfRevisions: objects, fields, permissions and images, in both directions.
func TestDifferenceOfRevisions(t *testing.T) {
	p := planner(t, revised(t, "1.0.0", "1.2.0")...)
	kept := must.Value(revision.List(t.Context(), p.Client, "greeter", "ext"))(t)
	d := must.Value(p.Revisions(t.Context(), "greeter", kept, 1, 2))(t)
	must.Equal(t, "from", d.From, "revision 1 (1.0.0)")
	must.Equal(t, "to", d.To, "revision 2 (1.2.0)")
	if d.Same() || len(d.Changed) == 0 || d.Totals == nil || len(d.ImagesAdded) != 1 || len(d.ImagesRemoved) != 1 {
		t.Fatalf("nothing differs: %+v", d)
	}
	i := slices.IndexFunc(d.Changed, func(c ChangedObject) bool {
		return c.Name == "apps/Deployment ops/greeter-operator" || c.Name == "Deployment ops/greeter-operator"
	})
	if i < 0 || len(d.Changed[i].Changes) == 0 {
		t.Errorf("the Deployment does not change: %+v", d.Changed)
	}
	back := must.Value(p.Revisions(t.Context(), "greeter", kept, 2, 1))(t)
	must.Equal(t, "what goes one way comes the other", back.ImagesAdded, d.ImagesRemoved)
	must.Equal(t, "added, the other way", back.Added, d.Removed)
	same := must.Value(p.Revisions(t.Context(), "greeter", kept, 1, 1))(t)
	must.Equal(t, "one with itself", same.Same(), true)
	_, err := p.Revisions(t.Context(), "greeter", kept, 1, 7)
	must.Fail(t, "a revision that is not kept", err, "compare revision 7 of ClusterExtension greeter: it is not kept")
}

// TestDifferenceOfLostContent says which revision cannot be compared, and why.
func TestDifferenceOfLostContent(t *testing.T) {
	objects := revised(t, "1.0.0", "1.2.0")
	kept := slices.DeleteFunc(objects, func(o client.Object) bool {
		s, secret := o.(*corev1.Secret)
		return secret && s.Labels[olmv1.RevisionNameKey] == "greeter-1"
	})
	p := planner(t, kept...)
	d := must.Value(p.Revisions(t.Context(), "greeter", must.Value(revision.List(t.Context(), p.Client, "greeter", "ext"))(t), 1, 2))(t)
	if len(d.NotKept) != 1 || d.Same() || d.Totals != nil {
		t.Fatalf("%+v", d)
	}
	must.Contain(t, "why", d.NotKept[0], "the content of revision 1 is lost")
}

// planOf is an InstallPlan that has brought a version, whose Role is read from the image of the bundle.
func planOf(t *testing.T, name, version string) *v1alpha1.InstallPlan {
	t.Helper()
	plan := waits(t, load(t, version))
	plan.Name, plan.Spec.ClusterServiceVersionNames = name, []string{"greeter-operator.v" + version}
	plan.Status.BundleLookups = []v1alpha1.BundleLookup{{Identifier: "greeter-operator.v" + version, Path: "registry.example.com/greeter:v" + version}}
	for _, s := range plan.Status.Plan {
		if s.Resource.Kind == "Role" {
			content := []byte(s.Resource.Manifest)
			s.Resource.Manifest = string(must.Value(json.Marshal(map[string]any{"kind": "ContentReference", "digest": bundleio.Digest(content), "size": len(content)}))(t))
		}
	}
	return plan
}

// TestDifferenceOfInstallPlans: the operator that comes in the place of another one is a change, and not one that goes and one that comes; what cannot be
// read is told.
func TestDifferenceOfInstallPlans(t *testing.T) {
	p := planner(t, planOf(t, "install-1", "1.0.0"), planOf(t, "install-2", "1.2.0"))
	p.Fetch = func(_ context.Context, r bundleio.Request) (*bundle.Bundle, error) {
		return load(t, r.Name[len("greeter-operator.v"):]), nil
	}
	key := client.ObjectKey{Namespace: "ops", Name: "mine"}
	d := must.Value(p.InstallPlans(t.Context(), key, "install-1", "install-2"))(t)
	must.Equal(t, "what is not kept", d.NotKept, nil)
	must.Equal(t, "from", d.From, "InstallPlan install-1 (greeter-operator.v1.0.0)")
	if !slices.ContainsFunc(d.Changed, func(c ChangedObject) bool {
		return c.Name == "ClusterServiceVersion greeter-operator.v1.0.0 -> greeter-operator.v1.2.0"
	}) {
		t.Errorf("the operator is no change: %+v; added %v, removed %v", d.Changed, d.Added, d.Removed)
	}
	if len(d.ImagesAdded) != 1 {
		t.Errorf("images that come: %v", d.ImagesAdded)
	}
	with := planOf(t, "install-3", "1.2.0")
	with.Spec.ClusterServiceVersionNames = append(with.Spec.ClusterServiceVersionNames, "another.v1")
	with.Status.Plan = append(with.Status.Plan, &v1alpha1.Step{Resolving: "another.v1", Resource: v1alpha1.StepResource{Kind: "ConfigMap", Name: "x", Manifest: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`}})
	must.NoError(t, p.Client.Create(t.Context(), with))
	more := must.Value(p.InstallPlans(t.Context(), key, "install-1", "install-3"))(t)
	must.Equal(t, "what is for another operator does not count", more.Added, d.Added)
	must.Equal(t, "and is noted", more.Notes, []string{"InstallPlan install-3 is for another.v1 as well, and the other one is not: what that brings is left out"})
	p.Fetch = func(context.Context, bundleio.Request) (*bundle.Bundle, error) {
		return nil, errors.New("the registry does not answer")
	}
	d = must.Value(p.InstallPlans(t.Context(), key, "install-1", "install-2"))(t)
	must.Equal(t, "both are not kept", len(d.NotKept), 2)
	must.Contain(t, "why", d.NotKept[0], "the objects of InstallPlan install-1 are not kept in the cluster", "the registry does not answer")
	_, err := p.InstallPlans(t.Context(), key, "install-1", "none")
	must.Fail(t, "a plan that is not there", err, "read InstallPlan ops/none")
}

// TestSecretsOfADifference are not shown.
func TestSecretsOfADifference(t *testing.T) {
	var d Difference
	secret := func(value string) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "key"}, Data: map[string][]byte{"a": []byte(value)}}
	}
	before, after := must.Value(bundle.ToUnstructured(secret("first-secret")))(t), must.Value(bundle.ToUnstructured(secret("second-secret")))(t)
	before.SetAPIVersion("v1")
	before.SetKind("Secret")
	after.SetAPIVersion("v1")
	after.SetKind("Secret")
	d.compare([]*unstructured.Unstructured{before}, []*unstructured.Unstructured{after}, nil, nil)
	text := string(must.Value(json.Marshal(d))(t))
	must.Contain(t, "the difference", text, notShown)
	must.Lack(t, "the difference", text, "Zmlyc3Qtc2VjcmV0", "c2Vjb25kLXNlY3JldA")
}
