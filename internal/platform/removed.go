package platform

// removal is what a minor version of Kubernetes 1 serves no more.
type removal struct {
	minor      uint64
	apiVersion string
	kinds      []string
}

// removals is what the API server has stopped serving, or is going to, oldest first. Kinds that are never written by anybody, such as
// scales and reviews, are left out, and alpha versions, which no cluster serves unless it is told to.
var removals = []removal{
	{16, "apps/v1beta1", []string{"ControllerRevision", "Deployment", "StatefulSet"}},
	{16, "apps/v1beta2", []string{"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}},
	{16, "extensions/v1beta1", []string{"DaemonSet", "Deployment", "NetworkPolicy", "PodSecurityPolicy", "ReplicaSet"}},
	{22, "admissionregistration.k8s.io/v1beta1", []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}},
	{22, "apiextensions.k8s.io/v1beta1", []string{"CustomResourceDefinition"}},
	{22, "apiregistration.k8s.io/v1beta1", []string{"APIService"}},
	{22, "certificates.k8s.io/v1beta1", []string{"CertificateSigningRequest"}},
	{22, "coordination.k8s.io/v1beta1", []string{"Lease"}},
	{22, "extensions/v1beta1", []string{"Ingress"}},
	{22, "networking.k8s.io/v1beta1", []string{"Ingress", "IngressClass"}},
	{22, "rbac.authorization.k8s.io/v1beta1", []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}},
	{22, "scheduling.k8s.io/v1beta1", []string{"PriorityClass"}},
	{22, "storage.k8s.io/v1beta1", []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"}},
	{25, "autoscaling/v2beta1", []string{"HorizontalPodAutoscaler"}},
	{25, "batch/v1beta1", []string{"CronJob"}},
	{25, "discovery.k8s.io/v1beta1", []string{"EndpointSlice"}},
	{25, "events.k8s.io/v1beta1", []string{"Event"}},
	{25, "node.k8s.io/v1beta1", []string{"RuntimeClass"}},
	{25, "policy/v1beta1", []string{"PodDisruptionBudget", "PodSecurityPolicy"}},
	{26, "autoscaling/v2beta2", []string{"HorizontalPodAutoscaler"}},
	{26, "flowcontrol.apiserver.k8s.io/v1beta1", []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{27, "storage.k8s.io/v1beta1", []string{"CSIStorageCapacity"}},
	{29, "flowcontrol.apiserver.k8s.io/v1beta2", []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{32, "flowcontrol.apiserver.k8s.io/v1beta3", []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{34, "admissionregistration.k8s.io/v1beta1", []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}},
	{37, "networking.k8s.io/v1beta1", []string{"IPAddress", "ServiceCIDR"}},
	{37, "storage.k8s.io/v1beta1", []string{"VolumeAttributesClass"}},
	{38, "resource.k8s.io/v1beta1", []string{"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}},
	{39, "coordination.k8s.io/v1beta1", []string{"LeaseCandidate"}},
	{39, "resource.k8s.io/v1beta2", []string{"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}},
	{40, "admissionregistration.k8s.io/v1beta1", []string{"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}},
	{40, "certificates.k8s.io/v1beta1", []string{"ClusterTrustBundle"}},
	{41, "certificates.k8s.io/v1beta1", []string{"PodCertificateRequest"}},
	{41, "storagemigration.k8s.io/v1beta1", []string{"StorageVersionMigration"}},
	{42, "resource.k8s.io/v1beta2", []string{"DeviceTaintRule"}},
}

type api struct{ apiVersion, kind string }

// removedIn is the minor version of Kubernetes 1 that no longer serves an API.
var removedIn = func() map[api]uint64 {
	index := map[api]uint64{}
	for _, r := range removals {
		for _, kind := range r.kinds {
			index[api{r.apiVersion, kind}] = r.minor
		}
	}
	return index
}()
