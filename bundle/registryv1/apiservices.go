package registryv1

import (
	"cmp"
	"encoding/base64"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/bundle"
)

// Priorities of an APIService, as v0 has them.
const (
	groupPriority   = 2000
	versionPriority = 15
	defaultPort     = 443
)

// Rights of servers of aggregated APIs: to have callers authenticated and authorized.
const (
	delegatorRole   = "system:auth-delegator"
	readerRole      = "extension-apiserver-authentication-reader"
	systemNamespace = "kube-system"
)

// apiServices register the aggregated APIs that the bundle owns, each group and version once, after the rights of those who serve them.
func (r *renderer) apiServices() ([]runtime.Object, error) {
	var rights, registrations []runtime.Object
	done := map[string]bool{}
	for _, d := range r.CSV.Spec.APIServiceDefinitions.Owned {
		if !done[d.DeploymentName] {
			rights = append(rights, r.delegation(d.DeploymentName)...)
			done[d.DeploymentName] = true
		}
		name := d.APIServiceName()
		if done["/"+name] {
			continue
		}
		done["/"+name] = true
		service := bundle.ServingServiceName(d.DeploymentName)
		spec := map[string]any{
			"group": d.Group, "version": d.Version,
			"groupPriorityMinimum": int64(groupPriority), "versionPriority": int64(versionPriority),
			"service": map[string]any{
				"namespace": r.options.Namespace, "name": service, "port": int64(cmp.Or(d.ContainerPort, defaultPort)),
			},
		}
		if ca := r.Certs[d.DeploymentName].CA; len(ca) > 0 {
			spec["caBundle"] = base64.StdEncoding.EncodeToString(ca)
		}
		registration := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "spec": spec,
		}}
		registration.SetName(name)
		r.injectCA(registration, service)
		registrations = append(registrations, registration)
	}
	return append(rights, registrations...), nil
}

// delegation lets the pods of a Deployment ask the cluster who calls them and what callers may do.
func (r *renderer) delegation(deployment string) []runtime.Object {
	account := ""
	for _, d := range r.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		if d.Name == deployment {
			account = d.Spec.Template.Spec.ServiceAccountName
		}
	}
	service := bundle.ServingServiceName(deployment)
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: cmp.Or(account, bundle.DefaultServiceAccount), Namespace: r.options.Namespace}}
	return []runtime.Object{
		&rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: service + "-" + delegatorRole},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: delegatorRole},
			Subjects:   subjects,
		},
		&rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: service + "-auth-reader", Namespace: systemNamespace},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: readerRole},
			Subjects:   subjects,
		},
	}
}
