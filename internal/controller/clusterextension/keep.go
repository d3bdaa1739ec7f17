package clusterextension

import (
	"context"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reasonKept is the reason of the Event that tells of definitions that stay, here and where revisions are taken out.
const reasonKept = "CRDKept"

// keepDefinitions takes CustomResourceDefinitions with custom resources from an extension that goes. It owns some where another implementation
// has installed them by way of Helm, and no revision has come to take them over: they would go with it.
func (u *remover) keepDefinitions(ctx context.Context, ext *olmv1.ClusterExtension) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	if err := u.live.List(ctx, list); err != nil {
		return fmt.Errorf("list the CustomResourceDefinitions, to see which of them go with ClusterExtension %s: %w", ext.Name, err)
	}
	for i := range list.Items {
		crd := &list.Items[i]
		if controller := metav1.GetControllerOfNoCopy(crd); !revision.Owns(ext, crd) || controller != nil && controller.UID != ext.UID || revision.DeletesCRD(ext, crd.Name) {
			continue
		}
		if err := u.keepDefinition(ctx, ext, crd.Name); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func (u *remover) keepDefinition(ctx context.Context, ext *olmv1.ClusterExtension, name string) error {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := u.live.Get(ctx, client.ObjectKey{Name: name}, live); err != nil {
		return fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
	}
	what := revision.Populated(ctx, u.live, u.count, name)
	if what == "" || !live.DeletionTimestamp.IsZero() {
		return nil
	}
	deaf, err := revision.LosesConverter(ctx, u.live, live, func(service metav1.Object) bool { return revision.Owns(ext, service) })
	if err != nil {
		return err
	}
	if err := revision.Keep(ctx, u.client, live, revision.KeptOf(ext.Name, ext.UID), deaf, fieldOwner); err != nil {
		return err
	}
	u.events.Eventf(ext, corev1.EventTypeWarning, reasonKept, "CustomResourceDefinition %s stays: %s. To delete it with them, kubectl delete crd %[1]s", name, what)
	return nil
}
