package clusterserviceversion

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// servingAnnotation marks the rights of the pods that serve webhooks and aggregated APIs for operators of this namespace, and tells them from those
// that bundles bring.
const servingAnnotation = "fairlead.dev/serving-for"

// servingObjects are the Services in front of the Deployments that serve webhooks and aggregated APIs, and the rights
// that such servers need: to read their certificate, and to have the cluster authenticate and authorize callers.
func (f *facts) servingObjects(ctx context.Context) ([]client.Object, error) {
	services, err := bundle.Services(f.csv)
	if err != nil {
		return nil, refused(err)
	}
	var out []client.Object
	for _, service := range services {
		out = append(out, service)
	}
	for _, deployment := range bundle.ServingDeployments(f.csv) {
		access := servingAccess(f.csv, deployment)
		for _, object := range access.objects() {
			object.SetAnnotations(map[string]string{servingAnnotation: f.csv.Namespace})
			if err := f.nameAsOwn(ctx, object); err != nil {
				return nil, err
			}
			out = append(out, object)
		}
		access.readsCertificate.RoleRef.Name = access.certificate.Name
	}
	return out, nil
}

// servedBefore are the rights of pods that served webhooks or aggregated APIs before and no longer do.
func (f *facts) servedBefore(owned *roleSet, wanted []client.Object) []client.Object {
	keep := map[string]bool{}
	for _, o := range wanted {
		keep[identity(o)] = true
	}
	var out []client.Object
	for _, o := range append(namespaced(owned), clusterScoped(owned)...) {
		if f.isServingAccess(o) && !keep[identity(o)] {
			out = append(out, o)
		}
	}
	return out
}

// isServingAccess tells the rights of serving pods, which servingAccess makes, from others.
func (f *facts) isServingAccess(o client.Object) bool {
	return o.GetAnnotations()[servingAnnotation] == f.csv.Namespace
}

// access is the rights of the pods of one Deployment: to read their certificate, and to find out who calls them and what
// the callers may do.
type access struct {
	certificate      *rbacv1.Role
	readsCertificate *rbacv1.RoleBinding
	delegates        *rbacv1.ClusterRoleBinding
	authenticates    *rbacv1.RoleBinding
}

func (a *access) objects() []client.Object {
	return []client.Object{a.certificate, a.readsCertificate, a.delegates, a.authenticates}
}

func servingAccess(csv *v1alpha1.ClusterServiceVersion, deployment string) *access {
	secret := bundle.ServingSecretName(deployment)
	delegates, authenticates := bundle.Delegation(csv, deployment)
	own := metav1.ObjectMeta{Name: secret, Namespace: csv.Namespace, Labels: managedLabels(csv)}
	own.OwnerReferences = []metav1.OwnerReference{bundle.OwnerReference(csv)}
	return &access{
		certificate: &rbacv1.Role{
			TypeMeta:   rbacType("Role"),
			ObjectMeta: own,
			Rules: []rbacv1.PolicyRule{{
				Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secret},
			}},
		},
		readsCertificate: &rbacv1.RoleBinding{
			TypeMeta:   rbacType("RoleBinding"),
			ObjectMeta: *own.DeepCopy(),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: secret},
			Subjects:   delegates.Subjects,
		},
		delegates:     delegates,
		authenticates: authenticates,
	}
}

// managedLabels are the labels of objects that this controller makes for a CSV.
func managedLabels(csv *v1alpha1.ClusterServiceVersion) map[string]string {
	labels := bundle.OwnerLabels(csv)
	labels[v1alpha1.ManagedLabel] = v1alpha1.ManagedLabelValue
	return labels
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}
