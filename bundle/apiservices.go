package bundle

import (
	"cmp"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// Priorities of an APIService.
const (
	groupPriority   = 2000
	versionPriority = 15
)

// Rights of servers of aggregated APIs: to have callers authenticated and authorized.
const (
	delegatorRole   = "system:auth-delegator"
	readerRole      = "extension-apiserver-authentication-reader"
	systemNamespace = "kube-system"
)

// APIServices returns the registrations of the owned aggregated APIs whose Deployments have one of the certificates, one for each group and version.
func APIServices(csv *v1alpha1.ClusterServiceVersion, certs map[string]ServingCert) []*apiregistrationv1.APIService {
	return apiServices(csv, owned{csv}, certs)
}

func apiServices(csv *v1alpha1.ClusterServiceVersion, d dialect, certs map[string]ServingCert) []*apiregistrationv1.APIService {
	var out []*apiregistrationv1.APIService
	done := map[string]bool{}
	for _, description := range csv.OwnedAPIServices() {
		name := description.APIServiceName()
		cert, ok := certs[description.DeploymentName]
		if done[name] || !ok {
			continue
		}
		done[name] = true
		out = append(out, &apiregistrationv1.APIService{
			TypeMeta:   metav1.TypeMeta{APIVersion: apiregistrationv1.SchemeGroupVersion.String(), Kind: "APIService"},
			ObjectMeta: d.meta(name, true),
			Spec: apiregistrationv1.APIServiceSpec{
				Group:                description.Group,
				Version:              description.Version,
				GroupPriorityMinimum: groupPriority,
				VersionPriority:      versionPriority,
				CABundle:             cert.CA,
				Service: &apiregistrationv1.ServiceReference{
					Namespace: csv.Namespace, Name: ServingServiceName(description.DeploymentName), Port: new(cmp.Or(description.ContainerPort, defaultServingPort)),
				},
			},
		})
	}
	return out
}

// Delegation lets the pods of a Deployment ask the cluster who calls them, and what callers may do.
func Delegation(csv *v1alpha1.ClusterServiceVersion, deployment string) (delegates *rbacv1.ClusterRoleBinding, authenticates *rbacv1.RoleBinding) {
	return delegation(csv, owned{csv}, deployment)
}

func delegation(csv *v1alpha1.ClusterServiceVersion, d dialect, deployment string) (*rbacv1.ClusterRoleBinding, *rbacv1.RoleBinding) {
	service := ServingServiceName(deployment)
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: csv.Namespace, Name: PodAccount(csv, deployment)}}
	reader := d.meta(service+"-auth-reader", true)
	reader.Namespace = systemNamespace
	return &rbacv1.ClusterRoleBinding{
			TypeMeta:   rbacType("ClusterRoleBinding"),
			ObjectMeta: d.meta(service+"-"+delegatorRole, true),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: delegatorRole},
			Subjects:   subjects,
		}, &rbacv1.RoleBinding{
			TypeMeta:   rbacType("RoleBinding"),
			ObjectMeta: reader,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: readerRole},
			Subjects:   subjects,
		}
}

// PodAccount is the service account that the pods of a Deployment of the install strategy run with.
func PodAccount(csv *v1alpha1.ClusterServiceVersion, deployment string) string {
	account := ""
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		if d.Name == deployment {
			account = cmp.Or(account, d.Spec.Template.Spec.ServiceAccountName)
		}
	}
	return cmp.Or(account, DefaultServiceAccount)
}
