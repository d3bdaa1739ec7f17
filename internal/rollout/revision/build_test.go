package revision

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"fairlead.dev/fairlead/test/must"
)

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	must.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
	return u
}

func of(t testing.TB, apiVersion, kind, name string) *unstructured.Unstructured {
	return object(t, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %q}}", apiVersion, kind, name))
}

func options(objects ...*unstructured.Unstructured) Options {
	return Options{Extension: Extension{Name: "ext", UID: "uid", Namespace: "ns"}, Number: 3, SystemNamespace: "olm", Objects: objects,
		Annotations: map[string]string{olmv1.BundleVersionKey: "1.2.3", olmv1.PackageNameKey: "pkg", olmv1.BundleNameKey: "pkg.v1.2.3"}}
}

func build(t testing.TB, o Options) *Revision {
	t.Helper()
	r := must.Value(Build(o))(t)
	return r
}

// TestPhases: every kind in its phase, the phases in their order, the objects of a phase in theirs.
func TestPhases(t *testing.T) {
	objects := []*unstructured.Unstructured{
		of(t, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "a"), of(t, "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "a"),
		of(t, "monitoring.coreos.com/v1", "ServiceMonitor", "a"), of(t, "networking.k8s.io/v1", "Ingress", "a"), of(t, "route.openshift.io/v1", "Route", "a"), of(t, "console.openshift.io/v1", "ConsolePlugin", "a"),
		of(t, "autoscaling.k8s.io/v1", "VerticalPodAutoscaler", "a"), of(t, "example.com/v1", "Anything", "a"), of(t, "apps/v1", "Deployment", "b"), of(t, "apps/v1", "Deployment", "a"),
		of(t, "cert-manager.io/v1", "Issuer", "a"), of(t, "cert-manager.io/v1", "Certificate", "a"), of(t, "v1", "Service", "a"),
		of(t, "rbac.authorization.k8s.io/v1", "RoleBinding", "a"), of(t, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "a"),
		of(t, "rbac.authorization.k8s.io/v1", "Role", "a"), of(t, "rbac.authorization.k8s.io/v1", "ClusterRole", "a"),
		of(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "a"), of(t, "v1", "PersistentVolumeClaim", "a"), of(t, "v1", "PersistentVolume", "a"), of(t, "storage.k8s.io/v1", "StorageClass", "a"),
		of(t, "v1", "Secret", "a"), of(t, "v1", "ConfigMap", "a"), of(t, "v1", "ServiceAccount", "a"),
		of(t, "networking.k8s.io/v1", "NetworkPolicy", "a"), of(t, "policy/v1", "PodDisruptionBudget", "a"), of(t, "scheduling.k8s.io/v1", "PriorityClass", "a"), of(t, "v1", "Namespace", "a"),
	}
	want := `namespaces: Namespace/a
policies: NetworkPolicy/a PodDisruptionBudget/a PriorityClass/a
identity: ServiceAccount/a
configuration: ConfigMap/a Secret/a
storage: PersistentVolume/a PersistentVolumeClaim/a StorageClass/a
crds: CustomResourceDefinition/a
roles: ClusterRole/a Role/a
bindings: ClusterRoleBinding/a RoleBinding/a
infrastructure: Service/a Certificate/a Issuer/a
deploy: Deployment/a Deployment/b Anything/a
scaling: VerticalPodAutoscaler/a
publish: ConsolePlugin/a ServiceMonitor/a Ingress/a Route/a
admission: MutatingWebhookConfiguration/a ValidatingWebhookConfiguration/a
`
	for range 3 {
		groups := must.Value(divide(objects))(t)
		var got strings.Builder
		for _, g := range groups {
			fmt.Fprintf(&got, "%s:", g.name)
			for _, u := range g.objects {
				fmt.Fprintf(&got, " %s/%s", u.GetKind(), u.GetName())
			}
			got.WriteString("\n")
		}
		must.Equal(t, "result", got.String(), want)
		rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	}
}

// TestManyObjectsOfAPhase go into further phases of the same rank.
func TestManyObjectsOfAPhase(t *testing.T) {
	objects := []*unstructured.Unstructured{of(t, "v1", "Namespace", "a"), of(t, "apps/v1", "Deployment", "a")}
	for i := range 101 {
		objects = append(objects, of(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", fmt.Sprintf("crd-%03d", i)))
	}
	set := build(t, options(objects...)).Set
	var names []string
	var continued []bool
	for i, p := range set.Spec.Phases {
		names = append(names, fmt.Sprintf("%s:%d", p.Name, len(p.Objects)))
		continued = append(continued, SameRank(set, i))
	}
	must.Equal(t, "names", names, []string{"namespaces:1", "crds:50", "crds-2:50", "crds-3:1", "deploy:1"})
	must.Equal(t, "continued", continued, []bool{false, false, true, true, false})
	byHand := set.DeepCopy()
	delete(byHand.Annotations, DigestKey)
	if SameRank(byHand, 2) {
		t.Error("phases that somebody wrote by hand do not wait for each other")
	}
	for i := range 1000 {
		objects = append(objects, of(t, "v1", "ConfigMap", fmt.Sprintf("map-%04d", i)))
	}
	_, err := Build(options(objects...))
	must.Fail(t, "Build", err, "at most 20")
}

// TestWhatIsKept of an object, and what is put on it.
func TestWhatIsKept(t *testing.T) {
	given := object(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: ns
  uid: x
  resourceVersion: "7"
  generateName: y
  finalizers: [f]
  ownerReferences: [{apiVersion: v1, kind: A, name: b, uid: c}]
  labels: {their: label}
  annotations: {their: annotation, kubectl.kubernetes.io/last-applied-configuration: "{}"}
data: {key: value}
status: {phase: x}
`)
	before := given.DeepCopy()
	r := build(t, options(given))
	must.Equal(t, "the argument has changed", given, before)
	reader := newReader(t, r)
	got := must.Value(Objects(t.Context(), reader, r.Set))(t)
	want := object(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
  namespace: ns
  labels: {their: label, olm.operatorframework.io/owner-kind: ClusterExtension, olm.operatorframework.io/owner-name: ext}
  annotations: {their: annotation, olm.operatorframework.io/bundle-version: 1.2.3, olm.operatorframework.io/package-name: pkg}
data: {key: value}
`)
	must.Equal(t, "result", got, []*unstructured.Unstructured{want})
}

// TestSet and its Secrets are as clients of the API know them.
func TestSet(t *testing.T) {
	o := options(of(t, "v1", "ConfigMap", "a"))
	o.ServiceAccount, o.ProgressDeadlineMinutes, o.Labels = "installer", 15, map[string]string{"more": "labels"}
	r := build(t, o)
	set := r.Set
	if set.Name != "ext-3" || set.Spec.Revision != 3 || set.Spec.LifecycleState != "Active" || set.Spec.CollisionProtection != "Prevent" || set.Spec.ProgressDeadlineMinutes != 15 {
		t.Errorf("%+v", set)
	}
	must.Equal(t, "labels", set.Labels, map[string]string{"more": "labels", olmv1.OwnerKindKey: "ClusterExtension", olmv1.OwnerNameKey: "ext"})
	wantAnnotations := map[string]string{olmv1.BundleVersionKey: "1.2.3", olmv1.PackageNameKey: "pkg", olmv1.BundleNameKey: "pkg.v1.2.3", DigestKey: set.Annotations[DigestKey], ServiceAccountKey: "ns/installer"}
	must.Equal(t, "annotations", set.Annotations, wantAnnotations)
	if owner := set.OwnerReferences[0]; owner.Kind != "ClusterExtension" || owner.UID != "uid" || !*owner.Controller || !*owner.BlockOwnerDeletion {
		t.Errorf("%+v", owner)
	}
	s := r.Secrets[0]
	if len(r.Secrets) != 1 || s.Namespace != "olm" || !*s.Immutable || s.Type != "olm.operatorframework.io/object-data" || !strings.HasPrefix(s.Name, "ext-3-") || len(s.Name) != len("ext-3-")+16 {
		t.Errorf("%s/%s %v %v", s.Namespace, s.Name, s.Immutable, s.Type)
	}
	must.Equal(t, "labels", s.Labels, map[string]string{olmv1.OwnerKindKey: "ClusterExtension", olmv1.OwnerNameKey: "ext", olmv1.RevisionNameKey: "ext-3"})
	ref := set.Spec.Phases[0].Objects[0].Ref
	if data, ok := s.Data[ref.Key]; !ok || ref.Name != s.Name || ref.Namespace != "olm" || len(ref.Key) != 43 || keyOf(data) != ref.Key {
		t.Errorf("%+v", ref)
	}
}

// TestSameObjectsSameRevision, in whatever order they come; other objects make another digest.
func TestSameObjectsSameRevision(t *testing.T) {
	objects := []*unstructured.Unstructured{of(t, "v1", "ConfigMap", "a"), of(t, "v1", "ConfigMap", "b"), of(t, "v1", "Service", "c")}
	one := build(t, options(objects...))
	slices.Reverse(objects)
	two := build(t, options(objects...))
	must.Equal(t, "two", two, one)
	o := options(objects...)
	o.Number, o.ProgressDeadlineMinutes = 4, 20
	must.Equal(t, "the number of a revision changes its content", build(t, o).Set.Annotations[DigestKey], one.Set.Annotations[DigestKey])
	changed := []*unstructured.Unstructured{of(t, "v1", "ConfigMap", "a"), of(t, "v1", "ConfigMap", "x"), of(t, "v1", "Service", "c")}
	if build(t, options(changed...)).Set.Annotations[DigestKey] == one.Set.Annotations[DigestKey] {
		t.Error("other objects have the same digest")
	}
}

// TestLongNames: extensions and revisions may have names that no label can hold, the last revision as well as the first.
func TestLongNames(t *testing.T) {
	for _, number := range []int64{1, 10, math.MaxInt64} {
		o := options(of(t, "v1", "ConfigMap", "a"))
		o.Extension.Name, o.Number = strings.Repeat("x", maxExtensionName), number
		r := build(t, o)
		s := r.Secrets[0]
		if problems := validation.IsDNS1123Subdomain(s.Name); len(problems) > 0 || r.Set.Name != Name(o.Extension.Name, number) {
			t.Errorf("%s: %v", s.Name, problems)
		}
		for _, labels := range []map[string]string{s.Labels, r.Set.Labels} {
			for key, value := range labels {
				must.Empty(t, key, validation.IsValidLabelValue(value))
			}
		}
		c := newReader(t)
		must.NoError(t, Write(t.Context(), c, r))
		all, err := List(t.Context(), c, o.Extension.Name, o.Extension.UID)
		if err != nil || len(all) != 1 || NameOf(&all[0]) != o.Extension.Name {
			t.Fatalf("found are %v, %v", all, err)
		}
		must.NoError(t, Own(t.Context(), c, c, &all[0], "olm"))
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil || len(s.OwnerReferences) != 1 || s.OwnerReferences[0].Kind != olmv1.ClusterObjectSetKind {
			t.Errorf("the Secret belongs to %v: %v", s.OwnerReferences, err)
		}
		if _, err := Objects(t.Context(), c, &all[0]); err != nil {
			t.Error(err)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(o *Options)
		want   string
	}{
		"no objects":         {func(o *Options) { o.Objects = nil }, "there are no objects"},
		"no number":          {func(o *Options) { o.Number = 0 }, "count from 1"},
		"no namespace":       {func(o *Options) { o.SystemNamespace = "" }, "the namespace for its Secrets"},
		"account of nowhere": {func(o *Options) { o.ServiceAccount, o.Extension.Namespace = "a", "" }, "the namespace of its service account"},
		"long name":          {func(o *Options) { o.Extension.Name = strings.Repeat("x", 217) }, "shorter name"},
		"twice":              {func(o *Options) { o.Objects = append(o.Objects, o.Objects[0]) }, "ConfigMap a is there twice"},
		"twice in two versions": {func(o *Options) {
			o.Objects = []*unstructured.Unstructured{of(t, "a/v1", "A", "x"), of(t, "a/v2", "A", "x")}
		}, "A.a x is there twice"},
		"no kind": {func(o *Options) { o.Objects[0].SetKind("") }, "no kind"},
		"no name": {func(o *Options) { o.Objects[0].SetName("") }, "no name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := options(of(t, "v1", "ConfigMap", "a"))
			tc.change(&o)
			_, err := Build(o)
			must.Fail(t, "Build", err, tc.want)
		})
	}
}
