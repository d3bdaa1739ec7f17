package migrate

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var csv = CSV{"ops", "kite.v1.0.0"}

var owner = Owner{CSV: csv, UID: "1"}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	content, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(content)
	}
	must.NoError(t, err)
	return u
}

const (
	wantedDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: kite, namespace: ops, labels: {app: kite}}
spec:
  selector: {matchLabels: {app: kite}}
  template:
    metadata: {labels: {app: kite}, annotations: {olm.targetNamespaces: ""}}
    spec: {containers: [{name: op, image: kite, env: [{name: OPERATOR_CONDITION_NAME, value: kite}]}]}`
	liveDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: kite
  namespace: ops
  labels: {app: kite, olm.owner: kite.v1.0.0, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: ops}
spec:
  replicas: 3
  progressDeadlineSeconds: 600
  selector: {matchLabels: {app: kite}}
  template:
    metadata: {creationTimestamp: null, labels: {app: kite}, annotations: {olm.targetNamespaces: "", olm.operatorGroup: group}}
    spec: {containers: [{name: op, image: kite, imagePullPolicy: Always, env: [{name: OPERATOR_CONDITION_NAME, value: kite.v1.0.0}]}]}`
)

// TestADeploymentStaysAsItWasFound but for the number of its replicas, which is not the bundle's; what the bundle has otherwise is told.
func TestADeploymentStaysAsItWasFound(t *testing.T) {
	wanted, live := object(t, wantedDeployment), object(t, liveDeployment)
	got, err := Adopt(owner, wanted, live)
	if err != nil {
		t.Fatal(err)
	}
	want := live.DeepCopy()
	unstructured.RemoveNestedField(want.Object, "spec", "replicas")
	unstructured.RemoveNestedField(want.Object, "spec", "template", "metadata", "creationTimestamp")
	must.Equal(t, "spec", got.Object["spec"], want.Object["spec"])
	must.Equal(t, "labels", got.GetLabels(), wanted.GetLabels())
	if now := Differences(got, live); len(now) > 0 {
		t.Errorf("changes at once: %q", now)
	}
	later := []string{".spec.template.metadata.annotations.olm.operatorGroup", ".spec.template.spec.containers[op].env[OPERATOR_CONDITION_NAME].value"}
	must.Equal(t, "changes later", Differences(wanted, live), later)
	wanted.Object["spec"].(map[string]any)["replicas"] = int64(1)
	if got, err = Adopt(owner, wanted, live); err != nil || got.Object["spec"].(map[string]any)["replicas"] == nil {
		t.Errorf("where the bundle says how many, the number that was found stays: %v, %v", got, err)
	}
}

