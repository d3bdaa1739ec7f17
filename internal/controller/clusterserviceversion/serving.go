package clusterserviceversion

import (
	"context"
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

const (
	delegatorRole = "system:auth-delegator"
	readerRole    = "extension-apiserver-authentication-reader"
	systemSpace   = "kube-system"
)

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
		for _, object := range servingAccess(f.csv, deployment) {
			name, err := f.ownName(ctx, object)
			if err != nil {
				return nil, err
			}
			object.SetName(name)
			out = append(out, object)
		}
	}
	return out, nil
}

// servedBefore are the rights of pods that served webhooks or aggregated APIs before and no longer do.
func servedBefore(owned *roleSet, wanted []client.Object) []client.Object {
	keep := map[string]bool{}
	for _, o := range wanted {
		keep[identity(o)] = true
	}
	var out []client.Object
	for _, o := range append(namespaced(owned), clusterScoped(owned)...) {
		if isServingAccess(o) && !keep[identity(o)] {
			out = append(out, o)
		}
	}
	return out
}

// isServingAccess tells the rights of serving pods, which servingAccess makes, from others.
func isServingAccess(o client.Object) bool {
	if _, permission := o.GetLabels()[v1alpha1.PermissionsHashLabel]; permission {
		return false
	}
	switch object := o.(type) {
	case *rbacv1.Role:
		return strings.HasSuffix(object.Name, bundle.ServingSecretName("")) && equality.Semantic.DeepEqual(object.Rules, certificateRules(object.Name))
	case *rbacv1.RoleBinding:
		certificate := object.RoleRef.Kind == "Role" && object.RoleRef.Name == object.Name && strings.HasSuffix(object.Name, bundle.ServingSecretName(""))
		return certificate || object.Namespace == systemSpace && object.RoleRef.Name == readerRole
	case *rbacv1.ClusterRoleBinding:
		return object.RoleRef.Name == delegatorRole && strings.Contains(object.Name, delegatorRole)
	default:
		return false
	}
}

// certificateRules let a pod read its certificate.
func certificateRules(secret string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secret}}}
}

// ownName is the name of an object outside of the CSV's namespace. The documented names do not tell apart the namespaces
// that an operator runs in; where an operator of another namespace has the name already, the namespace is added.
func (f *facts) ownName(ctx context.Context, object client.Object) (string, error) {
	name := object.GetName()
	if object.GetNamespace() == f.csv.Namespace {
		return name, nil
	}
	taken := emptyLike(object)
	err := f.c.readerFor(object.GetNamespace()).Get(ctx, client.ObjectKeyFromObject(object), taken, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return name, nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s %s: %w", kindOf(object), client.ObjectKeyFromObject(object), err)
	}
	if owner, ok := ownerOf(taken); ok && owner.Namespace != f.csv.Namespace {
		name += "-" + f.csv.Namespace
	}
	return name, nil
}

// servingAccess is the rights of the pods of one Deployment.
func servingAccess(csv *v1alpha1.ClusterServiceVersion, deployment string) []client.Object {
	secret, service := bundle.ServingSecretName(deployment), bundle.ServingServiceName(deployment)
	account := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: csv.Namespace, Name: podAccount(csv, deployment)}}
	own := metav1.ObjectMeta{Name: secret, Namespace: csv.Namespace, Labels: managedLabels(csv)}
	own.OwnerReferences = []metav1.OwnerReference{bundle.OwnerReference(csv)}
	return []client.Object{
		&rbacv1.Role{
			TypeMeta:   rbacType("Role"),
			ObjectMeta: own,
			Rules:      certificateRules(secret),
		},
		&rbacv1.RoleBinding{
			TypeMeta:   rbacType("RoleBinding"),
			ObjectMeta: *own.DeepCopy(),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: secret},
			Subjects:   account,
		},
		&rbacv1.ClusterRoleBinding{
			TypeMeta:   rbacType("ClusterRoleBinding"),
			ObjectMeta: metav1.ObjectMeta{Name: service + "-" + delegatorRole, Labels: managedLabels(csv)},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: delegatorRole},
			Subjects:   account,
		},
		&rbacv1.RoleBinding{
			TypeMeta:   rbacType("RoleBinding"),
			ObjectMeta: metav1.ObjectMeta{Name: service + "-auth-reader", Namespace: systemSpace, Labels: managedLabels(csv)},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: readerRole},
			Subjects:   account,
		},
	}
}

// podAccount is the service account that the pods of a Deployment run with.
func podAccount(csv *v1alpha1.ClusterServiceVersion, deployment string) string {
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		if d.Name == deployment && d.Spec.Template.Spec.ServiceAccountName != "" {
			return d.Spec.Template.Spec.ServiceAccountName
		}
	}
	return defaultAccount
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
