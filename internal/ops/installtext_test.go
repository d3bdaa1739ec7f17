package ops

import (
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
)

// TestPlanPackage finds out the same as InstallPackage creates, and writes nothing.
func TestPlanPackage(t *testing.T) {
	c := cluster(t, sampleCatalog("olm", "c"))
	o := InstallOptions{Package: "etcd", Namespace: "ops", Channel: "stable", GlobalNamespace: "olm", Manual: true, Modes: []string{"OwnNamespace"}}
	a := must.Value(PlanPackage(t.Context(), c, o))(t)
	must.Equal(t, "manifests", must.Value(Manifests(a.Objects))(t), `apiVersion: v1
kind: Namespace
metadata:
  name: ops
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata:
  name: ops
  namespace: ops
spec:
  targetNamespaces:
  - ops
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata:
  name: etcd
  namespace: ops
spec:
  channel: stable
  installPlanApproval: Manual
  name: etcd
  source: c
  sourceNamespace: olm
`)
	must.Equal(t, "notes", a.Notes, []string{"the operator supports no operation in all namespaces: it is to watch namespace ops alone"})
	must.Empty(t, "created", a.Created)
	must.Equal(t, "namespaces", written[corev1.NamespaceList](t, c), 0)
	must.Equal(t, "Subscriptions", written[v1alpha1.SubscriptionList](t, c), 0)
	done := must.Value(InstallPackage(t.Context(), c, o))(t)
	must.Equal(t, "created", done.Created, []string{"Namespace ops", "OperatorGroup ops", "Subscription etcd"})
	again := must.Value(PlanPackage(t.Context(), c, o))(t)
	must.Empty(t, "missing when all is there", again.Objects)
}

// TestInstallCommands are what asks for the same in a shell.
func TestInstallCommands(t *testing.T) {
	must.Equal(t, "v0", InstallOptions{Package: "etcd", Namespace: "ops", Catalog: "olm/c", Channel: "stable", StartingCSV: "etcd.v1", Manual: true, Targets: []string{"a", "b"}}.Command(),
		"fairlead install etcd --namespace ops --catalog olm/c --channel stable --starting-csv etcd.v1 --watch a,b --manual")
	must.Equal(t, "the least", InstallOptions{Package: "etcd"}.Command(), "fairlead install etcd")
	must.Equal(t, "v1", ExtensionOptions{Package: "etcd", Name: "mine", Namespace: "ops", Catalogs: []string{"c"}, Channels: []string{"stable"}, Version: ">=1.0.0 <2.0.0", ServiceAccount: "sa", Config: map[string]any{"a": 1},
		CreateNamespace: true, Annotations: map[string]string{DependenciesKey: "true", OnFailureKey: OnFailureRollback}}.Command(),
		"fairlead install etcd --api v1 --name mine --namespace ops --catalog c --channel stable --version '>=1.0.0 <2.0.0' --service-account sa --config config.yaml --create-namespace --install-dependencies --rollback-on-failure")
	must.Equal(t, "a hostile value", InstallOptions{Package: "etcd", Channel: "a'; rm -rf /"}.Command(), `fairlead install etcd --channel 'a'\''; rm -rf /'`)
}

// TestReadConfig reads what a file or a form has.
func TestReadConfig(t *testing.T) {
	must.Equal(t, "YAML", must.Value(ReadConfig([]byte("a: {b: [1, x]}")))(t), map[string]any{"a": map[string]any{"b": []any{1.0, "x"}}})
	must.Equal(t, "JSON", must.Value(ReadConfig([]byte(`{"a": true}`)))(t), map[string]any{"a": true})
	for name, text := range map[string]string{"a list": "[1]", "a text": "x", "no YAML": "a: [1", "too much": "a: " + string(make([]byte, MaxConfig))} {
		if _, err := ReadConfig([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