func TestWhoseAnObjectIs(t *testing.T) {
	yes := true
	labels := func(namespace, name string) map[string]string {
		return map[string]string{"olm.owner": name, "olm.owner.namespace": namespace, "olm.owner.kind": "ClusterServiceVersion"}
	}
	reference := func(api, kind, name string, controls bool) []metav1.OwnerReference {
		r := metav1.OwnerReference{APIVersion: api, Kind: kind, Name: name, UID: "1"}
		if controls {
			r.Controller = &yes
		}
		return []metav1.OwnerReference{r}
	}
	now := metav1.Now()
	wind := other("wind.v1", func(c *v1alpha1.ClusterServiceVersion) { c.UID = "w" })
	self := kite().CSV
	self.UID = "1"
	whose := OwnerOf(self, []v1alpha1.ClusterServiceVersion{wind})
	for name, test := range map[string]struct {
		meta metav1.ObjectMeta
		want string // a part of why not; empty when it may be taken over
	}{
		"by reference":                {metav1.ObjectMeta{Namespace: "ops", OwnerReferences: reference("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kite.v1.0.0", false)}, ""},
		"by label":                    {metav1.ObjectMeta{Labels: labels("ops", "kite.v1.0.0")}, ""},
		"without namespace, nobody's": {metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"}}, "nothing says that it belongs"},
		"of another one of that name": {metav1.ObjectMeta{Namespace: "ops", OwnerReferences: append(reference("example.com/v1", "Kite", "k", false),
			metav1.OwnerReference{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: "kite.v1.0.0", UID: "2"})}, "belongs to Kite k"},
		"of another version, too": {metav1.ObjectMeta{Namespace: "ops", Labels: labels("ops", "kite.v1.0.0"), OwnerReferences: append(reference("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kite.v1.0.0", false),
			metav1.OwnerReference{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: "wind.v1", UID: "w"})}, "belongs to ClusterServiceVersion ops/wind.v1 as well"},
		"once of what is gone": {metav1.ObjectMeta{Namespace: "ops", OwnerReferences: append(reference("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kite.v1.0.0", false),
			metav1.OwnerReference{APIVersion: "operators.coreos.com/v1alpha1", Kind: "ClusterServiceVersion", Name: "kite.v0.9.0", UID: "0"})}, ""},
		"nobody's":                       {metav1.ObjectMeta{Namespace: "ops"}, "nothing says that it belongs"},
		"of another version":             {metav1.ObjectMeta{Namespace: "ops", OwnerReferences: reference("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kite.v2.0.0", false)}, "belongs to ClusterServiceVersion kite.v2.0.0"},
		"of that name in another API":    {metav1.ObjectMeta{Namespace: "ops", OwnerReferences: reference("example.com/v1", "ClusterServiceVersion", "kite.v1.0.0", false)}, "belongs to ClusterServiceVersion"},
		"by label, of another namespace": {metav1.ObjectMeta{Labels: labels("dev", "kite.v1.0.0")}, "belongs to ClusterServiceVersion dev/kite.v1.0.0"},
		"controlled by somebody":         {metav1.ObjectMeta{Namespace: "ops", Labels: labels("ops", "kite.v1.0.0"), OwnerReferences: reference("apps/v1", "Deployment", "other", true)}, "controlled by Deployment other"},
		"by reference from elsewhere":    {metav1.ObjectMeta{Namespace: "dev", OwnerReferences: reference("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kite.v1.0.0", false)}, "belongs to"},
		"on its way out":                 {metav1.ObjectMeta{Labels: labels("ops", "kite.v1.0.0"), DeletionTimestamp: &now}, "being deleted"},
		"controlled by its own version":  {metav1.ObjectMeta{Namespace: "ops", OwnerReferences: reference("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "kite.v1.0.0", true)}, ""},
		"without namespace, somebody's":  {metav1.ObjectMeta{OwnerReferences: reference("v1", "Node", "n", false)}, "belongs to Node n"},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			u.SetName("x")
			u.SetNamespace(test.meta.Namespace)
			u.SetLabels(test.meta.Labels)
			u.SetOwnerReferences(test.meta.OwnerReferences)
			u.SetDeletionTimestamp(test.meta.DeletionTimestamp)
			got := whose.Refused(u)
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			if _, err := Adopt(whose, u, u); (err == nil) != (test.want == "") {
				t.Errorf("Adopt: %v", err)
			}
		})
	}
}

// TestWhoseADefinitionIs: it has no mark, so the ClusterServiceVersions say whose it is.
func TestWhoseADefinitionIs(t *testing.T) {
	in := kite()
	definition := func(name string) *unstructured.Unstructured {
		return Ref{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name}.Object()
	}
	shared := other("kite.v1.0.0", func(c *v1alpha1.ClusterServiceVersion) {
		c.Namespace, c.UID, c.Spec.CustomResourceDefinitions = "dev", "d", in.CSV.Spec.CustomResourceDefinitions
	})
	for name, test := range map[string]struct {
		others []v1alpha1.ClusterServiceVersion
		crd    string
		want   string
	}{
		"its own":        {nil, "kites.example.com", ""},
		"somebody's":     {nil, "winds.example.com", "nothing says that it belongs"},
		"also another's": {[]v1alpha1.ClusterServiceVersion{shared}, "kites.example.com", "belongs to ClusterServiceVersion dev/kite.v1.0.0 as well"},
	} {
		if got := OwnerOf(in.CSV, test.others).Refused(definition(test.crd)); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
