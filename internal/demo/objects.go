package demo

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// catalogName is the CatalogSource of the demo and the name of its image.
const catalogName = "demo-catalog"

// pollInterval is short, so that the demo need not wait long for the newer catalog.
const pollInterval = 2 * time.Second

func (d *Demo) catalogSource() *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: catalogName},
		Spec: v1alpha1.CatalogSourceSpec{
			SourceType:  v1alpha1.SourceTypeGrpc,
			Image:       d.catalogImage(),
			DisplayName: "Demo catalog",
			Publisher:   "Fairlead",
			UpdateStrategy: &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{
				Interval: &metav1.Duration{Duration: pollInterval}, RawInterval: pollInterval.String(),
			}},
		},
	}
}

func (d *Demo) catalogImage() string { return d.cluster.Registry + "/" + catalogName + ":latest" }

func subscriptionTo(pkg, channel string, approval v1alpha1.Approval) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pkg},
		Spec: &v1alpha1.SubscriptionSpec{
			CatalogSource: catalogName, CatalogSourceNamespace: namespace, Package: pkg, Channel: channel, InstallPlanApproval: approval,
		},
	}
}

// create makes an object; one that is there already, in a cluster that was kept, will do.
func (d *Demo) create(ctx context.Context, object client.Object) error {
	if err := d.client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %T %s: %w", object, client.ObjectKeyFromObject(object), err)
	}
	return nil
}
