package registrypod

import (
	"errors"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Port is where the server of every catalog listens.
const Port = 50051

const portName = "grpc"

// Objects are what a catalog in a pod consists of.
type Objects struct {
	// Pod is wanted once, under a name that is decided when it is created.
	Pod            *corev1.Pod
	Service        *corev1.Service
	ServiceAccount *corev1.ServiceAccount
	ServerPolicy   *networkingv1.NetworkPolicy
	UnpackPolicy   *networkingv1.NetworkPolicy
	// Role and RoleBinding are nil but for a configmap catalog.
	Role        *rbacv1.Role
	RoleBinding *rbacv1.RoleBinding
}

// IsConfigMap tells whether the content of the catalog is in a ConfigMap.
func IsConfigMap(source *v1alpha1.CatalogSource) bool {
	return source.Spec.SourceType == v1alpha1.SourceTypeConfigmap || source.Spec.SourceType == v1alpha1.SourceTypeInternal
}

// Wanted returns the objects of a catalog that is to be served by a pod.
func Wanted(source *v1alpha1.CatalogSource, settings Settings, observed Observed) (*Objects, error) {
	o, err := Companions(source)
	if err != nil {
		return nil, err
	}
	o.Pod, err = pod(source, settings, observed)
	return o, err
}

// Companions returns all of the objects but the pod: they depend on nothing but the CatalogSource.
func Companions(source *v1alpha1.CatalogSource) (*Objects, error) {
	if !IsConfigMap(source) && source.Spec.Image == "" {
		return nil, failed(source, errors.New("neither an image nor a ConfigMap is named: set spec.image, or spec.sourceType configmap and spec.configMap"))
	}
	service, err := service(source)
	if err != nil {
		return nil, failed(source, err)
	}
	o := &Objects{
		Service:        service,
		ServiceAccount: serviceAccount(source),
		ServerPolicy:   serverPolicy(source),
		UnpackPolicy:   unpackPolicy(source),
	}
	if IsConfigMap(source) {
		o.Role, o.RoleBinding = role(source), roleBinding(source)
	}
	return o, nil
}

// companions lists all of the objects but the pod, in the order in which they are written.
func (o *Objects) companions() []client.Object {
	all := []client.Object{o.ServiceAccount}
	if o.Role != nil {
		all = append(all, o.Role, o.RoleBinding)
	}
	return append(all, o.ServerPolicy, o.UnpackPolicy, o.Service)
}

// meta is what the metadata of all objects have in common.
func meta(source *v1alpha1.CatalogSource, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: source.Namespace, Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{owner(source, false)}}
}

// owner refers to the catalog, as the controller of what is made for it.
func owner(source *v1alpha1.CatalogSource, blocking bool) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: kindCatalogSource, Name: source.Name, UID: source.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(blocking),
	}
}

const kindCatalogSource = "CatalogSource"

// selector picks the pod that serves the catalog. Pods of updates are not picked, because another value is on them.
func selector(source *v1alpha1.CatalogSource) map[string]string {
	return map[string]string{
		v1alpha1.CatalogSourceLabel: LabelValue(source.Name),
		v1alpha1.ManagedLabel:       v1alpha1.ManagedLabelValue,
	}
}

func failed(source *v1alpha1.CatalogSource, err error) error {
	return fmt.Errorf("make the pod of CatalogSource %s/%s: %w", source.Namespace, source.Name, err)
}
