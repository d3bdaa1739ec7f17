package migrate

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// TestDecide says of each object what becomes of it, and keeps what is needed for the way back.
func TestDecide(t *testing.T) {
	in := kite()
	in.Subscription.Spec.InstallPlanApproval = v1alpha1.ApprovalManual
	e := must.Value(in.Extension(Preferences{}))(t)
	deployment, role := object(t, liveDeployment), object(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: kite-v1}}`)
	mine := func(api, kind, name string) *unstructured.Unstructured {
		u := object(t, "{apiVersion: "+api+", kind: "+kind+", metadata: {namespace: ops, name: "+name+"}}")
		u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: csv.Name, UID: "c"}})
		return u
	}
	made := func(u *unstructured.Unstructured) *unstructured.Unstructured { // by the controllers of the v0 API
		u.SetLabels(bundle.OwnerLabels(in.CSV))
		return u
	}
	in.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []v1alpha1.StrategyDeploymentSpec{{Name: "third"}}
	in.CSV.Spec.InstallStrategy.StrategySpec.Permissions = []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: "flier"}}
	wanted := object(t, wantedDeployment)
	p, b := in.Decide(e, Seen{Wanted: []*unstructured.Unstructured{wanted, role}, Live: map[Ref]*unstructured.Unstructured{RefOf(wanted): deployment}, Owned: []*unstructured.Unstructured{
		mine("operators.coreos.com/v1alpha1", "Subscription", "kite"), mine("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kite.v1.0.0"),
		deployment, made(mine("rbac.authorization.k8s.io/v1", "Role", "old")), mine("v1", "Service", "metrics"), mine("operators.coreos.com/v2", "OperatorCondition", "kite.v1.0.0"), made(mine("apps/v1", "Deployment", "second")),
		mine("apps/v1", "Deployment", "third"), mine("v1", "ServiceAccount", "flier"), mine("rbac.authorization.k8s.io/v1", "Role", "lease"), mine("apps/v1", "Deployment", "worker"),
		mine("v1", "ServiceAccount", "worker"), mine("operators.coreos.com/v2", "OperatorCondition", "other"),
	}})
	var text bytes.Buffer
	must.NoError(t, p.Write(&text))
	must.Contain(t, "text", text.String(), "Subscription ops/kite, ClusterServiceVersion ops/kite.v1.0.0 -> ClusterExtension kite\n", "In the way:\n  - Deployment ops/second is of", "Deployment ops/third is of", "ServiceAccount ops/flier is of", "with a ClusterExtension, the version that is asked for is what you approve")
	kinds := func(all []Ref) (out []string) {
		for _, r := range all {
			out = append(out, r.String())
		}
		return out
	}
	var adopted []string
	for _, a := range p.Adopted {
		adopted = append(adopted, a.String())
	}
	got := map[string][]string{"adopted": adopted, "added": kinds(p.Added), "removed": kinds(p.Removed), "left": kinds(p.Left)}
	want := map[string][]string{"adopted": {"Deployment ops/kite", "OperatorCondition ops/kite.v1.0.0"}, "added": {"ClusterRole kite-v1"},
		"removed": {"Subscription ops/kite", "ClusterServiceVersion ops/kite.v1.0.0", "Role ops/old"}, "left": {"Service ops/metrics", "Role ops/lease", "Deployment ops/worker", "ServiceAccount ops/worker", "OperatorCondition ops/other"}}
	if diff := cmp.Diff(want, got); diff != "" || len(p.Refused) != 3 {
		t.Errorf("refused %q (-want +got):\n%s", p.Refused, diff)
	}
	data := must.Value(b.Pack())(t)
	again := must.Value(Unpack(data))(t)
	if diff := cmp.Diff(b.Adopted[0].Object["spec"], again.Adopted[0].Object["spec"]); diff != "" || len(again.Removed) != 1 || again.Added[0] != b.Added[0] {
		t.Errorf("the backup is read as %+v\n%s", again, diff)
	}
}

// TestDecideWithoutABundle: where none can be had, that is said alone, on as many lines as the reason has.
func TestDecideWithoutABundle(t *testing.T) {
	in := kite()
	in.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []v1alpha1.StrategyDeploymentSpec{{Name: "kite"}}
	p, _ := in.Decide(must.Value(in.Extension(Preferences{}))(t), Seen{Owned: []*unstructured.Unstructured{object(t, liveDeployment)}})
	must.Empty(t, "refused", p.Refused)
	p.Refused = []string{"no bundle can be had\nbecause kite needs wind\x00"}
	var text bytes.Buffer
	must.NoError(t, p.Write(&text))
	must.Contain(t, "text", text.String(), "In the way:\n  - no bundle can be had\n    because kite needs wind")
	must.Lack(t, "text", text.String(), "\x00", "another bundle of that name")
}

func TestBackupsHaveLimits(t *testing.T) {
	for name, data := range map[string][]byte{"no gzip": []byte("x"), "cut short": {0x1f, 0x8b, 8}, "a bomb": bomb(t, maxUnpacked+1), "not a backup": pack(t, `{}`), "no JSON": pack(t, `{`)} {
		if b, err := Unpack(data); err == nil {
			t.Errorf("%s is read as %+v", name, b)
		}
	}
}

// TestReleaseAndRestore: what is taken off an object for the v1 API is put back for the v0 API, with the owner of now, and nothing else changes.
func TestReleaseAndRestore(t *testing.T) {
	had := metav1.ObjectMeta{Namespace: "ops", Name: "kite", Labels: map[string]string{"app": "kite", "olm.managed": "true", "olm.owner": csv.Name, "olm.owner.namespace": "ops", "olm.owner.kind": "ClusterServiceVersion", "operators.coreos.com/kite.ops": ""},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: csv.Name, UID: "old"}}}
	live := had.DeepCopy()
	live.OwnerReferences = append(live.OwnerReferences, metav1.OwnerReference{APIVersion: "olm.operatorframework.io/v1", Kind: "ClusterObjectSet", Name: "kite-1", UID: "set"})
	live.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "fairlead-csv", Operation: "Apply"}, {Manager: "olm.operatorframework.io", Operation: "Apply"}, {Manager: "kube-controller-manager", Subresource: "status"}}
	o := &metav1.PartialObjectMetadata{ObjectMeta: *live}
	b := backupOf("old")
	if !b.Release(o, true) || b.Release(o, true) {
		t.Error("it is not released at once")
	}
	if len(o.Labels) != 1 || len(o.OwnerReferences) != 1 || o.OwnerReferences[0].UID != "set" || len(o.ManagedFields) != 2 {
		t.Errorf("released it is %+v", o.ObjectMeta)
	}
	o.OwnerReferences = nil // the revision has left it
	if !Restore(o, had, csv, "", "olm.operatorframework.io") || len(o.OwnerReferences) != 0 {
		t.Errorf("without a ClusterServiceVersion it has owners %v", o.OwnerReferences)
	}
	if !Restore(o, had, csv, "new", "olm.operatorframework.io") || Restore(o, had, csv, "new", "olm.operatorframework.io") {
		t.Error("it is not restored at once")
	}
	if diff := cmp.Diff(had.Labels, o.Labels); diff != "" || len(o.OwnerReferences) != 1 || o.OwnerReferences[0].UID != "new" {
		t.Errorf("restored it is %+v\n%s", o.ObjectMeta, diff)
	}
	if m := o.ManagedFields[0]; m.Manager != RestoredManager || m.Operation != metav1.ManagedFieldsOperationUpdate {
		t.Errorf("its fields are those of %+v", m)
	}
}

func backupOf(uid types.UID) *Backup {
	b := &Backup{CSV: csv, Subscription: &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"name": "kite"}}}, Version: &unstructured.Unstructured{}}
	b.Version.SetUID(uid)
	return b
}

// TestNoContentOfSecretsIsKept.
func TestNoContentOfSecretsIsKept(t *testing.T) {
	secret := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {a: b, kubectl.kubernetes.io/last-applied-configuration: '{"stringData":{"key":"hunter2"}}'}}, stringData: {key: hunter2}}`)
	text, err := Keep(secret, false).MarshalJSON()
	if err != nil || strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), `"a":"b"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestReleaseLeavesWhatIsAnothers: of what two ClusterServiceVersions have, the other one keeps its part.
func TestReleaseLeavesWhatIsAnothers(t *testing.T) {
	reference := func(name string, uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: name, UID: uid}
	}
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "shared",
		Labels:          map[string]string{"olm.managed": "true", "operators.coreos.com/kite.ops": "", "operators.coreos.com/wind.ops": ""},
		OwnerReferences: []metav1.OwnerReference{reference(csv.Name, "c"), reference("wind.v1", "w"), reference(csv.Name, "later")}}}
	if !backupOf("c").Release(o, false) {
		t.Error("nothing is taken off")
	}
	must.Equal(t, "owners", o.OwnerReferences, []metav1.OwnerReference{reference("wind.v1", "w"), reference(csv.Name, "later")})
	must.Equal(t, "labels", o.Labels, map[string]string{"olm.managed": "true", "operators.coreos.com/wind.ops": ""})
}

func TestRights(t *testing.T) {
	role := Ref{"rbac.authorization.k8s.io/v1", "Role", "ns", "r"}.Object()
	role.Object["rules"] = []any{
		map[string]any{"verbs": []any{"get", "list"}, "apiGroups": []any{"", "apps"}, "resources": []any{"pods"}, "resourceNames": []any{"p"}},
		map[string]any{"verbs": []any{"get"}, "nonResourceURLs": []any{"/metrics"}},
	}
	all := Ref{"rbac.authorization.k8s.io/v1", "ClusterRole", "", "all"}.Object()
	all.Object["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": map[string]any{"a": "b"}}}}
	binding := Ref{"rbac.authorization.k8s.io/v1", "RoleBinding", "ns", "b"}.Object()
	binding.Object["roleRef"] = map[string]any{"kind": "ClusterRole", "name": "admin"}
	binding.Object["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "namespace": "ns", "name": "s"}, map[string]any{"kind": "Group", "name": "g"}}
	operator := Ref{"operators.coreos.com/v1", "Operator", "", "o"}.Object()
	got, err := (&Backup{Removed: []*unstructured.Unstructured{role, all, binding, operator}}).Rights()
	want := []string{"Role ns/r: get,list pods of core,apps named p; get /metrics", "ClusterRole all: the rules of other ClusterRoles, by label", "RoleBinding ns/b: ClusterRole admin for ServiceAccount ns/s, Group g"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	role.Object["rules"] = "x"
	if _, err := (&Backup{Removed: []*unstructured.Unstructured{role}}).Rights(); err == nil {
		t.Error("rules that are none are told")
	}
}

// pack compresses a text.
func pack(t *testing.T, text string) []byte { return packed(t, strings.NewReader(text)) }

// bomb compresses a number of zeros.
func bomb(t *testing.T, size int64) []byte { return packed(t, io.LimitReader(zeros{}, size)) }

func packed(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	must.Value(io.Copy(w, r))(t)
	must.NoError(t, w.Close())
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
