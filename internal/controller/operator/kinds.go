package operator

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
)

// kind is one kind of components.
type kind struct {
	gvk schema.GroupVersionKind
	// object and list are how the cache holds them.
	object func() client.Object
	list   func() client.ObjectList
	// own is true for what the caches of the manager do not hold, or only in part.
	own bool
}

// kinds are all kinds that components may have.
var kinds = []kind{
	typed(appsv1.SchemeGroupVersion.WithKind("Deployment"), &appsv1.Deployment{}, &appsv1.DeploymentList{}).inOwnCache(),
	typed(corev1.SchemeGroupVersion.WithKind("Service"), &corev1.Service{}, &corev1.ServiceList{}).inOwnCache(),
	typed(corev1.SchemeGroupVersion.WithKind("Namespace"), &corev1.Namespace{}, &corev1.NamespaceList{}).inOwnCache(),
	typed(apiregistrationv1.SchemeGroupVersion.WithKind("APIService"), &apiregistrationv1.APIService{}, &apiregistrationv1.APIServiceList{}),
	typed(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinitionList{}),
	typed(v1alpha1.GroupVersion.WithKind("Subscription"), &v1alpha1.Subscription{}, &v1alpha1.SubscriptionList{}),
	typed(v1alpha1.GroupVersion.WithKind("InstallPlan"), &v1alpha1.InstallPlan{}, &v1alpha1.InstallPlanList{}),
	typed(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind), &v1alpha1.ClusterServiceVersion{}, &v1alpha1.ClusterServiceVersionList{}),
	typed(v2.GroupVersion.WithKind("OperatorCondition"), &v2.OperatorCondition{}, &v2.OperatorConditionList{}),
	metadata(corev1.SchemeGroupVersion.WithKind("Secret")).inOwnCache(),
	metadata(corev1.SchemeGroupVersion.WithKind("ConfigMap")).inOwnCache(),
	metadata(corev1.SchemeGroupVersion.WithKind("ServiceAccount")),
	typed(rbacv1.SchemeGroupVersion.WithKind("Role"), &rbacv1.Role{}, &rbacv1.RoleList{}),
	typed(rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), &rbacv1.RoleBinding{}, &rbacv1.RoleBindingList{}),
	typed(rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleList{}),
	typed(rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"), &rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRoleBindingList{}),
}

func typed(gvk schema.GroupVersionKind, object client.Object, list client.ObjectList) kind {
	return kind{gvk: gvk,
		object: func() client.Object { return object.DeepCopyObject().(client.Object) },
		list:   func() client.ObjectList { return list.DeepCopyObject().(client.ObjectList) }}
}

func metadata(gvk schema.GroupVersionKind) kind {
	return kind{gvk: gvk,
		object: func() client.Object {
			o := &metav1.PartialObjectMetadata{}
			o.SetGroupVersionKind(gvk)
			return o
		},
		list: func() client.ObjectList {
			l := &metav1.PartialObjectMetadataList{}
			l.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
			return l
		}}
}

func (k kind) inOwnCache() kind {
	k.own = true
	return k
}

// trim leaves of an object in the controller's own cache what it reads: the metadata that tells whom it belongs to, and conditions. Of what
// belongs to no operator, which is most of a cluster, only the name is left.
func trim(object any) (any, error) {
	o, ok := object.(client.Object)
	if !ok {
		return object, nil
	}
	switch o := o.(type) {
	case *appsv1.Deployment:
		*o = appsv1.Deployment{ObjectMeta: o.ObjectMeta, Status: appsv1.DeploymentStatus{Conditions: o.Status.Conditions}}
	case *corev1.Service:
		*o = corev1.Service{ObjectMeta: o.ObjectMeta, Status: corev1.ServiceStatus{Conditions: o.Status.Conditions}}
	case *corev1.Namespace:
		*o = corev1.Namespace{ObjectMeta: o.ObjectMeta, Status: corev1.NamespaceStatus{Conditions: o.Status.Conditions}}
	}
	o.SetManagedFields(nil)
	o.SetAnnotations(nil)
	o.SetFinalizers(nil)
	if len(labelled(o))+len(owners(o)) > 0 {
		return o, nil
	}
	o.SetLabels(nil)
	o.SetOwnerReferences(nil)
	switch o := o.(type) {
	case *appsv1.Deployment:
		o.Status.Conditions = nil
	case *corev1.Service:
		o.Status.Conditions = nil
	case *corev1.Namespace:
		o.Status.Conditions = nil
	}
	return o, nil
}
