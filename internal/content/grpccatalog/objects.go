package grpccatalog

import (
	"errors"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
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
}

// Wanted returns the objects of a catalog that is to be served by a pod.
func Wanted(source *v1alpha1.CatalogSource, settings Settings, observed Observed) (*Objects, error) {
	o, err := Companions(source, settings)
	if err != nil {
		return nil, err
	}
	o.Pod, err = pod(source, settings, observed)
	return o, err
}

// Companions returns all of the objects but the pod: they depend on nothing but the CatalogSource and the Settings.
func Companions(source *v1alpha1.CatalogSource, settings Settings) (*Objects, error) {
	if source.Spec.SourceType != v1alpha1.SourceTypeGrpc || source.Spec.Image == "" {
		return nil, failed(source, errors.New("no image is named that could be run: set spec.sourceType grpc and spec.image"))
	}
	service, err := service(source)
	if err != nil {
		return nil, failed(source, err)
	}
	return &Objects{
		Service:        service,
		ServiceAccount: serviceAccount(source),
		ServerPolicy:   serverPolicy(source, settings),
		UnpackPolicy:   unpackPolicy(source),
	}, nil
}

// companions lists all of the objects but the pod, in the order in which they are written.
func (o *Objects) companions() []client.Object {
	return []client.Object{o.ServiceAccount, o.ServerPolicy, o.UnpackPolicy, o.Service}
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
