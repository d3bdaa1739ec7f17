package install

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestTheOtherPackageServerIsLeft as long as its ClusterServiceVersion is there, which owns the APIService: two controllers of one manager
// would fight over it. When that is deleted, packages are served here.
func TestTheOtherPackageServerIsLeft(t *testing.T) {
	w := newWorld(t)
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, config))
	m := &migration{world: w, namespace: "olm"}
	m.installKinds()
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, filepath.Join(config, "defaults")))
	csv := m.leavePackageServer()
	w.run(w.asManager())
	time.Sleep(8 * time.Second)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if to := m.packagesLeadTo(); to != "packageserver-service" {
			t.Fatalf("the APIService leads to %s", to)
		}
	}
	must.NoError(t, w.Delete(t.Context(), csv))
	w.gone(csv)
	must.Eventually(w.t, "the APIService to lead to the manager", func() error {
		if to := m.packagesLeadTo(); to != "fairlead-packageserver" {
			return fmt.Errorf("it leads to %s", to)
		}
		return nil
	})
}

func (m *migration) packagesLeadTo() string {
	m.t.Helper()
	a := &apiregistrationv1.APIService{}
	if err := m.Get(m.t.Context(), client.ObjectKey{Name: "v1.packages.operators.coreos.com"}, a); err != nil {
		return err.Error()
	}
	return a.Spec.Service.Name
}

func (m *migration) leavePackageServer() *v1alpha1.ClusterServiceVersion {
	m.t.Helper()
	labels := map[string]string{"app": "packageserver"}
	spec := appsv1.DeploymentSpec{Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](1001), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "packageserver", Image: "registry.example.com/olm:v1", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}}}}}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "packageserver", Labels: map[string]string{"olm.version": "0.0.0"}},
		Spec: v1alpha1.ClusterServiceVersionSpec{DisplayName: "Package Server", MinKubeVersion: "1.11.0",
			InstallModes: []v1alpha1.InstallMode{{Type: "OwnNamespace", Supported: true}, {Type: "SingleNamespace", Supported: true}, {Type: "MultiNamespace", Supported: true}, {Type: "AllNamespaces", Supported: true}},
			InstallStrategy: v1alpha1.NamedInstallStrategy{StrategyName: "deployment", StrategySpec: v1alpha1.StrategyDetailsDeployment{
				DeploymentSpecs: []v1alpha1.StrategyDeploymentSpec{{Name: "packageserver", Spec: spec}}}},
			APIServiceDefinitions: v1alpha1.APIServiceDefinitions{Owned: []v1alpha1.APIServiceDescription{{Name: "packagemanifests", Group: "packages.operators.coreos.com",
				Version: "v1", Kind: "PackageManifest", DeploymentName: "packageserver", ContainerPort: 5443}}}},
		Status: v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded, Reason: v1alpha1.CSVReasonInstallSuccessful}}
	m.lay(csv, otherOLM)
	m.lay(&apiregistrationv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1.packages.operators.coreos.com",
		Labels: map[string]string{"olm.managed": "true", "olm.owner": "packageserver", "olm.owner.namespace": "olm", "olm.owner.kind": "ClusterServiceVersion"}},
		Spec: apiregistrationv1.APIServiceSpec{Group: "packages.operators.coreos.com", Version: "v1", GroupPriorityMinimum: 2000, VersionPriority: 15, CABundle: devcluster.Config().CAData,
			Service: &apiregistrationv1.ServiceReference{Namespace: "olm", Name: "packageserver-service", Port: ptr.To[int32](5443)}}}, otherOLM)
	return csv
}
